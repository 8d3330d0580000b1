"""Manners of sitting: how the trunk is held, where the hands lie, and where the feet are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gaitway.core.errors import SittingError
from gaitway.core.suggest import did_you_mean


@dataclass(frozen=True)
class OnThigh:
    """A hand that lies on its thigh."""

    along: float
    """Where the wrist is between hip and knee, as a share."""
    outward_deg: float = 0.0
    """How far around the thigh it lies, away from its top [degrees]."""
    inward_deg: float = 12.0
    """How far the hand points inward of the thigh [degrees]."""


@dataclass(frozen=True)
class BeforeTrunk:
    """A hand that is held before the trunk: its wrist, in lengths of the trunk and half widths of the shoulders."""

    ahead: float
    outward: float
    up: float
    """From the hips (0) to the shoulders (1)."""
    elbow: tuple[float, float, float] = (0.1, 1.0, -0.8)
    """Direction in which the elbow points: forward, outward, up."""


@dataclass(frozen=True)
class ForearmOnThigh:
    """A forearm that lies on its thigh near the knee, with the hand between the knees."""

    inward_deg: float = 30.0
    """How far the forearm points inward [degrees]."""
    down_deg: float = 10.0
    """How far it points down beside the thigh [degrees]."""


HandPlace = OnThigh | BeforeTrunk | ForearmOnThigh


@dataclass(frozen=True)
class FootPlace:
    """A foot, as seen from where it stood."""

    ahead: float = 0.0
    """Forward [m, for the built-in person]."""
    outward: float = 0.0
    """Away from the other foot [m, for the built-in person]."""
    turn_deg: float = 0.0
    """Toes outward [degrees]."""
    aside: float | None = None
    """Outward of the middle of the body instead, with toes that are turned outward of straight ahead [m]."""
    ahead_of_other: float | None = None
    """Forward of the other foot, instead of `ahead`, for a foot that crosses it [m, for the built-in person]."""
    knee: float = 0.0
    """How far outward of the foot the knee points, as a slope."""


@dataclass(frozen=True)
class Manner:
    """One manner of sitting. Pitches are forward of upright [degrees]."""

    name: str
    left: HandPlace
    right: HandPlace
    pelvis_deg: float = -7.0
    chest_deg: float = 3.0
    head_deg: float = 2.0
    left_foot: FootPlace = FootPlace()
    right_foot: FootPlace = FootPlace()
    leans_back: bool = False
    """Whether the trunk goes back to the backrest, if there is one."""

    def crosses(self, foot: int) -> bool:
        """Return whether the left (0) or right (1) foot crosses the other."""
        return (self.left_foot, self.right_foot)[foot].ahead_of_other is not None

    def mirrored(self) -> Manner:
        """Return the same with left and right exchanged."""
        return replace(
            self, left=self.right, right=self.left, left_foot=self.right_foot, right_foot=self.left_foot
        )  # fmt: skip


RAISED = (BeforeTrunk(0.48, 0.80, 0.48, (-0.3, 1.0, -0.8)), BeforeTrunk(0.58, 0.85, 0.64, (0.2, 1.0, -0.4)))
"""Where hands go by on their way before the trunk, left and right. The left arm is the inner one of crossed arms."""
_LAP = OnThigh(0.40, 2.0, 17.0)
MANNERS = {
    manner.name: manner
    for manner in (
        Manner("upright", OnThigh(0.46), OnThigh(0.48)),
        Manner("leaning back", OnThigh(0.36, 6.0), OnThigh(0.33, 4.0), -19.0, -9.0, 3.0, leans_back=True),
        Manner("forearms on thighs", ForearmOnThigh(14.0), ForearmOnThigh(16.0), 16.0, 42.0, 16.0,
               FootPlace(0.0, 0.05, 6.0), FootPlace(0.0, 0.05, 6.0)),
        Manner("ankles crossed", _LAP, _LAP, -9.0, 2.0, 2.0, FootPlace(-0.04, turn_deg=2.0, aside=-0.015, knee=0.25),
               FootPlace(turn_deg=8.0, aside=-0.065, ahead_of_other=0.17, knee=0.25)),
        Manner("arms crossed", BeforeTrunk(0.31, -0.23, 0.46, (0.1, 0.7, -0.85)),
               BeforeTrunk(0.35, -0.33, 0.59, (0.6, 1.05, -0.3)), -13.0, -3.0, 3.0),
        Manner("feet apart", OnThigh(0.60, 8.0, 18.0), OnThigh(0.60, 8.0, 18.0), 2.0, 14.0, 4.0,
               FootPlace(0.0, 0.10, 14.0), FootPlace(0.0, 0.10, 14.0)),
        Manner("feet tucked", _LAP, _LAP, -3.0, 4.0, 4.0, FootPlace(-0.08, -0.01), FootPlace(-0.08, -0.01)),
        Manner("one foot ahead", OnThigh(0.50), OnThigh(0.36, -8.0, 26.0), -8.0, 2.0, 2.0, FootPlace(0.10, 0.0, 4.0)),
    )
}  # fmt: skip
"""All manners, by name. The first is the one in which everybody arrives and from which everybody gets up."""
FIRST = next(iter(MANNERS))


def manner_of(name: str) -> Manner:
    """Return a manner by name.

    Raises:
        SittingError: if there is none; the message lists them.
    """
    if name not in MANNERS:
        raise SittingError(
            f"no manner of sitting '{name}'; there are {', '.join(MANNERS)}{did_you_mean(name, MANNERS)}"
        )
    return MANNERS[name]
