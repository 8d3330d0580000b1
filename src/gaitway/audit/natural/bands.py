"""Bands of what people do, each with its source: a crowd whose figures are outside does not move like people.

Bands of gait, head and standing hold the middle half of the values of captured people, or a little more, as the code of
this room measures them: walks, runs and stands of the CMU database and of ACCAD's Female1. A crowd of such people has
its mean inside. The other bands are published facts of pedestrians.

The mean of a few people is not that of all: where people stop as seldom as they do in life, somebody of a crowd of
eight still stops in half of all takes. So each band tells how much people differ from one another, and is wider for
few people by twice the standard error of their mean. How much they differ is a fact of people too, and not measured in
the crowd that is judged: who moves wildly would excuse himself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

FREE_SPEED, FREE_SPEED_SPREAD = 1.34, 0.26
"""Mean and standard deviation of the free speed of pedestrians [m/s] (Weidmann 1993)."""
_WEIDMANN = "free speed of pedestrians, 1.34 +- 0.26 m/s (Weidmann 1993)"
_CAPTURED = "captured walks of ten people (CMU, ACCAD)"
_STRAIGHT = "straight walks of captures: 0.4 to 0.9 deg/m"
_TRACKED = (
    "tracked people (Juelich): 1.8 deg/m in a free stream, 4.0 before an exit of 1.2 m, 4.8 in two streams against one "
    "another"
)


@dataclass(frozen=True, kw_only=True)
class NaturalBand:
    """One figure of a crowd, and the values that people have."""

    name: str
    title: str
    unit: str
    low: float = -math.inf
    """Least value that people have."""
    high: float = math.inf
    """Greatest value that people have."""
    of_crowd: str = "mean"
    """How the values of single characters become that of the crowd: "mean" or "median"."""
    least: int = 1
    """Number of characters below which the figure says nothing."""
    spread: float = 0.0
    """How much people differ from one another: a standard deviation; 0 if nothing is known of it."""
    counted: bool = False
    """Whether the value counts rare events of each character, whose number varies by chance about its mean."""
    source: str

    def slack(self, characters: int) -> float:
        """Return by how much the band is wider for so many characters: twice the standard error of their value."""
        one = math.sqrt(self.high) if self.counted else self.spread
        of_median = math.sqrt(math.pi / 2.0) if self.of_crowd == "median" else 1.0
        return 2.0 * of_median * one / math.sqrt(max(characters, 1))

    def holds(self, value: float, slack: float = 0.0) -> bool:
        """Return whether a value is in the band; `slack` widens it on both sides."""
        return self.low - slack <= value <= self.high + slack

    def distance(self, value: float) -> float:
        """Return how far a value is outside, or how near to an edge it is inside (below zero)."""
        return max(self.low - value, value - self.high)


COMPANY = NaturalBand(
    name="company", title="share of the way within 2 m of companions", unit="%", low=95.0,
    source="pairs and trios walk 0.6 to 0.9 m apart (Moussaid et al. 2010)",
)  # fmt: skip
"""Measured of those who go together, in takes that say who does."""
BANDS = (
    NaturalBand(name="jogging", title="share of moving time that is a jog", unit="%", high=2.0, source=_WEIDMANN),
    NaturalBand(
        name="gait_switches", title="changes between walk and jog, each", unit="", high=0.2,
        counted=True, source="captured people do not change their gait unless asked to",
    ),
    NaturalBand(
        name="speed", title="free speed on the way", unit="m/s", low=FREE_SPEED - 0.05, high=FREE_SPEED + 0.05,
        spread=FREE_SPEED_SPREAD, source=_WEIDMANN,
    ),
    NaturalBand(
        name="speed_spread", title="spread of speeds between people", unit="m/s", low=0.13, high=0.39, least=10,
        source=_WEIDMANN,
    ),
    NaturalBand(
        name="short_stops", title="stops of less than a second, each", unit="", high=0.1,
        counted=True, source="tracked people slow down instead of stopping",
    ),
    NaturalBand(
        name="turning", title="turning that the way does not need, a metre, of who meets others", unit="deg/m",
        high=4.0, spread=2.4, source=_TRACKED,
    ),
    NaturalBand(
        name="turning_alone", title="turning that the way does not need, a metre, of who meets nobody", unit="deg/m",
        high=1.5, spread=0.75, source=_STRAIGHT,
    ),
    NaturalBand(
        name="excess_turning", title="turning that the way does not need, a trip", unit="deg", high=100.0,
        of_crowd="median", spread=50.0, source=f"tens of degrees; {_TRACKED}",
    ),
    NaturalBand(
        name="hook", title="turning in the last 2.5 m", unit="deg", high=10.0, of_crowd="median", spread=6.5,
        source=_STRAIGHT,
    ),
    NaturalBand(
        name="head_speed", title="head against the way, straight", unit="deg/s", low=5.0, high=16.0,
        of_crowd="median", spread=9.0, source=_CAPTURED,
    ),
    NaturalBand(
        name="head_speed_turning", title="head against the way, in turns", unit="deg/s", high=45.0, source=_CAPTURED
    ),
    NaturalBand(
        name="head_lead", title="lead of the head in turns", unit="deg", low=-10.0, high=15.0, least=3,
        spread=13.0, source="mean of captured turns, which lie between -24 and 27 deg one by one",
    ),
    NaturalBand(
        name="standing_life", title="joints of who stands", unit="deg/s", low=4.0, high=20.0,
        spread=3.0, source="captured people who stand: 8 to 15 deg/s",
    ),
    NaturalBand(
        name="in_step", title="gait phases in step, above chance, first 10 s", unit="", high=0.1, least=3,
        source="phases of people who do not walk together are independent",
    ),
    NaturalBand(name="step_width", title="step width", unit="cm", low=7.0, high=10.5, spread=2.1, source=_CAPTURED),
    NaturalBand(name="sway", title="sway of the hips", unit="cm", low=3.0, high=5.5, spread=1.2, source=_CAPTURED),
    NaturalBand(
        name="trunk_pitch", title="pitching of the trunk", unit="deg", low=2.6, high=5.0, spread=1.9,
        source=_CAPTURED,
    ),
    NaturalBand(
        name="head_nod", title="nodding of the head", unit="deg", low=4.8, high=9.0, spread=3.1,
        source=_CAPTURED,
    ),
    NaturalBand(
        name="arm_difference", title="left and right arm's swing apart", unit="%", low=9.0, high=35.0, spread=17.0,
        source=_CAPTURED,
    ),
    NaturalBand(
        name="step_time_change", title="change of the cycle's length", unit="%", low=0.8, high=5.0,
        spread=0.6, source="coefficient of variation of stride times of healthy adults: 1 to 5 % (Hausdorff 2005)",
    ),
    NaturalBand(
        name="jog_pelvis_yaw", title="turning of the pelvis in a jog", unit="deg", low=10.0, high=22.0,
        spread=3.6, source="captured runs (CMU)",
    ),
)  # fmt: skip
"""All bands, in the order of the table."""
