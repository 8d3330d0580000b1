"""The built-in horse: anatomy, gait, planted hooves, free flight, joins."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.cast.catalog import load_cast
from gaitway.cast.horse.body import HorseStyle
from gaitway.cast.horse.clips import horse_clips
from gaitway.cast.horse.legs import FLEXION_RATIOS, solve_chain
from gaitway.cast.horse.skeleton import HEEL, LEGS, TOE, horse_skeleton, leg_geometry
from gaitway.core import rotations
from gaitway.library import check_joins
from gaitway.motion import Clip

BEHAVIORS = (
    "stand", "start_gallop", "gallop_forward", "gallop_left_20", "gallop_left_40",
    "gallop_right_20", "gallop_right_40", "stop_gallop",
)  # fmt: skip


@cache
def clips(style: int | None = None, takes: int = 2) -> dict[str, Clip]:
    manner = None if style is None else HorseStyle.draw(style)
    return {entry.clip.name: entry.clip for entry in horse_clips(manner, seed=3, takes=takes)}


def stances(flags: np.ndarray) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def hoof_ends(clip: Clip) -> np.ndarray:
    """Toes and heels of the four hooves [m], (F, 8, 3)."""
    positions, world = clip.joint_transforms()
    out = []
    for leg in LEGS:
        hoof = leg_geometry(leg).joints[-1]
        out += [positions[:, hoof] + rotations.rotate(world[:, hoof], np.array(end)) for end in (TOE, HEEL)]
    return np.stack(out, axis=1)


def test_skeleton_is_a_horse() -> None:
    skeleton = horse_skeleton()
    rest = skeleton.rest_positions
    assert 28 <= len(skeleton) <= 36
    assert 1.4 < rest[skeleton.index("LeftForeScapula"), 2] < 1.6
    assert rest[skeleton.index("Head"), 0] > rest[skeleton.index("Chest"), 0] > rest[skeleton.index("Croup"), 0]
    for leg in LEGS:  # the toes stand on the ground in the rest pose
        assert rest[leg_geometry(leg).joints[-1], 2] + TOE[2] == pytest.approx(0.0, abs=1e-9)
    # zig-zag: the elbow lies behind the shoulder, the stifle before hip and hock
    x = {name: rest[skeleton.index(name), 0] for name in skeleton.names}
    assert x["LeftForeRadius"] < x["LeftForeHumerus"]
    assert x["LeftHindCannon"] < x["LeftHindTibia"] > x["LeftHindFemur"]
    assert "left_knee" not in skeleton.roles  # it does not pass for a person
    assert skeleton.forward == pytest.approx([1.0, 0.0, 0.0])


def test_takes_and_behaviors() -> None:
    assert {name.split(".")[0] for name in clips()} == set(BEHAVIORS)
    assert len(clips()) == 2 * len(BEHAVIORS)
    only = horse_clips(behaviors=["stand"])
    assert [entry.behavior for entry in only] == ["stand"]


@pytest.mark.parametrize("style", [None, 1, 2])
def test_hooves_are_planted_and_stay_above_the_ground(style: int | None) -> None:
    for clip in clips(style).values():
        toes = clip.contact_positions()
        assert clip.contacts is not None
        for column in range(len(LEGS)):
            for first, end in stances(clip.contacts[:, column]):
                assert np.linalg.norm(toes[first:end, column] - toes[first, column], axis=1).max() < 1e-4, clip.name
        assert hoof_ends(clip)[..., 2].min() > -0.003, clip.name


def test_transverse_gallop() -> None:
    clip = clips()["gallop_forward"]
    assert clip.contacts is not None
    landing = [stances(clip.contacts[:, k])[0][0] for k in range(4)]
    assert landing == sorted(landing), "left hind, right hind, left fore, right fore"
    frames = len(clip) - 1
    duty = clip.contacts[:-1].sum(axis=0) / frames
    assert (duty >= 0.2).all() and (duty <= 0.35).all()
    speed = (clip.root_positions[-1, 0] - clip.root_positions[0, 0]) / clip.duration
    assert 5.0 < speed < 9.0
    assert 1.7 < 1.0 / clip.duration < 2.3
    assert not clip.contacts[0].any() and not clip.contacts[-1].any(), "the hub is in flight"


def test_knee_and_hock_fold_in_the_swing() -> None:
    clip = clips()["gallop_forward"]
    skeleton = clip.skeleton
    toes = clip.contact_positions()[..., 2]
    assert toes[:, 2:].max() > 0.3 and toes[:, :2].max() > 0.15
    knee = rotations.angle_between(clip.rotations[:, skeleton.index("LeftForeCannon")], rotations.identity())
    assert np.degrees(knee.max()) > 60.0
    stance = clip.contacts[:, 2] if clip.contacts is not None else []
    assert np.degrees(knee[stance].max()) < 12.0, "locked while it carries"


def test_free_fall_between_strides() -> None:
    for name in ("gallop_left_20", "gallop_right_40", "start_gallop"):
        clip = clips()[name]
        assert clip.contacts is not None
        height = clip.root_positions[:, 2]
        air = ~clip.contacts.any(axis=1)
        inside = [i for i in range(1, len(clip) - 1) if air[i - 1 : i + 2].all()]
        assert inside, f"{name} never flies"
        for i in inside:
            fall = (height[i - 1] - 2 * height[i] + height[i + 1]) * clip.fps**2
            assert fall == pytest.approx(-9.81, abs=0.15)


@pytest.mark.parametrize(("name", "degrees"), [("left_20", 20), ("left_40", 40), ("right_20", -20), ("right_40", -40)])
def test_turns_turn_and_bank_inward(name: str, degrees: float) -> None:
    clip = clips()[f"gallop_{name}"]
    path = clip.planar_path()
    assert np.degrees(path[-1, 2] - path[0, 2]) == pytest.approx(degrees, abs=0.1)
    up = rotations.rotate(clip.rotations[len(clip) // 2, 0], np.array([0.0, 0.0, 1.0]))
    left = np.array([-np.sin(path[len(clip) // 2, 2]), np.cos(path[len(clip) // 2, 2])])
    assert np.sign(up[:2] @ left) == np.sign(degrees)


def test_joins_are_seamless() -> None:
    joins = check_joins(load_cast("horse", seed=3, takes=2))
    assert max(join.angle for join in joins) < 1e-4
    assert max(join.height for join in joins) < 1e-6
    standing = [join for join in joins if join.before.startswith(("stand", "stop"))]
    assert max(join.speed for join in standing) < 0.1
    # hooves in full swing change their speed by metres a second from frame to frame; a break would be ten times this
    assert max(join.speed for join in joins) < 3.0


def test_takes_differ_but_same_seed_is_the_same() -> None:
    first, again = clips()["gallop_left_20.1"], horse_clips(seed=3, takes=2, behaviors=["gallop_left_20"])[1].clip
    np.testing.assert_array_equal(first.rotations, again.rotations)
    other = horse_clips(seed=4, takes=2, behaviors=["gallop_left_20"])[1].clip
    assert np.abs(first.rotations - other.rotations).max() > 1e-3
    np.testing.assert_allclose(first.rotations[-1, 1:], other.rotations[-1, 1:], atol=1e-9)


def test_standing_horse_is_alive() -> None:
    clip = clips()["stand"]
    moved = rotations.angle_between(clip.rotations, clip.rotations[:1]).max(axis=0)
    assert np.degrees(moved[clip.skeleton.index("Neck")]) > 0.8
    assert np.degrees(moved[clip.skeleton.index("Tail2")]) > 1.0
    assert np.ptp(clip.root_positions, axis=0).max() < 0.06


@settings(max_examples=40, deadline=None)
@given(st.booleans(), st.floats(0.45, 0.97), st.floats(-0.9, 0.9))
def test_chain_reaches_its_target(is_fore: bool, share: float, lean: float) -> None:
    leg = leg_geometry("LeftFore" if is_fore else "LeftHind")
    ratios = FLEXION_RATIOS[is_fore]
    straight = np.linalg.norm(leg.bones, axis=1).sum()
    reach = (0.55 + 0.4 * share) * straight
    target = reach * np.array([[np.sin(lean), -np.cos(lean)]])
    pitch, flexion = solve_chain(leg.bones, ratios, target)
    end, turn = np.zeros(2), 0.0
    for bone, extra in zip(leg.bones, (pitch[0], ratios[0] * flexion[0], ratios[1] * flexion[0]), strict=True):
        turn += extra
        c, s = np.cos(turn), np.sin(turn)
        end += [c * bone[0] + s * bone[1], -s * bone[0] + c * bone[1]]
    if reach < 0.93 * straight:
        np.testing.assert_allclose(end, target[0], atol=1e-6)
    else:  # perhaps out of reach: then at least in the right direction
        assert np.cross([*end, 0.0], [*target[0], 0.0])[2] == pytest.approx(0.0, abs=1e-6)
