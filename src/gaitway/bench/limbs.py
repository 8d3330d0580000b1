"""Benchmark of limbs: analytic IK, the check of a whole body, a corrected arm with an umbrella, grasps and reaches.

The bars are 1 us for IK, 20 us with a search over swivel angles, 1 to 2 us for the check of a body, and for a
correction with a carried thing 30 ms (median) and 100 ms (95th percentile), smoothing and rounding included; a grasp in
two legs has 70 and 150 ms. A reaching roadmap of 1,500 nodes with its shortcuts has 0.5 s, a query 0.5 ms, and 5 ms
with smoothing; 99 % of the targets that valid postures have are to be reached. OMPL's RRT-Connect looks for the
umbrella's way with the same compiled checks.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import scipy

from gaitway.bench._ompl_peer import ompl_runs
from gaitway.bench._timing import BenchRow, BenchTable, Timing, installed, machine, measure, peer_label
from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.arrays import FloatArray, read_only
from gaitway.core.errors import LimbError
from gaitway.correcting import correct
from gaitway.handling import Handler, ThingPose, hand_motion, thing_carried
from gaitway.limbs import _joint_kernels, _planner_kernels
from gaitway.limbs._planner_kernels import DRAWS
from gaitway.limbs.linkage import Limb, fit_limb
from gaitway.limbs.places import kitchen, reachable_targets
from gaitway.limbs.planner import LimbPlanOptions
from gaitway.limbs.reaching import reach_posture, reach_postures, solve_limb
from gaitway.limbs.roadmap import RoadmapOptions, grow_roadmap
from gaitway.limbs.stance import stand
from gaitway.limbs.surroundings import Carried, body_around, body_gaps
from gaitway.limbs.umbrella import PAD, UmbrellaProblem, umbrella_problem
from gaitway.motion.clip import Clip
from gaitway.scene.things import Thing
from gaitway.take import assemble, lay_track, take_of
from gaitway.world.obstacle import Obstacle
from gaitway.world.shapes import Box, Cylinder
from gaitway.world.world import World

TARGETS, POSES, RUNS, GRASPS = 2000, 340, 400, 100
"""Targets of IK and poses of a body in one call, runs of the umbrella, and grasps."""
IK_TARGET, BODY_TARGET, WAY_TARGET = 100.0, 3.0, 1.0
"""Least ratios of the peers' times to ours."""
_SOLIDS = 50


def run() -> BenchTable:
    """Measure all."""
    walk = _long_walk()
    ik, ik_note = _ik(walk)
    body, body_note = _body(walk)
    arm, arm_note = _umbrella(walk)
    grasp, grasp_note = _grasp()
    whole, whole_note = _corrected(walk)
    reaches, reach_note = _reaching()
    return BenchTable(
        "limbs: IK, checks of a body, corrected arms, and reaches",
        (*ik, body, *arm, grasp, whole, *reaches),
        machine(["python-fcl", "scipy", "ompl"]),
        (ik_note, body_note, arm_note, grasp_note, whole_note, reach_note),
    )


def _long_walk() -> Clip:
    walk = load_cast("person").clips["walk_forward"]
    return assemble([lay_track("walker", [walk] * 6, (0.0, 0.0, 0.0))]).clip(0)


def _ik(walk: Clip) -> tuple[tuple[BenchRow, ...], str]:
    """Solve for targets that drawn postures have, beside a numerical solver for one of them."""
    limb = fit_limb(walk.skeleton, "left_arm", [walk])
    q = np.zeros((TARGETS, 9))
    _joint_kernels.draw_postures(limb.limits.rows, read_only(np.random.default_rng(0).random((TARGETS, 8))), q)
    starts, bases = np.tile([0.0, 0.0, 1.4], (TARGETS, 1)), np.tile(np.eye(3), (TARGETS, 1, 1))
    frames, points = np.empty((TARGETS, 3, 3, 3)), np.empty((TARGETS, 3, 3))
    _joint_kernels.frames_of(read_only(bases), read_only(starts), limb.lengths, read_only(q), frames, points)
    targets = np.ascontiguousarray(points[:, 2])
    ends = rotations.multiply(rotations.from_matrix(frames[:, 2]), rotations.conjugate(limb.turns[3]))
    hands, swivels, out = read_only(frames[:, 2].copy()), np.zeros(TARGETS), np.zeros((TARGETS, 9))
    reached = np.empty(TARGETS)
    args = (read_only(bases), read_only(starts), limb.lengths, read_only(targets), hands, read_only(swivels))
    times = measure(
        {
            "ours": lambda: _joint_kernels.solve_all(*args, out, reached),
            "numerical": lambda: _numerical(limb, bases[0], starts[0], targets[0], frames[0, 2]),
        }
    )
    met, at = np.empty_like(frames), np.empty_like(points)
    found, ok = solve_limb(limb, starts, bases, targets, ends)
    _joint_kernels.frames_of(read_only(bases), read_only(starts), limb.lengths, read_only(found), met, at)
    wrong = float(np.linalg.norm(at[:, 2] - targets, axis=1).max())
    each = Timing(*(t / TARGETS for t in (times["ours"].median, times["ours"].low, times["ours"].high)))
    batch = measure({"ours": lambda: reach_postures(limb, starts, bases, targets, ends)})["ours"]
    many = Timing(*(t / TARGETS for t in (batch.median, batch.low, batch.high)))
    search, share = _search(limb, starts, bases, targets, ends)
    rows = (
        BenchRow("IK of an arm", "SciPy, least squares", each, times["numerical"], IK_TARGET),
        BenchRow("IK with a search over swivel angles, one target from Python", "none", search, None),
        BenchRow("IK with a search over swivel angles, one of 2,000 targets", "none", many, None),
    )
    return rows, (
        f"IK takes {1e3 * each.median:.2f} us a target (bar 1 us), {int(ok.sum())} of {TARGETS} in reach, within "
        f"{wrong:.0e} m; with the search {1e3 * search.median:.0f} us from Python and {1e3 * many.median:.1f} us for "
        f"one of many (bar 20 us), {100.0 * share:.1f} % within limits"
    )


def _search(
    limb: Limb, starts: FloatArray, bases: FloatArray, targets: FloatArray, ends: FloatArray
) -> tuple[Timing, float]:
    """Return the times of searches over swivel angles, and the share of targets for which one was found."""
    spent, found = list[float](), 0
    for n in range(200):
        began = time.process_time()
        with suppress(LimbError):  # no swivel angle keeps the limits
            reach_posture(limb, starts[n], bases[n], targets[n], ends[n])
            found += 1
        spent.append(1e3 * (time.process_time() - began))
    spent = spent[1:]  # the first compiles
    return Timing(statistics.median(spent), min(spent), max(spent)), found / 200


def _numerical(limb: Limb, base: FloatArray, start: FloatArray, target: FloatArray, hand: FloatArray) -> Any:
    """Solve for one target by least squares over seven angles."""
    frames, points = np.empty((1, 3, 3, 3)), np.empty((1, 3, 3))
    bases, starts = read_only(base[None]), read_only(start[None])

    def away(angles: FloatArray) -> FloatArray:
        q = np.zeros((1, 9))
        q[0, :7] = angles
        _joint_kernels.frames_of(bases, starts, limb.lengths, read_only(q), frames, points)
        return np.concatenate([points[0, 2] - target, 0.3 * (frames[0, 2] - hand).ravel()])

    return scipy.optimize.least_squares(away, np.array([-0.5, 0.3, 0.0, 1.0, 0.0, 0.0, 0.0]))


def _body(walk: Clip) -> tuple[BenchRow, str]:
    """Check a whole body among boxes and cylinders, with itself, beside python-fcl without the body itself."""
    rng = np.random.default_rng(0)
    shapes: list[Box | Cylinder] = []
    for number in range(_SOLIDS):
        x, y = (float(v) for v in rng.uniform((-2.0, -4.0), (8.0, 4.0)))
        box = number % 2 == 0
        shapes.append(Box((x, y), (0.5, 0.5), 1.5) if box else Cylinder((x, y), 0.2, 1.5))
    world = World((-20.0, -20.0, 20.0, 20.0), tuple(Obstacle(shape) for shape in shapes))
    axes, radii, around = body_around(walk, 0.0, world)
    times = np.arange(len(walk)) / walk.fps
    rows = np.arange(POSES) % len(walk)
    poses, when = np.ascontiguousarray(axes[rows]), np.ascontiguousarray(times[rows])
    tasks: dict[str, Callable[[], object]] = {"ours": lambda: body_gaps(poses, radii, when, around, 0.02, stop=True)}
    if installed("python-fcl"):
        tasks["fcl"] = _fcl_task(shapes, poses[:20], radii)
    spent = measure(tasks)
    ours = Timing(*(t / POSES for t in (spent["ours"].median, spent["ours"].low, spent["ours"].high)))
    theirs = None
    if "fcl" in spent:
        theirs = Timing(*(t / 20 for t in (spent["fcl"].median, spent["fcl"].low, spent["fcl"].high)))
    touched = int((body_gaps(axes, radii, times, around, 0.02) < 0.0).sum())
    note = (
        f"a body of {len(radii)} capsules among {_SOLIDS} solids takes {1e3 * ours.median:.2f} us with "
        f"{len(around.ease)} pairs of its own (bar 1 to 2 us); {touched} of {len(walk)} poses touch something"
    )
    row = BenchRow("check of a whole body", peer_label("python-fcl"), ours, theirs, BODY_TARGET)
    return row, note


def _fcl_task(shapes: list[Box | Cylinder], poses: FloatArray, radii: FloatArray) -> Callable[[], object]:
    """Return the same checks by python-fcl's managers, with poses that are set anew for each check."""
    import fcl  # noqa: PLC0415  (an extra)

    def placed(shape: Box | Cylinder) -> Any:
        middle = np.array([*shape.center, 0.5 * shape.height])
        solid = (
            fcl.Box(*shape.size, shape.height) if isinstance(shape, Box) else fcl.Cylinder(shape.radius, shape.height)
        )
        return fcl.CollisionObject(solid, fcl.Transform(np.eye(3), middle))

    fixed = fcl.DynamicAABBTreeCollisionManager()
    fixed.registerObjects([placed(shape) for shape in shapes])
    fixed.setup()
    lengths = np.linalg.norm(poses[0, :, 1] - poses[0, :, 0], axis=1)
    parts = [
        fcl.CollisionObject(fcl.Capsule(float(r), float(long)), fcl.Transform())
        for r, long in zip(radii, lengths, strict=True)
    ]
    body = fcl.DynamicAABBTreeCollisionManager()
    body.registerObjects(parts)
    body.setup()
    up = np.array([0.0, 0.0, 1.0])
    turns = rotations.to_matrix(rotations.between(up, poses[:, :, 1] - poses[:, :, 0]))
    middles = poses.mean(axis=2)

    def check() -> int:
        touched = 0
        for n in range(len(poses)):
            for k, part in enumerate(parts):
                part.setTransform(fcl.Transform(turns[n, k], middles[n, k]))
            body.update()
            data = fcl.CollisionData()
            body.collide(fixed, data, fcl.defaultCollisionCallback)
            touched += data.result.is_collision
        return touched

    return check


def _umbrella(walk: Clip) -> tuple[tuple[BenchRow, ...], str]:
    """Plan the arm with the umbrella for many seeds, and look for its bare way beside OMPL."""
    problem = umbrella_problem(walk)
    problem.plan(0)  # compiles
    spent, solved, jumps = [], 0, []
    for seed in range(RUNS):
        began = time.process_time()
        plan = problem.plan(seed)
        spent.append(1e3 * (time.process_time() - began))
        if plan is not None:
            solved += 1
            jumps.append(float(np.abs(np.diff(plan.offsets, n=2, axis=0)).max()) * problem.clip.fps)
    ours = Timing(statistics.median(spent), min(spent), max(spent))
    late = float(np.quantile(spent, 0.95))
    note = (
        f"umbrella between posts: {solved} of {RUNS} solved, {ours.median:.0f} ms median, {late:.0f} ms 95th "
        f"percentile (bars 30 and 100; paper 1 to 2 s), each the calmest of four plans, rounded; an angle's "
        f"speed changes by at most {np.median(jumps):.1f} rad/s from frame to frame (median)"
    )
    bare, solved_bare = _bare_ways(problem)
    peer, solved_peer = None, 0
    if installed("ompl"):
        times, solved_peer = ompl_runs(problem, RUNS)
        peer = _spread(times)
        note += (
            f"; a bare way takes {statistics.median(bare):.1f} ms, 95th percentile {np.quantile(bare, 0.95):.1f} ms, "
            f"{solved_bare} of {RUNS}; OMPL {peer.median:.1f} and {np.quantile(times, 0.95):.1f} ms, {solved_peer}"
        )
    rows = (
        BenchRow("arm with an umbrella planned, processor time", "paper: 1000 to 2000 ms", ours, None),
        BenchRow("way of that arm by RRT-Connect, neither shortened nor rounded", peer_label("ompl"), _spread(bare),
                 peer, WAY_TARGET),
    )  # fmt: skip
    return rows, note


def _bare_ways(problem: UmbrellaProblem) -> tuple[list[float], int]:
    """Return the processor times of single searches for the way of an arm [ms], and how many found one."""
    numbers = read_only(LimbPlanOptions(margin=0.01).numbers())
    begin, end = problem.bad[0] - PAD, problem.bad[1] + PAD
    spent, solved = [], 0
    for seed in range(RUNS):
        draws, checks = read_only(np.random.default_rng(seed).random((6000, DRAWS))), np.zeros(1, dtype=np.int64)
        began = time.process_time()
        path = _planner_kernels.grow(problem.window.table, numbers, begin, end, draws, 1500, checks)
        spent.append(1e3 * (time.process_time() - began))
        solved += len(path) > 0
    return spent, solved


def _grasp() -> tuple[BenchRow, str]:
    """Take a cup from a table past a jar in two legs, from many places and with many seeds."""
    table = Obstacle(Box((0.75, 0.0), (0.9, 1.6), 0.75), name="table")
    jar = Obstacle(Cylinder((0.4, -0.32), 0.05, 0.25, 0.75), name="jar")
    handler = Handler.at(load_cast("person"), (0.0, 0.0, 0.0), World((-5.0, -5.0, 5.0, 5.0), (table, jar)))
    cup = Thing(name="cup", shape="cylinder", size=(0.08, 0.08, 0.1))
    places = np.random.default_rng(0).uniform((0.42, -0.15), (0.55, 0.05), (GRASPS, 2))
    spent, gaps, misses = list[float](), list[float](), list[float]()
    for seed, (x, y) in enumerate([places[0], *places]):  # the first compiles
        pose = ThingPose.upright((float(x), float(y), 0.75), 0.0)

        def grasped(goal: FloatArray, pose: ThingPose = pose) -> tuple[FloatArray, Carried]:
            inner = pose.within(handler.wrist(goal, "right"))
            return handler.carrying(cup, "right", inner, handler.rest), thing_carried(cup, inner)

        with suppress(LimbError):  # no way
            began = time.process_time()
            task = handler.grasping(cup, "right", pose)
            motion = hand_motion(handler, task, handler.rest, grasped=grasped, seed=seed)
            if seed > 0:
                spent.append(1e3 * (time.process_time() - began))
                gaps.append(motion.gap)
                misses.append(motion.miss)
    ours = _spread(spent)
    note = (
        f"a cup is grasped past a jar and carried off: {len(spent)} of {GRASPS}, within {1e3 * max(misses):.2f} mm, "
        f"gaps {100.0 * min(gaps):.2f} to {100.0 * max(gaps):.2f} cm; choice of posture and grip and both legs take "
        f"{ours.median:.0f} ms (median) and {np.quantile(spent, 0.95):.0f} ms (95th percentile; bars 70 and 150)"
    )
    return BenchRow("grasp in two legs, posture and grip chosen", "none", ours, None), note


def _corrected(walk: Clip) -> tuple[BenchRow, str]:
    """Correct a whole take with two posts beside its hands, audits included."""
    posts = []
    for side, share in (("left", 0.4), ("right", 0.6)):
        frame = int(share * len(walk))
        x, y, _ = walk.joint_positions()[frame, walk.skeleton.roles[f"{side}_wrist"]].tolist()
        posts.append(Obstacle(Cylinder((x, y + (0.1 if side == "left" else -0.1)), 0.1, 1.3), name=f"{side} post"))
    world, take = World((-20.0, -20.0, 20.0, 20.0), tuple(posts)), take_of([walk])
    correct(take, world)
    spent, clean, arms = [], 0, 0
    for seed in range(20):
        began = time.process_time()
        result = correct(take, world, seed=seed)
        spent.append(1e3 * (time.process_time() - began))
        clean += result.ok
        arms += len(result.corrections)
    ours = Timing(statistics.median(spent), min(spent), max(spent))
    note = f"take with two posts corrected: {clean} of 20 clean by the audit, {arms} arms, audits included"
    return BenchRow("take corrected, two arms", "none", ours, None), note


def _reaching() -> tuple[tuple[BenchRow, ...], str]:
    """Grow a roadmap in a kitchen, and reach for targets that the right hand has in drawn valid postures."""
    world = kitchen()
    stander = stand(load_cast("person").clips["stand"], world)
    targets, reached = reachable_targets(stander, RUNS), 0
    small = grow_roadmap(stander, world, RoadmapOptions(nodes=400))
    for target in targets[:50]:  # compiles
        with suppress(LimbError):
            small.reach("right", target)
            small.likely_goal("right", target)
    grown = list[float]()
    for seed in range(5):
        began = time.process_time()
        roadmap = grow_roadmap(stander, world, seed=seed)
        grown.append(1e3 * (time.process_time() - began))
    spent: dict[str, list[float]] = {"goal": [], "way": [], "smooth": []}
    for target in targets:
        began = time.process_time()
        with suppress(LimbError):  # no posture found, or no way
            goal = roadmap.goal("right", target)
            at_goal = time.process_time()
            try:
                path, _ = roadmap.path(stander.rest, goal, "right")
            except LimbError:  # no way leads there: as `ReachRoadmap.reach` does, look for another posture
                path, _ = roadmap.path(stander.rest, roadmap.likely_goal("right", target), "right")
            at_way = time.process_time()
            if len(path) > 2:
                roadmap.smoothed(path)
            reached += 1
            for name, since, until in (("goal", began, at_goal), ("way", at_goal, at_way), ("smooth", at_way, None)):
                spent[name].append(1e3 * ((time.process_time() if until is None else until) - since))
    whole = np.sum([spent[name] for name in spent], axis=0)
    rows = (
        BenchRow("roadmap of 1,500 nodes, a kitchen", "paper: 163,000 ms", _spread(grown), None),
        BenchRow("way through a roadmap to a known posture", "none", _spread(spent["way"]), None),
        BenchRow("reach: posture, way and smoothing", "none", _spread(whole.tolist()), None),
    )
    late = float(np.quantile(whole, 0.95))
    note = (
        f"reaches in a kitchen: {reached} of {len(targets)} targets; posture by IK "
        f"{statistics.median(spent['goal']):.2f} ms, "
        f"way {statistics.median(spent['way']):.2f} ms (bar 0.5), with smoothing {statistics.median(whole):.2f} ms, "
        f"95th percentile {late:.1f} ms (bar 5); {roadmap.shortcuts} shortcuts; roadmap bar 500 ms"
    )
    return rows, note


def _spread(spent: list[float]) -> Timing:
    return Timing(statistics.median(spent), min(spent), max(spent))
