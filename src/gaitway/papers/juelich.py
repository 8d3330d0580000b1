"""Real people of Juelich's archive beside simulations of them: speeds at densities, flows, time gaps and lanes.

Every simulation gets the people of an experiment where and when they were first seen, in the same place. PedPy measures
people and simulations in the same way. Then all simulations empty a room by doors of 0.5 to 2.4 m.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from gaitway.core.errors import GaitwayError
from gaitway.crowd.trajectories import Trajectories
from gaitway.papers.charts import Chart, Series
from gaitway.papers.juelich_measures import DENSITIES, DoorFigures, at_door, fundamental, lanes, pedpy
from gaitway.papers.juelich_peers import PEERS, installed, simulated
from gaitway.papers.juelich_scenes import EXPERIMENTS, Experiment, crowd_before, door_room, inflow_of, tracked
from gaitway.papers.tables import Claim, PaperOptions, PaperTable, Progress, kept

PEOPLE = "people"
WIDTHS = (0.5, 0.7, 1.0, 1.2, 1.8, 2.4)
"""Widths of the doors of the room [m]."""
CALIBRATED = ("bottleneck 0.5 m", "corridor, exit 0.7 m")
"""Experiments that options of a simulation may be fitted to; all others show what they are worth."""
_ROOMFUL = 100
_FOLDERS = (Path("../shared/pedestrians"), Path("shared/pedestrians"))
_QUICK_SECONDS = 25.0
PUBLISHED = {1.0: "1.2 to 2.2"}
"""What experiments found for doors of these widths [1/s]."""
NOTES = (
    "people: tracks of the Institute for Advanced Simulation 7, Forschungszentrum Juelich (CC BY 4.0)",
    "corridors and corner: Duesseldorf 2009, 16 frames a second (headers are missing); bottleneck: Wuppertal 2018",
    "published: the flow grows linearly with the width of a door (Seyfried et al. 2009); while one at a time "
    "passes, the flow by width falls with the width (Kretz et al. 2006); the greatest flow by width of one stream is "
    "above that of two (Zhang and Seyfried 2012)",
    "speed: mean in an area, density by Voronoi cells; flow: people a second, from the 10th to the 90th in a hundred; "
    "gap: median time between two who pass; lanes: 0 mixed to 1 sorted (Rex and Loewen 2007)",
    f"for calibration: {' and '.join(CALIBRATED)}; for validation alone: all others",
    "JuPedSim: collision-free speed model as it comes, but discs of 0.15 m (with 0.2 m nobody passes 0.5 m); RVO2: "
    "discs of 0.2 m, horizons 1 and 0.7 s; nothing else of theirs is fitted",
    "all in steps of 0.05 s; who gets nowhere for 20 s ends a simulation; gaitway's options: tools/calibrate_crowd.py",
)


@dataclass(eq=False)
class _Figures:
    """Figures of everybody, by experiment."""

    speeds: dict[str, list[float | None]] = field(default_factory=dict)
    doors: dict[str, DoorFigures | None] = field(default_factory=dict)
    lanes: dict[str, float | None] = field(default_factory=dict)
    passed: dict[str, int] = field(default_factory=dict)

    def measure(self, who: str, people: Trajectories, experiment: Experiment) -> None:
        """Measure somebody's run."""
        self.speeds[who] = fundamental(people, experiment)
        self.doors[who] = at_door(people, experiment)
        self.lanes[who] = lanes(people, experiment)
        self.passed[who] = len(people)


def run(progress: Progress, options: PaperOptions) -> PaperTable:
    """Measure people and simulations; in a quick run one short experiment and two doors.

    Raises:
        MissingExtraError: if PedPy is not installed.
    """
    pedpy()
    notes, present = list(NOTES), [who for who, (module, _) in PEERS.items() if installed(module)]
    notes += [f"{who} is not installed, and left out" for who in PEERS if who not in present]
    folder = _folder(options)
    experiments = () if folder is None else EXPERIMENTS[2:3] if options.quick else EXPERIMENTS
    widths = (1.0, 1.8) if options.quick else WIDTHS
    if folder is None:
        notes.append(f"no experiments: there is no folder {_FOLDERS[0]}; name one with --pedestrians")
    figures, total, done = dict[str, _Figures](), len(experiments) + len(widths), 0
    for experiment in experiments:
        found = figures[experiment.name] = _Figures()
        progress(f"{experiment.name}: people", done, total)
        try:
            people = tracked(experiment, folder or Path(), _QUICK_SECONDS if options.quick else None)
        except GaitwayError as problem:
            notes.append(f"{experiment.name} is left out: {problem}")
            del figures[experiment.name]
            continue
        found.measure(PEOPLE, people, experiment)
        inflow = inflow_of(people, experiment, options.seed)
        for who in present:
            progress(f"{experiment.name}: {who}", done, total)
            found.measure(who, simulated(PEERS[who][1](experiment, options.seed), inflow), experiment)
        done += 1
    flows = dict[float, dict[str, DoorFigures | None]]()
    for width in widths:
        room = door_room(width)
        flows[width] = {}
        for who in present:
            progress(f"{room.name}: {who}", done, total)
            people = simulated(PEERS[who][1](room, options.seed), crowd_before(room, _ROOMFUL, options.seed))
            flows[width][who] = at_door(people, room)
        done += 1
    return _table(figures, flows, present, notes, options)


def _folder(options: PaperOptions) -> Path | None:
    """Return where the experiments are, None if nowhere."""
    if options.pedestrians is not None:
        if not options.pedestrians.is_dir():
            raise GaitwayError(f"{options.pedestrians}: there is no such folder of experiments")
        return options.pedestrians
    return next((folder for folder in _FOLDERS if folder.is_dir()), None)


def _table(
    figures: dict[str, _Figures],
    flows: dict[float, dict[str, DoorFigures | None]],
    present: Sequence[str],
    notes: Sequence[str],
    options: PaperOptions,
) -> PaperTable:
    everybody = (PEOPLE, *present)
    speeds, doors, data = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()

    def add(experiment: str, figure: str, at: str, values: Mapping[str, float | None]) -> dict[str, Any]:
        about = {"experiment": experiment, "figure": figure, "at": at}
        data.extend({**about, "who": who, "value": value} for who, value in values.items())
        return {who: _shown(values.get(who)) for who in everybody}

    for name, found in figures.items():
        for number, (low, high) in enumerate(DENSITIES):
            values = {who: found.speeds[who][number] for who in everybody}
            if values[PEOPLE] is not None:
                shown = add(name, "speed m/s", f"{low:g} to {high:g} 1/m2", values)
                speeds.append({"experiment": name, "1/m2": f"{low:g} to {high:g}", **shown})
    for name, found in figures.items():
        if found.doors[PEOPLE] is not None:
            counted = {who: found.doors[who] for who in everybody}
            flow = add(name, "flow 1/s", "door", {who: _flow(door) for who, door in counted.items()})
            gap = add(name, "gap s", "door", {who: None if door is None else door.gap for who, door in counted.items()})
            came = {who: float(0 if door is None else door.passed) for who, door in counted.items()}
            doors.append({"experiment": name, "figure": "flow 1/s", **flow})
            doors.append({"experiment": name, "figure": "gap s", **gap})
            doors.append({"experiment": name, "figure": "came through", **add(name, "came through", "door", came)})
        if found.lanes[PEOPLE] is not None:
            doors.append({"experiment": name, "figure": "lanes", **add(name, "lanes", "area", dict(found.lanes))})
    rooms = [
        {
            "door m": f"{width:g}",
            "published": PUBLISHED.get(width, "") or "-",
            **add(f"door {width:g} m", "flow 1/s", "door", {who: _flow(by.get(who)) for who in everybody}),
        }
        for width, by in flows.items()
    ]
    claims = _claims(figures, flows, options)
    titles = ("speed at densities [m/s]", "doors and lanes", "a room of a hundred people [1/s]")
    parts = [(title, rows) for title, rows in zip(titles, (speeds, doors, rooms), strict=True) if rows]
    return PaperTable(
        title="Juelich: real people beside simulations",
        rows=tuple(row for _, rows in parts for row in rows),
        notes=(*notes, *(claim.note for claim in claims)),
        ok=kept(claims),
        parts=tuple((title, len(rows)) for title, rows in parts),
        data=tuple(data),
        charts=_charts(figures, flows, everybody),
    )


def _claims(
    figures: dict[str, _Figures], flows: dict[float, dict[str, DoorFigures | None]], options: PaperOptions
) -> list[Claim]:
    """Return what the papers state and what gaitway is held to."""
    claims = list[Claim]()
    tracked_doors = [(e.width, f.doors[PEOPLE]) for e in EXPERIMENTS if (f := figures.get(e.name)) and e.width < 1.8]
    known = [(width, door.flow) for width, door in tracked_doors if door is not None]
    if len(known) > 1:
        rising = all(a[1] < b[1] for a, b in pairwise(sorted(known)))
        claims.append(Claim("wider doors let more people through (Seyfried et al. 2009), of the people", rising))
    ours = [(width, door.flow) for width, by in flows.items() if (door := by.get("gaitway")) is not None]
    if len(ours) > 1:
        rising = all(a[1] < b[1] for a, b in pairwise(ours))
        claims.append(Claim("wider doors let more people through, in gaitway", rising, ours=not options.quick))
    for name, found in figures.items():
        real, made = found.doors.get(PEOPLE), found.doors.get("gaitway")
        if real is not None and made is not None:
            near = abs(made.flow / real.flow - 1.0) < 0.25
            words = f"{name}: gaitway's flow is within a quarter of the people's ({made.flow:.2f}, {real.flow:.2f} 1/s)"
            claims.append(Claim(words, near, ours=False))
    return claims


def _charts(
    figures: dict[str, _Figures], flows: dict[float, dict[str, DoorFigures | None]], everybody: Sequence[str]
) -> tuple[Chart, ...]:
    charts = list[Chart]()
    for number, (name, found) in enumerate(figures.items()):
        series = tuple(Series(who, tuple(found.speeds[who])) for who in everybody if any(found.speeds[who]))
        if series:
            places = tuple(f"{low:g}-{high:g}" for low, high in DENSITIES)
            charts.append(
                Chart(name=f"speed-{number + 1}", title=name, places=places, across="people on a square metre",
                      up="speed [m/s]", series=series)
            )  # fmt: skip
    simulations = [who for who in everybody if who != PEOPLE]
    series = tuple(Series(who, tuple(_flow(by[who]) for by in flows.values())) for who in simulations)
    series = tuple(one for one in series if any(one.values))
    if series:
        charts.append(
            Chart(name="doors", title="a hundred people leave a room", places=tuple(f"{w:g} m" for w in flows),
                  across="width of the door", up="people a second", series=series)
        )  # fmt: skip
    return tuple(charts)


def _flow(door: DoorFigures | None) -> float | None:
    return None if door is None else door.flow


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}" if value < 20.0 else f"{value:.0f}"
