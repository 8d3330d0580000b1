"""The USD stage of a take. Needs the extra `usd`."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from pxr import Kind, Sdf, Tf, Usd, UsdGeom, UsdUtils

from gaitway._version import __version__
from gaitway.core.errors import FormatError
from gaitway.core.files import atomic_path
from gaitway.export import clock, usd_parts, usd_people, usd_world
from gaitway.export.formats import Progress
from gaitway.export.people import INDIVIDUALS, character_mesh
from gaitway.export.usd_people import Prototype, Span
from gaitway.take.model import Take
from gaitway.world.world import World

_ROOT, _PROTOTYPES = "/Take", "/Prototypes"
_SAVE_EVERY = 32_000_000
"""Bytes of samples in memory before they go to disk, so that a crowd of any size can be written."""


def write_stage(take: Take, path: Path, world: World | None, fps: float, progress: Progress | None) -> None:
    """Write a take to `path`, whose ending picks the form; see `export_usd`."""
    form = path.suffix.lower()
    with (
        atomic_path(path) as temporary,
        tempfile.TemporaryDirectory(prefix=f".{path.stem}.", dir=path.parent) as folder,
    ):
        binary = Path(folder) / f"{Tf.MakeValidIdentifier(path.stem)}.usdc"
        try:
            layer = Sdf.Layer.CreateNew(str(binary))
            _write(layer, take, world, fps, progress)
            done = form != ".usda" or layer.Export(str(temporary))
            del layer  # closes the file, which some systems do not rename or read before
            if form == ".usdz":
                done = UsdUtils.CreateNewUsdzPackage(str(binary), str(temporary))
            elif form != ".usda":
                binary.replace(temporary)
            if not done:
                raise FormatError(path, "cannot be written: USD gives no reason")
        except Tf.ErrorException as problem:
            reason = problem.args[0]  # the first of several errors is the cause
            raise FormatError(path, f"cannot be written: {getattr(reason, 'commentary', reason)}") from None


def _write(layer: Sdf.Layer, take: Take, world: World | None, fps: float, progress: Progress | None) -> None:
    """Everything: first what stands still, by a stage, then the characters straight into the layer."""
    first, last = clock.frame_spans(take, fps)
    whole = Span(float(first.min()), float(last.max()))
    stage = Usd.Stage.Open(layer)
    _describe(stage, take, whole, fps)
    stage.CreateClassPrim(_PROTOTYPES)
    if world is not None:
        usd_world.add_world(stage, f"{_ROOT}/Place", world, fps, whole.first)
    UsdGeom.Xform.Define(stage, f"{_ROOT}/Characters")
    prototypes = _add_prototypes(stage, take)
    del stage
    waiting = 0
    for character, name in enumerate(usd_parts.identifiers(take.names)):
        path = f"{_ROOT}/Characters/{name}"
        motion = clock.motion(take, character, int(first[character]), int(last[character]), fps)
        span = Span(float(first[character]), float(last[character]))
        waiting += usd_people.add_character(layer, path, prototypes[character], motion, span, whole)
        if waiting > _SAVE_EVERY:
            layer.Save()
            waiting = 0
        if progress is not None:
            progress(character + 1, len(take))
    layer.Save()


def _describe(stage: Usd.Stage, take: Take, whole: Span, fps: float) -> None:
    """The stage's own data: axes, units, times, what it is."""
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(fps)
    stage.SetFramesPerSecond(fps)
    stage.SetStartTimeCode(whole.first)
    stage.SetEndTimeCode(whole.last)
    root = UsdGeom.Xform.Define(stage, _ROOT).GetPrim()
    Usd.ModelAPI(root).SetKind(Kind.Tokens.component)
    stage.SetDefaultPrim(root)
    stage.GetRootLayer().documentation = (
        f"A take of {len(take.names)} characters at {fps:g} frames a second. Metres, Z up, a figure at rest faces +X. "
        f"Bodies are below {_PROTOTYPES} and referenced by the characters."
    )
    stage.GetRootLayer().customLayerData = {"creator": f"gaitway {__version__}"}


def _add_prototypes(stage: Usd.Stage, take: Take) -> Sequence[Prototype]:
    """One prototype for each kind of body that occurs; the prototype of every character."""
    made: dict[tuple[int, int], Prototype] = {}
    names = usd_parts.identifiers(skeleton.name for skeleton in take.skeletons)
    for character, body in enumerate(take.bodies.tolist()):
        kind = (body, character % INDIVIDUALS)
        if kind not in made:
            skeleton = take.skeletons[body]
            path = f"{_PROTOTYPES}/{names[body]}_{kind[1]}"
            made[kind] = usd_people.add_prototype(stage, path, skeleton, character_mesh(skeleton, kind[1]))
    return [made[body, character % INDIVIDUALS] for character, body in enumerate(take.bodies.tolist())]
