"""Whether a crowd moves like people: figures of every character and of the crowd, beside what people do."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from gaitway.audit.natural import way as ways
from gaitway.audit.natural.bands import BANDS, COMPANY, FREE_SPEED_SPREAD, NaturalBand
from gaitway.audit.natural.company import in_company
from gaitway.audit.natural.gait import NEEDED, gait_figures, phases, step_signal, stretches
from gaitway.audit.natural.shortest_way import RADII, ShortestWays, needed_turning
from gaitway.audit.natural.upper_body import head_figures, head_yaw, standing, standing_life, yaw_speed
from gaitway.audit.natural.way import RATE, Way, way_of
from gaitway.audit.report import plain_values
from gaitway.core.arrays import BoolArray, FloatArray
from gaitway.core.progress import Progress, silent
from gaitway.motion.clip import Clip
from gaitway.take.model import Take
from gaitway.world.world import World

_FIRST = 10.0
"""Time from the begin in which steps are compared between characters [s]."""
_FORGOTTEN = 2.0
"""Time after which phases of people who walk at cadences of their own say nothing of what they were before [s]."""
_SHARES = {"arm_difference": 100.0, "step_time_change": 100.0, "step_width": 100.0, "sway": 100.0}
"""Factors from measured values to the units of the bands."""
_WALKING = 0.6
"""Speed above which a character counts for steps in time [m/s]."""
_MET, _LOOK = 2.5, 0.2
"""Who comes nearer than this to somebody else meets others [m], and the time from one look to the next [s]."""
_AHEAD = 0.5
"""Cosine of the angle to the way within which somebody is ahead."""
_OF_WISHES = ("jogging", "gait_switches", "speed")
"""Figures that say how fast people go when nobody tells them how fast."""
Strides = tuple[int, FloatArray, BoolArray]
"""First frame of a character in the take, its gait phase [rad] and whether it walks in each frame of its own."""


@dataclass(frozen=True, kw_only=True)
class NaturalMoment:
    """The value of one character, and a moment that shows it."""

    character: str
    value: float
    time: float
    """When it shows [s]."""
    place: tuple[float, float, float]
    """Where its root is then [m]."""


@dataclass(frozen=True, kw_only=True)
class NaturalRow:
    """One figure of the crowd beside its band."""

    band: NaturalBand
    value: float = math.nan
    """The crowd's value; NaN if there was nothing to measure."""
    slack: float = 0.0
    """By how much the band is wider for few characters: twice the standard error of the crowd's value."""
    characters: int = 0
    """Number of characters that were measured."""
    worst: NaturalMoment | None = None
    """The character that is farthest outside, or nearest to an edge."""

    @property
    def measured(self) -> bool:
        """Whether the figure says something about this crowd."""
        return not math.isnan(self.value) and self.characters >= self.band.least

    @property
    def ok(self) -> bool:
        """Whether the crowd is inside the band; also if nothing could be measured."""
        return not self.measured or self.band.holds(self.value, self.slack)

    @property
    def verdict(self) -> str:
        """One word."""
        return "not measured" if not self.measured else "ok" if self.ok else "outside"

    def cells(self) -> tuple[str, str, str, str, str]:
        """Return a line of a table: title, band, value, who is worst, verdict."""
        band = replace(self.band, low=self.band.low - self.slack, high=self.band.high + self.slack)
        worst = "-" if self.worst is None else self._worst_words()
        return band.title, _band_words(band), _number(self.value, band.unit), worst, self.verdict

    def _worst_words(self) -> str:
        assert self.worst is not None
        value = _number(self.worst.value, self.band.unit)
        return f"{self.worst.character} at {self.worst.time:.2f} s: {value}"


@dataclass(frozen=True)
class NaturalReport:
    """All figures of a take."""

    rows: tuple[NaturalRow, ...]
    characters: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Figures of each character, by name; those that could not be measured are left out."""

    def __getitem__(self, name: str) -> NaturalRow:
        return next(row for row in self.rows if row.band.name == name)

    @property
    def ok(self) -> bool:
        """Whether all figures that could be measured are in their bands."""
        return all(row.ok for row in self.rows)

    @property
    def outside(self) -> tuple[NaturalRow, ...]:
        """The figures that are not."""
        return tuple(row for row in self.rows if not row.ok)

    def table(self) -> list[tuple[str, str, str, str, str]]:
        """Return the lines of a table: title, band, value, who is worst, verdict."""
        return [row.cells() for row in self.rows]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        rows = [{**asdict(row), "ok": row.ok, "verdict": row.verdict} for row in self.rows]
        people = {name: dict(figures) for name, figures in self.characters.items()}
        plain = plain_values({"ok": self.ok, "rows": rows, "characters": people})
        assert isinstance(plain, dict)
        return plain


def natural_report(
    take: Take,
    world: World | None = None,
    *,
    bands: Sequence[NaturalBand] = BANDS,
    paced: Collection[str] = (),
    progress: Progress = silent,
) -> NaturalReport:
    """Measure how a take moves, beside what people do.

    Args:
        take: the take; characters without legs are measured by their ways alone.
        world: its place, from which the turning that a way needs is known; without it none is needed.
        bands: the bands to measure against.
        paced: names of characters that were told how fast to go; their speeds and gaits are compared with nobody's.
        progress: called before each character.
    """
    shortest = [] if world is None else [ShortestWays(world, radius) for radius in RADII]
    measured: dict[str, dict[str, float]] = {}
    meets, held_up = _encounters(take)
    moments: dict[str, dict[str, NaturalMoment]] = {}
    strides: list[Strides] = []
    for index, name in enumerate(take.names):
        progress("characters", index, len(take))
        clip, start = take.clip(index, RATE), float(take.start(index))
        if len(clip) < 3:
            continue
        looks = np.minimum(((start + np.arange(len(clip)) / RATE) / _LOOK).astype(int), held_up.shape[1] - 1)
        figures, frames, phase = _measured(clip, shortest, held_up[index, looks])
        if name in paced:
            figures = {key: value for key, value in figures.items() if key not in _OF_WISHES}
        if not meets[index] and "turning" in figures:
            figures["turning_alone"] = figures.pop("turning")
        measured[name] = figures
        moments[name] = {key: _moment(name, value, clip, frames.get(key, 0), start) for key, value in figures.items()}
        if phase is not None:
            strides.append((round(start * RATE), *phase))
    of_crowd = {"speed_spread": _speed_spread, "in_step": lambda values: in_step(strides)}
    companies = take.facts.get("companies", [])
    if companies:
        for name, (share, time, place) in in_company(take, companies).items():
            measured.setdefault(name, {})["company"] = share
            moment = NaturalMoment(character=name, value=share, time=time, place=place)
            moments.setdefault(name, {})["company"] = moment
        bands = (*bands, COMPANY)
    rows = tuple(_row(band, measured, moments, of_crowd.get(band.name)) for band in bands)
    return NaturalReport(rows, measured)


def _encounters(take: Take) -> tuple[BoolArray, BoolArray]:
    """Return which characters come near another one, who may stand (N,), and when another one is close ahead (N, T)."""
    times = np.arange(0.0, max(take.duration, _LOOK), _LOOK)
    places = take.planar(times)[..., :2]  # (N, T, 2)
    meets, held_up = np.zeros(len(take), dtype=bool), np.zeros(places.shape[:2], dtype=bool)
    going = np.gradient(places, axis=1) if len(times) > 1 else np.zeros_like(places)
    for k in range(len(times)):
        there = np.flatnonzero(~np.isnan(places[:, k, 0]))
        if len(there) < 2:
            continue
        pairs = there[cKDTree(places[there, k]).query_pairs(_MET, output_type="ndarray")]
        meets[pairs] = True
        for me, other in (pairs.T, pairs.T[::-1]):
            away, way = places[other, k] - places[me, k], going[me, k]
            ahead = (away * way).sum(axis=1) > _AHEAD * np.linalg.norm(away, axis=1) * np.linalg.norm(way, axis=1)
            held_up[me[ahead], k] = True
    return meets, held_up


def _moment(name: str, value: float, clip: Clip, frame: int, start: float) -> NaturalMoment:
    x, y, z = clip.root_positions[frame].tolist()
    return NaturalMoment(character=name, value=value, time=start + frame / RATE, place=(x, y, z))


def _measured(
    clip: Clip, shortest: Sequence[ShortestWays], held_up: BoolArray
) -> tuple[dict[str, float], dict[str, int], tuple[FloatArray, BoolArray] | None]:
    """Return the figures of one character, the frame that shows each best, and its gait phases and when it walks."""
    way = way_of(clip.root_positions)
    figures = _way_figures(way, clip, shortest, held_up)
    positions, world = clip.joint_transforms()
    figures |= {name: _SHARES.get(name, 1.0) * v for name, v in gait_figures(clip, way, positions, world).items()}
    figures |= head_figures(clip, way, world)
    figures["standing_life"] = standing_life(clip, way)
    figures = {name: value for name, value in figures.items() if not math.isnan(value)}
    phase = None
    if all(role in clip.skeleton.roles for role in NEEDED):
        phase = phases(step_signal(clip, positions)), way.speed > _WALKING
    return figures, _frames(clip, way, positions, world), phase


def _way_figures(way: Way, clip: Clip, shortest: Sequence[ShortestWays], held_up: BoolArray) -> dict[str, float]:
    if not way.moved:
        return {}
    change, length = ways.turning(way)
    ends = clip.root_positions[0, :2], clip.root_positions[-1, :2]
    needed = needed_turning(shortest, *ends) if shortest else 0.0
    excess = max(float(change.sum()) - needed, 0.0)
    return {
        "jogging": 100.0 * ways.jogging_share(way),
        "gait_switches": float(len(ways.gait_switches(way))),
        "speed": ways.mean_speed(way, held_up),
        "short_stops": float(len(ways.short_stops(way))),
        "turning": excess / length.sum() if length.sum() > 5.0 else math.nan,
        "excess_turning": excess if length.sum() > 5.0 else math.nan,
        "hook": ways.hook(way),
    }


def _frames(clip: Clip, way: Way, positions: FloatArray, world: FloatArray) -> dict[str, int]:
    """Return the frame of each figure that shows it best."""
    change, _ = ways.turning(way)
    sharp = int(np.argmax(np.convolve(change, np.ones(round(RATE)), mode="same"))) if len(change) else 0
    fastest, going = int(np.argmax(way.speed)), np.flatnonzero(way.moving)
    short, stood = ways.short_stops(way), standing(way)
    frames = {
        "jogging": fastest, "speed": fastest, "turning": sharp, "turning_alone": sharp,
        "excess_turning": sharp,
        "gait_switches": (ways.gait_switches(way) or [fastest])[0],
        "short_stops": sum(short[0]) // 2 if short else fastest,
        "hook": int(going[-1]) if len(going) else 0,
        "standing_life": sum(stood[0]) // 2 if stood else 0,
        "head_lead": sharp, "head_speed_turning": sharp, "head_speed": fastest,
    }  # fmt: skip
    if "head" in clip.skeleton.roles:
        frames["head_speed"] = int(np.argmax(yaw_speed(head_yaw(clip, way, world)) * way.moving))
    if all(role in clip.skeleton.roles for role in NEEDED):
        walks = stretches(clip, positions, way) or stretches(clip, positions, way, jog=True)
        frame = sum(walks[0].frames) // 2 if walks else fastest
        names = ("step_width", "sway", "trunk_pitch", "head_nod", "arm_difference", "step_time_change")
        frames |= dict.fromkeys((*names, "jog_pelvis_yaw"), frame)
    return frames


def _row(
    band: NaturalBand,
    measured: Mapping[str, Mapping[str, float]],
    moments: Mapping[str, Mapping[str, NaturalMoment]],
    whole: Callable[[FloatArray], tuple[float, int, float]] | None,
) -> NaturalRow:
    key = "speed" if band.name == "speed_spread" else band.name
    values = np.array([figures[key] for figures in measured.values() if key in figures])
    if whole is not None:
        value, count, slack = whole(values)
        return NaturalRow(band=band, value=value, slack=slack, characters=count)
    if not len(values):
        return NaturalRow(band=band)
    value = float(np.median(values) if band.of_crowd == "median" else values.mean())
    shown = [figures[key] for figures in moments.values() if key in figures]
    worst = max(shown, key=lambda moment: band.distance(moment.value))
    return NaturalRow(band=band, value=value, slack=band.slack(len(values)), characters=len(values), worst=worst)


def _speed_spread(speeds: FloatArray) -> tuple[float, int, float]:
    if len(speeds) < 2:
        return math.nan, len(speeds), 0.0
    # the standard deviation of a few draws varies by s / sqrt(2 (n - 1))
    return float(speeds.std(ddof=1)), len(speeds), 2.0 * FREE_SPEED_SPREAD / math.sqrt(2.0 * (len(speeds) - 1))


def in_step(strides: Sequence[Strides]) -> tuple[float, int, float]:
    """Return how much more alike the gait phases of walking characters are than by chance.

    Returns:
        The value, the number of characters, and twice the standard error of the value if they are alike by chance.
    """
    frames = round(_FIRST * RATE)
    turns, walking = np.zeros((len(strides), frames)), np.zeros((len(strides), frames), dtype=bool)
    for row, (first, phase, walks) in enumerate(strides):
        count = max(min(len(phase), frames - first), 0)
        turns[row, first : first + count] = phase[:count]
        walking[row, first : first + count] = walks[:count]
    many = walking.sum(axis=0)
    enough = many >= 3
    if not enough.any():
        return math.nan, int(walking.any(axis=1).sum()), 0.0
    together = np.abs(np.where(walking, np.exp(1j * turns), 0.0).sum(axis=0))[enough] / many[enough]
    chance = 0.5 * np.sqrt(np.pi / many[enough])
    # the length of the sum of n directions by chance has the variance (1 - pi / 4) n, for n that is not small
    moments = max(int(enough.sum()) / RATE / _FORGOTTEN, 1.0)
    slack = 2.0 * math.sqrt((1.0 - math.pi / 4.0) / (float(many[enough].mean()) * moments))
    return float((together - chance).mean()), int(walking.any(axis=1).sum()), slack


def _band_words(band: NaturalBand) -> str:
    low, high = math.isfinite(band.low), math.isfinite(band.high)
    if low and high:
        return f"{_number(band.low)} to {_number(band.high, band.unit)}"
    return f"at most {_number(band.high, band.unit)}" if high else f"at least {_number(band.low, band.unit)}"


def _number(value: float, unit: str = "") -> str:
    return "-" if math.isnan(value) else f"{value:.2f} {unit}".strip()
