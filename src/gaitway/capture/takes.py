"""What becomes of a folder of captures: takes on a level floor, with their events, phases and special motions."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from gaitway.motion.clip import Clip
from gaitway.motion.contacts import ContactLimits
from gaitway.motion.skeleton import Skeleton

EventKind = Literal["step", "pause", "flight"]
FootSide = Literal["left", "right", ""]
PhaseKind = Literal["stand", "walk", "jog", "run", "back", "side", "turn", "crawl", "other"]
SpecialKind = Literal["jump", "duck", "crawl", "step"]


@dataclass(frozen=True)
class CaptureEvent:
    """A frame at which a take may be cut."""

    frame: int
    kind: EventKind
    """"step": the swinging foot passes the planted one; "pause": a stand begins or ends; "flight": top of a stride in
    the air."""
    foot: FootSide
    """The foot on the ground, or in a flight the one that left it last; empty where both are down."""
    speed: float
    """Of the pelvis over the ground, without the sway of single steps [m/s]."""


@dataclass(frozen=True)
class MotionPhase:
    """Frames `start` up to, not including, `stop` in which somebody moves in one way."""

    start: int
    stop: int
    kind: PhaseKind
    speed: float
    """Mean over the ground [m/s]."""
    turn: float = 0.0
    """Net change of facing, left positive [rad]."""
    detail: str = ""
    """What an "other" is, as far as it can be told: "bend", "crouch", "low walk", "carry", "lie", "on the spot" ..."""


@dataclass(frozen=True)
class SpecialMotion:
    """A motion that gets past something: frames `start` up to, not including, `stop`."""

    start: int
    stop: int
    kind: SpecialKind
    pass_frame: int
    """When the body is over, under or on what it gets past."""
    height: float
    """Jump: of the lower foot's sole over the floor at the top. Duck, crawl: of the head joint when lowest. Step: of
    what is stepped on [m]."""
    rise: float
    """How far the pelvis rises over its height when standing [m]; negative for ducks and crawls."""
    lowest: float
    """Lowest height of the pelvis as a share of its height when standing."""
    flight_s: float
    """Time in the air [s]."""
    distance: float = 0.0
    """Way of the pelvis over the ground from start to stop, straight [m]."""


@dataclass(frozen=True, eq=False)
class PreparedTake:
    """One captured take, ready to be cut."""

    name: str
    clip: Clip
    """At the subject's common rate and on its common skeleton; floor at z = 0, contacts set."""
    mirrored: bool
    source: Path
    events: tuple[CaptureEvent, ...]
    phases: tuple[MotionPhase, ...]
    """They follow one another and cover the take."""
    specials: tuple[SpecialMotion, ...]
    notes: tuple[str, ...] = ()
    """What was judged or mended, a sentence each."""


class DroppedFile(NamedTuple):
    """A file, or a take of it, that is not used."""

    file: Path
    reason: str
    """One line."""


@dataclass(frozen=True)
class SubjectFacts:
    """What was found out about a subject as a whole."""

    name: str
    files: int = 0
    """Capture files that were looked at."""
    seconds: float = 0.0
    """Of motion in the takes that are used, mirrored copies not counted."""
    floor_height: float = 0.0
    """Of the floor in the files, at their origin [m]."""
    floor_slope: float = 0.0
    """Rise over run of the floor in the files; it is taken out."""
    floor_residual: float = 0.0
    """What resting feet are still off the level floor, standard deviation [m]."""
    pelvis_height: float = 1.0
    """Of the middle of the hips over the floor when standing straight [m]."""
    head_height: float = 1.6
    """Of the head joint over the floor when standing straight [m]."""
    notes: tuple[str, ...] = ()
    """What was judged or mended for all takes, a sentence each."""


@dataclass(frozen=True)
class LibraryWishes:
    """What the override file says about the library that is made of the takes; None where it says nothing."""

    make: bool | None = None
    """Whether what is lacking may be made."""
    clips: int | None = None
    """Most clips of a behaviour."""
    behaviors: int | None = None
    """Most behaviours."""
    leave_out: tuple[str, ...] = ()
    """Patterns of names of behaviours that are not wanted."""


@dataclass(frozen=True, eq=False)
class PreparedSubject:
    """All usable takes of one subject; mirrored copies follow the originals."""

    skeleton: Skeleton
    takes: tuple[PreparedTake, ...]
    dropped: tuple[DroppedFile, ...]
    facts: SubjectFacts
    wishes: LibraryWishes = LibraryWishes()


@dataclass(frozen=True)
class RecognitionThresholds:
    """Limits of the judgements; lengths and speeds are those of a leg of 0.85 m."""

    stand_speed: float = 0.15
    """Slower than this is standing [m/s]."""
    move_speed: float = 0.3
    """Faster than this is going somewhere [m/s]."""
    run_speed: float = 3.0
    """Slower gaits with flight are jogs [m/s]."""
    walk_speed: float = 2.1
    """A gait whose flights are not seen is still no walk above this [m/s]."""
    turn_rate: float = 0.45
    """Turning faster than this without going anywhere is turning on the spot [rad/s]."""
    low_head: float = 0.86
    """Head height, as a share of standing, below which somebody ducks or bends."""
    low_pelvis: float = 0.80
    """The same for the pelvis."""
    crawl_head: float = 0.55
    """Head height below which somebody who moves is crawling."""
    bent_deg: float = 18.0
    """Somebody who leans farther ahead while walking is bent [degrees]; 4 more for each m/s."""
    jump_flight_s: float = 0.30
    """A flight longer than this is a jump [s]."""
    jump_rise: float = 0.12
    """A pelvis that rises this far over standing in a flight of 0.18 s or more jumps too [m]."""
    step_height: float = 0.08
    """A foot that rests this far above the floor stands on something [m]."""
    shortest_phase_s: float = 0.25
    """Shorter phases join their neighbours [s]."""


@dataclass(frozen=True)
class PrepareOptions:
    """How a folder is prepared; what its `gaitway-import.yaml` says about a file or as a whole wins."""

    name: str | None = None
    """Of the subject; None takes the folder's."""
    fps: float = 30.0
    """Rate of the prepared takes [Hz]."""
    lowest_fps: float = 15.0
    """Files with a lower rate show too little of a foot's motion and are left out [Hz]."""
    mirror: bool = True
    """Add every take's mirror image."""
    mixed: bool = False
    """Put takes of other people on the main person's skeleton, rather than leave them out."""
    recursive: bool = True
    """Look into folders within the folder."""
    only: tuple[str, ...] = ()
    """Patterns of file names, such as "16_*"; none means all."""
    overrides: Path | None = None
    """The override file; None looks for `gaitway-import.yaml` in the folder and beside it."""
    thresholds: RecognitionThresholds = field(default_factory=RecognitionThresholds)
    contacts: ContactLimits = field(default_factory=lambda: ContactLimits(height=(0.025, 0.035)))
