"""Random takes for tests: several skeletons, cuts and fades, speeds, heights, layers."""

from __future__ import annotations

import numpy as np

from gaitway.core import rotations
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import ContactPoint, Skeleton
from gaitway.take import Layer, Segments, Take


def random_skeleton(rng: np.random.Generator, name: str) -> Skeleton:
    count = int(rng.integers(1, 9))
    parents = [-1] + [int(rng.integers(0, j)) for j in range(1, count)]
    points = tuple(ContactPoint(f"p{i}", int(rng.integers(0, count)), (0.1, 0.0, -0.1)) for i in range(2))
    offsets = rng.normal(0.0, 0.3, (count, 3))
    return Skeleton(
        tuple(f"j{j}" for j in range(count)), np.array(parents), offsets,
        contact_points=points, tips={count - 1: (0.0, 0.1, 0.2)}, name=name,
    )  # fmt: skip


def smooth_clip(rng: np.random.Generator, skeleton: Skeleton, name: str) -> Clip:
    """Joints that wander, some of them fast, and flip sign now and then."""
    frames = int(rng.integers(20, 40))
    vectors = np.cumsum(rng.normal(0.0, rng.choice([0.05, 0.4]), (frames, len(skeleton), 3)), axis=0)
    q = rotations.from_rotation_vector(vectors) * rng.choice([-1.0, 1.0], (frames, len(skeleton), 1))
    roots = np.cumsum(rng.normal(0.0, 0.05, (frames, 3)), axis=0)
    return Clip(skeleton, roots, q, 30.0, name, rng.random((frames, 2)) < 0.5, ("random",))


def random_layer(rng: np.random.Generator, character: int, joints: int) -> Layer:
    count, samples = int(rng.integers(0, min(joints, 3) + 1)), int(rng.integers(1, 20))
    turns = rotations.from_rotation_vector(rng.normal(0.0, 0.2, (samples, count, 3))).astype(np.float32)
    root = rotations.from_rotation_vector(rng.normal(0.0, 0.2, (samples, 3))).astype(np.float32)
    moves = rng.normal(size=(samples, 3)).astype(np.float32)
    return Layer(
        character, rng.uniform(0.0, 2.0), rng.permutation(joints)[:count], turns,
        root if rng.random() < 0.5 else None, moves if rng.random() < 0.5 else None, f"layer-{character}",
    )  # fmt: skip


def random_take(
    seed: int, characters: int = 6, *, layers: bool = True, blend: bool | None = None, kinds: int = 2
) -> Take:
    """A take that uses everything there is, unless told otherwise."""
    rng = np.random.default_rng(seed)
    skeletons = tuple(random_skeleton(rng, f"kind-{i}") for i in range(kinds))
    clips = tuple(smooth_clip(rng, skeletons[i % kinds], f"clip-{i}") for i in range(3 * kinds))
    bodies = rng.integers(0, kinds, characters)
    rows, ends, columns = [0], [], []
    for c in range(characters):
        fading = rng.random() < 0.6 if blend is None else blend
        time = float(rng.integers(0, 30)) / 30.0
        for i in range(int(rng.integers(2, 6))):
            clip = int(bodies[c]) + kinds * int(rng.integers(0, 3))
            speed = float(rng.choice([1.0, 1.0, 0.8, 1.3]))
            fade = float(rng.choice([0.1, 0.25, 1.0 / 7.0])) if fading and i > 0 else 0.0
            offset = float(rng.integers(0, 5)) / 30.0 if not fade else float(rng.choice([-1.0 / 30.0, 0.0, 0.05]))
            pose = (*rng.normal(0.0, 5.0, 2), rng.uniform(-4.0, 4.0))
            columns.append((clip, time, offset, speed, pose, rng.normal(), fade, int(rng.integers(-1, 2))))
            time += float(rng.uniform(0.3, 1.5))
        rows.append(len(columns))
        ends.append(time)
    columns[0] = (*columns[0][:-1], 0)
    names = ("clip", "start", "offset", "speed", "pose", "height", "blend", "behavior")
    table = Segments(**{name: np.array([row[i] for row in columns]) for i, name in enumerate(names)})
    lain = [random_layer(rng, int(c), len(skeletons[bodies[c]])) for c in rng.integers(0, characters, 4)]
    goals = rng.normal(size=(characters, 4)) ** 2
    goals[rng.random((characters, 4)) < 0.3] = np.nan
    return Take(
        names=tuple(f"person-{i}" for i in range(characters)), skeletons=skeletons, bodies=bodies, clips=clips,
        segments=table, rows=np.array(rows), ends=np.array(ends), fps=30.0, behaviors=("walk", "jog"),
        layers=tuple(lain) if layers else (), goals=goals,
        facts={"seed": seed, "scene": {"hash": "ä", "list": [1, 2.5, None, True]}},
    )  # fmt: skip
