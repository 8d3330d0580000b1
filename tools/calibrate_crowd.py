"""Calibrate the local dynamics of `gaitway.crowd` on real people: `python tools/calibrate_crowd.py FOLDER`.

Options of `CrowdOptions` and `CrowdBody` are drawn from ranges, by a seed, and simulated in the experiments that
`gaitway.papers.juelich.CALIBRATED` names, and in a room with a door of 1 m. The first row is how the defaults do. At
the end come the best of those whose flow through the door of 1 m is that of experiments, and whose bodies hardly
overlap. All other experiments of `gaitway papers juelich` are left for validation.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.crowd.dynamics.options import CrowdBody, CrowdOptions
from gaitway.crowd.trajectories import Trajectories
from gaitway.papers.juelich import CALIBRATED
from gaitway.papers.juelich_peers import GaitwayPeer, simulated
from gaitway.papers.juelich_scenes import EXPERIMENTS, Experiment, Inflow, crowd_before, door_room, inflow_of, tracked

RANGES = {
    "width": (0.42, 0.52),
    "depth": (0.22, 0.28),
    "headway": (0.20, 0.60),
    "horizon": (0.7, 1.6),
    "patience": (0.8, 3.0),
    "trunk_rate": (2.0, 4.0),
}
"""What is drawn, and from where."""
DOOR, DOOR_FLOW, ROOMFUL = 1.0, (1.2, 2.2), 100
"""Width of the door of the room [m], flows that experiments found there [1/s], and how many people leave."""
OVERLAP, SHARE = 0.01, 0.002
"""Depth of bodies in one another that counts [m], and the share of people in all steps that may be that deep."""


@dataclass(frozen=True)
class Candidate:
    """Options, and how they do."""

    values: tuple[float, ...]
    flows: tuple[float, ...]
    """In each experiment, then in the room [1/s]."""
    overlaps: float
    """Share of people in all steps of the room and of the first experiment who are in another."""
    loss: float


class CountingPeer(GaitwayPeer):
    """A simulation that counts how often bodies are in one another. This class is **mutable**."""

    deep = 0
    seen = 0

    def advance(self, seconds: float) -> None:
        """Move everybody on, and count."""
        super().advance(seconds)
        if len(self.crowd):
            depths = self.crowd.overlaps()[self.crowd.present]
            self.deep += int((depths > OVERLAP).sum())
            self.seen += len(depths)


def crossings(people: Trajectories, experiment: Experiment) -> FloatArray:
    """Return when people pass the door, which lies across the y axis [s]."""
    assert experiment.door is not None
    line, ends = experiment.door[0][1], np.cumsum(people.lengths)
    times = list[float]()
    for person, (stop, length) in enumerate(zip(ends.tolist(), people.lengths.tolist(), strict=True)):
        y = people.positions[stop - length : stop, 1]
        passed = np.flatnonzero((y[:-1] > line) & (y[1:] <= line))
        if len(passed):
            times.append((int(people.starts[person]) + int(passed[0])) / people.fps)
    return np.sort(times)


def flow(people: Trajectories, experiment: Experiment) -> float:
    """Return how many people a second pass the door, from the tenth to the ninetieth in a hundred."""
    times = crossings(people, experiment)
    first, last = round(0.1 * len(times)), round(0.9 * len(times)) - 1
    return (last - first) / max(times[last] - times[first], 1e-9) if len(times) >= 10 else 0.01


def options_of(values: tuple[float, ...]) -> CrowdOptions:
    """Return the options that were drawn."""
    named = dict(zip(RANGES, values, strict=True))
    body = CrowdBody(named.pop("width"), named.pop("depth"))
    return replace(CrowdOptions(threads=1, body=body), **named)


def tried(
    values: tuple[float, ...], places: list[tuple[Experiment, Inflow]], real: list[float], seed: int
) -> Candidate:
    """Simulate with some options."""
    flows, deep, seen = list[float](), 0, 0
    for number, (experiment, inflow) in enumerate(places):
        peer = CountingPeer(experiment, seed, options_of(values))
        flows.append(flow(simulated(peer, inflow), experiment))
        if number != 1:  # people come into the corridor so close to one another that bodies must overlap
            deep, seen = deep + peer.deep, seen + peer.seen
    overlaps = deep / max(seen, 1)
    loss = sum(abs(math.log(made / found)) for made, found in zip(flows, real, strict=False))
    low, high = DOOR_FLOW
    loss += 2.0 * max(math.log(flows[-1] / high), math.log(low / flows[-1]), 0.0)
    loss += max(overlaps / SHARE - 1.0, 0.0)
    return Candidate(values, tuple(flows), overlaps, loss)


def main() -> None:
    """Draw, simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the tracks of the experiments are")
    parser.add_argument("--draws", type=int, default=40, help="how many options are drawn; half of them near the best")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    chosen = [experiment for experiment in EXPERIMENTS if experiment.name in CALIBRATED]
    tracks = [tracked(experiment, asked.folder) for experiment in chosen]
    real = [flow(people, experiment) for people, experiment in zip(tracks, chosen, strict=True)]
    room = door_room(DOOR)
    places = [(e, inflow_of(people, e, asked.seed)) for people, e in zip(tracks, chosen, strict=True)]
    places.append((room, crowd_before(room, ROOMFUL, asked.seed)))
    print("people:", ", ".join(f"{e.name} {f:.2f} 1/s" for e, f in zip(chosen, real, strict=True)))
    default = CrowdOptions()
    start = tuple(
        {"width": default.body.width, "depth": default.body.depth}.get(name) or float(getattr(default, name))
        for name in RANGES
    )
    found = [tried(start, places, real, asked.seed)]
    show(found[0], "defaults")
    rng = np.random.default_rng(asked.seed)
    lows, highs = np.array(list(RANGES.values())).T
    for number in range(asked.draws):
        drawn = rng.uniform(lows, highs)
        if number >= asked.draws // 2:  # the second half: near the best so far
            best = min(found, key=lambda one: one.loss).values
            drawn = np.clip(np.array(best) + 0.15 * (highs - lows) * rng.standard_normal(len(lows)), lows, highs)
        values = tuple(round(float(value), 3) for value in drawn)
        found.append(tried(values, places, real, asked.seed))
        show(found[-1], str(number))
    print("best within bounds:")
    low, high = DOOR_FLOW
    allowed = [one for one in found if low <= one.flows[-1] <= high and one.overlaps <= SHARE]
    for one in sorted(allowed, key=lambda one: one.loss)[:3]:
        show(one, "")


def show(one: Candidate, label: str) -> None:
    """Print options and how they do."""
    named = " ".join(f"{name} {value:g}" for name, value in zip(RANGES, one.values, strict=True))
    flows = " ".join(f"{value:.2f}" for value in one.flows)
    print(f"{label:>8}  loss {one.loss:.3f}  flows {flows}  overlaps {100.0 * one.overlaps:.2f} %  {named}", flush=True)


if __name__ == "__main__":
    main()
