"""What live characters played, as a take: the last minutes of a crowd, to be looked at again, saved and exported."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gaitway._version import __version__
from gaitway.core import planar
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import TakeError
from gaitway.live.engine import LiveEngine
from gaitway.live.playing._playing_kernels import GONE, LOG_ACTION, LOG_HEADING, LOG_LIFE, LOG_TIME, LOG_WHO, LOG_X
from gaitway.live.playing.arrays import library_of
from gaitway.live.playing.looks import RecordedLooks
from gaitway.performing.joins import mend_joins
from gaitway.performing.terrain.ground import follow_ground
from gaitway.performing.upper_body.layers import LAYER
from gaitway.take.data import Layer
from gaitway.take.model import Take
from gaitway.take.tracks import Track, assemble

MINUTES = 5.0
"""Length of a record unless told otherwise [min]."""
_LARGEST = 1e9
"""Largest number in a record."""


class LiveRecord:
    """The steps that the characters of a crowd began in the last minutes. This class is **mutable**."""

    def __init__(
        self, crowd: LiveEngine, minutes: float = MINUTES, name: Callable[[int, int], str] | None = None
    ) -> None:
        """Record from now on; characters that are there already are taken to stand until their next steps.

        Args:
            crowd: the crowd, best before it has characters.
            minutes: length of the record [min].
            name: returns the name of a character, given its number and how many have had it; None for the name of its
                library and its number.
        """
        if not (np.isfinite(minutes) and minutes > 0.0):
            raise TakeError(f"record of {minutes} minutes; write a time above 0")
        self._crowd, self._seconds, self._name = crowd, 60.0 * minutes, name
        self._chunks: deque[FloatArray] = deque()
        self._looks = RecordedLooks(self._seconds)
        crowd.watch(self._note)
        crowd.watch_looks(self._looks.note)

    def take(self, seconds: float | None = None, fps: float = 30.0, facts: Mapping[str, Any] | None = None) -> Take:
        """Return the last seconds as a take that begins at time 0.

        A layer shows where characters looked and how they stood, as far as that was recorded: not what was played
        before a state was restored.

        Args:
            seconds: length of the take [s]; None for all that is recorded.
            fps: rate at which the take is meant to be looked at [Hz].
            facts: facts about the take as plain JSON values, such as its origin.

        Raises:
            TakeError: if nothing was played.
        """
        end = self._crowd.time
        begin = end - (self._seconds if seconds is None else float(seconds))
        rows = self.rows()
        begin = max(begin, float(rows[:, LOG_TIME].min(initial=end)), self._crowd.start_time)
        if not (len(rows) and end > begin):
            raise TakeError("nothing was played that a take could be made of; step the crowd first")
        order = np.lexsort((rows[:, LOG_TIME], rows[:, LOG_LIFE], rows[:, LOG_WHO]))
        rows = rows[order]
        cuts = np.flatnonzero((np.diff(rows[:, [LOG_WHO, LOG_LIFE]], axis=0) != 0.0).any(axis=1)) + 1
        parts = np.split(rows, cuts)
        found = [(part, self._track(part, begin, end)) for part in parts]
        tracks = [track for _, track in found if track is not None]
        people = [(int(part[0, LOG_WHO]), int(part[0, LOG_LIFE])) for part, track in found if track is not None]
        told = {"planner": "live", "collision": "body", "versions": {"gaitway": __version__}, **(facts or {})}
        take = follow_ground(mend_joins(assemble(tracks, fps, told)), self._crowd.world)
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
            or (known[:, LOG_ACTION] >= actions).any()
        ):
            raise ValueError("a record of actions that no library has")
        whole = known[:, [LOG_WHO, LOG_LIFE, LOG_ACTION]]
        if (whole != np.round(whole)).any() or (np.abs(known) > _LARGEST).any() or (known[:, :2] < 0.0).any():
            raise ValueError("a record with numbers that cannot be")
        played = known[known[:, LOG_ACTION] != GONE]
        owners = library_of(self._crowd.libraries, played[:, LOG_ACTION].astype(np.int64))
        if len(np.unique(played[:, [LOG_WHO, LOG_LIFE]], axis=0)) < len(
            np.unique(np.column_stack([played[:, [LOG_WHO, LOG_LIFE]], owners]), axis=0)
        ):
            raise ValueError("a record of a character of several libraries")
        self._chunks = deque([known] if len(known) else [])

    def _note(self, rows: FloatArray) -> None:
        """Keep steps that began, and forget those that ended long ago."""
        self._chunks.append(rows)
        longest = max(float(library.body.durations.max()) for library in self._crowd.libraries)
        old = self._crowd.time - self._seconds - longest
        while self._chunks and self._chunks[0][:, LOG_TIME].max() < old:
            self._chunks.popleft()

    def _track(self, rows: FloatArray, begin: float, end: float) -> Track | None:
        """Return what one character did between two times [s], or None."""
        gone = rows[rows[:, LOG_ACTION] == GONE, LOG_TIME]
        stop = min(end, float(gone.min(initial=end)))
        steps = rows[(rows[:, LOG_ACTION] != GONE) & (rows[:, LOG_TIME] < stop)]
        first = max(int(np.searchsorted(steps[:, LOG_TIME], begin, side="right")) - 1, 0)
        steps = steps[first:]
        if not len(steps):
            return None
        numbers = steps[:, LOG_ACTION].astype(np.int64)
        library = self._crowd.libraries[int(library_of(self._crowd.libraries, numbers[:1])[0])]
        prepared, actions = library.prepared, (numbers - library.first_action).tolist()
        clips = tuple(prepared.library.clips[prepared.table.clips[a]] for a in actions)
        starts = np.maximum(steps[:, LOG_TIME], begin)
        if stop <= starts[0]:
            return None
        origins = np.array([clip.planar_path()[0] for clip in clips])
        who, life = int(steps[0, LOG_WHO]), int(steps[0, LOG_LIFE])
        count, speeds = len(steps), prepared.speeds[actions]
        return Track(
            name=self._name(who, life) if self._name is not None else _usual_name(prepared.library.name, who, life),
            clips=clips,
            starts=starts - begin,
            offsets=(starts - steps[:, LOG_TIME]) * speeds,
            speeds=speeds,
            poses=planar.compose(steps[:, LOG_X : LOG_HEADING + 1], planar.inverse(origins)),
            heights=np.zeros(count),
            blends=np.zeros(count),
            behaviors=tuple(prepared.actions.names[a] for a in actions),
            end=stop - begin,
            radius=self._crowd.options.radius,
        )


def _usual_name(library: str, who: int, life: int) -> str:
    return f"{library} {who + 1}" + (f" ({life})" if life > 1 else "")
