"""Forms of things: capsules lie within the box around a thing and leave little of its surface out, whatever it is."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from gaitway.core.arrays import FloatArray
from gaitway.core.errors import WorldError
from gaitway.world.shapes import TriangleMesh
from gaitway.world.thing_forms import (
    MOST_TRIANGLES,
    hull_mesh,
    mesh_facts,
    mesh_size,
    mesh_told,
    surface_grid,
    thing_capsules,
    thing_mesh,
)

MADE = {
    "ball": trimesh.creation.icosphere(3, 0.1),
    "ring": trimesh.creation.torus(0.12, 0.03),
    "crate": trimesh.creation.box((0.3, 0.2, 0.15)),
    "cone": trimesh.creation.cone(0.1, 0.3),
    "plate": trimesh.creation.box((0.4, 0.3, 0.01)),
}


def outside(points: FloatArray, capsules: tuple[FloatArray, FloatArray, FloatArray]) -> FloatArray:
    """How far points (N, 3) are out of all capsules [m]; (N,)."""
    starts, ends, radii = capsules
    ways = ends - starts
    along = np.einsum("nkd,kd->nk", points[:, None] - starts, ways) / np.maximum((ways * ways).sum(axis=1), 1e-12)
    nearest = starts + np.clip(along, 0.0, 1.0)[..., None] * ways
    return (np.linalg.norm(points[:, None] - nearest, axis=2) - radii).min(axis=1)


def form(name: str) -> TriangleMesh:
    return thing_mesh(MADE[name].vertices + np.array([0.5, -0.2, 0.1]), MADE[name].faces)


@pytest.mark.parametrize("name", MADE)
def test_rods_fill_a_mesh_and_stay_in_its_box(name: str) -> None:
    mesh = form(name)
    starts, ends, radii = capsules = thing_capsules("mesh", mesh_size(mesh), mesh)
    assert len(radii) < 70
    away = outside(surface_grid(mesh, 0.01), capsules)
    assert away.max() < 0.016 and np.maximum(away, 0.0).mean() < 0.005
    low, high = (np.minimum(starts, ends) - radii[:, None]).min(axis=0), (np.maximum(starts, ends) + radii[:, None])
    assert (low > mesh.vertices.min(axis=0) - 2e-3).all() and (
        high.max(axis=0) < mesh.vertices.max(axis=0) + 2e-3
    ).all()


def test_the_frame_of_a_mesh_begins_in_the_middle_of_its_underside() -> None:
    mesh = form("crate")
    assert np.allclose(mesh.vertices.min(axis=0), (-0.15, -0.1, 0.0), atol=1e-4)
    assert np.allclose(mesh.vertices.max(axis=0), (0.15, 0.1, 0.15), atol=1e-4)
    assert mesh.closed


def test_corners_of_a_crate_are_not_left_out() -> None:
    size = (0.3, 0.3, 0.3)
    corners = np.array([(x, y, z) for x in (-0.15, 0.15) for y in (-0.15, 0.15) for z in (0.0, 0.3)])
    assert outside(corners, thing_capsules("box", size)).max() < 0.004


def test_a_hull_is_closed_and_has_its_points_within() -> None:
    points = np.random.default_rng(0).normal(size=(30, 3)) * [0.1, 0.05, 0.08]
    mesh = hull_mesh(points)
    solid = trimesh.Trimesh(mesh.vertices, mesh.triangles, process=False)
    assert mesh.closed and solid.volume == pytest.approx(trimesh.convex.convex_hull(points).volume, rel=1e-3)


def test_a_mesh_is_the_same_after_it_was_told() -> None:
    mesh = form("cone")
    again = mesh_told(mesh_facts(mesh))
    assert np.array_equal(again.vertices, mesh.vertices) and np.array_equal(again.triangles, mesh.triangles)
    assert mesh_told(mesh_facts(mesh)) is again


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: hull_mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]), "not in one plane"),
        (lambda: hull_mesh([(0, 0, 0), (1, 0, 0)]), "not in one plane"),
        (lambda: thing_mesh(np.zeros((3, 3)), np.zeros((MOST_TRIANGLES + 1, 3))), "at most 20000"),
        (lambda: thing_mesh(np.zeros((3, 3)), np.array([[0, 1, 3]])), "vertices that are not there"),
        (lambda: thing_mesh(np.zeros((3, 3)), np.empty((0, 3))), "needs vertices"),
    ],
)
def test_what_is_no_thing_is_said(make, words: str) -> None:
    with pytest.raises(WorldError, match=words):
        make()
