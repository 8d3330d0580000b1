"""People on the page: one batch of copies for each piece of a body, so that a frame is one update a piece."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import viser

from gaitway.motion.skeleton import Skeleton
from gaitway.studio.segments import Segment, body_segments, segment_colors
from gaitway.take.poses import Joints

Clicked = Callable[[str], None]
"""Called with the name of a character that was clicked."""
_SHADOW = 0.32
"""Radius of the soft disc under each person, which shows where its feet are [m]."""
_SIDES = 20


class PeopleBatch:
    """All characters of one kind of body. This class is **mutable**."""

    def __init__(self, server: viser.ViserServer, place: str, skeleton: Skeleton, clicked: Clicked) -> None:
        self._server, self._place, self.skeleton, self._clicked = server, place, skeleton, clicked
        self._segments: tuple[Segment, ...] = body_segments(skeleton)
        self._handles: list[viser.BatchedMeshHandle] = []
        self._shade: viser.BatchedMeshHandle | None = None
        self.names: tuple[str, ...] = ()

    def show(self, joints: Joints, names: tuple[str, ...]) -> None:
        """Put everybody where it is."""
        if names != self.names:
            self.remove()
            self._make(joints, names)
        positions, turns = joints.positions.astype(np.float32), joints.rotations.astype(np.float32)
        for segment, handle in zip(self._segments, self._handles, strict=True):
            handle.batched_positions = positions[:, segment.joint]
            handle.batched_wxyzs = turns[:, segment.joint]
        if self._shade is not None:
            self._shade.batched_positions = _floor(positions)

    def remove(self) -> None:
        """Take everybody off the page."""
        for handle in [*self._handles, *([self._shade] if self._shade is not None else [])]:
            handle.remove()
        self._handles, self._shade, self.names = [], None, ()

    def _make(self, joints: Joints, names: tuple[str, ...]) -> None:
        self.names = names
        if not names:
            return
        who = [zlib.crc32(name.encode()) % 4096 for name in names]
        for number, segment in enumerate(self._segments):
            handle = self._server.scene.add_batched_meshes_simple(
                f"{self._place}/{number}",
                segment.vertices,
                segment.faces,
                batched_wxyzs=joints.rotations[:, segment.joint].astype(np.float32),
                batched_positions=joints.positions[:, segment.joint].astype(np.float32),
                batched_colors=segment_colors(self.skeleton, segment.tone, who),
                lod="off",
                cast_shadow=False,
                receive_shadow=False,
            )
            handle.on_click(self._on_click)
            self._handles.append(handle)
        vertices, faces = _disc()
        self._shade = self._server.scene.add_batched_meshes_simple(
            f"{self._place}/shade", vertices, faces, batched_wxyzs=np.tile([1.0, 0.0, 0.0, 0.0], (len(names), 1)),
            batched_positions=_floor(joints.positions), batched_colors=(40, 40, 48), opacity=0.28, lod="off",
            cast_shadow=False, receive_shadow=False,
        )  # fmt: skip

    def _on_click(self, event: viser.SceneNodePointerEvent[viser.BatchedMeshHandle]) -> None:
        number = event.instance_index
        if number is not None and 0 <= number < len(self.names):
            self._clicked(self.names[number])


class People:
    """Everybody. This class is **mutable**."""

    def __init__(self, server: viser.ViserServer, clicked: Clicked) -> None:
        self._server, self._clicked = server, clicked
        self._batches: list[PeopleBatch] = []

    def show(self, joints: Sequence[Joints], names: tuple[str, ...]) -> None:
        """Put everybody where it is; names in the order of all joints."""
        if [batch.skeleton for batch in self._batches] != [some.skeleton for some in joints]:
            for batch in self._batches:
                batch.remove()
            self._batches = [
                PeopleBatch(self._server, f"/people/{number}", some.skeleton, self._clicked)
                for number, some in enumerate(joints)
            ]
        first = 0
        for batch, some in zip(self._batches, joints, strict=True):
            batch.show(some, names[first : first + len(some)])
            first += len(some)


def _floor(positions: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    """Just over the ground under each root, where the lowest joint is; (N, 3)."""
    out = positions[:, 0].astype(np.float32)
    out[:, 2] = positions[:, :, 2].min(axis=1) - 0.015
    return out


def _disc() -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32]]:
    angles = np.linspace(0.0, 2.0 * np.pi, _SIDES, endpoint=False)
    rim = np.column_stack([_SHADOW * np.cos(angles), _SHADOW * np.sin(angles), np.zeros(_SIDES)])
    faces = [(0, 1 + k, 1 + (k + 1) % _SIDES) for k in range(_SIDES)]
    return np.vstack([np.zeros((1, 3)), rim]).astype(np.float32), np.array(faces, dtype=np.uint32)
