from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from figures import stance_truth, standing, walking
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.core import rotations
from gaitway.motion import (
    Clip,
    Skeleton,
    detect_contacts,
    floor_height,
    humanoid_contact_points,
    retarget,
    stances,
)
from gaitway.motion.contacts import sole_depth
from gaitway.motion.formats import load_clip
from shared_data import MOCAP, needs_mocap
from strategies import oblique


def foot_flags(clip):
    """Whether any of heel and ball is down, left and right; (F, 2)."""
    names = [p.name for p in clip.skeleton.contact_points]
    flags = [
        clip.contacts[:, names.index(f"{s}_heel")] | clip.contacts[:, names.index(f"{s}_ball")]
        for s in ("left", "right")
    ]
    return np.stack(flags, axis=1)


def agreement(clip):
    """Share of frames in which detected contacts equal the truth, away from its changes."""
    truth, found = stance_truth(clip), foot_flags(clip)
    edges = np.zeros_like(truth)
    for column in range(2):
        for edge in np.flatnonzero(np.diff(truth[:, column].astype(int))):
            margin = int(0.07 * clip.fps) + 1
            edges[max(edge - margin, 0) : edge + margin + 1, column] = True
    return (truth == found)[~edges].mean()


def test_stances_are_runs():
    assert stances(np.array([0, 1, 1, 0, 1], dtype=bool)) == [(1, 3), (4, 5)]
    assert stances(np.ones(3, dtype=bool)) == [(0, 3)]
    assert stances(np.zeros(3, dtype=bool)) == []
    assert stances(np.zeros(0, dtype=bool)) == []


def test_points_of_the_person_are_found_from_its_bones():
    person = person_skeleton()
    plain = Skeleton(person.names, person.parents, person.offsets)
    own = {p.name: p for p in person.contact_points}
    for point in humanoid_contact_points(plain):
        assert point.joint == own[point.name].joint
        np.testing.assert_allclose(point.offset, own[point.name].offset, atol=0.012)


def test_points_on_oblique_axes_are_in_the_same_places():
    person = person_skeleton()
    turned = oblique(person)
    world = np.array(turned.rest_rotations)
    for j, parent in enumerate(turned.parents):
        if parent >= 0:
            world[j] = rotations.multiply(world[parent], world[j])
    wanted = {
        p.name: person.rest_positions[p.joint] + p.offset
        for p in humanoid_contact_points(Skeleton(person.names, person.parents, person.offsets))
    }
    for point in humanoid_contact_points(turned):
        place = turned.rest_positions[point.joint] + rotations.rotate(world[point.joint], point.offset)
        np.testing.assert_allclose(place, wanted[point.name], atol=1e-9)


def test_rig_without_toes_gets_points_too():
    person = person_skeleton()
    keep = [j for j, n in enumerate(person.names) if "Toe" not in n]
    place = {j: i for i, j in enumerate(keep)}
    plain = Skeleton(
        tuple(person.names[j] for j in keep),
        np.array([place.get(int(person.parents[j]), -1) for j in keep]),
        person.offsets[keep],
    )
    points = humanoid_contact_points(plain)
    assert {p.name for p in points} == {f"{s}_{p}" for s in ("left", "right") for p in ("heel", "ball", "toe")}
    assert sole_depth(plain) == pytest.approx(0.08, abs=1e-6)


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
def test_walk_with_known_stances(fps):
    assert agreement(detect_contacts(walking(4.0, fps))) > 0.99


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(
            lambda c: replace(c, root_positions=c.root_positions + np.array([0, 0, 0.37])), id="floor at 0.37 m"
        ),
        pytest.param(lambda c: replace(c, root_positions=c.root_positions - [0, 0, 2.0]), id="floor at -2 m"),
        pytest.param(
            lambda c: replace(c, root_positions=c.root_positions + c.root_positions[:, :1] * [0, 0, 0.015]), id="slope"
        ),
        pytest.param(lambda c: retarget(c, _scaled(c.skeleton, 0.55)), id="child"),
        pytest.param(lambda c: retarget(c, _scaled(c.skeleton, 1.2)), id="tall"),
    ],
)
def test_robust_to_floor_slope_and_size(change):
    assert agreement(detect_contacts(change(walking(4.0)))) > 0.98


def test_robust_to_noise():
    assert agreement(detect_contacts(walking(4.0, 120.0, noise=0.002, seed=3))) > 0.97


def test_a_foot_held_in_the_air_is_not_planted():
    clip = standing(60)
    local = np.array(clip.rotations)
    leg = [clip.skeleton.index(n) for n in ("LeftUpLeg", "LeftLeg")]
    local[:, leg[0]] = rotations.from_axis_angle([0, 1, 0], -0.8)
    local[:, leg[1]] = rotations.from_axis_angle([0, 1, 0], 1.4)
    # the foot comes up within the first half and stays there
    t = np.clip(np.arange(60) / 20.0, 0, 1)[:, None]
    for joint in leg:
        local[:, joint] = rotations.slerp(clip.rotations[:, joint], local[:, joint], t[:, 0])
    flags = foot_flags(detect_contacts(replace(clip, rotations=local)))
    assert flags[:, 1].all()
    assert not flags[20:, 0].any()


def test_hands_and_knees_of_a_walker_touch_nothing():
    clip = detect_contacts(walking(3.0))
    others = [i for i, p in enumerate(clip.skeleton.contact_points) if p.name.rpartition("_")[2] in ("knee", "hand")]
    assert len(others) == 4
    assert not clip.contacts[:, others].any()


def test_floor_height():
    assert floor_height(standing(10)) == pytest.approx(0.0, abs=1e-6)
    walk = walking(3.0)
    lifted = replace(walk, root_positions=walk.root_positions + np.array([0, 0, 0.5]))
    assert floor_height(lifted) == pytest.approx(0.5, abs=0.005)


def test_single_frames_do_not_fail():
    clip = detect_contacts(standing(1))
    assert clip.contacts.shape == (1, 10)
    assert np.isfinite(floor_height(clip))


@needs_mocap
@pytest.mark.parametrize(
    ("file", "stride", "share"),
    [
        ("bvh/16_15.bvh", 4, (0.5, 0.75)),
        ("bvh/35_01.bvh", 3, (0.42, 0.75)),
        ("bvh_accad/Female1_B03_Walk1.bvh", 6, (0.5, 0.75)),
        ("bvh/09_01.bvh", 1, (0.15, 0.5)),
    ],
)
def test_captured_walks_and_runs_have_plausible_stances(file, stride, share):
    clip = detect_contacts(load_clip(MOCAP / file))
    flags = foot_flags(clip)
    assert share[0] < flags.mean() < share[1]
    for column in range(2):
        assert len(stances(flags[:, column])) >= stride
    both_up = ~flags.any(axis=1)
    assert both_up.mean() < 0.05 if "09_01" not in file else both_up.mean() > 0.2


def _scaled(skeleton: Skeleton, factor: float) -> Skeleton:
    points = tuple(replace(p, offset=tuple(factor * x for x in p.offset)) for p in skeleton.contact_points)
    return replace(skeleton, offsets=skeleton.offsets * factor, contact_points=points, tips={})


def test_clip_type_is_kept():
    assert isinstance(detect_contacts(standing(4)), Clip)
