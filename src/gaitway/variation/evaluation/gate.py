"""Whether a variant may join its behaviour: the audit's figures, held against the takes that are there already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.footskate import foot_slide
from gaitway.motion.limits import JointLimits, joint_limits, violations
from gaitway.variation.evaluation.bodies import arms_inside, under_ground

_PERCENTILE = 99.9
_LEAST_TURN, _LEAST_STEP = 0.5, 0.05
"""Changes of speed below these are not seen in any joint [rad/s] or root [m/s]."""


@dataclass(frozen=True)
class GateBars:
    """What is still good enough; the first five are those of the audit."""

    skate: float = 0.005
    """Slide of a planted point beyond the takes' farthest [m]."""
    height: float = 0.01
    """Height of a planted point beyond the takes' [m]."""
    continuity: float = 1.5
    """Changes of speed from frame to frame, as a multiple of the takes' 99.9th percentile."""
    inside: float = 0.01
    """How deep the body is in the ground, or a hand or forearm in the rest of the body, beyond the takes' [m]."""
    limit_deg: float = 2.0
    """Degrees beyond a joint's limit, or beyond the takes'."""
    way: float = 0.1
    """How far the end may lie from that of the mean take [m]; three deviations of the takes if that is more."""
    turn_deg: float = 5.0
    """The same of the change of heading [degrees]."""
    length: float = 0.25
    """By what share it may be longer or shorter than the takes, at least."""
    clone_deg: float = 0.25
    """A variant differs from every other clip by this angle a joint at least, or is a copy [degrees]."""


@dataclass(frozen=True)
class Fault:
    """What is wrong with a variant."""

    kind: str
    """In a few words, the same for all of its kind."""
    text: str
    """With what was measured."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False)
class Gate:
    """The takes of a behaviour as a measure for more of them; made by `Gate.of`."""

    takes: tuple[Clip, ...]
    bars: GateBars
    limits: JointLimits
    usual: FloatArray
    """Changes of speed of joints and root that are usual; (J + 1,)."""
    slide: float
    height: float
    under: float
    inside: float
    strain: float
    moves: FloatArray
    """Planar moves of the takes; (n, 3)."""

    @staticmethod
    def of(takes: Sequence[Clip], bars: GateBars = GateBars(), usual: FloatArray | None = None) -> Gate:  # noqa: B008
        """The gate of some takes.

        Args:
            takes: of one behaviour.
            bars: what is good enough.
            usual: `usual_steps` of the whole library; None takes those of the takes alone.
        """
        limits = joint_limits(takes[0].skeleton)
        return Gate(
            tuple(takes),
            bars,
            limits,
            usual_steps(takes) if usual is None else usual,
            max((float(foot_slide(t).max(initial=0.0)) for t in takes if t.contacts is not None), default=0.0),
            max(_off_ground(t) for t in takes),
            max(under_ground(t) for t in takes),
            max(arms_inside(t) for t in takes),
            max(float(violations(t, limits).max(initial=0.0)) for t in takes),
            np.array([planar.relative(*t.planar_path()[[0, -1]]) for t in takes]),
        )

    def faults(self, variant: Clip, others: Sequence[Clip] = ()) -> list[Fault]:
        """What is wrong with a variant; nothing if it may join.

        Args:
            variant: of the behaviour.
            others: variants that joined before, of which it is to be no copy either.
        """
        bars, out = self.bars, list[Fault]()
        slide = float(foot_slide(variant).max(initial=0.0)) if variant.contacts is not None else 0.0
        if slide > self.slide + bars.skate:
            out.append(Fault("a foot slides", f"a foot slides {100 * slide:.1f} cm"))
        height = _off_ground(variant)
        if height > self.height + bars.height:
            out.append(
                Fault("a planted foot off the ground", f"a planted foot is {100 * height:.1f} cm off the ground")
            )
        out += self._bodily(variant)
        sudden = steps(variant) / self.usual
        if sudden.size and sudden.max() > bars.continuity:
            joint = int(np.unravel_index(np.argmax(sudden), sudden.shape)[1])
            names = (*variant.skeleton.names, "root")
            out.append(
                Fault("too sudden", f"{names[joint]} changes speed {sudden.max():.1f} times as suddenly as takes do")
            )
        strain = float(violations(variant, self.limits).max(initial=0.0))
        if strain > self.strain + bars.limit_deg:
            out.append(Fault("beyond a joint's limit", f"a joint is {strain:.0f} degrees beyond its limit"))
        out += self._other_ways(variant)
        away = np.degrees(min(unlike(variant, other) for other in (*self.takes, *others)))
        if away < bars.clone_deg:
            out.append(Fault("a copy", f"it is a copy: joints differ from another clip's by {away:.2f} degrees"))
        return out

    def _bodily(self, variant: Clip) -> list[Fault]:
        out, room = list[Fault](), self.bars.inside
        under = under_ground(variant)
        if under > self.under + room:
            out.append(Fault("in the ground", f"a part of the body is {100 * under:.1f} cm under the ground"))
        inside = arms_inside(variant)
        if inside > self.inside + room:
            out.append(Fault("an arm in the body", f"a hand or forearm is {100 * inside:.1f} cm in the body"))
        return out

    def _other_ways(self, variant: Clip) -> list[Fault]:
        bars, out = self.bars, list[Fault]()
        move = planar.relative(*variant.planar_path()[[0, -1]])
        mean, spread = self.moves.mean(axis=0), self.moves.std(axis=0)
        way = float(np.linalg.norm((move - mean)[:2]))
        if way > max(bars.way, 3.0 * float(np.linalg.norm(spread[:2]))):
            out.append(Fault("ends elsewhere", f"it ends {100 * way:.0f} cm from where takes do"))
        turn = abs(float(planar.wrap_angle(move[2] - mean[2])))
        if np.degrees(turn) > max(bars.turn_deg, 3.0 * float(np.degrees(spread[2]))):
            out.append(Fault("turns otherwise", f"it turns {np.degrees(turn):.0f} degrees more or less than takes do"))
        lengths = np.array([len(take) for take in self.takes])
        room = bars.length * lengths.mean()
        if not lengths.min() - room <= len(variant) <= lengths.max() + room:
            out.append(Fault("too long or too short", f"it lasts {variant.duration:.2f} s"))
        return out


def unlike(one: Clip, other: Clip) -> float:
    """How much joints differ at equal shares of time, root mean square over joints and frames [rad]."""
    at = np.linspace(0.0, 1.0, 32)
    first = one.rotations[np.round(at * (len(one) - 1)).astype(np.int64), 1:]
    second = other.rotations[np.round(at * (len(other) - 1)).astype(np.int64), 1:]
    return float(np.sqrt(np.mean(rotations.angle_between(first, second) ** 2)))


def usual_steps(clips: Sequence[Clip]) -> FloatArray:
    """99.9th percentile of `steps` over clips, and no less than what is seen; (J + 1,)."""
    least = np.append(np.full(len(clips[0].skeleton), _LEAST_TURN), _LEAST_STEP)
    every = np.concatenate([steps(clip) for clip in clips])
    return np.maximum(np.percentile(every, _PERCENTILE, axis=0), least) if len(every) else least


def steps(clip: Clip) -> FloatArray:
    """Change of every joint's angular velocity [rad/s] and of the root's velocity [m/s] in a frame; (F - 2, J + 1)."""
    spin = rotations.to_rotation_vector(
        rotations.multiply(rotations.conjugate(clip.rotations[:-1]), clip.rotations[1:])
    )
    turns = np.linalg.norm(np.diff(spin, axis=0), axis=-1) * clip.fps
    roots = np.linalg.norm(np.diff(clip.root_positions, 2, axis=0), axis=-1) * clip.fps
    return np.column_stack([turns, roots])


def _off_ground(clip: Clip) -> float:
    """The farthest that a planted point is over or under the floor at z = 0 [m]."""
    if clip.contacts is None or not clip.contacts.any():
        return 0.0
    return float(np.abs(clip.contact_positions()[..., 2][clip.contacts]).max())
