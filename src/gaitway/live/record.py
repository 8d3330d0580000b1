"""What live characters played, as a take: the last minutes of a crowd, to be looked at again, saved and exported."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gaitway._version import __version__
from gaitway.core import planar
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import TakeError
from gaitway.levels.level_scene import ground_spans
from gaitway.live.climbing.flights import LOGGED, PARTS, LiveFlight
from gaitway.live.climbing.places import CrowdFloors
from gaitway.live.engine import LiveEngine
from gaitway.live.mixing.recording import DenseRecord
from gaitway.live.playing._playing_kernels import GONE, LOG_ACTION, LOG_HEADING, LOG_LIFE, LOG_TIME, LOG_WHO, LOG_X
from gaitway.live.playing.arrays import library_of
from gaitway.live.playing.looks import RecordedLooks
from gaitway.motion.clip import Clip
from gaitway.performing.joins import mend_joins
from gaitway.performing.terrain.ground import follow_ground
from gaitway.performing.terrain.underfoot import GroundSpan
from gaitway.performing.upper_body.layers import LAYER
from gaitway.take.data import Layer
from gaitway.take.model import Take
from gaitway.take.tracks import Track, assemble

TakeFacts = Callable[[float], Mapping[str, Any]]
"""Facts of a take that begins at a time [s], as plain JSON values."""
MINUTES = 5.0
"""Length of a record unless told otherwise [min]."""
_LARGEST = 1e9
"""Largest number in a record."""
_SAME_TIME = 1e-6
"""Times that differ by less are equal [s]."""
THRONG = "throng"
"""Behaviour of people in a throng."""


class LiveRecord:
    """The steps that the characters of a crowd began in the last minutes. This class is **mutable**."""

    def __init__(
        self,
        crowd: LiveEngine,
        minutes: float = MINUTES,
        name: Callable[[int, int], str] | None = None,
        floors: CrowdFloors | None = None,
    ) -> None:
        """Record from now on; characters that are there already are taken to stand until their next steps.

        Args:
            crowd: the crowd, best before it has characters.
            minutes: length of the record [min].
            name: returns the name of a character, given its number and how many have had it; None for the name of its
                library and its number.
            floors: floors of the place, if it has several.
        """
        if not (np.isfinite(minutes) and minutes > 0.0):
            raise TakeError(f"record of {minutes} minutes; write a time above 0")
        self._crowd, self._seconds, self._name, self._floors = crowd, 60.0 * minutes, name, floors
        self._chunks: deque[FloatArray] = deque()
        self._looks = RecordedLooks(self._seconds)
        if crowd.mixture is not None:
            crowd.mixture.record = DenseRecord(self._seconds)
        crowd.watch(self._note)
        crowd.watch_looks(self._looks.note)

    def take(self, seconds: float | None = None, fps: float = 30.0, facts: TakeFacts | None = None) -> Take:
        """Return the last seconds as a take that begins at time 0.

        A layer shows where characters looked and how they stood, as far as that was recorded: not what was played
        before a state was restored.

        Args:
            seconds: length of the take [s]; None for all that is recorded.
            fps: rate at which the take is meant to be looked at [Hz].
            facts: facts about the take that begins at a time [s], as plain JSON values; None for no more than usual.

        Raises:
            TakeError: if nothing was played.
        """
        end = self._crowd.time
        begin = end - (self._seconds if seconds is None else float(seconds))
        rows = self.rows()
        begin = max(begin, float(rows[:, LOG_TIME].min(initial=end)), self._crowd.start_time)
        dense = self._dense(begin, fps)
        if self._crowd.mixture is not None and self._crowd.mixture.record is not None:
            begin = max(begin, self._crowd.mixture.record.since)
        if not (len(rows) and end > begin):
            raise TakeError("nothing was played that a take could be made of; step the crowd first")
        order = np.lexsort((rows[:, LOG_TIME], rows[:, LOG_LIFE], rows[:, LOG_WHO]))
        rows = rows[order]
        cuts = np.flatnonzero((np.diff(rows[:, [LOG_WHO, LOG_LIFE]], axis=0) != 0.0).any(axis=1)) + 1
        parts = np.split(rows, cuts)
        found, spans = [], dict[str, tuple[GroundSpan, ...]]()
        for part in parts:
            shown = dense.get((int(part[0, LOG_WHO]), int(part[0, LOG_LIFE])), [])
            found.append((part, self._track(part, begin, end, spans, shown)))
        tracks = [track for _, track in found if track is not None]
        people = [(int(part[0, LOG_WHO]), int(part[0, LOG_LIFE])) for part, track in found if track is not None]
        told = {
            "planner": "live",
            "collision": "body",
            "versions": {"gaitway": __version__},
            **(facts(begin) if facts else {}),
        }
        world = self._crowd.world if self._floors is None else self._floors.floors.world
        take = follow_ground(mend_joins(assemble(tracks, fps, told)), world, spans)
        return self._with_looks(take, people, begin)

    def _with_looks(self, take: Take, people: Sequence[tuple[int, int]], begin: float) -> Take:
        """Return the take with layers of what was shown of these characters, by number and life, from a time on [s]."""
        layers, libraries = list[Layer](), self._crowd.libraries
        for character, (who, life) in enumerate(people):
            first, last = take.start(character), float(take.ends[character])
            times = first + np.arange(int(np.ceil((last - first) * take.fps)) + 1) / take.fps
            skeleton = take.skeletons[int(take.bodies[character])]
            library = next(k for k, one in enumerate(libraries) if one.prepared.library.skeleton is skeleton)
            joints, turns = self._crowd.look_joints(library), self._looks.of(who, life, begin + times)
            if turns is not None and (joints >= 0).any():
                used = joints >= 0
                layers.append(Layer(character, first, joints[used], turns[:, used].astype(np.float32), name=LAYER))
        return replace(take, layers=(*take.layers, *layers)) if layers else take

    def named_by(self, name: Callable[[int, int], str]) -> None:
        """Let another function name the characters; see `__init__`."""
        self._name = name

    def rows(self) -> FloatArray:
        """Return the steps that are recorded, see `LiveEngine.watch`; (N, 7)."""
        return np.concatenate([*self._chunks, np.empty((0, 7))])

    def restore(self, rows: FloatArray, actions: int) -> None:
        """Go on from recorded steps.

        Args:
            rows: steps, as `rows` gave them.
            actions: number of actions of the crowd.

        Raises:
            ValueError: if there are no such actions, or numbers that are not finite.
        """
        known = np.array(rows)
        if (
            not np.isfinite(known).all()
            or (known[:, LOG_ACTION] < GONE).any()
            or not all(self._is_known(int(number), actions) for number in np.unique(known[:, LOG_ACTION]))
        ):
            raise ValueError("a record of actions that no library has")
        whole = known[:, [LOG_WHO, LOG_LIFE, LOG_ACTION]]
        if (whole != np.round(whole)).any() or (np.abs(known) > _LARGEST).any() or (known[:, :2] < 0.0).any():
            raise ValueError("a record with numbers that cannot be")
        played = known[known[:, LOG_ACTION] != GONE]
        frames = [id(library.frames) for library in self._crowd.libraries]
        shared = [frames.index(own) for own in frames]  # who changes the pace plays clips of another library
        owners = np.array([shared[self._played(int(number)).library] for number in played[:, LOG_ACTION]], np.int64)
        if len(np.unique(played[:, [LOG_WHO, LOG_LIFE]], axis=0)) < len(
            np.unique(np.column_stack([played[:, [LOG_WHO, LOG_LIFE]], owners]), axis=0)
        ):
            raise ValueError("a record of a character of several libraries")
        self._chunks = deque([known] if len(known) else [])

    def _note(self, rows: FloatArray) -> None:
        """Keep steps that began, and forget those that ended long ago."""
        self._chunks.append(rows)
        longest = max(float(library.body.durations.max()) for library in self._crowd.libraries)
        if self._crowd.climbing is not None:
            longest = max(longest, self._crowd.climbing.own.longest)
        old = self._crowd.time - self._seconds - longest
        self._crowd.kept_since = old
        if self._crowd.climbing is not None:
            self._crowd.climbing.kept_since = old - longest
        while self._chunks and self._chunks[0][:, LOG_TIME].max() < old:
            self._chunks.popleft()

    def _is_known(self, number: int, actions: int) -> bool:
        """Return whether an action is one of a library, or a part of a flight that is known."""
        climbing = self._crowd.climbing
        if number < LOGGED or climbing is None:
            return number < actions
        return (number - LOGGED) // PARTS in climbing.orders

    def _played(self, number: int, made: dict[int, LiveFlight] | None = None) -> _Played:
        """Return what an action of the record plays; flights that were made for that are kept in `made`."""
        libraries = self._crowd.libraries
        if number < LOGGED:
            library = libraries[int(library_of(libraries, np.array([number]))[0])]
            prepared, action = library.prepared, number - library.first_action
            clip, speed = prepared.library.clips[prepared.table.clips[action]], float(prepared.speeds[action])
            return _Played(library.number, clip, speed, prepared.actions.names[action])
        assert self._crowd.climbing is not None
        serial, k = divmod(number - LOGGED, PARTS)
        known = {} if made is None else made
        if serial not in known:
            known[serial] = self._crowd.climbing.flight(libraries, serial)
        flight = known[serial]
        part, prepared = flight.parts[k], libraries[flight.order.library].prepared
        rise = flight.rise if k == len(flight.parts) - 1 else 0.0
        return _Played(flight.order.library, part.clip, part.speed, prepared.actions.names[part.action], rise)

    def _dense(self, begin: float, fps: float) -> dict[tuple[int, int], list[tuple[float, Clip]]]:
        """Return what was shown of characters in place of their steps from a time on [s], as clips by number and life.

        These are poses of who was in a throng, and motions of who stood, such as sitting.
        """
        mixture, motions = self._crowd.mixture, self._crowd.motions.clips(self._crowd.time)
        if mixture is None or mixture.record is None:
            return motions
        return {**mixture.record.clips(mixture.skeletons, fps, begin), **motions}

    def _track(
        self, rows: FloatArray, begin: float, end: float, spans: dict[str, tuple[GroundSpan, ...]],
        shown: Sequence[tuple[float, Clip]] = (),
    ) -> Track | None:  # fmt: skip
        """Return what one character did between two times [s], or None.

        Args:
            rows: steps of the character.
            begin: first time.
            end: last time.
            spans: ground that the character walks on, by its name; this one's is added.
            shown: what was shown of it in a throng in place of its steps: times [s] and clips, in order.
        """
        gone = rows[rows[:, LOG_ACTION] == GONE, LOG_TIME]
        stop = min(end, float(gone.min(initial=end)))
        steps = rows[(rows[:, LOG_ACTION] != GONE) & (rows[:, LOG_TIME] < stop)]
        first = max(int(np.searchsorted(steps[:, LOG_TIME], begin, side="right")) - 1, 0)
        steps = steps[first:]
        if not len(steps):
            return None
        made: dict[int, LiveFlight] = {}
        played = [self._played(int(number), made) for number in steps[:, LOG_ACTION]]
        prepared, clips = self._crowd.libraries[played[0].library].prepared, [one.clip for one in played]
        back = np.zeros((len(steps), 3)) if self._floors is None else self._floors.back(steps[:, LOG_X : LOG_X + 2])
        places = steps[:, LOG_X : LOG_HEADING + 1] + back * (1.0, 1.0, 0.0)
        who, life = int(steps[0, LOG_WHO]), int(steps[0, LOG_LIFE])
        origins = np.array([clip.planar_path()[0] for clip in clips])
        poses = planar.compose(places, planar.inverse(origins))
        pieces = _pieces(steps[:, LOG_TIME], begin, stop, [(time, time + clip.duration) for time, clip in shown])
        if not pieces:
            return None
        own = [piece.step >= 0 for piece in pieces]
        shifts = [self._shift(clip) for _, clip in shown]
        name = self._name(who, life) if self._name is not None else _usual_name(prepared.library.name, who, life)
        levels = [0.0] * len(steps)
        if self._floors is not None:
            rises = [one.rise for one in played]
            grounds = self._floors.grounds(steps[:, LOG_TIME] - begin, steps[:, LOG_X : LOG_X + 2], rises)
            spans[name], levels = ground_spans(grounds, float(back[0, 2]))
        last = np.searchsorted(steps[:, LOG_TIME], [p.start + _SAME_TIME for p in pieces], side="right") - 1
        return Track(
            name=name,
            clips=tuple(clips[p.step] if p.step >= 0 else shown[p.shown][1] for p in pieces),
            starts=np.array([p.start - begin for p in pieces]),
            offsets=np.array([(p.start - p.since) * (played[p.step].speed if p.step >= 0 else 1.0) for p in pieces]),
            speeds=np.array([played[p.step].speed if p.step >= 0 else 1.0 for p in pieces]),
            poses=np.array([poses[p.step] if p.step >= 0 else shifts[p.shown] * (1.0, 1.0, 0.0) for p in pieces]),
            heights=np.array([levels[max(step, 0)] for step in last.tolist()]),
            blends=np.zeros(len(pieces)),
            behaviors=tuple(played[p.step].behavior if p.step >= 0 else _behavior(shown[p.shown][1]) for p in pieces),
            end=stop - begin,
            radius=self._crowd.options.radius if all(own) else None,
        )  # fmt: skip

    def _shift(self, clip: Clip) -> FloatArray:
        """Return by how much what was shown is moved from the plane of the floors into the place [m]; (3,)."""
        return np.zeros(3) if self._floors is None else self._floors.back(clip.root_positions[:1, :2])[0]


def _behavior(clip: Clip) -> str:
    """Return the behaviour of who was shown in place of steps: that of a motion, or else the throng."""
    return clip.labels[0] if clip.labels else THRONG


class _Played(NamedTuple):
    """What a step plays."""

    library: int
    clip: Clip
    speed: float
    """Seconds of the clip that pass in a second."""
    behavior: str
    rise: float = 0.0
    """How far up its clip leads [m]."""


class _Piece(NamedTuple):
    """A time of a track that one clip fills."""

    start: float
    """Time at which it begins [s]."""
    since: float
    """Time at which the clip would begin [s]."""
    step: int
    """Number of the step, or -1 for what was shown in a throng."""
    shown: int
    """Number of what was shown in a throng, or -1."""


def _pieces(times: FloatArray, begin: float, stop: float, spans: Sequence[tuple[float, float]]) -> list[_Piece]:
    """Return the times that steps fill, and those between of which it is known what was shown in a throng.

    Args:
        times: times at which steps begin [s]; (N,).
        begin: first time [s].
        stop: last time [s].
        spans: first and last time of what was shown in a throng [s], in order.
    """
    ends = np.append(times[1:], np.inf)
    out = list[_Piece]()
    at = max(begin, float(min([times[0], *(first for first, _ in spans)])))
    while at < stop - _SAME_TIME:
        inside = next((k for k, (low, high) in enumerate(spans) if low <= at + _SAME_TIME < high - _SAME_TIME), None)
        if inside is not None:
            out.append(_Piece(at, spans[inside][0], -1, inside))
            at = spans[inside][1]
            continue
        step = max(int(np.searchsorted(times, at + _SAME_TIME, side="right")) - 1, 0)
        out.append(_Piece(at, float(times[step]), step, -1))
        later = [low for low, _ in spans if low > at + _SAME_TIME]
        at = min([float(ends[step]), *later])
    return out


def _usual_name(library: str, who: int, life: int) -> str:
    return f"{library} {who + 1}" + (f" ({life})" if life > 1 else "")
