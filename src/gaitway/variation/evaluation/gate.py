"""The gate of a behaviour: whether a variant may join it, by the audit's figures relative to the existing takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gaitway.core import planar, rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.body import capsule_body, capsules
from gaitway.motion.clip import Clip
from gaitway.motion.limits import JointLimits, joint_limits
from gaitway.motion.quality import (
    greatest_limit_excess,
    greatest_slide,
    planted_height_error,
    usual_velocity_changes,
)
from gaitway.variation.sampling.end_matching import velocity_changes

_LEAST_TURN, _LEAST_STEP = 0.5, 0.05
"""Changes of velocity below which they are not visible, of a joint [rad/s] and of the root [m/s]."""
_ALONG = np.linspace(0.0, 1.0, 5)
"""Positions along a forearm and a hand at which depths are measured."""
_ARM = ("elbow", "hand")
"""Parts of an arm that may meet the rest of the body: the forearm, which begins at the elbow, and the hand."""
_SIDES = ("left", "right")


@dataclass(frozen=True)
class GateBars:
    """Limits that a variant must meet; the first five are those of the audit."""

    skate: float = 0.005
    """Slide of a planted point beyond the greatest slide of the takes [m]."""
    height: float = 0.01
    """Height of a planted point beyond that of the takes [m]."""
    continuity: float = 1.5
    """Changes of velocity from frame to frame, as a multiple of the takes' 99.9th percentile."""
    inside: float = 0.01
    """Depth of the body in the ground, or of a hand or forearm in the rest of the body, beyond that of the takes
    [m]."""
    limit_deg: float = 2.0
    """Angle beyond a joint's limit, and beyond that of the takes [degrees]."""
    way: float = 0.1
    """Distance of the end from that of the mean take [m]; three deviations of the takes if that is more."""
    turn_deg: float = 5.0
    """Difference of the change of heading from that of the mean take [degrees]; three deviations if that is more."""
    length: float = 0.25
    """Share by which a variant may be longer than the longest take, or shorter than the shortest."""
    clone_deg: float = 0.25
    """Least joint difference from every other clip; a variant that differs less is a copy [degrees]."""


@dataclass(frozen=True)
class Fault:
    """A fault of a variant."""

    kind: str
    """Short name, the same for all faults of a kind."""
    text: str
    """Description with the measured value."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, eq=False, kw_only=True)
class VariantGate:
    """The takes of a behaviour as a standard for variants; built by `VariantGate.of`."""

    takes: tuple[Clip, ...]
    bars: GateBars
    limits: JointLimits
    usual: FloatArray
    """Usual changes of velocity of joints and root; (J + 1,)."""
    slide: float
    height: float
    under: float
    inside: float
    strain: float
    moves: FloatArray
    """Planar moves of the takes; (n, 3)."""

    @staticmethod
    def of(takes: Sequence[Clip], bars: GateBars = GateBars(), usual: FloatArray | None = None) -> VariantGate:  # noqa: B008
        """Build the gate of some takes.

        Args:
            takes: Takes of one behaviour.
            bars: Limits that a variant must meet.
            usual: `velocity_change_limits` of the whole library; None takes those of the takes alone.
        """
        limits = joint_limits(takes[0].skeleton)
        return VariantGate(
            takes=tuple(takes),
            bars=bars,
            limits=limits,
            usual=velocity_change_limits(takes) if usual is None else usual,
            slide=max(greatest_slide(t) for t in takes),
            height=max(planted_height_error(t) for t in takes),
            under=max(under_ground(t) for t in takes),
            inside=max(arms_inside(t) for t in takes),
            strain=max(greatest_limit_excess(t, limits) for t in takes),
            moves=np.array([planar.relative(*t.planar_path()[[0, -1]]) for t in takes]),
        )

    def faults(self, variant: Clip, others: Sequence[Clip] = ()) -> list[Fault]:
        """Return the faults of a variant; none if it may join.

        Args:
            variant: Variant of the behaviour.
            others: Variants that joined before; the variant must not be a copy of one of them either.
        """
        bars, out = self.bars, list[Fault]()
        slide = greatest_slide(variant)
        if slide > self.slide + bars.skate:
            out.append(Fault("a foot slides", f"a foot slides {100 * slide:.1f} cm"))
        height = planted_height_error(variant)
        if height > self.height + bars.height:
            out.append(
                Fault("a planted foot off the ground", f"a planted foot is {100 * height:.1f} cm off the ground")
            )
        out += self._bodily(variant)
        sudden = velocity_changes(variant) / self.usual
        if sudden.size and sudden.max() > bars.continuity:
            joint = int(np.unravel_index(np.argmax(sudden), sudden.shape)[1])
            names = (*variant.skeleton.names, "root")
            out.append(
                Fault("too sudden", f"{names[joint]} changes speed {sudden.max():.1f} times as suddenly as takes do")
            )
        strain = greatest_limit_excess(variant, self.limits)
        if strain > self.strain + bars.limit_deg:
            out.append(Fault("beyond a joint's limit", f"a joint is {strain:.0f} degrees beyond its limit"))
        out += self._other_ways(variant)
        away = np.degrees(min(joint_difference(variant, other) for other in (*self.takes, *others)))
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


def joint_difference(one: Clip, other: Clip) -> float:
    """Return how much joints differ at equal shares of time, root mean square over joints and frames [rad]."""
    at = np.linspace(0.0, 1.0, 32)
    first = one.rotations[np.round(at * (len(one) - 1)).astype(np.int64), 1:]
    second = other.rotations[np.round(at * (len(other) - 1)).astype(np.int64), 1:]
    return float(np.sqrt(np.mean(rotations.angle_between(first, second) ** 2)))


def velocity_change_limits(clips: Sequence[Clip]) -> FloatArray:
    """Return the 99.9th percentile of `velocity_changes` over clips, at least what can be seen; (J + 1,)."""
    return usual_velocity_changes(clips, least_joint=_LEAST_TURN, least_root=_LEAST_STEP, in_joint_frame=True)


def under_ground(clip: Clip) -> float:
    """Return the depth of the deepest part of the body under the floor at z = 0 [m]; 0 if none is."""
    radii = capsule_body(clip.skeleton).radii
    return max(float((radii[:, None] - capsules(clip)[..., 2]).max()), 0.0)


def arms_inside(clip: Clip) -> float:
    """Return the depth of a forearm or hand in the rest of the body, or in the other arm [m]; 0 if none is."""
    body = capsule_body(clip.skeleton)
    axes, deepest = capsules(clip, body), 0.0
    for side in _SIDES:
        arm = [k for k, name in enumerate(body.names) if name in [f"{side}_{part}" for part in _ARM]]
        # an arm always touches the parts that it is joined to
        rest = [k for k, name in enumerate(body.names) if not (name.startswith(side) and _of_arm(name))]
        for one in arm:
            begin, end = axes[:, one, 0, None], axes[:, one, 1, None]
            points = begin + _ALONG[:, None] * (end - begin)
            away = _distances(points, axes[:, rest, 0], axes[:, rest, 1])
            deepest = max(deepest, float((body.radii[one] + body.radii[rest] - away).max(initial=0.0)))
    return deepest


def _of_arm(name: str) -> bool:
    return name.partition("_")[2] in ("clavicle", "shoulder", "elbow", "hand")


def _distances(points: FloatArray, starts: FloatArray, ends: FloatArray) -> FloatArray:
    """Return distances from points (F, P, 3) to segments (F, C, 3); (F, P, C)."""
    along = ends - starts
    length = np.maximum((along**2).sum(axis=-1), 1e-12)
    away = points[:, :, None] - starts[:, None]
    share = np.clip((away * along[:, None]).sum(axis=-1) / length[:, None], 0.0, 1.0)
    out: FloatArray = np.linalg.norm(away - share[..., None] * along[:, None], axis=-1)
    return out
