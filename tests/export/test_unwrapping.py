"""Texture coordinates: everything lies on its square, once, and no part is much larger or smaller than another."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw

from gaitway.cast.horse.skeleton import horse_skeleton
from gaitway.cast.person.skeleton import person_skeleton
from gaitway.export.meshes import SkinnedMesh, character_mesh
from gaitway.render.bodies.hands import with_fingers

RIG = with_fingers(person_skeleton())
SIDE = 1024


def areas(mesh: SkinnedMesh) -> tuple[np.ndarray, np.ndarray]:
    """Area of each triangle on the body [m2] and on its square."""
    corners, flat = mesh.points[mesh.triangles], mesh.uvs[mesh.triangles].astype(float)
    body = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    (a, b), (c, d) = (np.moveaxis(flat[:, k] - flat[:, 0], -1, 0) for k in (1, 2))
    return body, 0.5 * np.abs(a * d - b * c)


@pytest.mark.parametrize("seed", [0, 1, 5, 6])
def test_garments_can_be_painted(seed: int) -> None:
    mesh = character_mesh(RIG, seed)
    assert mesh.uvs.shape == (len(mesh.points), 2)
    assert mesh.uvs.min() >= 0.0 and mesh.uvs.max() <= 1.0
    body, flat = areas(mesh)
    for index, material in enumerate(mesh.materials):
        own = mesh.material_of == index
        if material.name in ("eyes", "lips"):
            continue
        assert flat[own].sum() > 0.2, material.name  # most of a texture is not wasted
        scale = np.sqrt(flat[own] / np.maximum(body[own], 1e-12))
        big = body[own] > np.quantile(body[own], 0.5)
        low, high = np.quantile(scale[big], [0.1, 0.9])
        assert high / max(low, 1e-9) < 5.0, material.name
        assert covered_twice(mesh, own) < 0.12, material.name


def covered_twice(mesh: SkinnedMesh, own: np.ndarray) -> float:
    """Share of the painted square that more than one triangle lies on."""
    counts = np.zeros((SIDE, SIDE), np.int16)
    for corners in mesh.uvs[mesh.triangles[own]].astype(float):
        # a little smaller, so that neighbours do not share pixels
        spots = SIDE * (corners.mean(axis=0) + 0.9 * (corners - corners.mean(axis=0)))
        left, top = np.floor(spots.min(axis=0)).astype(int)
        right, low = np.ceil(spots.max(axis=0)).astype(int) + 1
        tile = Image.new("1", (right - left, low - top))
        ImageDraw.Draw(tile).polygon([(x - left, y - top) for x, y in spots], fill=1)
        counts[top:low, left:right] += np.asarray(tile)[: SIDE - top, : SIDE - left]
    return float((counts > 1).sum() / (counts > 0).sum())


def test_the_front_of_a_shirt_is_in_the_middle_and_upright() -> None:
    mesh = character_mesh(RIG, 1)
    shirt = next(i for i, m in enumerate(mesh.materials) if m.name == "shirt")
    used = np.unique(mesh.triangles[mesh.material_of == shirt])
    trunk = used[np.abs(mesh.points[used, 1]) < 0.1]
    chest = (mesh.points[trunk, 2] > 1.15) & (mesh.points[trunk, 2] < 1.38)  # hem and collar are cut by themselves
    front = trunk[(mesh.normals[trunk, 0] > 0.5) & chest]
    assert np.corrcoef(mesh.points[front, 2], mesh.uvs[front, 1])[0, 1] < -0.95  # v runs down
    assert np.corrcoef(mesh.points[front, 1], mesh.uvs[front, 0])[0, 1] > 0.95  # its left is on our right, as seen
    assert np.ptp(mesh.uvs[front, 0]) < 0.5


def test_every_individual_of_a_shape_shares_its_texture_coordinates_and_other_bodies_have_some() -> None:
    assert character_mesh(RIG, 3).uvs is character_mesh(RIG, 27).uvs
    horse = character_mesh(horse_skeleton(), 0)
    assert horse.uvs.min() >= 0.0 and horse.uvs.max() <= 1.0 and areas(horse)[1].sum() > 0.2
    assert {"coat", "hooves", "mane"} <= {m.name for m in horse.materials}
