"""What is measured of people and of simulations alike, by PedPy (for `papers.juelich`)."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import shapely

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import MissingExtraError
from gaitway.crowd.trajectories import Trajectories
from gaitway.papers.juelich_scenes import Experiment

DENSITIES = ((0.25, 0.75), (0.75, 1.25), (1.25, 1.75), (1.75, 2.5), (2.5, 3.5), (3.5, 5.0))
"""Ranges of density [1/m^2]."""
_SPEED_S = 0.4
"""Time over which speeds are measured, to either side [s]."""
_EVERY_S = 0.5
"""Time between Voronoi diagrams [s]."""
_FEWEST = 8
"""Fewest diagrams in a range of density."""
_LANE = 0.4
"""Half the width of the strip in which somebody's lane is looked at [m]."""


class DoorFigures(NamedTuple):
    """What was counted at a door."""

    flow: float
    """People a second while the door is busy: from the tenth to the ninetieth of a hundred."""
    gap: float
    """Median time between two people [s]."""
    passed: int
    """How many came through."""


def pedpy() -> Any:
    """Return the package.

    Raises:
        MissingExtraError: if it is not installed.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module("pedpy")
    except ModuleNotFoundError:
        raise MissingExtraError("measuring people by PedPy", "pedestrians") from None


def at_door(people: Trajectories, experiment: Experiment) -> DoorFigures | None:
    """Return what PedPy counts at the door of an experiment; None if hardly anybody comes through."""
    if experiment.door is None:
        return None
    package = pedpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        counted, crossings = package.compute_n_t(
            traj_data=_pedpy_tracks(people), measurement_line=package.MeasurementLine(list(experiment.door))
        )
    del counted
    times = np.sort(crossings[package.FRAME_COL].to_numpy()) / people.fps
    if len(times) < 10:
        return None
    first, last = round(0.1 * len(times)), round(0.9 * len(times)) - 1
    busy = times[first : last + 1]
    flow = (len(busy) - 1) / max(busy[-1] - busy[0], 1e-9)
    return DoorFigures(float(flow), float(np.median(np.diff(busy))), len(times))


def fundamental(people: Trajectories, experiment: Experiment) -> list[float | None]:
    """Return the mean speed at each range of density, which is by Voronoi diagrams (Steffen and Seyfried 2010) [m/s].

    None where a range has too few diagrams.
    """
    densities, speeds = density_and_speed(people, experiment)
    out = list[float | None]()
    for low, high in DENSITIES:
        inside = (densities >= low) & (densities < high)
        out.append(float(speeds[inside].mean()) if inside.sum() >= _FEWEST else None)
    return out


def density_and_speed(people: Trajectories, experiment: Experiment) -> tuple[FloatArray, FloatArray]:
    """Return density [1/m^2] and speed [m/s] in the area of an experiment, every half second while people are in it."""
    if experiment.area is None or not len(people):
        return np.empty(0), np.empty(0)
    package = pedpy()
    place = experiment.walkable
    tracks = _pedpy_tracks(people, place)
    step = max(1, round(_SPEED_S * people.fps))
    data = tracks.data
    every = max(1, round(_EVERY_S * people.fps))
    some = package.TrajectoryData(data=data[data.frame % every == 0].reset_index(drop=True), frame_rate=people.fps)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        speed = package.compute_individual_speed(
            traj_data=tracks, frame_step=step, speed_calculation=package.SpeedCalculation.BORDER_SINGLE_SIDED
        )
        cells = package.compute_individual_voronoi_polygons(
            traj_data=some,
            walkable_area=package.WalkableArea(place),
            cut_off=package.Cutoff(radius=1.0, quad_segments=3),
        )
        area = package.MeasurementArea(shapely.box(*experiment.area))
        density, _ = package.compute_voronoi_density(individual_voronoi_data=cells, measurement_area=area)
        # not PedPy's Voronoi speed: it counts what no cell covers as standing still, so that few people seem slow
        means = package.compute_mean_speed_per_frame(traj_data=some, individual_speed=speed, measurement_area=area)
    both = density.reset_index().merge(means.reset_index(), on="frame")
    rho, v = both["density"].to_numpy(), both["speed"].to_numpy()
    good = np.isfinite(rho) & np.isfinite(v) & (rho > 0.0)
    return rho[good], v[good]


def lanes(people: Trajectories, experiment: Experiment) -> float | None:
    """Return how far two streams are sorted into lanes, 0 to 1 (Rex and Loewen 2007); PedPy has no measure of it.

    For everybody it is the squared share by which others in the strip along its way go the same way. None for one way.
    """
    if len(experiment.goals) < 2 or experiment.area is None:
        return None
    stops = np.cumsum(people.lengths)
    along = np.array(experiment.along)
    ways = (people.positions[stops - 1] - people.positions[stops - people.lengths]) @ along
    across = people.positions @ np.array([-along[1], along[0]])
    x0, y0, x1, y1 = experiment.area
    inside = ((people.positions >= (x0, y0)) & (people.positions <= (x1, y1))).all(axis=1)
    persons = np.repeat(np.arange(len(people)), people.lengths)
    frames = np.arange(len(persons)) - np.repeat(stops - people.lengths, people.lengths) + people.starts[persons]
    found = list[float]()
    every = max(1, round(_EVERY_S * people.fps))
    for frame in range(int(frames.min()), int(frames.max()) + 1, every):
        rows = np.flatnonzero((frames == frame) & inside)
        if len(rows) < 6:
            continue
        near = np.abs(across[rows][:, None] - across[rows]) < _LANE
        np.fill_diagonal(near, False)
        sign = np.sign(ways[persons[rows]])
        same = (near & (sign[:, None] == sign)).sum(axis=1)
        count = near.sum(axis=1)
        share = (2.0 * same - count)[count > 0] / count[count > 0]
        if len(share) and (sign > 0).any() and (sign < 0).any():
            found.append(float((share**2).mean()))
    return float(np.mean(found)) if len(found) >= _FEWEST else None


def _pedpy_tracks(people: Trajectories, place: shapely.Polygon | None = None) -> Any:
    """Return trajectories for PedPy, without rows that lie in walls if a place is given."""
    pandas = import_module("pandas")  # comes with PedPy
    persons = np.repeat(np.arange(len(people)), people.lengths)
    firsts = np.cumsum(people.lengths) - people.lengths
    frames = np.arange(len(persons)) - np.repeat(firsts, people.lengths) + people.starts[persons]
    table = pandas.DataFrame({"id": persons, "frame": frames, "x": people.positions[:, 0], "y": people.positions[:, 1]})
    if place is not None:
        shapely.prepare(place)
        table = table[shapely.contains_xy(place, people.positions[:, 0], people.positions[:, 1])].reset_index(drop=True)
    return pedpy().TrajectoryData(data=table, frame_rate=people.fps)
