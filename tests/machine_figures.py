"""Figures of small results, which machines of all types must agree on to a tolerance.

    python tests/machine_figures.py                 # this machine's figures, beside those that are stored
    python tests/machine_figures.py --add           # stores them, under the type of this machine
    python tests/machine_figures.py --add import    # stores those of one part alone

Stored figures are in machine_figures.json, by type of machine, such as "aarch64 Linux", and by part. On a machine of a
type that is not there yet, run the second line, look at the differences, and commit the file: from then on the test
compares with that machine too. Where results are changed on purpose, the second line drops what other machines had
stored for that part, and says so: it must be made there anew.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gaitway.audit import audit_take
from gaitway.capture.importing import import_library
from gaitway.planning import plan_scene
from gaitway.scene import scene_from_dict
from gaitway.variation.evaluation.features import Yardstick
from gaitway.variation.evaluation.measures import spread_of
from gaitway.variation.sampling.synthesis import sample
from import_folders import WALK, capture_folder
from variation_takes import make_takes, small_model

FILE = Path(__file__).with_name("machine_figures.json")
TOLERANCES: Mapping[str, tuple[float, float]] = {
    "count": (0.0, 0.0),
    "time": (1e-6, 0.0),
    "cost": (1e-6, 1e-6),
    "place": (2e-4, 0.0),
    "audit": (5e-4, 1e-3),
    "import": (2e-3, 1e-3),
    "variation": (1e-3, 0.1),
}
"""Greatest difference of two machines by the kind of figure, the first word of its name: absolute, and as a share.

Plans are the same clips in the same order, so counts and times are equal. Poses are kept in single precision. Networks
of variation are found by sums of single precision whose order depends on the processor; their variants agree in size.
"""
SCENE: dict[str, Any] = {
    "gaitway": 1,
    "bounds": [0, 0, 16, 10],
    "library": "person",
    "characters": [
        {"name": "ada", "start": [2, 5, 0], "goal": [14, 5]},
        {"name": "bo", "start": [14, 5.4, 180], "goal": [2, 5]},
        {"name": "cy", "start": [8, 1, 90], "goal": [8, 9]},
    ],
    "obstacles": [{"box": {"center": [5, 4.6], "size": [1, 1.2], "height": 1.8}, "name": "crate"}],
}
MOMENTS = (1.0, 4.0, 7.5)
"""When poses are looked at [s]."""
JOINTS = ("Hips", "LeftHand", "RightFoot", "Head")


def machine() -> str:
    """Type of this machine."""
    return f"{platform.machine()} {platform.system()}"


def plan_figures(planner: str) -> Iterator[tuple[str, float]]:
    """Yield what comes of the scene by a planner: plans, arrivals, the audit, and where joints are."""
    options = {"planner": planner, **({"nodes": 2_000} if planner == "tree" else {})}
    made = plan_scene(scene_from_dict({**SCENE, "plan": options}))
    for row in made.rows():
        who = f"{planner} {row['character']}"
        yield f"count steps {who}", row["steps"]
        yield f"time arrives {who}", row["arrives_s"]
        yield f"cost {who}", row["cost"]
    report = audit_take(made.take, made.scene.world)
    yield f"count violations {planner}", len(report.violations)
    for row in report.rows:
        if row.worst is not None:
            yield f"audit {row.name} {planner}", row.worst.value
    skeleton = made.take.skeletons[0]
    columns = [skeleton.index(name) for name in JOINTS]
    for moment in MOMENTS:
        (poses,) = made.take.poses(moment)
        places = poses.joint_transforms()[0][:, columns]
        for person, joint, axis in np.ndindex(places.shape):
            name = f"{planner} {made.take.names[person]} {JOINTS[joint]} {'xyz'[axis]} {moment:g} s"
            yield f"place {name}", float(places[person, joint, axis])


def import_figures() -> Iterator[tuple[str, float]]:
    """Yield what comes of an import of two captures of the built-in person."""
    with tempfile.TemporaryDirectory() as folder:
        imported = import_library(capture_folder(Path(folder) / "raw", {"walk": WALK}), name="figures")
    library = imported.library
    yield "count behaviours", len(library.graph.behaviors)
    yield "count clips", len(library.clips)
    for behavior in library.graph.behaviors:
        clip = library.clips[behavior.clips[0]]
        x, y, _ = clip.root_positions[-1] - clip.root_positions[0]
        yield f"count frames {behavior.name}", len(clip)
        yield f"import travel {behavior.name}", float(np.hypot(x, y))


def variation_figures() -> Iterator[tuple[str, float]]:
    """Yield the size of what a small model varies."""
    model, takes = small_model(), make_takes()
    rng = np.random.default_rng(0)
    variants = [sample(model, rng) for _ in range(40)]
    yield "count degrees of freedom", len(model.dofs)
    yield "variation spread", spread_of(variants, Yardstick.of(takes))
    yield "variation seconds", float(np.mean([clip.duration for clip in variants]))
    yield "variation way", float(np.mean([clip.root_positions[-1, 0] for clip in variants]))


PARTS = {
    "behavior": lambda: plan_figures("behavior"),
    "tree": lambda: plan_figures("tree"),
    "import": import_figures,
    "variation": variation_figures,
}


def part_figures(part: str) -> dict[str, float]:
    """Return the figures of one part, by name."""
    return {name: float(value) for name, value in PARTS[part]()}


def differences(found: Mapping[str, float], stored: Mapping[str, float]) -> list[str]:
    """Return one line for each figure that is not as it was stored, or is in one of both alone."""
    out = [f"{name}: only {'here' if name in found else 'stored'}" for name in sorted(found.keys() ^ stored.keys())]
    for name in sorted(found.keys() & stored.keys()):
        most, share = TOLERANCES[name.partition(" ")[0]]
        if not abs(found[name] - stored[name]) <= most + share * abs(stored[name]):
            out.append(f"{name}: {found[name]:.9g} here, {stored[name]:.9g} stored")
    return out


def stored() -> dict[str, dict[str, dict[str, float]]]:
    """Return the stored figures by type of machine and part."""
    found: dict[str, dict[str, dict[str, float]]] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def main() -> int:
    """Print or store the figures of this machine; 1 if they are not those of the others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all if none is named")
    parser.add_argument("--add", action="store_true", help="store the figures of this machine")
    asked = parser.parse_args()
    if unknown := set(asked.parts) - PARTS.keys():
        parser.error(f"no part {', '.join(sorted(unknown))}; write {', '.join(PARTS)}")
    mine, known = {part: part_figures(part) for part in asked.parts or PARTS}, stored() if FILE.exists() else {}
    wrong = {
        (other, part): lines
        for other, parts in known.items()
        for part in mine.keys() & parts.keys()
        if (lines := differences(mine[part], parts[part]))
    }
    for (other, _), lines in sorted(wrong.items()):
        print("\n".join(f"{other}: {line}" for line in lines))
    if not wrong:
        print(f"{machine()}: as on {', '.join(known) or 'no other machine'}")
    if asked.add:
        for other, part in sorted(wrong):
            del known[other][part]
            if other != machine():
                print(f"{other}: {part} is no longer stored; make it there anew")
        known[machine()] = {**known.get(machine(), {}), **mine}
        FILE.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return 1 if wrong and not asked.add else 0


if __name__ == "__main__":
    sys.exit(main())
