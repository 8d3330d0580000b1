"""Figures: bodies in poses, and pictures of them among solids and paint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gaitway.core.arrays import FloatArray, owned
from gaitway.core.errors import GaitwayError
from gaitway.motion.clip import Clip
from gaitway.motion.skeleton import Skeleton
from gaitway.render.bodies.body import BodyShape, body_mesh, built_in_shape
from gaitway.render.bodies.palette import TONES, Palette, person_palette
from gaitway.render.bodies.pieces import BodyMesh
from gaitway.render.raster import _kernels
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.drawables import Label, Paint, Solid
from gaitway.render.raster.picture import Lighting, checked_size, draw_labels, draw_triangles
from gaitway.render.raster.triangles import Triangles, gather, part

_SMALL = 240
"""Height of a figure [px] below which its body is drawn with fewer triangles."""
_AROUND = 0.35
"""How far a body may reach beyond its joints [m]."""


@dataclass(frozen=True, eq=False)
class Figure:
    """A body in a pose."""

    skeleton: Skeleton
    positions: FloatArray
    """World positions of its joints [m]; (J, 3)."""
    rotations: FloatArray
    """World rotations of its joints, wxyz; (J, 4)."""
    colors: Palette | None = None
    """Linear RGB of every tone (see `palette`); None takes person 0."""
    body: BodyShape | None = None
    """Recipe of its body; None makes one from the bones."""

    def __post_init__(self) -> None:
        joints = len(self.skeleton)
        object.__setattr__(self, "positions", owned(self.positions, "figure positions", (joints, 3)))
        object.__setattr__(self, "rotations", owned(self.rotations, "figure rotations", (joints, 4)))
        colors = person_palette() if self.colors is None else self.colors
        object.__setattr__(self, "colors", owned(colors, "figure colours", (len(TONES), 3)))


def figures_of(
    clip: Clip, frames: npt.ArrayLike, colors: Palette | None = None, body: BodyShape | None = None
) -> list[Figure]:
    """Return the figures of a clip at these frames, where they are in the world."""
    places, turns = clip.joint_transforms()
    picked = np.atleast_1d(np.asarray(frames, dtype=np.int64))
    if len(picked) and not (-len(clip) <= picked.min() and picked.max() < len(clip)):
        raise GaitwayError(f"frames {picked.min()}..{picked.max()} asked of clip '{clip.name}', which has {len(clip)}")
    return [Figure(clip.skeleton, places[f], turns[f], colors, body) for f in picked]


def figure_parts(figures: Sequence[Figure], camera: Camera, height: int) -> list[Triangles]:
    """Return one part for all figures that share a body: their vertices are moved in one call."""
    return [part for part, _ in counted_parts(figures, camera, height)]


def counted_parts(figures: Sequence[Figure], camera: Camera, height: int) -> list[tuple[Triangles, int]]:
    """Return one part for all figures that share a body, and how many they are."""
    groups: dict[int, tuple[BodyMesh, list[Figure]]] = {}
    for figure in figures:
        shape = built_in_shape(figure.skeleton) if figure.body is None else figure.body
        body = body_mesh(figure.skeleton, shape, coarse=_is_small(figure, camera, height))
        groups.setdefault(id(body), (body, []))[1].append(figure)
    return [(_skinned(body, members), len(members)) for body, members in groups.values()]


def in_sight(
    figures: Sequence[Figure], camera: Camera, size: tuple[int, int], light: FloatArray, lowest: float
) -> list[Figure]:
    """Return the figures of which a picture may show the body or its shadow.

    Args:
        figures: all of them.
        camera: the point of view; one without perspective is taken to see everybody.
        size: width and height of the picture [px].
        light: unit vector towards the key light.
        lowest: height of the lowest ground [m]; no shadow falls farther.
    """
    if camera.span is not None or not figures:
        return list(figures)
    low = np.array([f.positions.min(axis=0) for f in figures]) - _AROUND
    high = np.array([f.positions.max(axis=0) for f in figures]) + _AROUND
    middle, radius = 0.5 * (low + high), 0.5 * np.linalg.norm(high - low, axis=1)
    # body and shadow lie in a ball that falls along the light, drawn out where the light slants
    end = middle - light * (np.maximum(middle[:, 2:] - lowest, 0.0) / light[2])
    reach = radius / light[2]
    seen = (np.stack([middle, end]) - camera.eye) @ camera.axes.T  # (2, N, 3): right, up, depth
    inside = (seen[..., 2] > -reach).any(axis=0)
    for axis, pixels in ((0, size[0]), (1, size[1])):
        slope = 0.5 * pixels / camera.scale(size[1])
        room = reach * np.hypot(1.0, slope)
        for sign in (1.0, -1.0):
            inside &= (sign * seen[..., axis] - slope * seen[..., 2] < room).any(axis=0)
    return [figure for figure, there in zip(figures, inside, strict=True) if there]


def _is_small(figure: Figure, camera: Camera, height: int) -> bool:
    """Return whether a figure is so small in the picture that its corners cannot be seen."""
    scale = camera.scale(height)
    if camera.span is None:
        depth = float((figure.positions[0] - camera.eye) @ camera.axes[2])
        scale = scale / max(depth, 0.1)
    reach = float(np.ptp(figure.positions, axis=0).max())
    return scale * reach < _SMALL


def _skinned(body: BodyMesh, figures: list[Figure]) -> Triangles:
    """Return the triangles of figures that share a body."""
    count, vertices = len(figures), len(body.points)
    points, normals = _moved(body, [f.positions for f in figures], [f.rotations for f in figures])
    colors = np.ones((count, vertices, 4), dtype=np.float32)
    for i, figure in enumerate(figures):
        colors[i, :, :3] = np.concatenate([figure.colors, body.own_colors])[body.tones]
    starts = np.arange(count, dtype=np.int32)[:, None, None] * np.int32(vertices)
    corners = (body.triangles + starts).reshape(-1, 3)
    pieces = int(body.groups.max()) + 1
    groups = (body.groups + np.arange(count, dtype=np.int32)[:, None] * np.int32(pieces)).ravel()
    return part(points.reshape(-1, 3), normals.reshape(-1, 3), colors.reshape(-1, 4), corners, groups)


def skinned_points(body: BodyMesh, positions: FloatArray, rotations: FloatArray) -> FloatArray:
    """Return the vertices (V, 3) [m] of a body whose joints are at positions (J, 3) with rotations (J, 4)."""
    out: FloatArray = _moved(body, [positions], [rotations])[0][0]
    return out


def _moved(
    body: BodyMesh, positions: Sequence[FloatArray], rotations: Sequence[FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Return points and normals (N, V, 3) of a body in poses (J, 3) and (J, 4)."""
    points, normals = np.empty((len(positions), len(body.points), 3)), np.empty((len(positions), len(body.points), 3))
    _kernels.skin(
        np.stack(positions),
        np.stack(rotations),
        body.rest_positions,
        body.rest_turns,
        body.joints,
        body.weights,
        body.points,
        body.normals,
        points,
        normals,
    )
    return points, normals


def render_frame(
    figures: Sequence[Figure],
    camera: Camera,
    *,
    size: tuple[int, int] = (1280, 720),
    obstacles: Sequence[Solid] = (),
    paint: Sequence[Paint] = (),
    labels: Sequence[Label] = (),
    lighting: Lighting | None = None,
    samples: int = 8,
    threads: int | None = None,
) -> npt.NDArray[np.uint8]:
    """Draw one picture.

    Args:
        figures: bodies in their poses.
        camera: the point of view.
        size: width and height [px].
        obstacles: solids (see `scenery.solid_of`).
        paint: trails and marks on the floor; later ones lie on top.
        labels: words at points of the world.
        lighting: light, floor and backdrop.
        samples: samples in each pixel: 1, 4, 8 or 16. More samples make smoother edges and take longer.
        threads: number of threads; the picture is the same for any number. None takes one for each core.

    Returns:
        The picture in sRGB; (height, width, 3).
    """
    width, height = checked_size(size)
    triangles = gather(figure_parts(figures, camera, height), obstacles, paint)
    picture = draw_triangles(
        triangles, camera, size=(width, height), lighting=lighting, samples=samples, threads=threads
    )
    return draw_labels(picture, labels, camera) if labels else picture
