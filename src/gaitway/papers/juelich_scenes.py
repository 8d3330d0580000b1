"""Experiments with real people from Juelich's archive: their places, and who came when (for `papers.juelich`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import shapely

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.crowd.tracks.reading import read_tracks
from gaitway.crowd.trajectories import Trajectories
from gaitway.world.grid import Bounds

HERMES = (1.55, 0.18)
"""Speeds of the people of 2009 when nobody is in the way: the mean of their tracks in the free corridor, and the spread
that is assumed [m/s]."""
USUAL = (1.34, 0.26)
"""The same of people in general [m/s] (Weidmann 1993)."""
Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A place with people who cross it."""

    name: str
    about: str
    bounds: Bounds
    """xmin, ymin, xmax, ymax of the place [m]."""
    blocks: tuple[Points, ...]
    """Solid polygons in it."""
    goals: tuple[Bounds, ...]
    """Areas where people leave; the first is for those who go towards the front, another for those who come back."""
    gates: tuple[tuple[Points, ...], ...]
    """Lines that lead to each goal, in order, for simulations that find no way by themselves."""
    speeds: tuple[float, float] = HERMES
    """Free speeds: mean and spread [m/s]."""
    file: str | None = None
    """Tracks of people, in the folder of the experiments."""
    unit: str | None = None
    fps: float | None = None
    """Unit and rate of that file, where it does not tell them."""
    area: Bounds | None = None
    """Where speed and density are measured."""
    door: Points | None = None
    """Line at which people are counted."""
    width: float = 0.0
    """Width of the door [m]."""
    along: tuple[float, float] = (0.0, -1.0)
    """The way through the place, for lanes: a unit vector."""

    @property
    def walkable(self) -> shapely.Polygon:
        """Where people can be."""
        solid = shapely.union_all([shapely.Polygon(block) for block in self.blocks])
        whole = shapely.box(*self.bounds).difference(solid)
        parts = sorted(getattr(whole, "geoms", [whole]), key=lambda part: part.area)
        return parts[-1]


@dataclass(frozen=True, eq=False)
class Inflow:
    """Who comes when and where, and how fast each would like to walk."""

    times: FloatArray
    """When each comes [s], in order; (N,)."""
    positions: FloatArray
    """Where [m]; (N, 2)."""
    goals: IntArray
    """Which goal of the experiment; (N,)."""
    speeds: FloatArray
    """Free speeds [m/s]; (N,)."""
    seconds: float
    """How long the people took [s]."""


def _corridor(name: str, about: str, file: str, exit_width: float) -> Experiment:
    """Return a corridor of 1.8 x 8 m with an exit at its end (Zhang et al. 2011); people come from a wider place."""
    low, high = 0.9 - 0.5 * exit_width, 0.9 + 0.5 * exit_width
    blocks: list[Points] = [
        ((-1.0, -4.3), (0.0, -4.3), (0.0, 4.0), (-1.0, 4.0)),
        ((1.8, -4.3), (2.8, -4.3), (2.8, 4.0), (1.8, 4.0)),
    ]
    if exit_width < 1.8:
        blocks += [
            ((-0.1, -4.3), (low, -4.3), (low, -4.1), (-0.1, -4.1)),
            ((high, -4.3), (1.9, -4.3), (1.9, -4.1), (high, -4.1)),
        ]
    return Experiment(
        name=name, about=about, bounds=(-1.0, -7.0, 2.8, 8.4), blocks=tuple(blocks),
        goals=((-0.8, -6.9, 2.6, -6.3),),
        gates=((((0.25, 3.6), (1.55, 3.6)), ((low + 0.25, -4.2), (high - 0.25, -4.2))),),
        file=file, unit="cm", fps=16.0, area=(0.0, -2.0, 1.8, 2.0),
        door=((low, -4.2), (high, -4.2)), width=exit_width,
    )  # fmt: skip


EXPERIMENTS = (
    Experiment(
        name="bottleneck 0.5 m", about="75 people before a door of 0.5 m (Wuppertal 2018)", file="040_c_56_h-.txt",
        bounds=(-3.5, -2.6, 3.5, 8.0), speeds=USUAL,
        blocks=(
            ((-0.7, -1.1), (-0.25, -1.1), (-0.25, -0.15), (-0.4, 0.0), (-2.8, 0.0), (-2.8, 6.7), (-3.05, 6.7),
             (-3.05, -0.3), (-0.7, -0.3)),
            ((0.25, -1.1), (0.7, -1.1), (0.7, -0.3), (3.05, -0.3), (3.05, 6.7), (2.8, 6.7), (2.8, 0.0), (0.45, 0.0),
             (0.25, -0.15)),
        ),
        goals=((-0.8, -2.5, 0.8, -1.9),), gates=((((-0.02, 0.0), (0.02, 0.0)), ((-0.02, -1.15), (0.02, -1.15))),),
        area=(-0.4, 0.5, 0.4, 1.3), door=((-0.25, -0.6), (0.25, -0.6)), width=0.5,
    ),
    _corridor("corridor, exit 0.7 m", "148 people in a corridor of 1.8 m", "uo-180-180-070.txt", 0.7),
    _corridor("corridor, exit 1.2 m", "170 people in a corridor of 1.8 m", "uo-180-180-120.txt", 1.2),
    _corridor("corridor, free", "66 people in a corridor of 1.8 m, who came by 0.6 m", "uo-060-180-180.txt", 1.8),
    Experiment(
        name="corner", about="137 people around a corner, 3 m wide", file="corner.txt", bounds=(-3.0, -3.0, 5.0, 5.0),
        blocks=(((0.0, 0.0), (5.1, 0.0), (5.1, 5.1), (0.0, 5.1)),), goals=((-2.9, 4.3, -0.1, 4.9),),
        gates=((((-0.2, -0.2), (-1.8, -1.8)),),), area=(-2.0, -2.0, 0.0, 0.0), along=(0.0, 1.0),
    ),
    Experiment(
        name="two streams", about="480 people against one another, 4 m wide", file="bi_corr_400_b_03.txt",
        bounds=(-8.0, 0.0, 7.0, 4.0), speeds=USUAL, blocks=(),
        goals=((5.9, 0.2, 6.8, 3.8), (-7.8, 0.2, -6.9, 3.8)), gates=((), ()), area=(-2.0, 0.0, 1.0, 4.0),
        along=(1.0, 0.0),
    ),
)  # fmt: skip
"""The experiments of the table."""


def door_room(width: float) -> Experiment:
    """Return a room of 8 x 8 m with a door in the middle of one side; nobody was tracked there."""
    low, high = -0.5 * width, 0.5 * width
    return Experiment(
        name=f"door {width:g} m", about="simulated only", bounds=(-4.0, -2.5, 4.0, 8.0), speeds=USUAL,
        blocks=(
            ((-4.1, -0.3), (low, -0.3), (low, 0.0), (-4.1, 0.0)), ((high, -0.3), (4.1, -0.3), (4.1, 0.0), (high, 0.0)),
        ),
        goals=((-3.5, -2.4, 3.5, -1.5),), gates=((((low + 0.24, -0.15), (high - 0.24, -0.15)),),),
        door=((low, -0.15), (high, -0.15)), width=width,
    )  # fmt: skip


def tracked(experiment: Experiment, folder: Path, seconds: float | None = None) -> Trajectories:
    """Return the tracks of the people of an experiment, heads as they were seen.

    Raises:
        GaitwayError: if they cannot be read.
    """
    path = folder / (experiment.file or "")
    return read_tracks(path, unit=experiment.unit, fps=experiment.fps, heads=False, until=seconds).trajectories


def inflow_of(people: Trajectories, experiment: Experiment, seed: int) -> Inflow:
    """Return who came when in an experiment: everybody where and when it was first seen."""
    stops = np.cumsum(people.lengths)
    firsts = people.positions[stops - people.lengths]
    lasts = people.positions[stops - 1]
    times = people.starts / people.fps
    order = np.lexsort((np.arange(len(people)), times))
    x0, y0, x1, y1 = experiment.bounds
    inside = np.clip(firsts, [x0 + 0.3, y0 + 0.3], [x1 - 0.3, y1 - 0.3])
    back = ((lasts - firsts) @ np.array(experiment.along) < 0.0) & (len(experiment.goals) > 1)
    ends = (people.starts + people.lengths) / people.fps
    return Inflow(
        times=times[order], positions=inside[order], goals=back[order].astype(np.int64),
        speeds=_speeds(experiment, len(people), seed), seconds=float(ends.max()),
    )  # fmt: skip


def crowd_before(experiment: Experiment, count: int, seed: int) -> Inflow:
    """Return people who stand before the door of a room, 2.5 on a square metre, and set out together."""
    side = 0.62
    columns = 12
    places = np.array([[(k % columns - 0.5 * (columns - 1)) * side, 0.6 + (k // columns) * side] for k in range(count)])
    places += np.random.default_rng([seed, 1]).uniform(-0.08, 0.08, places.shape)
    return Inflow(
        times=np.zeros(count), positions=places, goals=np.zeros(count, dtype=np.int64),
        speeds=_speeds(experiment, count, seed), seconds=4.0 + count / (2.0 * experiment.width),
    )  # fmt: skip


def _speeds(experiment: Experiment, count: int, seed: int) -> FloatArray:
    mean, spread = experiment.speeds
    return np.random.default_rng([seed, 0]).normal(mean, spread, count).clip(mean - 2.0 * spread, mean + 2.0 * spread)
