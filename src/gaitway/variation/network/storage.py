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
from typing import Any

import numpy as np

from gaitway.core.archives import ArchiveFormat, Arrays, Spec, counted, read_archive, write_archive
from gaitway.motion import packing
from gaitway.variation.network.dofs import Dofs
from gaitway.variation.network.model import LearnOptions, VariationModel
from gaitway.variation.network.phase import PhaseAlignment
from gaitway.variation.network.prior import Prior, PriorSearch
from gaitway.variation.network.regression import RegressionKernel
from gaitway.variation.network.spread import Drift, Variation
from gaitway.variation.network.structure import Structure
from gaitway.variation.network.texture import Texture
from gaitway.variation.network.transition import TransitionSearch

SUFFIX = ".gwvary"
FORMAT = ArchiveFormat("variation", 2)
MAX_TAKES = 10_000
"""Greatest number of takes in a file."""
_RENAMED = {"clock": "phase_scale"}
"""Options of the kernel that had another name when older files were written."""


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
    for number in range(counted(len(header["contacts"]), MAX_TAKES, "takes")):
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
    takes = tuple(arrays[f"take.{i}.rows"] for i in range(count))
    phases = tuple(arrays[f"take.{i}.phases"] for i in range(count))
    _check_shapes(arrays, takes, phases, nodes)
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
    lengths += [take.shape[1] for take in takes] + [arrays["mean"].shape[1], arrays["residuals"].shape[2] - 1]
    lengths += [len(arrays[name]) - 1 for name in ("gains", "stream_gains")]
    lengths += [len(arrays["detail_gains"]), arrays["details"].shape[2], arrays["drift"].shape[1]]
    if any(length != nodes for length in lengths) or len(arrays["prior.values"]) != 2 * nodes:
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
