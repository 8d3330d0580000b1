"""Styles: how one person moves, drawn from how captured people differ."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gaitway.cast.person.gait.model import GaitModel, moving_joints
from gaitway.cast.person.skeleton import LEG, person_skeleton
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import LibraryError

STYLE_COUNT = 5
"""Number of style directions of the gait model."""


@dataclass(frozen=True)
class Style:
    """The style of one person; the default is the mean of all captured people."""

    name: str = "neutral"
    weights: tuple[float, ...] = ()
    """How far along each style direction of the gait model [standard deviations]; missing ones are 0."""
    arm_swing: float = 1.0
    """Factor on the swing of shoulders and arms."""
    bounce: float = 1.0
    """Factor on the rise and fall of the pelvis."""
    hip_swing: float = 1.0
    """Factor on the turning and tipping of the pelvis."""
    lean: float = 0.0
    """Further lean of the trunk [rad], forward positive; the gaze stays level."""
    stoop: float = 0.0
    """Rounding of the upper back with the head pushed forward [rad]."""
    elbow: float = 0.0
    """Further bend of the elbows [rad]."""
    width: float = 0.0
    """Further distance between the feet [m]."""
    toe_out: float = 0.0
    """Further turn of each leg outward [rad]."""

    @staticmethod
    def draw(seed: int, strength: float = 0.6, name: str | None = None) -> Style:
        """Return a person at random; the same seed is the same person.

        Args:
            seed: Seed of the draw.
            strength: 1 spreads people as far as captured ones differ; less keeps them nearer the mean.
            name: To call the style by.
        """
        draw = np.random.default_rng(seed).normal(size=STYLE_COUNT)
        weights = tuple(round(float(w), 4) for w in strength * np.clip(draw, -2.0, 2.0))
        return Style(f"drawn-{seed}" if name is None else name, weights)

    @staticmethod
    def named(name: str) -> Style:
        """Return one of `STYLES`, or "neutral"."""
        for style in (Style(), *STYLES):
            if style.name == name:
                return style
        raise LibraryError(f"no style '{name}'; there are neutral, {', '.join(s.name for s in STYLES)}")

    def gain(self) -> FloatArray:
        """Return the factor on the deviation of each channel of the gait model from its mean; (C,)."""
        out = np.ones(3 + 3 * len(moving_joints()))
        out[2] = self.bounce
        out[3:6] = self.hip_swing
        for name in ("Shoulder", "Arm", "ForeArm"):
            for side in ("Left", "Right"):
                out[_channels(side + name)] = self.arm_swing
        return out

    def posture(self) -> FloatArray:
        """Return what is added to every channel of the gait model; (C,)."""
        out = np.zeros(3 + 3 * len(moving_joints()))
        for name, lean, stoop in (
            ("Spine", 0.4, 0.0),
            ("Spine1", 0.35, 0.35),
            ("Spine2", 0.25, 0.65),
            ("Neck", -0.5, 0.2),
            ("Head", -0.5, -1.2),
        ):
            out[_channels(name)] += [0.0, lean * self.lean + stoop * self.stoop, 0.0]
        for side, sign in (("Left", 1.0), ("Right", -1.0)):
            out[_channels(side + "UpLeg")] += [sign * 0.5 * self.width / LEG, 0.0, sign * self.toe_out]
            out[_channels(side + "ForeArm")] += [0.0, 0.0, -sign * self.elbow]
        return out

    def vector(self, model: GaitModel) -> FloatArray:
        """Return the weights as an array, one for each direction the model has."""
        out = np.zeros(model.style_count)
        count = min(len(self.weights), len(out))
        out[:count] = self.weights[:count]
        return out


def _channels(joint: str) -> slice:
    first = 3 + 3 * moving_joints().index(person_skeleton().index(joint))
    return slice(first, first + 3)


STYLES: tuple[Style, ...] = (
    replace(Style.draw(63, 1.0, "style-1"), hip_swing=1.25),
    replace(Style.draw(55, 0.8, "style-2"), stoop=0.2, arm_swing=0.75, elbow=0.1, width=0.03),
    replace(Style.draw(41, 1.0, "style-3"), lean=-0.05, toe_out=0.12, width=0.06, bounce=0.85),
    replace(Style.draw(2, 1.0, "style-4"), bounce=1.3, lean=0.03),
    replace(Style.draw(44, 1.0, "style-5"), arm_swing=0.55, lean=0.06, bounce=0.8, width=0.03),
    replace(Style.draw(11, 1.0, "style-6"), elbow=0.5, arm_swing=1.15, lean=0.04, width=0.02),
    replace(Style.draw(5, 1.0, "style-7"), hip_swing=1.45, bounce=1.1, lean=-0.03),
    replace(Style.draw(21, 1.0, "style-8"), stoop=-0.08, arm_swing=0.9, toe_out=-0.04),
)
"""Eight people: draws that are farthest from one another, each with further changes of its own."""
