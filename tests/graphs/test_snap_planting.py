"""Footplants are held, locked frames stay, and knees do not pop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gaitway.audit.sources import turn_steps
from gaitway.core import planar, rotations
from gaitway.core.errors import ClipError
from gaitway.graphs.snap.common_pose import common_pose, with_contacts
from gaitway.graphs.snap.displacement import displaced, velocities
from gaitway.graphs.snap.planting import _banded, _bending, planted
from gaitway.motion.clip import Clip
from gaitway.motion.editing import slice_frames
from gaitway.motion.quality import foot_slide
from snap_walks import person, stand, walk

PARTS = ("heel", "ball", "toe")


def pushed(clip: Clip, seed: int, size: float = 0.04) -> Clip:
    """The clip with its root pushed about slowly, so that its feet slide and sink."""
    rng = np.random.default_rng(seed)
    times = np.arange(len(clip))[:, None] / clip.fps
    waves = sum(rng.normal(size=3) * np.sin(2 * np.pi * times * f + rng.uniform(0, 6)) for f in (0.3, 0.6, 1.1))
    return replace(clip, root_positions=clip.root_positions + size * 0.5 * waves)


def usual(clip: Clip) -> np.ndarray:
    return np.maximum(np.percentile(turn_steps(clip), 99.9, axis=0), 0.5)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_feet_stay_where_they_are_planted_and_above_the_floor(seed):
    clip = pushed(walk(), seed)
    assert foot_slide(clip, PARTS).max() > 0.02
    out = planted(clip)
    assert foot_slide(out, PARTS).max() < 0.004
    points = out.contact_positions()
    assert np.abs(points[..., 2][out.contacts]).max() < 0.003
    feet = [i for i, p in enumerate(out.skeleton.contact_points) if p.name.partition("_")[2] in PARTS]
    assert points[:, feet, 2].min() > -0.01
    assert (turn_steps(out) / usual(walk())).max() < 1.5


def test_locked_frames_stay_to_the_bit():
    clip, frames = pushed(walk(), 4), [0, 17, 40, len(walk()) - 1]
    out = planted(clip, frames)
    assert np.array_equal(out.rotations[frames], clip.rotations[frames])
    assert np.array_equal(out.root_positions[frames], clip.root_positions[frames])
    assert np.array_equal(out.contacts[frames], clip.contacts[frames])


def test_contacts_beside_a_locked_frame_that_has_none_are_let_go_in_time():
    clip = walk()
    landing = int(np.flatnonzero(clip.contacts[1:, 0] & ~clip.contacts[:-1, 0])[0])  # the frame before the heel is down
    out = planted(clip, [landing])
    assert clip.contacts[landing + 1, 0] and not out.contacts[landing - 3 : landing + 4, 0].any()
    assert out.contacts[landing + 4, 0] and not (out.contacts & ~clip.contacts).any()
    assert np.array_equal(planted(clip).contacts, clip.contacts)


def test_what_is_planted_already_hardly_changes():
    clip = walk()
    out = planted(clip, [0, 50])
    assert np.abs(out.root_positions - clip.root_positions).max() < 0.006
    assert rotations.angle_between(out.rotations, clip.rotations).max() < np.radians(6.0)


def test_a_short_clip_between_two_common_poses():
    clip = walk()
    frames = [12, 24]  # 0.4 s
    poses = [common_pose([(clip, f), (clip, f + 33)]) for f in frames]
    part = slice_frames(clip, 12, 25)
    anchors = [p.anchor(f, part.planar_path()[f]) for p, f in zip(poses, (0, 12), strict=True)]
    bent = with_contacts(displaced(part, anchors), (0, 12), poses)
    out = planted(bent, [0, 12])
    assert np.array_equal(out.rotations[[0, 12]], bent.rotations[[0, 12]])
    assert (turn_steps(out) / usual(clip)).max() < 1.5


def test_both_feet_planted_through_a_whole_clip():
    library = person()
    still = library.clips[library.graph["stand"].clips[0]]
    clip = pushed(slice_frames(still, 0, 61), 7, 0.03)
    pose = common_pose([(still, 10), (still, 40)])
    anchors = [pose.anchor(f, still.planar_path()[0]) for f in (0, 60)]
    out = planted(with_contacts(displaced(clip, anchors), (0, 60), (pose, pose)), [0, 60])
    assert foot_slide(out, PARTS).max() < 0.004
    assert np.array_equal(out.rotations[60], out.rotations[0])


def test_a_foot_goes_from_one_locked_frame_to_another_that_disagrees():
    library = person()
    still = slice_frames(library.clips[library.graph["stand"].clips[0]], 0, 61)
    roots = np.array(still.root_positions)
    roots[:, 0] += np.linspace(0.0, 0.04, 61)
    out = planted(replace(still, root_positions=roots), [0, 60])
    tracks = out.contact_positions()[:, :3, 0]
    assert np.allclose(tracks[-1] - tracks[0], 0.04, atol=1e-6)
    assert np.abs(np.diff(tracks, n=2, axis=0)).max() < 0.001  # slowly


def test_one_frame_is_stood_on_the_floor():
    clip = slice_frames(stand(), 5, 6)
    sunk = replace(clip, root_positions=clip.root_positions - [0.0, 0.0, 0.03])
    out = planted(sunk)
    assert np.abs(out.contact_positions()[0, :, 2][out.contacts[0]]).max() < 0.002


def test_wrong_input_is_refused():
    with pytest.raises(ClipError, match="locked frame 999 is not in clip 'walk-0'"):
        planted(walk(), [999])
    with pytest.raises(ClipError, match="one for each of 10 contact points"):
        planted(walk(), rest=[0.0])


def test_the_band_matrix_is_that_of_second_differences():
    rng = np.random.default_rng(0)
    for locked in ([True, False, False, False, True], [False] * 5, [True, False, True]):
        frames = len(locked)
        second = np.diag(np.full(frames, -2.0)) + np.diag(np.ones(frames - 1), 1) + np.diag(np.ones(frames - 1), -1)
        for end in (0, -1):
            if not locked[end]:
                second[end] = 0.0
        squares = rng.normal(size=(frames, 3, 3))
        squares = squares @ squares.transpose(0, 2, 1)
        whole = np.kron(second.T @ second, np.eye(3))
        for f in range(frames):
            whole[3 * f : 3 * f + 3, 3 * f : 3 * f + 3] += squares[f]
        bands = _banded(_bending(np.array(locked)), squares)
        for above in range(7):
            assert np.allclose(bands[6 - above, above:], np.diagonal(whole, above))


def test_speeds_at_locked_frames_are_kept():
    clip = walk()
    out = planted(pushed(clip, 9, 0.0), [30])
    assert np.linalg.norm(velocities(out, 30)[0] - velocities(clip, 30)[0]) < 0.05
    assert planar.wrap_angle(out.headings()[30] - clip.headings()[30]) == 0.0
