"""Characters on the page: whole bodies near the viewers, and one batch of copies for each piece of all other bodies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import viser

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.skeleton import Skeleton
from gaitway.studio.frames import HIPS
from gaitway.studio.page.skinned import WholePeople, chosen
from gaitway.studio.segments import BodySegment, body_segments, capsule_segments, segment_colors, shadow_segments
from gaitway.studio.tones import FLOOR, SHADE, SUN, copied_color
from gaitway.take.evaluation import Joints

Clicked = Callable[[str], None]
"""Called with the name of a character that was clicked."""
Individual = Callable[[str], int]
"""Which individual somebody is, by name: clothes, hair and build."""
Heights = Callable[[FloatArray], FloatArray]
"""Heights [m] (N,) of the ground at points (N, 2), or of the ground nearest to points (N, 3)."""
_SHADOW = (0.40, 0.24)
"""Half axes of the disc that stands for a shadow on hills and in large crowds [m], along the light and across."""
_LIGHT = math.atan2(-SUN[1], -SUN[0])
"""Bearing in which shadows fall [rad]."""
MOST_SHADOWS = 150
"""Number of people up to which each casts the shadow of its body; it costs a third more to send."""
_THIN = 1e-3
"""Thickness of shadows, as a share of that of bodies; none at all would have no lit side."""
_SIDES = 20
_AWAY = (0.0, 0.0, -1e4)
"""Where the pieces of somebody are who has a whole body: out of sight [m]."""
_TOUCH = 0.03
"""Largest height of points of the feet that are on the ground [m]."""
_CAPSULE, _CONTACT = copied_color("#5480a6"), copied_color("#c83c0a")


class PageShadows:
    """The shadows of the bodies of one kind on level ground. This class is **mutable**.

    A shadow is the body itself, flattened along the light: the node of each piece is scaled to almost nothing along one
    direction and stretched along another, and its copies are turned so that both together are that projection.
    """

    def __init__(self, scene: viser.SceneApi, place: str, skeleton: Skeleton) -> None:
        self._scene, self._place = scene, place
        self._segments = shadow_segments(skeleton)
        self._handles: list[viser.BatchedMeshHandle] = []
        self._turn, self._scale, self._before, self._ray = flattening()
        self._rise = _THIN * float(rotations.rotate(self._turn, self._ray)[2])

    def show(self, joints: Joints, grounds: FloatArray) -> None:
        """Let the shadows fall for characters where they are, on level floors of heights (N,) [m]."""
        positions = joints.positions - np.array([0.0, 0.0, 1.0]) * grounds[:, None, None]
        turned = rotations.rotate(self._before, positions)
        along = turned @ self._ray
        flat = turned - along[..., None] * self._ray  # which changes no shadow
        # what is flattened is still shifted a little along that direction, which is up or down in the end
        places = (flat + (grounds / self._rise)[:, None, None] * self._ray).astype(np.float32)
        turns = rotations.multiply(self._before, joints.rotations).astype(np.float32)
        if not self._handles:
            for number, segment in enumerate(self._segments):
                handle = self._scene.add_batched_meshes_simple(
                    f"{self._place}/{number}", segment.vertices, segment.faces,
                    batched_wxyzs=turns[:, segment.joint], batched_positions=places[:, segment.joint],
                    batched_colors=copied_color(FLOOR, 1.0 - SHADE), lod="off", cast_shadow=False, receive_shadow=False,
                    scale=self._scale, wxyz=self._turn, position=(0.0, 0.0, 0.016), side="double",
                    flat_shading=True,
                )  # fmt: skip
                self._handles.append(handle)
            return
        for segment, handle in zip(self._segments, self._handles, strict=True):
            handle.batched_positions = places[:, segment.joint]
            handle.batched_wxyzs = turns[:, segment.joint]

    def remove(self) -> None:
        """Remove all shadows."""
        for handle in self._handles:
            handle.remove()
        self._handles = []


def flattening() -> tuple[FloatArray, tuple[float, float, float], FloatArray, FloatArray]:
    """Return the projection along the light onto level ground, as a turn, a scale before it and a turn before that.

    Returns:
        The last turn (4,), the scale, the first turn (4,), and the direction (3,), after the first turn, that is
        flattened.
    """
    fall = np.array([[1.0, 0.0, -SUN[0]], [0.0, 1.0, -SUN[1]], [0.0, 0.0, 0.0]])
    left, sizes, right = np.linalg.svd(fall)
    left[:, 2] *= np.linalg.det(left)  # both are rotations; the third direction has no size
    right[2] *= np.linalg.det(right)
    scale = (float(sizes[0]), float(sizes[1]), _THIN)
    return rotations.from_matrix(left), scale, rotations.from_matrix(right), np.array([0.0, 0.0, 1.0])


class PagePeopleBatch:
    """All characters of one kind of body. This class is **mutable**."""

    def __init__(
        self,
        server: viser.ViserServer,
        place: str,
        skeleton: Skeleton,
        clicked: Clicked,
        individual: Individual,
        capsules: bool,
    ) -> None:
        self._individual = individual
        self._whole = WholePeople(server.scene, f"{place}/whole", skeleton, clicked)
        self._scene, self._place, self.skeleton, self._clicked = server.scene, place, skeleton, clicked
        self._capsules = capsules
        self._segments: tuple[BodySegment, ...] = capsule_segments(skeleton) if capsules else body_segments(skeleton)
        self._handles: list[viser.BatchedMeshHandle] = []
        self._shade: viser.BatchedMeshHandle | None = None
        self._feet: viser.BatchedMeshHandle | None = None
        self._shadows = PageShadows(server.scene, f"{place}/shadow", skeleton)
        self.names: tuple[str, ...] = ()
        self.whole: frozenset[str] = frozenset()

    def show(
        self,
        joints: Joints,
        names: tuple[str, ...],
        near: Mapping[int, bool],
        heights: Heights,
        contacts: bool,
        level: bool,
    ) -> None:
        """Move all characters to their positions; on level ground each casts the shadow of its body.

        Args:
            joints: all of them.
            names: their names.
            near: rows of those who are to have whole bodies, and whether with face and fingers.
            heights: heights of the ground.
            contacts: whether feet on the ground are marked.
            level: whether the ground is level.
        """
        if not names:
            self.remove()
            return
        whole = self._whole.show(joints, names, {} if self._capsules else dict(near), self._individual)
        self.whole = frozenset(names[row] for row in whole)
        self._show_pieces(joints, names, whole)
        if level and len(names) <= MOST_SHADOWS and not self._capsules:
            roots = joints.positions[:, 0]
            self._shadows.show(joints, heights(beneath(roots[:, :2], roots[:, 2])))
            self._show_shade(None)
        else:
            self._shadows.remove()
            self._show_shade(_floor(joints.positions[:, 0], heights))
        self._show_feet(joints, heights, contacts)

    def _show_pieces(self, joints: Joints, names: tuple[str, ...], whole: frozenset[int]) -> None:
        """Show all characters but some as rigid pieces.

        Copies are never fewer than characters: pages take the number of copies and their colours one after the other.
        """
        positions, turns = joints.positions.astype(np.float32), joints.rotations
        positions[list(whole)] = _AWAY
        if not self._handles:
            self._make(positions, turns, names)
        changed, self.names = names != self.names, names
        some = len(whole) < len(names)
        for segment, handle in zip(self._segments, self._handles, strict=True):
            if handle.visible != some:
                handle.visible = some
            if some or changed:
                handle.batched_positions = positions[:, segment.joint]
                handle.batched_wxyzs = segment.turns(turns).astype(np.float32)
            if changed:
                handle.batched_colors = self._colors(segment, names)

    def shown(self) -> list[tuple[int, FloatArray]]:
        """Return joints, and where their pieces are (N, 3) [m]; those of whole people are out of sight."""
        pairs = zip(self._segments, self._handles, strict=True) if self._handles else ()
        return [(segment.joint, handle.batched_positions.astype(np.float64)) for segment, handle in pairs]

    def vertices(self) -> dict[str, FloatArray]:
        """Return the vertices [m] of the parts of whole bodies, by name; (V, 3) each."""
        return self._whole.vertices()

    def remove(self) -> None:
        """Remove all characters from the page."""
        for handle in (*self._handles, self._shade, self._feet):
            if handle is not None:
                handle.remove()
        self._shadows.remove()
        self._whole.remove()
        self._handles, self._shade, self._feet, self.names, self.whole = [], None, None, (), frozenset()

    def close(self) -> None:
        """Remove all characters, and end the thread that makes bodies."""
        self.remove()
        self._whole.close()

    def _make(self, positions: npt.NDArray[np.float32], turns: FloatArray, names: tuple[str, ...]) -> None:
        self.names, made = names, []
        for number, segment in enumerate(self._segments):
            handle = self._scene.add_batched_meshes_simple(
                f"{self._place}/{number}",
                segment.vertices,
                segment.faces,
                batched_wxyzs=segment.turns(turns).astype(np.float32),
                batched_positions=positions[:, segment.joint],
                batched_colors=self._colors(segment, names),
                lod="off",
                cast_shadow=False,
                receive_shadow=False,
            )
            handle.on_click(self._on_click)
            made.append(handle)
        self._handles = made

    def _show_shade(self, places: npt.NDArray[np.float32] | None) -> None:
        """Put a disc at each place (N, 3) for a shadow; None removes them."""
        if places is None:
            if self._shade is not None:
                self._shade.remove()
                self._shade = None
            return
        if self._shade is None:
            vertices, faces = _disc(*_SHADOW)
            self._shade = self._scene.add_batched_meshes_simple(
                f"{self._place}/shade", vertices, faces, batched_wxyzs=_bearings(len(places)),
                batched_positions=places, batched_colors=(40, 42, 54), opacity=0.30, lod="off", cast_shadow=False,
                receive_shadow=False,
            )  # fmt: skip
            return
        if len(self._shade.batched_wxyzs) != len(places):
            self._shade.batched_wxyzs = _bearings(len(places))
        self._shade.batched_positions = places

    def _colors(self, segment: BodySegment, names: Sequence[str]) -> npt.NDArray[np.uint8]:
        if self._capsules:
            return np.full((len(names), 3), _CAPSULE, dtype=np.uint8)
        return segment_colors(self.skeleton, segment.tone, [self._individual(name) for name in names])

    def _show_feet(self, joints: Joints, heights: Heights, wanted: bool) -> None:
        """Mark the points that rest on the ground."""
        places = resting(joints, heights) if wanted else np.empty((0, 3), np.float32)
        if not len(places):
            if self._feet is not None:
                self._feet.remove()
                self._feet = None
            return
        turns = np.tile(np.array([1.0, 0.0, 0.0, 0.0], np.float32), (len(places), 1))
        if self._feet is None:
            vertices, faces = _disc(0.07, 0.07)
            self._feet = self._scene.add_batched_meshes_simple(
                f"{self._place}/feet", vertices, faces, turns, places, batched_colors=_CONTACT, lod="off",
                cast_shadow=False, receive_shadow=False,
            )  # fmt: skip
        else:
            self._feet.batched_wxyzs = turns
            self._feet.batched_positions = places

    def _on_click(self, event: viser.SceneNodePointerEvent[viser.BatchedMeshHandle]) -> None:
        number, names = event.instance_index, self.names
        if number is not None and 0 <= number < len(names):
            self._clicked(names[number])


class PagePeople:
    """All characters. This class is **mutable**.

    Attributes:
        capsules: show the bodies that are checked for collisions instead of people.
        contacts: mark feet that are on the ground.
    """

    def __init__(self, server: viser.ViserServer, clicked: Clicked, individual: Individual) -> None:
        self._server, self._clicked, self._individual = server, clicked, individual
        self._batches: list[PagePeopleBatch] = []
        self._capsules = False
        self.capsules, self.contacts = False, False

    def show(
        self,
        joints: Sequence[Joints],
        names: tuple[str, ...],
        heights: Heights,
        level: bool,
        eyes: FloatArray | None = None,
        selected: str = "",
    ) -> None:
        """Move all characters to their positions; names are in the order of all joints.

        Args:
            joints: characters, one part for each kind of body.
            names: their names.
            heights: heights of the ground.
            level: whether the ground is level.
            eyes: places of the cameras of all viewers [m] (C, 3); None if there are none.
            selected: name of the character that is selected.
        """
        skeletons = [some.skeleton for some in joints]
        if [batch.skeleton for batch in self._batches] != skeletons or self.capsules != self._capsules:
            self._capsules = self.capsules
            self.close()
            self._batches = [
                PagePeopleBatch(
                    self._server, f"/people/{number}", skeleton, self._clicked, self._individual, self._capsules
                )
                for number, skeleton in enumerate(skeletons)
            ]
        near = self._near(joints, names, eyes, selected)
        first = 0
        for batch, some in zip(self._batches, joints, strict=True):
            last = first + len(some)
            mine = {row - first: fine for row, fine in near.items() if first <= row < last}
            batch.show(some, names[first:last], mine, heights, self.contacts, level)
            first = last

    def close(self) -> None:
        """Remove all characters."""
        for batch in self._batches:
            batch.close()
        self._batches = []

    def whole(self) -> frozenset[str]:
        """Return the names of those who have whole bodies now."""
        return frozenset(name for batch in self._batches for name in batch.whole)

    def vertices(self) -> dict[str, FloatArray]:
        """Return the vertices [m] of the parts of whole bodies, as pages have them, by name; (V, 3) each."""
        return {name: points for batch in self._batches for name, points in batch.vertices().items()}

    def _near(
        self, joints: Sequence[Joints], names: tuple[str, ...], eyes: FloatArray | None, selected: str
    ) -> dict[int, bool]:
        """Return rows of those who are to have whole bodies, and whether with face and fingers."""
        if eyes is None or not names:
            return {}
        roots = np.concatenate([some.positions[:, 0] for some in joints])
        before = self.whole()
        rows = [row for row, name in enumerate(names) if name in before]
        return chosen(roots, eyes, names.index(selected) if selected in names else None, rows)

    def shown(self) -> list[tuple[int, FloatArray]]:
        """Return joints, and where they are drawn (N, 3) [m]; see `PagePeopleBatch.shown`."""
        return [pair for batch in self._batches for pair in batch.shown()]


def resting(joints: Joints, heights: Heights) -> npt.NDArray[np.float32]:
    """Return the points of the feet that are on the ground, just above it; (K, 3)."""
    points = joints.skeleton.contact_points
    if not points:
        return np.empty((0, 3), np.float32)
    carriers = [point.joint for point in points]
    offsets = np.array([point.offset for point in points])
    places = joints.positions[:, carriers] + rotations.rotate(joints.rotations[:, carriers], offsets)
    flat = places.reshape(-1, 3)
    ground = heights(flat)
    out = np.column_stack([flat[:, :2], ground + 0.03])[flat[:, 2] - ground < _TOUCH]
    return out.astype(np.float32)


def _floor(roots: FloatArray, heights: Heights) -> npt.NDArray[np.float32]:
    """Return points just above the ground beside each root, where its shadow falls; (N, 3)."""
    plan = roots[:, :2] + 0.14 * np.array([np.cos(_LIGHT), np.sin(_LIGHT)])
    return np.column_stack([plan, heights(beneath(plan, roots[:, 2])) + 0.016]).astype(np.float32)


def beneath(plan: FloatArray, roots: FloatArray) -> FloatArray:
    """Return points of the plan (N, 2) at the height at which people whose roots are so high (N,) may stand; (N, 3)."""
    return np.column_stack([plan, roots - HIPS])


def _bearings(count: int) -> npt.NDArray[np.float32]:
    return np.tile(np.asarray(rotations.from_yaw(_LIGHT), dtype=np.float32), (count, 1))


def _disc(length: float, width: float) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32]]:
    angles = np.linspace(0.0, 2.0 * np.pi, _SIDES, endpoint=False)
    rim = np.column_stack([length * np.cos(angles), width * np.sin(angles), np.zeros(_SIDES)])
    faces = [(0, 1 + k, 1 + (k + 1) % _SIDES) for k in range(_SIDES)]
    return np.vstack([np.zeros((1, 3)), rim]).astype(np.float32), np.array(faces, dtype=np.uint32)
