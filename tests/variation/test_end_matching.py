"""Variants begin and end on the feet of takes, with feet that stay, and the gate lets only good ones through."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy

from gaitway.cast.catalog import load_cast
from gaitway.core import planar, rotations
from gaitway.core.errors import VariationError
from gaitway.motion import Clip, foot_slide
from gaitway.motion.anatomy import upper_joints
from gaitway.variation.evaluation.gate import (
    VariantGate,
    arms_inside,
    under_ground,
    velocity_change_limits,
    velocity_changes,
)
from gaitway.variation.network.dofs import Dofs
from gaitway.variation.sampling.end_matching import (
    MOST_AT_ENDS,
    match_ends,
    most_similar_ends,
    rms_velocity_changes,
    with_hand_contacts,
    with_upper_body,
)
from gaitway.variation.sampling.root_correction import follow_feet


def takes_of(behavior: str, seed: int = 1, count: int = 4) -> list[Clip]:
    return list(load_cast("person", seed=seed, takes=count, behaviors=[behavior]).clips.values())


def shaken(take: Clip, size: float, seed: int = 0) -> Clip:
    """A take whose rows are off by slow noise, those of the root's speed too, as a bad network might draw it."""
    dofs = Dofs.of([take])
    rows = dofs.rows(take)
    noise = scipy.ndimage.gaussian_filter1d(np.random.default_rng(seed).normal(size=rows.shape), 5, axis=0)
    rows = rows + size * rows.std(axis=0) * noise / noise.std()
    return dofs.clip(rows, "shaken", contacts=take.contacts)


@pytest.mark.parametrize("behavior", ["cheer", "walk_forward", "turn_left_90"])
def test_ends_are_those_of_the_take_and_feet_stay(behavior: str) -> None:
    takes = takes_of(behavior)
    loose = shaken(takes[0], 0.15)
    assert foot_slide(loose).max() > 0.01
    done = match_ends(loose, takes[1])
    upper = upper_joints(done.skeleton)
    for frame in (0, -1):
        apart = rotations.angle_between(done.rotations[frame], takes[1].rotations[frame])
        assert apart[~upper][1:].max() < 1e-7
        assert apart[upper].max() < MOST_AT_ENDS + 0.02
        own = rotations.angle_between(done.rotations[frame], loose.rotations[frame])
        assert own[upper].max() < 0.02 < apart[upper].max(), "the variant's own upper body"
        assert done.root_positions[frame, 2] == pytest.approx(takes[1].root_positions[frame, 2], abs=1e-9)
    # as fast there, too
    spin = [
        rotations.to_rotation_vector(rotations.multiply(rotations.conjugate(c.rotations[-2]), c.rotations[-1]))
        for c in (done, takes[1])
    ]
    assert np.abs(spin[0] - spin[1])[~upper][1:].max() * done.fps < 0.35
    assert foot_slide(done).max() < 0.004
    assert (velocity_changes(done) / velocity_change_limits(takes)).max() < 3.0


def test_a_root_follows_its_feet() -> None:
    take = takes_of("walk_forward")[0]
    dofs = Dofs.of([take])
    rows = dofs.rows(take)
    rows[:, dofs.names.index("ahead")] *= 0.9
    slow = dofs.clip(rows, "slow", contacts=take.contacts)
    went = [float(planar.relative(*c.planar_path()[[0, -1]])[0]) for c in (take, slow, follow_feet(slow))]
    assert abs(went[1] - went[0]) > 0.1
    assert abs(went[2] - went[0]) < 0.02
    assert foot_slide(follow_feet(slow)).max() < 0.2 * foot_slide(slow).max()
    assert follow_feet(take).root_positions == pytest.approx(take.root_positions, abs=1e-5)


@pytest.mark.parametrize("behavior", ["jog_left_45", "wait"])
def test_feet_do_not_slide_where_ends_are_held(behavior: str) -> None:
    """The last two frames are in the take's poses; the root must go from one to the other as it does there."""
    takes = takes_of(behavior)
    done = match_ends(shaken(takes[0], 0.1), takes[1])
    assert foot_slide(done).max() < 0.001
    ways = [planar.relative(*clip.planar_path()[[-2, -1]]) for clip in (done, takes[1])]
    assert np.abs(ways[0] - ways[1]).max() < 0.001


def test_upper_bodies_over_legs_that_are_kept_to_the_last_bit() -> None:
    takes = takes_of("jog_forward", count=8)
    drawn = replace(next(take for take in takes[1:] if len(take) == len(takes[0])), name="drawn")
    done = with_upper_body(takes[0], drawn)
    legs = [
        takes[0].skeleton.roles[f"{side}_{part}"] for side in ("left", "right") for part in ("hip", "knee", "ankle")
    ]
    assert np.array_equal(done.rotations[:, [0, *legs]], takes[0].rotations[:, [0, *legs]])
    assert np.array_equal(done.root_positions, takes[0].root_positions)
    arm, middle = takes[0].skeleton.roles["left_shoulder"], len(drawn) // 2
    assert rotations.angle_between(done.rotations[middle, arm], drawn.rotations[middle, arm]) < 0.01
    # takes share neither pose nor turn at their ends: the upper body is the drawn one's there too
    apart = rotations.angle_between(done.rotations[[0, -1], arm], takes[0].rotations[[0, -1], arm])
    assert apart.min() > 0.01 and apart.max() < MOST_AT_ENDS + 0.01


@pytest.mark.parametrize("behavior", ["walk_forward", "crawl_forward"])
def test_an_upper_body_keeps_its_manner_at_the_ends_unless_hands_rest_there(behavior: str) -> None:
    take = takes_of(behavior, count=1)[0]
    arm, far = take.skeleton.roles["left_shoulder"], np.array(take.rotations)
    far[2:-2, arm] = rotations.multiply(far[2:-2, arm], rotations.from_rotation_vector([0.0, 0.05, 0.0]))
    done = with_upper_body(take, replace(take, rotations=far))
    kept = rotations.angle_between(done.rotations[[0, -1], arm], take.rotations[[0, -1], arm])
    if behavior == "crawl_forward":
        assert kept.max() < 1e-7
    else:
        assert kept.min() > 0.02
    too_far = np.array(take.rotations)
    too_far[:, arm] = rotations.multiply(too_far[:, arm], rotations.from_rotation_vector([0.0, 1.5, 0.0]))
    done = with_upper_body(take, replace(take, rotations=too_far))
    assert rotations.angle_between(done.rotations[[0, -1], arm], take.rotations[[0, -1], arm]).max() <= MOST_AT_ENDS


def test_what_an_upper_body_adds_is_calm() -> None:
    """A wide swing that comes and goes within a short clip is made less, so that arms do not jerk."""
    take = takes_of("jog_forward")[0]
    arm, far = take.skeleton.roles["left_shoulder"], np.array(take.rotations)
    far[:, arm] = rotations.multiply(far[:, arm], rotations.from_rotation_vector([0.0, 1.2, 0.0]))
    done = with_upper_body(take, replace(take, rotations=far))
    swung = rotations.angle_between(done.rotations[:, arm], take.rotations[:, arm]).max()
    assert 0.05 < swung < 1.0
    assert rms_velocity_changes([done])[arm] < 1.75 * rms_velocity_changes([take])[arm]


def test_hands_that_rest_stay_where_they_rest() -> None:
    take = takes_of("climb_up", count=1)[0]
    drawn = shaken(take, 0.1)
    upper = with_upper_body(take, replace(drawn, contacts=take.contacts))
    hands = [k for k, point in enumerate(take.skeleton.contact_points) if point.name.endswith("_hand")]
    assert take.contacts is not None
    down = take.contacts[:, hands]
    assert down.any()

    def off(clip: Clip) -> float:
        gaps = np.linalg.norm(clip.contact_positions() - take.contact_positions(), axis=-1)[:, hands]
        return float(gaps[down].max())

    held = with_hand_contacts(upper, take)
    assert off(upper) > 0.01
    assert off(held) < 0.002
    knee = take.skeleton.roles["left_knee"]
    assert np.array_equal(held.rotations[:, [0, knee]], take.rotations[:, [0, knee]])


def test_feet_that_sank_are_lifted_out_of_the_ground() -> None:
    takes = takes_of("walk_forward")
    dofs = Dofs.of([takes[0]])
    rows = dofs.rows(takes[0])
    rows[12:22, dofs.names.index("height")] -= 0.03 * np.hanning(10)
    low = dofs.clip(rows, "low", contacts=takes[0].contacts)
    assert under_ground(low) > 0.02
    assert under_ground(match_ends(low, takes[1])) < 0.01


def test_bodies_go_into_the_ground_and_arms_into_bodies() -> None:
    take = takes_of("cheer", count=1)[0]
    assert under_ground(take) == 0.0
    assert under_ground(replace(take, root_positions=take.root_positions - [0.0, 0.0, 0.1])) == pytest.approx(
        0.1, abs=1e-3
    )
    assert arms_inside(take) < 0.005
    arm, folded = take.skeleton.roles["left_shoulder"], np.array(take.rotations)
    turns = [rotations.from_rotation_vector(axis) for axis in ([0.0, 0.0, -0.6], [0.5, 0.0, 0.0], [-0.5, 0.0, 0.0])]
    deepest = 0.0
    for turn in turns:
        folded[:, arm] = rotations.multiply(take.rotations[:, arm], turn)
        deepest = max(deepest, arms_inside(replace(take, rotations=folded)))
    assert deepest > 0.02


def test_the_gate_lets_takes_in_and_faults_out() -> None:
    takes = takes_of("cheer")
    more = [replace(clip, skeleton=takes[0].skeleton) for clip in takes_of("cheer", seed=40, count=5)]
    gate = VariantGate.of(takes)
    assert [gate.faults(clip) for clip in more] == [[]] * 5
    (clone,) = gate.faults(takes[2])
    assert "copy" in str(clone)
    assert clone.kind == "a copy"
    popped = np.array(more[0].rotations)
    arm = takes[0].skeleton.roles["left_shoulder"]
    popped[40:, arm] = rotations.multiply(popped[40:, arm], rotations.from_rotation_vector([0.0, 0.5, 0.0]))
    assert any("suddenly" in str(fault) for fault in gate.faults(replace(more[0], rotations=popped)))
    raised = replace(more[0], root_positions=more[0].root_positions + np.array([0.0, 0.0, 0.05]))
    assert any("off the ground" in str(fault) for fault in gate.faults(raised))
    drift = np.linspace(0.0, 0.3, len(more[0]))[:, None] * np.array([1.0, 0.0, 0.0])
    faults = gate.faults(replace(more[0], root_positions=more[0].root_positions + drift))
    assert any("slides" in str(fault) for fault in faults)
    assert any("ends 30 cm from" in str(fault) for fault in faults)


def test_the_take_with_the_most_alike_contacts_is_found() -> None:
    takes = takes_of("walk_forward")
    assert takes[0].contacts is not None
    other = np.array(takes[0].contacts)
    other[:4] = ~other[:4]
    assert most_similar_ends(takes[0], [replace(takes[0], contacts=other), takes[0]]) is takes[0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: replace(c, contacts=None), "no contacts"),
        (lambda c: replace(c, fps=60.0), "skeleton or frame rate"),
        (lambda c: replace(c, skeleton=replace(c.skeleton)), "skeleton or frame rate"),
    ],
)
def test_what_does_not_go_together_is_refused(change: object, said: str) -> None:
    take = takes_of("walk_forward")[0]
    with pytest.raises(VariationError, match=said):
        match_ends(change(take), take)  # type: ignore[operator]
