"""Libraries of other sizes: the same motion, and people of different heights in one scene."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaitway.audit import audit_take
from gaitway.cast.catalog import load_cast
from gaitway.core.errors import LibraryError
from gaitway.library.size import DRAWN_SIZES, SIZES, drawn_size, sized
from gaitway.motion.body import capsule_body
from gaitway.motion.contacts import contact_slip
from gaitway.planning import plan_scene
from gaitway.scene import load_scene, model

SCENE = """gaitway: 1
bounds: [0, 0, 16, 12]
seed: 4
library: {size: drawn}
characters:
  - {count: 7, name: east, start_area: [1, 1, 4, 11], goal_area: [12, 1, 15, 11]}
  - {count: 7, name: west, start_area: [12, 1, 15, 11], goal_area: [1, 1, 4, 11]}
  - {name: tall, start: [8, 1], goal: [8, 11], library: {size: 1.15}}
"""


@given(st.floats(*SIZES))
def test_all_joints_of_a_sized_body_are_where_they_were_times_its_size(size: float) -> None:
    library = load_cast("person", behaviors=["stand", "walk_forward", "wait"])
    made = sized(library, size)
    for name, clip in library.clips.items():
        np.testing.assert_allclose(made.clips[name].joint_positions(), size * clip.joint_positions(), atol=1e-12)
        np.testing.assert_allclose(made.clips[name].contact_positions(), size * clip.contact_positions(), atol=1e-12)
        assert contact_slip(made.clips[name]) <= size * contact_slip(clip) + 1e-12
    np.testing.assert_allclose(capsule_body(made.skeleton).radii, size * capsule_body(library.skeleton).radii)


@pytest.mark.parametrize("size", [0.0, 0.5, 2.0, float("nan")])
def test_sizes_beyond_the_limits_are_refused(size: float) -> None:
    with pytest.raises(LibraryError, match=r"write 0\.8 to 1\.2"):
        sized(load_cast("person", behaviors=["stand"]), size)


def test_scene_files_have_the_limits_of_libraries() -> None:
    assert model.SIZES == SIZES


def test_everybody_draws_a_size_by_name_and_seed() -> None:
    drawn = [drawn_size(3, f"who-{k}") for k in range(500)]
    assert set(drawn) == set(DRAWN_SIZES) and drawn == [drawn_size(3, f"who-{k}") for k in range(500)]
    assert drawn != [drawn_size(4, f"who-{k}") for k in range(500)]
    assert np.mean(drawn) == pytest.approx(1.0, abs=0.01) and 0.045 < np.std(drawn) < 0.065


@pytest.mark.slow
def test_people_of_all_sizes_arrive_in_one_scene(tmp_path: Path) -> None:
    path = tmp_path / "sizes.yaml"
    path.write_text(SCENE)
    planned = plan_scene(load_scene(path))
    assert not planned.failed and audit_take(planned.take, planned.scene.world).violations == ()
    sizes = {c.name: c.library.size for c in planned.scene.characters}
    assert sizes["tall"] == 1.15 and {s for who, s in sizes.items() if who != "tall"} <= set(DRAWN_SIZES)
    assert len(set(sizes.values())) >= 4
    heads = [skeleton.rest_positions[skeleton.roles["head"], 2] for skeleton in planned.take.skeletons]
    assert max(heads) / min(heads) == pytest.approx(max(sizes.values()) / min(sizes.values()))
