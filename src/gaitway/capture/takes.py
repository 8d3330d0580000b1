"""Data of prepared captures: takes on a level floor, with their events, phases and special motions."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from gaitway.motion.clip import Clip
from gaitway.motion.contacts import ContactLimits
from gaitway.motion.skeleton import Skeleton

EventKind = Literal["step", "pause", "flight"]
FootSide = Literal["left", "right", ""]
"""Foot; empty where both feet count."""
PhaseKind = Literal["stand", "walk", "jog", "run", "back", "side", "turn", "crawl", "other"]
SpecialKind = Literal["jump", "duck", "crawl", "step"]
Manner = Literal["", "low", "carry"]
"""Manner of going: plain, low or bent (as who sneaks), or with an object in both hands."""
MANNERS: dict[str, Manner] = {
    "low walk": "low", "bent walk": "low", "crouch": "low", "bend": "low", "carry": "carry", "hold": "carry",
}  # fmt: skip
"""Manner of the phases of kind "other" that are ways of going, by their detail."""


@dataclass(frozen=True)
class CaptureEvent:
    """Frame at which a take may be cut."""

    frame: int
    kind: EventKind
    """"step": the swinging foot passes the planted foot; "pause": a stand begins or ends; "flight": the middle of a
    time in the air."""
    foot: FootSide
    """Foot on the ground, or, in a flight, the foot that left the ground last; empty where both are down."""
    speed: float
    """Speed of the pelvis over the ground, without the sway of single steps [m/s]."""


@dataclass(frozen=True)
class MotionPhase:
    """Frames from `start` up to, but not including, `stop` with one kind of motion."""

    start: int
    stop: int
    kind: PhaseKind
    speed: float
    """Mean speed over the ground [m/s]."""
    turn: float = 0.0
    """Net change of facing, left positive [rad]."""
    detail: str = ""
    """Description of a phase of kind "other": "bend", "crouch", "low walk", "carry", "lie", "on the spot" ..."""

    @property
    def manner(self) -> Manner | None:
        """Manner of going; None for motion that is no gait and no stand, such as gestures and crawls."""
        return MANNERS.get(self.detail) if self.kind == "other" else None if self.kind == "crawl" else ""


@dataclass(frozen=True, kw_only=True)
class SpecialMotion:
    """Motion that passes an obstacle: frames from `start` up to, but not including, `stop`."""

    start: int
    stop: int
    kind: SpecialKind
    pass_frame: int
    """Frame in which the body is over, under or on the obstacle."""
    height: float
    """Jump: height of the lower sole over the floor at the top. Duck, crawl: lowest height of the head joint. Step:
    height of the ground that the foot steps on [m]."""
    rise: float
    """Height of the pelvis over its height when standing [m]; negative for ducks and crawls."""
    lowest: float
    """Lowest height of the pelvis as a share of its height when standing."""
    flight_s: float
    """Time in the air [s]."""
    distance: float = 0.0
    """Straight distance of the pelvis over the ground from start to stop [m]."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedTake:
    """Captured take that is ready to be cut."""

    name: str
    clip: Clip
    """At the subject's common rate and on its common skeleton; floor at z = 0, contacts set."""
    mirrored: bool
    source: Path
    events: tuple[CaptureEvent, ...]
    phases: tuple[MotionPhase, ...]
    """Phases in order; together they cover the take."""
    specials: tuple[SpecialMotion, ...]
    notes: tuple[str, ...] = ()
    """Decisions and repairs, a sentence each."""

    def manner_at(self, frame: int) -> Manner | None:
        """Return the manner of going in a frame; borrowed takes, which have no phases, are plain."""
        return next((p.manner for p in self.phases if p.start <= frame < p.stop), "" if not self.phases else None)


class DroppedFile(NamedTuple):
    """File, or take in a file, that is not used."""

    file: Path
    reason: str
    """Reason in one line."""


@dataclass(frozen=True, kw_only=True)
class SubjectFacts:
    """Measures of a subject as a whole."""

    name: str
    files: int = 0
    """Number of capture files that were read."""
    seconds: float = 0.0
    """Duration of the takes that are used, without mirrored copies [s]."""
    floor_height: float = 0.0
    """Height of the floor in the files, at their origin [m]."""
    floor_slope: float = 0.0
    """Slope of the floor in the files (rise over run); prepared takes have none."""
    floor_residual: float = 0.0
    """Standard deviation of the heights of resting feet over the level floor [m]."""
    pelvis_height: float = 1.0
    """Height of the middle of the hips over the floor when standing straight [m]."""
    head_height: float = 1.6
    """Height of the head joint over the floor when standing straight [m]."""
    notes: tuple[str, ...] = ()
    """Decisions and repairs for all takes, a sentence each."""


@dataclass(frozen=True)
class LibraryWishes:
    """Statements of the override file about the library; None where it states nothing."""

    make: bool | None = None
    """Whether the import makes motions that the capture lacks."""
    clips: int | None = None
    """Largest number of clips of one behaviour."""
    behaviors: int | None = None
    """Largest number of behaviours."""
    leave_out: tuple[str, ...] = ()
    """Patterns of the names of behaviours that are left out."""


@dataclass(frozen=True, eq=False)
class PreparedSubject:
    """All usable takes of one captured person; mirrored copies follow the originals."""

    skeleton: Skeleton
    takes: tuple[PreparedTake, ...]
    dropped: tuple[DroppedFile, ...]
    facts: SubjectFacts
    wishes: LibraryWishes = LibraryWishes()


@dataclass(frozen=True, kw_only=True)
class RecognitionThresholds:
    """Limits for the recognition of motions; lengths and speeds are given for a leg of 0.85 m."""

    stand_speed: float = 0.15
    """Speed below which a character stands [m/s]."""
    move_speed: float = 0.3
    """Speed above which a character travels [m/s]."""
    run_speed: float = 3.0
    """Speed below which a gait with flights is a jog, and above which it is a run [m/s]."""
    walk_speed: float = 2.1
    """Speed above which a gait is no walk, even if no flight is detected [m/s]."""
    turn_rate: float = 0.45
    """Turning rate above which a character that does not travel turns on the spot [rad/s]."""
    low_head: float = 0.86
    """Head height, as a share of standing, below which a character ducks or bends."""
    low_pelvis: float = 0.80
    """Pelvis height, as a share of standing, below which a character ducks or crouches."""
    crawl_head: float = 0.55
    """Head height, as a share of standing, below which a moving character crawls."""
    bent_deg: float = 18.0
    """Forward lean above which a walk counts as bent [degrees]; 4 degrees more for each m/s."""
    jump_flight_s: float = 0.30
    """Duration above which a flight is a jump [s]."""
    jump_rise: float = 0.12
    """Rise of the pelvis over standing above which a flight of 0.18 s or more is a jump [m]."""
    step_height: float = 0.08
    """Height over the floor above which a resting foot stands on an object [m]."""
    shortest_phase_s: float = 0.25
    """Duration below which a phase joins its neighbours [s]."""


@dataclass(frozen=True, kw_only=True)
class PrepareOptions:
    """Options of the preparation of captures; the statements of a `gaitway-import.yaml` override them."""

    name: str | None = None
    """Name of the subject; None takes the name of the folder."""
    fps: float = 30.0
    """Frame rate of the prepared takes [Hz]."""
    lowest_fps: float = 15.0
    """Lowest usable frame rate of a file [Hz]; a lower rate shows too little of a foot's motion."""
    mirror: bool = True
    """Whether the mirror image of every take is added."""
    mixed: bool = False
    """Whether takes of other people are put on the main person's skeleton; otherwise they are left out."""
    recursive: bool = True
    """Whether folders within the folder are read too."""
    only: tuple[str, ...] = ()
    """Patterns of file names, such as "16_*"; an empty tuple reads all files."""
    overrides: Path | None = None
    """Override file; None looks for `gaitway-import.yaml` in the folder and beside it."""
    thresholds: RecognitionThresholds = field(default_factory=RecognitionThresholds)
    contacts: ContactLimits = field(default_factory=lambda: ContactLimits(height=(0.025, 0.035)))
