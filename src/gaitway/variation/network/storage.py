"""Models on disk: one .gwvary archive (`gaitway.core.archives`), so that a model is learnt once.

* `header`: "name", "skeleton", "options", "mode", "fps", "cyclic", "period", "score", "prior_score", "memory",
  "natural", and for each take whether its contacts are known;
* `skeleton.parents`, `.offsets`, `.rest`;
* degrees of freedom: `reference` (J, 4), `kept` (n,), `constant`, `centre` (n,), `scale` (n,);
* takes, scaled: `take.N.rows` (F, n), `take.N.phases` (F,), `take.N.contacts` (F, points);
* phases: `mean` (G, n), `weights` (n,);
* networks: `transition.parents`, `.counts`, `prior.parents`, `.counts`, `prior.values` (2n, R), `.takes`, `.steps`;
* draws: `spreads` (G, n), `residuals` (takes, G, n + 1), `gains`, `stream_gains` (n + 1,), `details` (takes, G, n),
  `detail_gains` (n,), `drift` (3, n).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from gaitway.core.archives import (
    ArchiveFormat,
    Arrays,
    FileHeader,
    Header,
    Spec,
    checked,
    read_archive,
    write_archive,
)
from gaitway.motion import packing
from gaitway.variation.network.dofs import Dofs, Mode
from gaitway.variation.network.model import LearnOptions, VariationModel
from gaitway.variation.network.phase import PhaseAlignment
from gaitway.variation.network.prior import Prior, PriorSearch
from gaitway.variation.network.regression import RegressionKernel
from gaitway.variation.network.spread import Drift, Variation
from gaitway.variation.network.structure import Structure, topological_order
from gaitway.variation.network.texture import Texture
from gaitway.variation.network.transition import TransitionSearch

SUFFIX = ".gwvary"
FORMAT = ArchiveFormat("variation", 2)
MAX_TAKES = 10_000
"""Greatest number of takes in a file."""
_RENAMED = {"clock": "phase_scale"}
"""Options of the kernel that had another name when older files were written."""
MAX_DOFS = 3000
"""Greatest number of degrees of freedom in a file; the prior network has a table of all pairs of twice as many."""
LARGEST = 1e6
"""Largest number in a table, in deviations of its column; its square is far from what single floats can hold."""

_Share = Annotated[float, Field(ge=0.0, le=1.0)]
_Factor = Annotated[float, Field(ge=0.0, le=1e6)]
_Positive = Annotated[float, Field(gt=1e-9, le=1e6)]
_Count = Annotated[int, Field(ge=0, le=1_000_000)]
_Period = Annotated[float, Field(ge=1.0, le=1e7)]


class KernelHeader(Header):
    """Settings of the regression in a header."""

    neighbours: _Count = 0
    width: _Positive = 1.0
    taper: bool = True
    velocity: _Factor = 0.0
    pull: _Share = 0.0
    span: _Factor = 0.0
    phase_scale: _Factor = 0.0
    clock: _Factor = 0.0


class SearchHeader(Header):
    """Settings of the search for a transition network in a header."""

    exact: bool = False
    rounds: _Count | None = None
    most_parents: _Count = 0
    floor: _Positive = 1.0
    noise: _Factor = 0.0
    restarts: _Count = 0
    first_edges: _Count = 0


class PriorHeader(Header):
    """Settings of a prior network in a header."""

    pairs: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    neighbours: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    width: _Positive = 1.0
    floor: _Positive = 1.0
    most_parents: _Count = 0
    restarts: _Count = 0
    steps: bool = True
    at_start: bool = True
    whole_takes: bool = True


class OptionsHeader(Header):
    """Options of learning in a header."""

    mode: Mode
    cyclic: bool | None
    kernel: KernelHeader
    search: SearchHeader
    prior: PriorHeader
    literal: bool
    given: list[str]
    natural: _Positive = 1.0
    seed: Annotated[int, Field(ge=0)]


class ModelHeader(FileHeader):
    """The header of a model."""

    name: str
    skeleton: packing.SkeletonHeader
    options: OptionsHeader
    mode: Mode
    fps: Annotated[float, Field(gt=0.0, le=100_000.0)]
    cyclic: bool
    period: _Period
    score: float
    prior_score: float
    memory: Annotated[float, Field(ge=0.0, le=100_000.0)]
    natural: _Positive
    contacts: Annotated[list[bool], Field(min_length=1, max_length=MAX_TAKES)]


def save_model(model: VariationModel, path: str | Path) -> None:
    """Write a model to one file; the file appears only when it is complete.

    Raises:
        FormatError: if the file cannot be written.
    """
    header, arrays = pack_model(model)
    write_archive(path, FORMAT, header, arrays)


def load_model(path: str | Path) -> VariationModel:
    """Read a model and check all of it.

    Raises:
        FormatError: if it is not a model, is damaged or was edited, is of a newer version, or asks for absurd sizes.
    """
    return read_archive(path, FORMAT, _specs, unpack_model)


def pack_model(model: VariationModel) -> tuple[dict[str, Any], Arrays]:
    """Return the header of a model, as JSON can hold it, and its arrays."""
    variation = model.variation
    header = {
        "name": model.name,
        "skeleton": packing.skeleton_words(model.dofs.skeleton),
        "options": asdict(model.options),
        "mode": model.dofs.mode,
        "fps": model.dofs.fps,
        "cyclic": model.cyclic,
        "period": model.alignment.period,
        "score": model.score,
        "prior_score": model.prior.score,
        "memory": variation.memory,
        "natural": variation.natural,
        "contacts": [contacts is not None for contacts in model.contacts],
    }
    return header, packing.skeleton_arrays(model.dofs.skeleton, "skeleton") | _arrays(model)


def _arrays(model: VariationModel) -> Arrays:
    dofs, prior = model.dofs, model.prior
    arrays: Arrays = {
        "reference": dofs.reference, "kept": dofs.kept, "constant": dofs.constant,
        "centre": model.centre, "scale": model.scale, "mean": model.alignment.mean, "weights": model.alignment.weights,
        "transition.parents": model.transition.parents, "transition.counts": model.transition.counts,
        "prior.parents": prior.structure.parents, "prior.counts": prior.structure.counts,
        "prior.values": prior.values, "prior.takes": prior.takes, "prior.steps": prior.step_scale,
        "residuals": model.variation.table, "spreads": model.variation.spreads,
        "gains": model.variation.gains, "stream_gains": model.variation.stream_gains,
        "details": model.variation.texture.details, "detail_gains": model.variation.texture.gains,
        "drift": np.stack([model.variation.drift.found, model.variation.drift.wanted, model.variation.drift.gains]),
    }  # fmt: skip
    for number, (rows, phases, contacts) in enumerate(
        zip(model.takes, model.alignment.phases, model.contacts, strict=True)
    ):
        arrays[f"take.{number}.rows"] = rows
        arrays[f"take.{number}.phases"] = phases
        if contacts is not None:
            arrays[f"take.{number}.contacts"] = contacts
    return arrays


def _specs(header: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Spec]:
    del sizes
    if header["version"] != FORMAT.version:
        raise ValueError(f"it is of version {header['version']}, which tells too little; learn the model anew")
    checked(ModelHeader, header)
    specs = packing.skeleton_specs(header["skeleton"], "skeleton")
    joints, points = len(header["skeleton"]["joints"]), len(header["skeleton"]["contact_points"])
    vector, table = (None,), (None, None)
    specs |= dict.fromkeys(("constant", "centre", "scale", "weights", "prior.steps"), (vector, "<f8"))
    specs |= dict.fromkeys(("kept", "transition.counts", "prior.counts", "prior.takes"), (vector, "<i8"))
    specs |= dict.fromkeys(("transition.parents", "prior.parents"), (table, "<i8"))
    specs |= {
        "reference": ((joints, 4), "<f8"),
        "mean": (table, "<f8"),
        "drift": ((3, None), "<f8"),
        "prior.values": (table, "<f4"),
        "spreads": (table, "<f4"),
    }
    specs |= dict.fromkeys(("residuals", "details"), ((None, None, None), "<f4"))
    specs |= dict.fromkeys(("gains", "stream_gains", "detail_gains"), (vector, "<f4"))
    for number in range(len(header["contacts"])):
        specs[f"take.{number}.rows"] = (table, "<f8")
        specs[f"take.{number}.phases"] = (vector, "<f8")
        if header["contacts"][number]:
            specs[f"take.{number}.contacts"] = ((None, points), "|b1")
    return specs


def unpack_model(header: Mapping[str, Any], arrays: Arrays) -> VariationModel:
    """Return the model that `pack_model` packed, the same to the last bit.

    Raises:
        ValueError: if its arrays do not go together.
    """
    words = header["options"]
    prior_search = PriorSearch(**words["prior"])
    kernel = {_RENAMED.get(name, name): value for name, value in words["kernel"].items()}
    options = LearnOptions(
        **{
            **words,
            "kernel": RegressionKernel(**kernel),
            "search": TransitionSearch(**words["search"]),
            "prior": prior_search,
            "given": tuple(words["given"]),
        }
    )
    skeleton = packing.skeleton_from(header["skeleton"], arrays, "skeleton")
    dofs = Dofs(skeleton, header["mode"], float(header["fps"]), arrays["reference"], arrays["kept"], arrays["constant"])
    count, nodes = len(header["contacts"]), len(dofs)
    _check_dofs(dofs)
    takes = tuple(arrays[f"take.{i}.rows"] for i in range(count))
    phases = tuple(arrays[f"take.{i}.phases"] for i in range(count))
    _check_shapes(arrays, takes, phases, nodes)
    _check_numbers(arrays, takes, phases, float(header["period"]))
    prior = Prior(
        arrays["prior.values"], arrays["prior.takes"], arrays["prior.steps"],
        Structure(arrays["prior.parents"], arrays["prior.counts"]), prior_search, float(header["prior_score"]),
    )  # fmt: skip
    variation = Variation(
        table=arrays["residuals"],
        spreads=arrays["spreads"],
        gains=arrays["gains"],
        stream_gains=arrays["stream_gains"],
        memory=float(header["memory"]),
        natural=float(header["natural"]),
        texture=Texture(arrays["details"], arrays["detail_gains"]),
        drift=Drift(*arrays["drift"]),
    )
    alignment = PhaseAlignment(float(header["period"]), phases, arrays["mean"], arrays["weights"])
    contacts = tuple(arrays.get(f"take.{i}.contacts") for i in range(count))
    if any(known is not None and len(known) != len(take) for known, take in zip(contacts, takes, strict=True)):
        raise ValueError("contacts and takes are not of one length")
    topological_order(prior.structure.edges(2 * nodes))
    transition = Structure(arrays["transition.parents"], arrays["transition.counts"])
    return VariationModel(
        name=str(header["name"]),
        dofs=dofs,
        options=options,
        centre=arrays["centre"],
        scale=arrays["scale"],
        takes=takes,
        contacts=contacts,
        alignment=alignment,
        cyclic=bool(header["cyclic"]),
        prior=prior,
        transition=transition,
        score=float(header["score"]),
        variation=variation,
    )


def _check_shapes(arrays: Arrays, takes: tuple[Any, ...], phases: tuple[Any, ...], nodes: int) -> None:
    """Refuse arrays whose sizes do not fit one another."""
    lengths = [len(arrays[name]) for name in ("centre", "scale", "weights", "transition.counts", "prior.steps")]
    lengths += [len(arrays["transition.parents"])]
    lengths += [take.shape[1] for take in takes] + [arrays["mean"].shape[1], arrays["residuals"].shape[2] - 1]
    lengths += [len(arrays[name]) - 1 for name in ("gains", "stream_gains")]
    lengths += [len(arrays["detail_gains"]), arrays["details"].shape[2], arrays["drift"].shape[1]]
    twice = [len(arrays[name]) for name in ("prior.values", "prior.counts", "prior.parents")]
    if any(length != nodes for length in lengths) or any(length != 2 * nodes for length in twice):
        raise ValueError(f"arrays are not all of {nodes} degrees of freedom")
    if (
        arrays["spreads"].shape != arrays["mean"].shape
        or arrays["residuals"].shape[1] != len(arrays["mean"])
        or arrays["residuals"].shape[:2] != arrays["details"].shape[:2]
        or len(arrays["mean"]) < 2
    ):
        raise ValueError("tables by phase are not of one length")
    if not takes or any(len(take) != len(phase) or len(take) < 4 for take, phase in zip(takes, phases, strict=True)):
        raise ValueError("takes and their phases are not of one length")
    for name in ("transition.parents", "prior.parents"):
        if arrays[name].size and not 0 <= arrays[name].min() <= arrays[name].max() < 2 * nodes:
            raise ValueError(f"{name} names a node that there is not")
    if arrays["prior.values"].shape[1] != len(arrays["prior.takes"]):
        raise ValueError("instances of the prior network are not of one number")
    if not all(np.isfinite(array).all() for array in arrays.values() if array.dtype.kind == "f"):
        raise ValueError("a number is not finite")


def _check_dofs(dofs: Dofs) -> None:
    """Refuse columns that there are not, or too many."""
    kept, columns = dofs.kept, len(dofs.constant)
    if not 1 <= len(kept) <= MAX_DOFS:
        raise ValueError(f"{len(kept)} degrees of freedom; 1 to {MAX_DOFS} are possible")
    if kept[0] < 0 or kept[-1] >= columns or (kept[1:] <= kept[:-1]).any():
        raise ValueError(f"kept columns must rise and be below {columns}")
    if (np.abs(np.linalg.norm(dofs.reference, axis=-1) - 1.0) > 1e-3).any():
        raise ValueError("reference rotations must be quaternions of length one")


def _check_numbers(arrays: Arrays, takes: tuple[Any, ...], phases: tuple[Any, ...], period: float) -> None:
    """Refuse numbers with which kernels would look up rows that there are not, or compute no numbers."""
    large = (
        "mean",
        "prior.values",
        "spreads",
        "residuals",
        "details",
        "gains",
        "stream_gains",
        "detail_gains",
        "drift",
    )
    for name, table in (
        *((name, arrays[name]) for name in large),
        *((f"take.{i}.rows", t) for i, t in enumerate(takes)),
    ):
        if table.size and np.abs(table).max() > LARGEST:
            raise ValueError(f"{name} has a number beyond {LARGEST:g}")
    for name in ("centre", "constant", "scale"):
        if np.abs(arrays[name]).max() > packing.LARGEST:
            raise ValueError(f"{name} has a number beyond {packing.LARGEST:g}")
    for name in ("scale", "weights", "spreads"):
        if arrays[name].min() <= 1e-12:
            raise ValueError(f"{name} must be above 0")
    if arrays["prior.steps"].min() < 0.0 or arrays["prior.steps"].max() > LARGEST:
        raise ValueError("prior.steps must be 0 or more")
    if abs(len(arrays["mean"]) - 1 - period) > 1.0:
        raise ValueError(f"a mean of {len(arrays['mean'])} entries for a period of {period:g} frames")
    slack = 1e-6 * period
    for number, phase in enumerate(phases):
        if phase[0] < -slack or phase[-1] > period + slack or np.diff(phase).min() < 1e-6:
            raise ValueError(f"take.{number}.phases must rise from 0 to the period of {period:g}")
    owners, count = arrays["prior.takes"], len(arrays["residuals"])
    if not np.array_equal(np.unique(owners), np.arange(count)):
        raise ValueError(f"prior.takes must name each of {count} takes")
