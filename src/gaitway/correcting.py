"""Motion correction: limbs that touch something are planned anew, in time with everything else (Shapiro et al. 2007).

The audit says who touches what, when and with which part. An arm that does leaves its motion before, passes what is in
the way, and comes back after. A leg whose foot is in the air is lifted over it, or passes beside it; feet that are down
stay as they are, and so does the trunk. That is repeated until the audit finds nothing, or nothing that a limb could
mend.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from gaitway.audit import AuditBars, Finding, find_collisions
from gaitway.audit.exact_things import ExactWorld, exact_findings
from gaitway.audit.sources import turn_steps, usual_steps
from gaitway.audit.things import depth_findings
from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, IntArray
from gaitway.core.errors import GaitwayError, LimbError
from gaitway.core.progress import Progress, silent
from gaitway.limbs.lifting import lift_step
from gaitway.limbs.linkage import LEGS, Limb, fit_limb
from gaitway.limbs.planner import ROOM, LimbPlan, LimbPlanOptions, LimbWindow
from gaitway.limbs.surroundings import Carried, OtherBody, absent
from gaitway.motion.body import ARM_PARTS, LEG_PARTS, capsule_body
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import detect_contacts, foot_points
from gaitway.motion.editing import slice_frames
from gaitway.motion.kinematics import forward_kinematics
from gaitway.motion.limits import joint_limits, violations
from gaitway.take.data import Layer
from gaitway.take.evaluation import sampled
from gaitway.take.model import Take
from gaitway.take.things import ThingSpan, ThingTrack, things_of
from gaitway.world.thing_forms import thing_capsules
from gaitway.world.world import World, realised

_TRIES = ((0.4, 1.0), (0.7, 1.0), (1.1, 1.0), (1.6, 1.0), (0.7, 0.5), (1.4, 0.5), (1.1, 0.1), (1.1, -0.3))
"""Time before and after a collision in which the arm may leave its motion [s], and share of the margin, in order. The
last lets the arm touch a little, which the audit lets pass: where a shoulder is near a wall, no arm is clear of it."""
_EXACT_TRIES = ((0.7, 2.0), (1.1, 3.0), (1.6, 4.5))
"""More of these where exact triangles are asked for: the capsules of a thing leave some of it out."""
_FIRST = 2
"""How many of these are tried for all collisions, before the others are tried for what is left."""
_EFFORT = (4_000_000, 2_000_000)
"""States that may be checked in vain for a take, at first and with all tries, before what is left is given up."""
_SPENT = "finds no way around it at once, and the effort for one take is used up"
"""What is said then."""
_WINDOW = max(pad for pad, _ in _TRIES) + ROOM + 0.6
"""Time that is looked at before and after a collision [s]: an arm leaves its motion where that is clear."""
_NEAR = 2.5
"""Distance of roots within which another body matters [m]."""
_SETTLED = 0.15
"""Time before and after a hand grasps, touches or lets go in which it is left alone [s]."""
_STILL = 1e-3
"""Largest offset that changes nothing [rad]."""
_AGAIN = 3
"""Number of times that an arm is planned anew at about the same time."""
_ROUND = 3
"""Frames before and after a step that are looked at, too."""
_CHANGED = 1e-7
"""Largest turn that counts as none [rad]."""


@dataclass(frozen=True)
class Correction:
    """One limb that was planned anew."""

    character: str
    limb: str
    span: tuple[float, float]
    """Times at which it leaves its motion and is back [s]."""
    obstacle: str
    """What it touched: an obstacle, or another character."""
    depth: float
    """How deep it was in it [m]."""
    gap: float
    """Least gap that it keeps now [m]."""


@dataclass(frozen=True)
class Uncorrected:
    """A collision that is left, and why."""

    finding: Finding
    reason: str

    def words(self) -> str:
        """Return one line."""
        return f"{self.finding.words()}: {self.reason}"


@dataclass(frozen=True, eq=False)
class Corrected:
    """A corrected take."""

    take: Take
    corrections: tuple[Correction, ...]
    left: tuple[Uncorrected, ...]
    """Collisions that are left."""

    @property
    def ok(self) -> bool:
        """Whether nothing touches anything any more."""
        return not self.left


def correct(
    take: Take,
    world: World,
    *,
    options: LimbPlanOptions = LimbPlanOptions(),  # noqa: B008  (frozen)
    bars: AuditBars = AuditBars(),  # noqa: B008  (frozen)
    rounds: int = 8,
    seed: int = 0,
    who: Collection[str] | None = None,
    exact: bool = False,
    progress: Progress = silent,
) -> Corrected:
    """Return a take whose limbs touch neither the world nor other bodies, as far as limbs can do that.

    Trunks do not change, nor feet that are down. Where a limb leaves its motion and where it is back, its speed does
    not jump. The result is the same for the same seed.

    Args:
        take: what the characters do.
        world: where.
        options: margin, speed and number of plans.
        bars: what the audit lets pass.
        rounds: most audits; each corrects what the one before has found.
        seed: of all random choices.
        who: names of those whose limbs may be changed; None for everybody.
        exact: whether carried things are compared by their exact triangles, too, by python-fcl.
        progress: called after each round and each collision.

    Raises:
        LimbError: if `rounds` is not between 1 and 100.
        GaitwayError: if `exact` is asked for and python-fcl is not installed.
    """
    if not 1 <= rounds <= 100:
        raise LimbError(f"rounds {rounds} must be between 1 and 100")
    run = _Correcting(take, world, options, bars, seed, None if who is None else frozenset(who), exact)
    for number in range(rounds):
        found = run.collisions()
        open_ones = [finding for finding in found if run.hopeful(finding)]
        progress("audit", number + 1, rounds)
        if not open_ones:
            break
        left_over = []
        for done, finding in enumerate(open_ones):
            if not run.mend(finding, thorough=False):
                left_over.append(finding)
            progress("limbs", done + 1, len(open_ones))
        mended = sum(run.mend(finding, thorough=True) for finding in left_over)
        if len(left_over) == len(open_ones) and not mended:
            break
    left = tuple(Uncorrected(finding, run.reason(finding)) for finding in run.collisions())
    count = int(take.facts.get("corrections", 0)) + len(run.corrections)
    result = replace(run.take, facts={**take.facts, "corrections": count}) if run.corrections else take
    return Corrected(result, tuple(run.corrections), left)


class _Correcting:
    """One correction of a take. This class is **mutable**: its take is replaced after each limb."""

    def __init__(
        self, take: Take, world: World, options: LimbPlanOptions, bars: AuditBars, seed: int,
        who: frozenset[str] | None, exact: bool = False,
    ) -> None:  # fmt: skip
        self.take, self.world, self.options = take, realised(world, take.facts), options
        self.bars, self.seed, self.who = bars, seed, who
        self.exact = ExactWorld(self.world) if exact else None
        self.corrections: list[Correction] = []
        self.failed: dict[tuple[str, str, int], str] = {}
        """Why a limb of a character could not be mended at a time [half seconds]."""
        self.tries: dict[tuple[str, str, int], int] = {}
        """How often a limb was tried at a time."""
        self.effort = [0, 0]
        """States that were checked in vain at first, and with all tries."""
        self._limb = lru_cache(maxsize=64)(self._fitted)
        self._usual = lru_cache(maxsize=8)(lambda body: usual_steps(take, body)[0])
        self.moved: set[str] = set()
        """Those whose limbs were planned anew since the last audit."""
        self._seen: tuple[Take, tuple[Finding, ...]] | None = None

    def collisions(self) -> tuple[Finding, ...]:
        """Return all collisions of bodies and of what they carry, whatever the planner of the take kept clear."""
        if self._seen is None or self._seen[0] is not self.take:
            bodies = replace(self.take, facts={**self.take.facts, "collision": "body"})
            found = find_collisions(bodies, self.world, bars=self.bars)
            things = (one for one in depth_findings(self.take, self.world, self.bars)[0] if one.value > one.bar)
            found = (*found, *things)
            if self.exact is not None:
                found = (*found, *exact_findings(self.take, self.world, self.bars, self.exact))
            self._seen = (self.take, found)
            self.moved.clear()
        return self._seen[1]

    def hopeful(self, finding: Finding) -> bool:
        """Return whether a limb may mend a collision that was not tried in vain."""
        return any(_key(name, limb, finding.time) not in self.failed for name, limb, _ in self._limbs(finding))

    def reason(self, finding: Finding) -> str:
        """Return why a collision is left."""
        known = [self.failed.get(_key(name, limb, finding.time)) for name, limb, _ in self._limbs(finding)]
        if not known:
            if self.who is not None and limbs_of(finding):
                return "those whose limbs are in it are not to be changed"
            return "neither an arm nor a leg is in it, and nothing else is changed"
        return next((why for why in known if why), "the rounds were used up")

    def _limbs(self, finding: Finding) -> list[tuple[str, str, str]]:
        """Return the limbs of a collision that may be changed; see `limbs_of`."""
        limbs = thing_arms(self.take, finding) if finding.row == "thing_inside" else limbs_of(finding)
        return [one for one in limbs if self.who is None or one[0] in self.who]

    def mend(self, finding: Finding, thorough: bool) -> bool:
        """Plan the limb of a collision anew; of two limbs, the one that finds a way.

        Arms are tried once for all collisions of a take, before any are tried thoroughly: others may have gone then.
        """
        for name, limb, other in self._limbs(finding):
            key = _key(name, limb, finding.time)
            if key in self.failed:
                continue
            self.tries[key] = self.tries.get(key, 0) + (not thorough)
            why, again = "was planned anew several times, and still touches it", False
            if self.tries[key] <= _AGAIN:
                if limb in LEGS:
                    told = self._lift(finding, name, limb, other)
                else:
                    told, again = self._mend(finding, name, limb, other, thorough), not thorough
                if told is None:
                    return True
                why = told
            if not again:
                self.failed[key] = why if why.startswith(limb) else f"{limb} {why}"
        return False

    def _mend(self, finding: Finding, name: str, limb_name: str, other: str, thorough: bool) -> str | None:
        """Return None if an arm was planned anew, else why it was not."""
        if self.effort[thorough] >= _EFFORT[thorough]:
            return _SPENT
        character = self.take.index(name)
        clip, begin = self.take.clip(character), self.take.start(character)
        try:
            limb = self._limb(character, limb_name)
        except GaitwayError as problem:
            return f"cannot be found: {problem}"
        first, last = (round((t - begin) * clip.fps) for t in finding.span or (finding.time, finding.time))
        room, busy = round(_WINDOW * clip.fps), self._busy(name, limb_name.removesuffix("_arm"), finding.time)
        least, most = (math.ceil(np.clip((t - begin) * clip.fps - 1e-6, 0, len(clip) - 1)) for t in busy)
        low, high = max(first - room, least), min(last + room, most) + 1
        if high - low < 8:
            return f"has a motion of {max(high - low - 1, 0) / clip.fps:.2f} s alone, which is too short"
        # where its motion begins or ends, an arm may be away: it comes from, or goes back to, moments that nobody sees
        early, late = room if low == 0 else 0, room if high == len(clip) else 0
        shown = np.clip(np.arange(low - early, high + late), 0, len(clip) - 1)
        part = replace(clip, root_positions=clip.root_positions[shown], rotations=clip.rotations[shown], contacts=None)
        start = begin + (low - early) / clip.fps
        others = self._others(character, start + np.arange(len(part)) / clip.fps)
        carried = held_thing(self.take, name, limb_name.removesuffix("_arm"), finding.time)
        window = LimbWindow(limb, part, start, self.world, others, carried=carried, strict=True)
        held = self._exactly_held(name, limb_name.removesuffix("_arm"), finding.time)
        if held is None and self.moved & set(finding.characters):  # what came before may have mended this, too
            there = slice(max(first - low + early, 0), last - low + early + 1)
            if (window.gaps(bar=self.options.margin)[there] >= self.options.margin).all():
                return None
        plan, why = self._planned(window, part, (first - low + early, last - low + early), held, thorough)
        if plan is None:
            return why
        seen = slice(early, early + high - low)
        before, after = (
            replace(one, root_positions=one.root_positions[seen], rotations=one.rotations[seen])
            for one in (part, window.applied(plan))
        )
        self._lay(character, begin + low / clip.fps, before, after, limb)
        self.corrections.append(Correction(name, limb_name, plan.span, other, finding.value, plan.gap))
        return None

    def _lift(self, finding: Finding, name: str, limb_name: str, other: str) -> str | None:
        """Return None if a leg whose foot is in the air was lifted, else why it was not."""
        character = self.take.index(name)
        clip, begin = self.take.clip(character), self.take.start(character)
        try:
            limb = self._limb(character, limb_name)
            down = feet_down(clip, limb_name.removesuffix("_leg"))
        except GaitwayError as problem:
            return f"cannot be found: {problem}"
        first, last, deep = (
            min(max(round((t - begin) * clip.fps), 0), len(clip) - 1)
            for t in (*(finding.span or (finding.time, finding.time)), finding.time)
        )
        if down[deep]:
            return "has its foot down there, and feet that are down stay"
        start, end = deep, deep
        while start > 0 and not down[start]:
            start -= 1
        while end < len(clip) - 1 and not down[end]:
            end += 1
        low, high = max(start - _ROUND, 0), min(end + _ROUND, len(clip) - 1) + 1
        part = slice_frames(clip, low, high)
        others = self._others(character, begin + np.arange(low, high) / clip.fps)
        window = LimbWindow(limb, part, begin + low / clip.fps, self.world, others)
        bad = (max(first, start) - low, min(last, end) - low)
        for share in dict.fromkeys(share for _, share in _TRIES if share > 0.0):
            plan = lift_step(
                window, (start - low, end - low), bad, share * self.options.margin,
                lambda plan: self._sound(window, part, plan),
            )  # fmt: skip
            if plan is not None:
                self._lay(character, begin + low / clip.fps, part, window.applied(plan), limb)
                self.corrections.append(Correction(name, limb_name, plan.span, other, finding.value, plan.gap))
                return None
        return "finds no way over it or beside it while its foot is in the air"

    def _busy(self, name: str, hand: str, time: float) -> tuple[float, float]:
        """Return from when to when a hand neither reaches nor takes nor lets go of anything, around a time [s]."""
        busy = [float(row[4]) for row in self.take.facts.get("reaches", ()) if row[:2] == [name, hand]]
        for track in things_of(self.take):
            for before, after in zip((None, *track.spans), track.spans, strict=False):
                holds = [one is not None and (one.who, one.part) == (name, f"{hand}_wrist") for one in (before, after)]
                if before is not None and holds[0] != holds[1]:
                    busy.append(after.start)
        earlier = [t + _SETTLED for t in busy if t <= time]
        later = [t - _SETTLED for t in busy if t > time]
        return max(earlier, default=-np.inf), min(later, default=np.inf)

    def _exactly_held(self, name: str, hand: str, time: float) -> tuple[ThingTrack, ThingSpan] | None:
        """Return what somebody has in a hand at a time [s], if exact triangles were asked for."""
        for track in things_of(self.take) if self.exact is not None else ():
            span = track.span(time)
            if (span.who, span.part) == (name, f"{hand}_wrist"):
                return track, span
        return None

    def _planned(
        self, window: LimbWindow, part: Clip, bad: tuple[int, int], held: tuple[ThingTrack, ThingSpan] | None,
        thorough: bool,
    ) -> tuple[LimbPlan | None, str]:  # fmt: skip
        """Return the first plan that the audit would let pass, with spans that grow and margins that shrink.

        Without `thorough` only the first two are tried. Effort is counted, not timed: the result is the same.
        """
        fps, why, all_tries = part.fps, "finds no way around it", (*_TRIES, *(_EXACT_TRIES if held else ()))
        for number, (pad, share) in list(enumerate(all_tries))[slice(_FIRST, None) if thorough else slice(_FIRST)]:
            if self.effort[thorough] >= _EFFORT[thorough]:
                return None, _SPENT
            options = replace(self.options, margin=share * self.options.margin)
            gaps = window.gaps(bar=options.margin)
            near = gaps < options.margin
            early, late = _bad_span(near, bad)
            first = _clear_before(near, early - round(pad * fps))
            last = _clear_after(near, late + round(pad * fps))
            if first is None or last is None:
                when = "begins" if first is None else "ends"
                why = f"touches something already where the motion {when}"
                continue
            begin, end = window.begin + first / fps, window.begin + last / fps
            span = (window.begin + early / fps, window.begin + (late + 1) / fps)
            begun = window.checks
            plan = window.plan(begin, end, bad=span, options=options, seed=self.seed + 1000 * number)
            self.effort[thorough] += window.checks - begun if plan is None else 0
            if plan is not None and float(np.abs(plan.offsets).max()) < _STILL:
                return None, "touches it where it begins, which no posture moves"
            if plan is not None:
                if self._sound(window, part, plan):
                    if held is None or not self._touches(window, plan, *held):
                        return plan, ""
                    why = "finds no way around it on which no triangle of what it carries touches anything"
                    continue
                why = "finds no way around it that is calm and within its limits"
        return None, why

    def _sound(self, window: LimbWindow, part: Clip, plan: LimbPlan) -> bool:
        """Return whether the audit would find neither sudden changes nor joints beyond their limits."""
        after, joints = window.applied(plan), window.limb.joints
        body = next(i for i, skeleton in enumerate(self.take.skeletons) if skeleton is part.skeleton)
        usual = self._usual(body)[joints]
        sudden, before = (turn_steps(clip)[:, joints] / usual for clip in (after, part))
        if (sudden > np.maximum(0.95 * self.bars.continuity, before + 1e-3)).any():
            return False
        limits = joint_limits(part.skeleton).only(joints)
        over, own = violations(after, limits), violations(part, limits)
        return bool((over <= np.maximum(0.95 * self.bars.limit_deg, own + 1e-3)).all())

    def _touches(self, window: LimbWindow, plan: LimbPlan, track: ThingTrack, span: ThingSpan) -> bool:
        """Return whether a carried thing touches the world by its exact triangles while a plan is under way."""
        assert self.exact is not None
        positions, turns = window.applied(plan).joint_transforms()
        wrist, fps = int(window.limb.joints[2]), window.clip.fps
        model, far = self.exact.thing(track, self.bars.thing)
        first, last = (round((t - window.begin) * fps) for t in plan.span)
        for frame in range(max(first, 0), min(last + 1, len(positions)), max(round(fps / 30.0), 1)):
            turn = turns[frame, wrist]
            at = positions[frame, wrist] + rotations.rotate(turn, np.array(span.pose[:3]))
            lean = rotations.multiply(turn, np.array(span.pose[3:]))
            if self.exact.touched(model, far, at, lean, window.begin + frame / fps) is not None:
                return True
        return False

    def _fitted(self, character: int, name: str) -> Limb:
        """Return a limb of a character with the hinge that its own clips show."""
        body = int(self.take.bodies[character])
        rows = slice(int(self.take.rows[character]), int(self.take.rows[character + 1]))
        used = np.unique(self.take.segments.clip[rows]).tolist()
        return fit_limb(self.take.skeletons[body], name, [self.take.clips[c] for c in used])

    def _others(self, character: int, times: FloatArray) -> list[OtherBody]:
        """Return the bodies that are near a character at some time."""
        looks = np.unique(np.append(times[:: max(round(0.2 * self.take.fps), 1)], times[-1]))
        paths = self.take.planar(looks)[..., :2]
        away = np.linalg.norm(paths - paths[character], axis=-1)
        near = np.flatnonzero((np.nan_to_num(away, nan=np.inf) < _NEAR).any(axis=1))
        seen = (self.take.start(character) - 1e-9, float(self.take.ends[character]) + 1e-9)
        return [_body(self.take, int(c), times, seen) for c in near if c != character]

    def _lay(self, character: int, start: float, before: Clip, after: Clip, limb: Limb) -> None:
        turns = rotations.multiply(rotations.conjugate(before.rotations), after.rotations)[:, limb.joints]
        turns = np.where(turns[..., :1] < 0.0, -turns, turns)
        used = np.flatnonzero(np.abs(turns[..., 1:]).max(axis=(0, 2)) > _CHANGED)
        frames = np.flatnonzero(np.abs(turns[..., 1:]).max(axis=(1, 2)) > _CHANGED)
        low, high = max(int(frames[0]) - 1, 0), min(int(frames[-1]) + 2, len(turns))
        layer = Layer(
            character, start + low / before.fps, limb.joints[used], turns[low:high, used].astype(np.float32),
            name=f"corrected {limb.name}",
        )  # fmt: skip
        self.take = replace(self.take, layers=(*self.take.layers, layer))
        self.moved.add(self.take.names[character])


def limbs_of(finding: Finding) -> list[tuple[str, str, str]]:
    """Return the limbs that a collision is about: character, limb, and what it touches."""
    parts = finding.part.split(" in ")
    found = []
    for k, (name, part) in enumerate(zip(finding.characters, parts, strict=False)):
        side, _, what = part.partition("_")
        if side in ("left", "right") and what in (*ARM_PARTS, *LEG_PARTS):
            other = finding.obstacle if len(finding.characters) == 1 else finding.characters[1 - k]
            found.append((name, f"{side}_{'arm' if what in ARM_PARTS else 'leg'}", other))
    return found


def feet_down(clip: Clip, side: str) -> BoolArray:
    """Return whether any part of a foot rests on the ground in each frame; (F,)."""
    shown = clip if clip.contacts is not None else detect_contacts(clip)
    columns = [k for k, point in enumerate(shown.skeleton.contact_points) if point.name in foot_points(side)]
    if shown.contacts is None or not columns:
        raise LimbError(f"no contacts of the {side} foot of clip '{clip.name}' are known")
    return np.asarray(shown.contacts[:, columns].any(axis=1))


def clumsy(take: Take, world: World, bars: AuditBars = AuditBars()) -> set[str]:  # noqa: B008  (frozen)
    """Return the names of those who carry a thing that is inside an obstacle, somebody else or themselves."""
    found = depth_findings(take, realised(world, take.facts), bars)[0]
    return {one.characters[0] for one in found if one.value > one.bar and thing_arms(take, one)}


def thing_arms(take: Take, finding: Finding) -> list[tuple[str, str, str]]:
    """Return the arm that carries a thing which is inside something: character, limb, and what it is in."""
    who = finding.characters[0]
    span = next(track for track in things_of(take) if track.name == finding.part).span(finding.time)
    if span.who != who or not span.part.endswith("_wrist"):
        return []
    return [(who, f"{span.part.removesuffix('_wrist')}_arm", finding.obstacle)]


def held_thing(take: Take, name: str, hand: str, time: float) -> Carried | None:
    """Return what somebody has in a hand at a time [s], as the planner of limbs knows it; None if that is nothing."""
    for track in things_of(take):
        span = track.span(time)
        if (span.who, span.part) == (name, f"{hand}_wrist"):
            starts, ends, radii = thing_capsules(track.shape, track.size, track.mesh)
            at, turn = np.array(span.pose[:3]), np.array(span.pose[3:])
            return Carried(at + rotations.rotate(turn, starts), at + rotations.rotate(turn, ends), radii)
    return None


def _key(name: str, limb: str, time: float) -> tuple[str, str, int]:
    return name, limb, round(2.0 * time)


def _body(take: Take, character: int, times: FloatArray, seen: tuple[float, float]) -> OtherBody:
    """Return another body over some times (F,) [s]; it is absent where it is not there, and beyond what is seen."""
    body = int(take.bodies[character])
    skeleton = take.skeletons[body]
    who: IntArray = np.full(len(times), character, dtype=np.int64)
    roots, local = sampled(take, body, who, times)
    shape = capsule_body(skeleton)
    segments = shape.segments(*forward_kinematics(skeleton, roots, local))
    there = (times >= take.start(character) - 1e-9) & (times <= float(take.ends[character]) + 1e-9)
    there &= (times >= seen[0]) & (times <= seen[1])
    return OtherBody(absent(segments, there), shape.radii)


def _bad_span(near: BoolArray, known: tuple[int, int]) -> tuple[int, int]:
    """Return first and last frame that are too near, around a span that is known to be."""
    early, late = max(known[0], 0), min(known[1], len(near) - 1)
    while early > 0 and near[early - 1]:
        early -= 1
    while late < len(near) - 1 and near[late + 1]:
        late += 1
    return early, late


def _clear_before(near: BoolArray, frame: int) -> int | None:
    """Return the last frame up to some frame where the motion is clear before and after, or the first of all."""
    for f in range(min(max(frame, 0), len(near) - 1), -1, -1):
        if not near[f] and not near[max(f - 1, 0)]:
            return f
    return None


def _clear_after(near: BoolArray, frame: int) -> int | None:
    """Return the first frame from some frame on where the motion is clear, or None."""
    for f in range(max(min(frame, len(near) - 1), 0), len(near)):
        if not near[f] and not near[max(f - 1, 0)]:
            return f
    return None
