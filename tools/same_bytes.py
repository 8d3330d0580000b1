"""Tell whether a change of the code changed any motion, bit for bit.

    python tools/same_bytes.py record BEFORE.json
    python tools/same_bytes.py compare BEFORE.json [--only 'plan maze*']

Hashes are made of every ready scene at seeds 0 and 1 by both planners, of an import of captures, of a varied behaviour
and of 300 steps of a live crowd. Hashes differ between processors and versions of NumPy, SciPy and Numba, so this is a
tool and not a test: record before a change, and compare after it on the same machine.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

import numpy as np

import gaitway
from gaitway.live.engine import LiveEngine
from gaitway.live.planning.forest import live_forest
from gaitway.scene.catalog import ready_scenes
from gaitway.space.prepared import planning_context
from gaitway.variation.enriching import EnrichOptions, enrich

SEEDS = (0, 1)
PLANNERS = ("behavior", "tree")
CAPTURES = Path(__file__).resolve().parents[2] / "shared" / "mocap" / "bvh_accad"
VARIED = "walk_forward"
LIVE_SCENE, LIVE_STEPS, LIVE_STEP = "market_square", 300, 1.0 / 30.0


def hashed(*parts: object) -> str:
    """The SHA-256 of arrays and of everything else as text."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            total.update(f"{part.dtype.str} {part.shape}\n".encode())
            total.update(np.ascontiguousarray(part).tobytes())
        else:
            total.update(f"{part!r}\n".encode())
    return total.hexdigest()


def take_hash(take: gaitway.Take) -> str:
    """The hash of all poses of all characters."""
    tables = [take.dense(skeleton=int(body)) for body in np.unique(take.bodies)]
    return hashed(*(part for t in tables for part in (t.names, t.start, t.length, t.root, t.rotations)))


def library_hash(library: gaitway.Library) -> str:
    """The hash of all clips of a library and of what may follow what."""
    parts: list[object] = []
    for name, clip in sorted(library.clips.items()):
        parts += [name, clip.fps, clip.root_positions, clip.rotations, clip.contacts]
    for behavior in library.graph.behaviors:
        followers = tuple(library.graph.followers(behavior.name))
        parts += [behavior.name, behavior.clips, behavior.start, behavior.end, followers]
    return hashed(*parts)


def planned(scene: str, planner: str, seed: int) -> str:
    """The hash of a planned scene."""
    return take_hash(gaitway.plan(scene, seed=seed, planner=planner))


def imported() -> str:
    """The hash of a library made of captures."""
    return library_hash(gaitway.import_library(CAPTURES).library)


def varied() -> str:
    """The hash of a library with variants of one behaviour."""
    person = gaitway.load_cast("person", seed=0, takes=4)
    return library_hash(enrich(person, EnrichOptions(count=4), [VARIED]).library)


def lived() -> str:
    """The hash of the joints of a live crowd, step by step."""
    scene = gaitway.load_scene(LIVE_SCENE)
    people = scene.characters
    prepared = planning_context(scene.world).prepared(people[0])
    crowd = LiveEngine(prepared, live_forest(prepared.table, ("jump", "duck")), seed=scene.seed)
    crowd.add([c.start for c in people], [c.goal for c in people])
    total = []
    for _ in range(LIVE_STEPS):
        crowd.step(LIVE_STEP)
        joints = crowd.joints()
        total.append(hashed(joints.positions, joints.rotations))
    crowd.close()
    return hashed(*total)


def jobs() -> Iterator[tuple[str, Callable[[], str]]]:
    """What is hashed, by name."""
    for scene in ready_scenes():
        for planner in PLANNERS:
            for seed in SEEDS:
                yield f"plan {scene} {planner} {seed}", partial(planned, scene, planner, seed)
    yield "live", lived
    yield f"vary {VARIED}", varied
    if CAPTURES.is_dir():
        yield f"import {CAPTURES.name}", imported


def main() -> int:
    """Record hashes, or compare with those that were recorded; 1 if one differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("record", "compare"))
    parser.add_argument("file", type=Path, help="JSON file of the hashes")
    parser.add_argument("--only", default="*", help="a pattern of the names to be hashed")
    asked = parser.parse_args()
    before = json.loads(asked.file.read_text(encoding="utf-8")) if asked.verb == "compare" else {}
    after: dict[str, str] = {}
    differing = []
    for name, job in jobs():
        if not fnmatch(name, asked.only):
            continue
        began = time.perf_counter()
        after[name] = job()
        verdict = "" if asked.verb == "record" else "equal" if before.get(name) == after[name] else "DIFFERS"
        differing += [name] if verdict == "DIFFERS" else []
        print(f"{name:45} {after[name][:12]} {time.perf_counter() - began:6.1f} s  {verdict}", flush=True)
    if asked.verb == "record":
        asked.file.write_text(json.dumps(after, indent=1) + "\n", encoding="utf-8")
        return 0
    print(f"{len(after) - len(differing)} of {len(after)} equal" + "".join(f"\n  differs: {n}" for n in differing))
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
