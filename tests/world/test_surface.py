"""Surfaces are closed, face outward and have the volume and extent of their shapes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gaitway.core.errors import WorldError
from gaitway.world import Box, Cylinder, Polygon, Sphere, Stairs, Terrain
from gaitway.world.surface import surface, terrain_surface

RING = ((0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0))
HOLES = (((1.0, 1.0), (2.0, 1.0), (2.0, 2.0), (1.0, 2.0)), ((2.5, 2.5), (3.5, 2.5), (3.0, 3.5)))
U = ((0.0, 0.0), (3.0, 0.0), (3.0, 3.0), (2.0, 3.0), (2.0, 1.0), (1.0, 1.0), (1.0, 3.0), (0.0, 3.0))
POSE = (2.0, -1.0, 0.7)


def edge_balance(vertices, triangles):
    """How often each directed edge occurs minus its reverse, over welded vertices: all 0 is closed and consistent."""
    _, index = np.unique(np.round(vertices, 9), axis=0, return_inverse=True)
    welded = index.reshape(-1)[triangles]
    edges = np.concatenate([welded[:, [0, 1]], welded[:, [1, 2]], welded[:, [2, 0]]])
    forward = {}
    for a, b in edges.tolist():
        forward[a, b] = forward.get((a, b), 0) + 1
    return [forward.get((b, a), 0) - n for (a, b), n in forward.items()], max(forward.values())


def volume(vertices, triangles):
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return float((a * np.cross(b, c)).sum() / 6.0)


SIDED_32 = 0.5 * 32 * np.sin(2 * np.pi / 32)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (Box((1.0, 2.0), (4.0, 0.5), 2.5, 0.3, 0.1), 5.0),
        (Cylinder((1.0, 2.0), 0.5, 3.0, 1.0), 3.0 * 0.25 * SIDED_32),
        (Polygon(RING, 2.0), 32.0),
        (Polygon(RING, 2.0, HOLES, 1.0), 2.0 * (16.0 - 1.0 - 0.5)),
        (Polygon(U, 1.5), 1.5 * 7.0),
        (Polygon(U[::-1], 1.5), 1.5 * 7.0),
        (Stairs((1.0, 1.0), 2.0, 4, 0.2, 0.3, 0.5, 0.25), 2.0 * 0.3 * 0.2 * 10),
        (Stairs((0.0, 0.0), 1.0, 1), 0.17 * 0.29),
    ],
)
@pytest.mark.parametrize("pose", [(0.0, 0.0, 0.0), POSE])
def test_closed_outward_and_of_the_right_volume(shape, expected, pose):
    vertices, triangles = surface(shape.placed(pose).raised(0.3))
    balance, most = edge_balance(vertices, triangles)
    assert not any(balance)
    assert most == 1
    assert volume(vertices, triangles) == pytest.approx(expected, rel=1e-9)
    low, high = shape.raised(0.3).heights
    assert vertices[:, 2].min() == pytest.approx(low)
    assert vertices[:, 2].max() == pytest.approx(high)


def test_ball():
    vertices, triangles = surface(Sphere((1.0, 2.0), 0.5, 3.0))
    balance, most = edge_balance(vertices, triangles)
    assert not any(balance)
    assert most == 1
    assert np.allclose(np.linalg.norm(vertices - [1.0, 2.0, 3.5], axis=1), 0.5)
    assert 0.97 < volume(vertices, triangles) / (4 / 3 * np.pi * 0.125) < 1.0


@given(st.lists(st.floats(0.3, 3.0), min_size=3, max_size=12), st.floats(-3.0, 3.0))
def test_any_star_is_closed(radii, turn):
    angles = turn + np.arange(len(radii)) * 2 * np.pi / len(radii)
    ring = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)
    twice = np.roll(ring, -1, axis=0)
    area = 0.5 * float((ring[:, 0] * twice[:, 1] - ring[:, 1] * twice[:, 0]).sum())
    vertices, triangles = surface(Polygon(tuple(map(tuple, ring)), 2.0))
    assert not any(edge_balance(vertices, triangles)[0])
    assert volume(vertices, triangles) == pytest.approx(2.0 * area, rel=1e-6)


def test_vertices_are_shared_on_round_walls_only():
    assert len(surface(Box((0.0, 0.0), (1.0, 1.0), 1.0))[0]) == 24
    assert len(surface(Cylinder((0.0, 0.0), 1.0, 1.0))[0]) == 4 * 32


def test_level_ground_is_two_triangles_that_face_up():
    vertices, triangles = terrain_surface(None, (0.0, 1.0, 4.0, 3.0))
    assert len(triangles) == 2
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    assert (np.cross(b - a, c - a)[:, 2] > 0.0).all()
    assert vertices[:, :2].min(axis=0).tolist() == [0.0, 1.0]
    assert vertices[:, :2].max(axis=0).tolist() == [4.0, 3.0]


@pytest.mark.parametrize("cell", [None, 0.3])
def test_terrain_sheet_lies_on_the_terrain(cell):
    rng = np.random.default_rng(3)
    terrain = Terrain(rng.normal(size=(7, 9)), 0.5, (-1.0, -0.7))
    vertices, triangles = terrain_surface(terrain, (-2.0, -1.0, 2.2, 2.0), cell)
    assert np.allclose(vertices[:, 2], terrain.height(vertices[:, :2]))
    a, b, c = (vertices[triangles[:, k], :2] for k in range(3))
    twice = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    assert (twice > 0.0).all()
    assert 0.5 * twice.sum() == pytest.approx(4.2 * 3.0)
    if cell is None:
        assert {(-1.0, round(-0.7 + 0.5 * i, 9)) for i in range(6)} <= {
            (round(x, 9), round(y, 9)) for x, y, _ in vertices
        }


def test_terrain_sheet_refuses_what_is_too_fine():
    with pytest.raises(WorldError, match="give a larger cell"):
        terrain_surface(None, (0.0, 0.0, 1e5, 1e5), 0.001)
    with pytest.raises(WorldError, match="above 0"):
        terrain_surface(None, (0.0, 0.0, 1.0, 1.0), 0.0)
