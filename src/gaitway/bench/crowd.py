"""Benchmark of simulated pedestrians: steps beside pyrvo and JuPedSim, and throngs that must get through."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numba
from shapely import Polygon, box

from gaitway.bench._crowd_scenes import THRONGS, Square, run_throng, square
from gaitway.bench._live_throngs import LIVE_THRONGS, run_live, run_planned
from gaitway.bench._timing import BenchRow, BenchTable, Timing, installed, machine, measure, peer_label
from gaitway.crowd.dynamics.options import CrowdBody, CrowdOptions
from gaitway.crowd.dynamics.simulation import CrowdSimulation

SIZES = {10_000: 3.0, 50_000: 4.0}
"""Numbers of people, and the targets for how much faster than pyrvo a step is."""
JUPEDSIM_TARGET = 30.0
RATE = 20.0
"""Rate at which 50,000 people are simulated on two threads [Hz]."""
BODIES = {
    "shoulders": CrowdBody(),
    "discs of 0.18 m": CrowdBody.disc(0.18),
    "discs of 0.25 m": CrowdBody.disc(0.25),
}
SEEDS = {"gates": (3, 1, 2), "opening50": (1, 2, 3, 4, 5)}
"""Seeds of live throngs that are run more than once, since what local dynamics do is chaotic; others have seed 3."""
PLANNED = ("gates", "opening50")
"""Throngs that are planned, too; the others would take ten minutes more."""
_STEP = 0.05
_INSTALL = "not installed: pip install --no-deps {}"


def run() -> BenchTable:
    """Measure steps of two flows in a square with pillars, walls and routes included, and run the throngs."""
    rows = [*_steps(), *_throngs(), *_live_throngs()]
    title = (
        "crowd: steps of 0.05 s, median of interleaved rounds (for pyrvo its own step alone, without routes); throngs "
        "beside the time that they last"
    )
    return BenchTable(title, tuple(rows), machine(("pyrvo", "jupedsim")))


def _steps() -> list[BenchRow]:
    rows = []
    for people, target in SIZES.items():
        place = square(people)
        crowd = place.crowd(CrowdOptions(threads=1))
        tasks = {"ours": _stepper(crowd)}
        peer = _pyrvo(place) if installed("pyrvo") else None
        if peer is not None:
            tasks["pyrvo"] = peer
        times = measure(tasks, rounds=5)
        name = f"{people:,} people, one thread"
        rows.append(BenchRow(name, _label("pyrvo"), times["ours"], times.get("pyrvo"), target))
        if people == min(SIZES):
            other = _timed_jupedsim(place) if installed("jupedsim") else None
            rows.append(BenchRow(name, _label("jupedsim"), times["ours"], other, JUPEDSIM_TARGET))
            discs = place.crowd(CrowdOptions(threads=1, body=CrowdBody.disc(0.25)))
            plain = measure({"ours": _stepper(crowd), "discs": _stepper(discs)}, rounds=5)
            rows.append(BenchRow(name, "the same with discs of 0.25 m", plain["ours"], plain["discs"]))
    if (os.cpu_count() or 1) > 1 and getattr(numba.config, "NUMBA_NUM_THREADS", 1) > 1:
        crowd = square(max(SIZES)).crowd(CrowdOptions(threads=2))
        ours = measure({"ours": _stepper(crowd)}, rounds=5)["ours"]
        budget = 1e3 / RATE
        rows.append(
            BenchRow(f"{max(SIZES):,} people, two threads", f"{RATE:g} Hz", ours, Timing(budget, budget, budget), 1.0)
        )
    return rows


def _throngs() -> list[BenchRow]:
    rows = []
    for name, (make, seconds) in THRONGS.items():
        for kind, body in BODIES.items():
            result = run_throng(make(CrowdOptions(body=body)), seconds)
            took, lasted = 1e3 * result.wall_time, 1e3 * result.last
            rows.append(
                BenchRow(
                    f"{name}, {kind}: {result.text}",
                    "as long as it lasts",
                    Timing(took, took, took),
                    Timing(lasted, lasted, lasted),
                )
            )
    return rows


def _live_throngs() -> list[BenchRow]:
    """Return throngs of whole bodies, audited: live, a frame beside 30 Hz; and planned, beside the time they last."""
    rows = []
    for name, make in LIVE_THRONGS.items():
        for seed in SEEDS.get(name, (3,)):
            result = run_live(make(), seed=seed, audited=True)
            title = f"live {name}, seed {seed}: {result.text}"
            rows.append(BenchRow(title, "30 Hz on one core", _once(result.processor_ms), _once(1e3 / 30.0)))
        if name not in PLANNED:
            continue
        result = run_planned(make())
        lasts = _once(1e3 * result.seconds)
        rows.append(
            BenchRow(f"planned {name}: {result.text}", "as long as it lasts", _once(result.processor_ms), lasts)
        )
    return rows


def _once(milliseconds: float) -> Timing:
    """Return the timing of something that was measured once."""
    return Timing(milliseconds, milliseconds, milliseconds)


def _stepper(crowd: CrowdSimulation) -> Callable[[], object]:
    return lambda: crowd.step(_STEP)


def _label(package: str) -> str:
    return peer_label(package) if installed(package) else _INSTALL.format(package)


def _pyrvo(place: Square) -> Callable[[], object]:
    """Return the step of pyrvo in a square; wished velocities are set once, which costs it nothing."""
    import pyrvo  # noqa: PLC0415  (not installed as a rule)

    peer = pyrvo.RVOSimulator()
    peer.set_time_step(_STEP)
    peer.set_agent_defaults(3.0, 10, 2.0, 2.0, 0.25, 1.8)
    for x0, y0, x1, y1 in place.pillars:
        peer.add_obstacle([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
    peer.process_obstacles()
    for number, spot in enumerate(place.spots.tolist()):
        peer.add_agent(tuple(spot))
        peer.set_agent_pref_velocity(number, (1.34 if number < len(place.spots) // 2 else -1.34, 0.0))
    step: Callable[[], object] = peer.do_step
    return step


def _timed_jupedsim(place: Square) -> Timing:
    """Return the times of three steps of JuPedSim's collision-free speed model in a square."""
    import jupedsim as jps  # noqa: PLC0415  (not installed as a rule)

    side = place.side
    room = Polygon(
        box(0.0, 0.0, side, side).exterior.coords, [list(box(*p).exterior.coords)[:-1] for p in place.pillars]
    )
    peer = jps.Simulation(model=jps.CollisionFreeSpeedModel(), geometry=room, dt=0.01)
    ways = []
    for x in (side - 1.0, 1.0):
        stage = peer.add_exit_stage([(x - 0.3, 0.3), (x + 0.3, 0.3), (x + 0.3, side - 0.3), (x - 0.3, side - 0.3)])
        ways.append((peer.add_journey(jps.JourneyDescription([stage])), stage))
    for number, spot in enumerate(place.spots.tolist()):
        journey, stage = ways[0 if number < len(place.spots) // 2 else 1]
        peer.add_agent(
            jps.CollisionFreeSpeedModelAgentParameters(
                position=tuple(spot), journey_id=journey, stage_id=stage, radius=0.2, desired_speed=1.34
            )
        )
    peer.iterate(1)
    times = []
    for _ in range(3):
        began = time.perf_counter()
        peer.iterate(1)
        times.append(1e3 * (time.perf_counter() - began))
    return Timing(sorted(times)[1], min(times), max(times))
