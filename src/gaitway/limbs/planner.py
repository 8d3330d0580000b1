"""The synchronised planner: a limb leaves its motion, passes what is in the way, and comes back (Shapiro et al. 2007).

Everything else of the body goes on as it does, and the world, its movers and other bodies are where they are at each
time. Several plans are made: some that hold one offset, which are the calmest if they are possible, and some of two
trees. All are made shorter, rounded, and the calmest is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy  # its submodules load on first use, which keeps start-up short

from gaitway.core.arrays import FloatArray, IntArray, read_only
from gaitway.core.errors import LimbError
from gaitway.limbs import _planner_kernels
from gaitway.limbs._joint_kernels import PLANNED
from gaitway.limbs._planner_kernels import DRAWS, TIME, LimbTable
from gaitway.limbs.linkage import Limb
from gaitway.limbs.surroundings import Carried, LimbCapsules, OtherBody, limb_around
from gaitway.motion.clip import Clip
from gaitway.world.world import World

_WIDTHS = (0.14, 0.1, 0.07, 0.05, 0.035, 0.02)
"""Standard deviations of the rounding that are tried, the widest first [s]."""
_END_WIDTH, _END_S = 0.07, 0.3
"""Least standard deviation of the rounding at both ends, and time over which it goes over into that within [s]."""
ROOM = 0.45
"""Time before and after a span into which rounding may reach [s]: three times the widest, and a little."""
_SAMPLES = 4
"""Samples that may be drawn for each extension, on average."""
_SHORTCUTS, _HELD_SHORTCUTS = 80, 30
_HOLDS = 300
"""Tries to make a plan of trees and a held one shorter, and to hold one offset."""
_WEIGHTS = read_only(np.array([1.0, 0.05, 0.0005]))
"""What a square of distance, of speed [s^2] and of acceleration [s^4] count."""
_TAKEN_BACK = ([0, 1, 2, 3, 4, 5, 6], [5, 6], [4], [2], [3], [0], [1])
"""Columns of offsets that are taken back together, hand first."""
_FIXED = 0.3
"""Share of the upper bone that is not looked at, since no posture moves its beginning."""
_PARTS = 2
"""Looks from one frame to the next."""


@dataclass(frozen=True, kw_only=True)
class LimbPlanOptions:
    """Options of a plan."""

    margin: float = 0.02
    """Gap that is planned with, to everything but the body itself [m]. Below 0, so much depth is let pass."""
    kept: float = 0.5
    """Share of the margin that rounding must leave."""
    fastest: float = 6.0
    """Greatest speed of an angle beside that of the motion itself [rad/s]. More looks jerky."""
    plans: int = 2
    """Number of plans by trees; of these, and of two that hold one offset, the calmest is kept."""
    iterations: int = 1500
    """Greatest number of extensions of the trees of one plan."""
    holding: bool = True
    """Whether to try to hold one offset, twice."""
    step: float = 0.15
    """Length of an extension [m]. Less takes longer, more misses narrow ways."""

    def __post_init__(self) -> None:
        bounds = {"margin": (-0.01, 0.5), "fastest": (0.1, 100.0), "plans": (1, 100), "iterations": (1, 100_000),
                  "step": (0.01, 2.0), "kept": (0.0, 1.0)}  # fmt: skip
        for name, (low, high) in bounds.items():
            if not low <= getattr(self, name) <= high:
                raise LimbError(f"{name} {getattr(self, name):g} of a plan must be between {low:g} and {high:g}")

    @property
    def least(self) -> float:
        """Gap that a rounded plan must have [m]."""
        return min(self.margin, self.kept * self.margin)

    def numbers(self) -> FloatArray:
        """Return the columns that the kernels read; (7,)."""
        return np.array([0.5, 1.0, self.step, self.fastest, 1.0 / 60.0, 0.03, self.margin])


@dataclass(frozen=True, eq=False)
class LimbPlan:
    """A limb that was planned anew over a span."""

    offsets: FloatArray
    """Offsets of the planned angles from the motion itself in every frame of the window [rad]; (F, 7)."""
    span: tuple[float, float]
    """Times at which the limb leaves its motion and is back [s]."""
    effort: float
    """How far, how fast and how suddenly it strays from its motion [m^2]; the less, the calmer."""
    gap: float
    """Least gap [m], at most twice the margin plus 1 cm."""
    width: float
    """Standard deviation of the rounding within the span [s]; 0 if none was possible there."""
    held: bool
    """Whether it holds one offset."""
    valid: int
    """Number of valid plans of which it is the calmest."""
    checks: int
    """Number of states that were checked."""


class LimbWindow:
    """A limb on its motion over some frames, with all that is around it: what plans are made in."""

    def __init__(
        self, limb: Limb, clip: Clip, begin: float, world: World, others: Sequence[OtherBody] = (), *,
        carried: Carried | None = None, strict: bool = False,
    ) -> None:  # fmt: skip
        """Prepare.

        Args:
            limb: the limb.
            clip: the motion, in the world: the span that is planned anew, and `ROOM` on both sides of it.
            begin: time of the first frame [s].
            world: the world.
            others: other bodies over the same frames.
            carried: what the hand or foot holds.
            strict: whether that must stay outside the body itself, even where the motion has it inside.
        """
        self.limb, self.clip, self.begin = limb, clip, float(begin)
        self.checks = 0
        """States that were checked so far, by all plans."""
        self.capsules = LimbCapsules.of(limb, carried).trimmed(_FIXED, limb.lengths)
        self.source = limb.postures(clip)
        starts, bases = limb.hanging(*clip.joint_transforms())
        count = 0 if carried is None else len(carried.radii)
        around = limb_around(limb, self.capsules, clip, begin, world, others, carried=count, strict=strict)
        tips = [limb.tip]
        if carried is not None:
            far = np.concatenate([self.capsules.starts[-count:], self.capsules.ends[-count:]])
            tips.append(far[int(np.argmax(np.round(np.linalg.norm(far, axis=1), 9)))])
        self.table = LimbTable(
            read_only(starts), read_only(bases), read_only(self.source), limb.lengths,
            limb.limits.widened(self.source).table, self.capsules.segments, self.capsules.starts, self.capsules.ends,
            self.capsules.radii, read_only(np.array(tips)), around,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.clip)

    def gaps(
        self, offsets: FloatArray | None = None, bar: float = 0.1, frames: tuple[int, int] | None = None
    ) -> FloatArray:
        """Return the least gap of the limb from each frame on up to the next [m]; (F,).

        Args:
            offsets: offsets from the motion itself [rad]; (F, 7). None has none.
            bar: gap beyond which nothing matters [m]: the greatest result.
            frames: first frame, and that after the last; others have the bar.
        """
        out = np.full(len(self), float(bar))
        first, stop = (0, len(self)) if frames is None else frames
        moved = np.zeros((len(self), PLANNED)) if offsets is None else offsets
        _planner_kernels.gaps(self.table, read_only(moved), first, stop, _PARTS, float(bar), out)
        return out

    def plan(
        self, begin: float, end: float, *, bad: tuple[float, float] | None = None,
        options: LimbPlanOptions = LimbPlanOptions(), seed: int = 0,  # noqa: B008  (frozen)
    ) -> LimbPlan | None:  # fmt: skip
        """Return the calmest of several plans for a span, or None if none was found.

        Args:
            begin: time at which the limb leaves its motion [s]; the motion must be clear there.
            end: time at which it is back [s]; the same.
            bad: span in which the motion touches something [s]; None looks for it.
            options: see there.
            seed: of all random choices.

        Raises:
            LimbError: if the span is too short, or not within the window.
        """
        last = self.begin + (len(self) - 1) / self.clip.fps
        if not (self.begin - 1e-6 <= begin < end <= last + 1e-6):
            raise LimbError(
                f"span {begin:.2f} s to {end:.2f} s is not within the motion, {self.begin:.2f} s to {last:.2f} s"
            )
        if end - begin < 4.0 / self.clip.fps:
            raise LimbError(f"span of {end - begin:.3f} s is too short; {4.0 / self.clip.fps:.3f} s is the least")
        rng, checks = np.random.default_rng([seed, 7]), np.zeros(1, dtype=np.int64)
        numbers = read_only(options.numbers())
        if bad is None:
            bad = self._bad(begin, end, options.margin)
        best: LimbPlan | None = None
        valid = 0
        for number in range(options.plans + (2 if options.holding else 0)):
            held = options.holding and number < 2
            if held:
                path = self._held(begin, end, bad, numbers, checks, rng, number)
            else:
                draws = rng.random((_SAMPLES * options.iterations, DRAWS))
                path = _planner_kernels.grow(
                    self.table, numbers, float(begin), float(end), read_only(draws), options.iterations, checks
                )  # fmt: skip
            if len(path) == 0:
                continue
            tries = rng.random((_HELD_SHORTCUTS if held else _SHORTCUTS, 3))
            shorter = _planner_kernels.smooth(
                self.table, numbers, np.ascontiguousarray(path), read_only(tries), checks
            )  # fmt: skip
            made = self._rounded(shorter, options, held)
            if made is None:
                continue
            valid += 1
            if best is None or round(made.effort, 7) < round(best.effort, 7):
                best = made
        self.checks += int(checks[0])
        if best is None:
            return None
        calm = self._calmed(best, begin, end, options)
        return replace(calm, span=(begin, end), valid=valid, checks=int(checks[0]))

    def _bad(self, begin: float, end: float, margin: float) -> tuple[float, float]:
        """Return the span in which the motion itself is nearer than the margin [s], or the middle third."""
        near = np.flatnonzero(self.gaps(bar=margin) < margin)
        times = self.begin + near / self.clip.fps
        times = times[(times > begin) & (times < end)]
        if len(times) == 0:
            return begin + (end - begin) / 3.0, end - (end - begin) / 3.0
        return float(times[0]), float(times[-1]) + 1.0 / self.clip.fps

    def _held(
        self, begin: float, end: float, bad: tuple[float, float], numbers: FloatArray, checks: IntArray,
        rng: np.random.Generator, number: int,
    ) -> FloatArray:  # fmt: skip
        early = 0.04 + 0.08 * number  # how long before and after the bad span the offset is held already
        first = max(bad[0] - early, begin + 0.3 * (bad[0] - begin))
        last = min(bad[1] + early, end - 0.3 * (end - bad[1]))
        times = np.array([begin, first, last, end])
        if (np.diff(times) < 0.02).any():
            return np.empty((0, PLANNED + 1))
        draws = rng.random((_HOLDS, DRAWS))
        return _planner_kernels.hold(self.table, numbers, read_only(times), read_only(draws), checks)

    def _rounded(self, path: FloatArray, options: LimbPlanOptions, held: bool) -> LimbPlan | None:
        """Return a plan with its corners rounded by the widest Gaussian that stays clear, or None if none is.

        The offset is nothing outside the span, so that its speed and that of the motion are one at both ends.
        """
        times = self.begin + np.arange(len(self)) / self.clip.fps
        plain = np.stack(
            [np.interp(times, path[:, TIME], path[:, k], left=0.0, right=0.0) for k in range(PLANNED)], axis=1
        )
        room = round(ROOM * self.clip.fps)
        touched = np.flatnonzero((times > path[0, TIME]) & (times < path[-1, TIME]))
        if len(touched) == 0:
            return None
        frames = (max(int(touched[0]) - room, 0), min(int(touched[-1]) + room + 1, len(self)))
        bar, least = 2.0 * abs(options.margin) + 0.01, options.least
        inside = _eased(np.minimum(times - path[0, TIME], path[-1, TIME] - times) / _END_S)[:, None]
        ends = scipy.ndimage.gaussian_filter1d(plain, _END_WIDTH * self.clip.fps, axis=0, mode="constant")
        fade = _fade(len(self), frames, round(0.1 * self.clip.fps))[:, None]
        for width in (*_WIDTHS, 0.0):
            offsets = plain
            if width > 0.0:
                offsets = scipy.ndimage.gaussian_filter1d(plain, width * self.clip.fps, axis=0, mode="constant")
            if width < _END_WIDTH:  # corners that must be tight are within the span; its ends stay soft
                offsets = inside * offsets + (1.0 - inside) * ends
            offsets = fade * offsets
            if self._keeps(offsets, frames, least):
                gap = float(self.gaps(offsets, bar, frames).min())
                return LimbPlan(offsets, (0.0, 0.0), self.effort(offsets), gap, width, held, 1, 0)
        return None

    def _calmed(self, plan: LimbPlan, begin: float, end: float, options: LimbPlanOptions) -> LimbPlan:
        """Return a plan of which everything is taken back that is not needed: of all angles at once, then of each.

        Postures are drawn at random, so an arm that lifts off a wall may bend its wrist for no reason.
        """
        room = round(ROOM * self.clip.fps)
        first, last = (round((t - self.begin) * self.clip.fps) for t in (begin, end))
        frames = (max(first - room, 0), min(last + room + 1, len(self)))
        bar, least = 2.0 * abs(options.margin) + 0.01, min(plan.gap, options.least)
        for _ in range(2):
            before = plan.effort
            for columns in _TAKEN_BACK:
                for share in (0.0, 0.4, 0.7, 0.85):
                    offsets = np.array(plan.offsets)
                    offsets[:, columns] *= share
                    effort = self.effort(offsets)
                    if round(effort, 7) < round(plan.effort, 7) and self._keeps(offsets, frames, least):
                        plan = replace(plan, offsets=offsets, effort=effort)
                        break
            if plan.effort > 0.98 * before:
                break
        return replace(plan, gap=float(self.gaps(plan.offsets, bar, frames).min()))

    def _keeps(self, offsets: FloatArray, frames: tuple[int, int], margin: float) -> bool:
        return bool(_planner_kernels.keeps(self.table, read_only(offsets), *frames, _PARTS, float(margin)))

    def effort(self, offsets: FloatArray) -> float:
        """Return how far, how fast and how suddenly the limb strays from its motion: mean squares [m^2]."""
        effort: float = _planner_kernels.effort(self.table, read_only(offsets), self._own_marks, _WEIGHTS)
        return effort

    @cached_property
    def _own_marks(self) -> FloatArray:
        """Points of the motion itself by which plans are compared [m]; (F, 2 + P, 3)."""
        out = np.empty((len(self), 2 + len(self.table.tips), 3))
        _planner_kernels.own_marks(self.table, out)
        return read_only(out)

    def applied(self, plan: LimbPlan) -> Clip:
        """Return the motion of the window with the plan."""
        postures = np.array(self.source)
        postures[:, :PLANNED] += plan.offsets
        return self.limb.applied(self.clip, postures)


def _fade(count: int, frames: tuple[int, int], length: int) -> FloatArray:
    """Return weights (F,) that go to 0 at the ends of some frames, so that nothing is left of a Gaussian's tail."""
    at = np.arange(count)
    return _eased(np.minimum(at - frames[0], frames[1] - 1 - at) / max(length, 1))


def _eased(shares: FloatArray) -> FloatArray:
    """Return shares (F,), held at 0 and 1, that leave and reach these without a corner."""
    share = np.clip(shares, 0.0, 1.0)
    return np.asarray(share * share * (3.0 - 2.0 * share))
