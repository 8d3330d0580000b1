"""The built-in skateboarder: the board under the feet, pushes, flight, the bar overhead, joins."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.cast.masses import centre_of_mass
from gaitway.cast.skateboarder.clips import LAND, LEAVE, skateboarder_clips
from gaitway.cast.skateboarder.ride import SkaterStyle
from gaitway.cast.skateboarder.skeleton import DECK_HEIGHT, WHEELS, skateboarder_skeleton
from gaitway.core import rotations
from gaitway.library import check_joins
from gaitway.motion import Clip


@cache
def clips(style: int | None = None) -> dict[str, Clip]:
    manner = None if style is None else SkaterStyle.draw(style)
    return {entry.clip.name: entry.clip for entry in skateboarder_clips(manner, seed=5, takes=2)}


def on_board(clip: Clip, joint: str, offset: tuple[float, float, float]) -> np.ndarray:
    """A point of a joint in the board's frame [m], (F, 3)."""
    positions, world = clip.joint_transforms()
    j, board = clip.skeleton.index(joint), clip.skeleton.index("Board")
    place = positions[:, j] + rotations.rotate(world[:, j], np.array(offset))
    return rotations.rotate(rotations.conjugate(world[:, board]), place - positions[:, board])


def test_skeleton_is_a_person_on_a_board() -> None:
    skeleton = skateboarder_skeleton()
    assert skeleton.names[0] == "Ride"
    assert skeleton.require("left_knee", "right_wrist", "head", "hips")
    assert skeleton.names[skeleton.parents[skeleton.index("Board")]] == "LeftFoot"
    assert skeleton.forward == pytest.approx([1.0, 0.0, 0.0])
    rolling = [point.name for point in skeleton.contact_points if point.rolls]
    assert tuple(rolling) == WHEELS
    assert all("wheel" in name for name in rolling)


@pytest.mark.parametrize("style", [None, 1, 2])
def test_feet_do_not_slide_on_the_deck(style: int | None) -> None:
    for name, clip in clips(style).items():
        soles = [("LeftFoot", (-0.03, 0.0, -0.08)), ("LeftFoot", (0.13, 0.0, -0.08))]
        if name.split(".")[0] not in ("push", "stop", "wait", "start"):
            soles += [("RightFoot", (-0.03, 0.0, -0.08)), ("RightFoot", (0.13, 0.0, -0.08))]
        for joint, point in soles:
            place = on_board(clip, joint, point)
            assert np.ptp(place, axis=0).max() < 1e-6, f"{name}: {joint} slides on the deck"
            assert np.abs(place[:, 2]).max() < 1e-6, f"{name}: {joint} is not on top of the deck"


def test_wheels_are_on_the_ground_except_in_the_air() -> None:
    for name, clip in clips().items():
        assert clip.contacts is not None
        heights = clip.contact_positions()[:, :4, 2]
        assert heights.min() > -1e-6, name
        flat = ~np.isclose(np.arange(len(clip)) / clip.fps, 1.05, atol=0.4) | ("jump" not in name)
        assert heights[flat].max() < 1e-6, f"{name}: a wheel lifts"
        assert clip.contacts[flat][:, :4].all()


def test_wheels_roll_forward_not_sideways() -> None:
    for name in ("glide_left_50", "glide_right_25", "push"):
        clip = clips()[name]
        middle = clip.contact_positions()[:, :4].mean(axis=1)
        step = np.diff(middle[:, :2], axis=0)
        headings = clip.headings()
        between = 0.5 * (headings[1:] + headings[:-1])
        sideways = -np.sin(between) * step[:, 0] + np.cos(between) * step[:, 1]
        assert np.abs(sideways).max() < 0.002, name


def test_the_pushing_foot_is_planted() -> None:
    for name in ("push", "start", "wait", "stop", "push.1", "start.1"):
        clip = clips()[name]
        assert clip.contacts is not None
        points = clip.contact_positions()
        touched = 0
        for column in range(4, points.shape[1]):
            flags = clip.contacts[:, column].astype(int)
            edges = np.flatnonzero(np.diff(np.concatenate([[0], flags, [0]])))
            for a, b in zip(edges[::2], edges[1::2], strict=True):
                touched += 1
                assert np.linalg.norm(points[a:b, column] - points[a, column], axis=1).max() < 0.002, name
        assert touched, f"{name}: the foot never touches the ground"
        assert points[:, 4:, 2].min() > -0.003


def test_ollie_falls_freely() -> None:
    for name in ("jump", "jump.1"):
        clip = clips()[name]
        assert clip.contacts is not None
        air = ~clip.contacts.any(axis=1)
        inside = [i for i in range(1, len(clip) - 1) if air[i - 1 : i + 2].all()]
        assert len(inside) / clip.fps > 0.8 * (LAND - LEAVE) - 0.1
        height = centre_of_mass(clip.skeleton, clip.root_positions, clip.rotations)[:, 2]
        fall = np.array([(height[i - 1] - 2 * height[i] + height[i + 1]) * clip.fps**2 for i in inside])
        np.testing.assert_allclose(fall, -9.81, atol=0.05)
        assert clip.contact_positions()[:, :4, 2].min(axis=1).max() > 0.25, "the board clears a kerb"


def test_duck_fits_under_a_bar() -> None:
    clip = clips()["duck"]
    head = clip.joint_positions()[:, clip.skeleton.index("HeadTop_End"), 2]
    low = np.flatnonzero(head < 1.05)
    assert 1.0 * clip.fps in range(low[0], low[-1] + 1)
    assert len(low) / clip.fps > 0.4
    assert head[0] > 1.5


@pytest.mark.parametrize(("name", "degrees"), [("left_25", 25), ("left_50", 50), ("right_25", -25), ("right_50", -50)])
def test_turns_carve(name: str, degrees: float) -> None:
    clip = clips()[f"glide_{name}"]
    path = clip.planar_path()
    assert np.degrees(path[-1, 2] - path[0, 2]) == pytest.approx(degrees, abs=0.1)
    middle = len(clip) // 2
    heading = path[middle, 2]
    left = np.array([-np.sin(heading), np.cos(heading), 0.0])
    mass = centre_of_mass(clip.skeleton, clip.root_positions, clip.rotations)[middle]
    offset = mass - clip.contact_positions()[middle, :4].mean(axis=0)
    assert np.sign(offset @ left) == np.sign(degrees), "the body hangs to the inside"
    deck = clip.joint_transforms()[1][middle, clip.skeleton.index("Board")]
    assert np.sign(rotations.rotate(deck, np.array([0.0, 0.0, 1.0])) @ left) == np.sign(degrees), (
        "and the deck leans in"
    )


def test_states() -> None:
    stop, start = clips()["stop"], clips()["start"]
    speed = np.linalg.norm(np.diff(stop.contact_positions()[:, :4].mean(axis=1), axis=0), axis=1) * stop.fps
    assert speed[0] == pytest.approx(3.5, abs=0.05) and speed[-1] < 1e-3
    speed = np.linalg.norm(np.diff(start.contact_positions()[:, :4].mean(axis=1), axis=0), axis=1) * start.fps
    assert speed[0] < 1e-3 and speed[-1] == pytest.approx(3.5, abs=0.05)
    sole = on_board(clips()["glide_forward"], "RightFoot", (0.13, 0.0, -0.08))
    assert sole[0, 0] < -0.1 and DECK_HEIGHT > 0.1


def test_joins_are_seamless() -> None:
    joins = check_joins(load_cast("skateboarder", seed=5, takes=2))
    assert max(join.angle for join in joins) < 1e-6
    assert max(join.height for join in joins) < 1e-9
    assert max(join.speed for join in joins) < 0.1


def test_takes_differ_but_same_seed_is_the_same() -> None:
    again = skateboarder_clips(seed=5, takes=2, behaviors=["wait"])
    np.testing.assert_array_equal(clips()["wait.1"].rotations, again[1].clip.rotations)
    assert np.abs(again[0].clip.rotations - again[1].clip.rotations).max() > 1e-2
