"""People who are looked at from near: whole skinned bodies, moved here and sent as vertices.

viser has skinned meshes, but each has one colour and takes two messages for every bone and frame: 8 ms for a person of
25 bones on a busy machine. Vertices that are moved here take 1 ms a person on the same machine, one message for each
colour, and 8 kB. A page can take that for some people, and they are those that are seen from near; everybody else is
made of rigid pieces (`people`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt
import viser

from gaitway.core.arrays import FloatArray, IntArray
from gaitway.motion.skeleton import Skeleton
from gaitway.render.bodies.body import body_mesh, built_in_palette, individual_shape
from gaitway.render.bodies.figures import skinned_points
from gaitway.render.bodies.palette import TONES
from gaitway.render.bodies.pieces import BodyMesh
from gaitway.studio.tones import albedo
from gaitway.take.evaluation import Joints

MOST_SKINNED, MOST_FINE = 16, 4
"""Number of people with whole bodies, and of those with faces and fingers: the nearest of them."""
FINE_WITHIN = 9.0
"""Distance from a camera within which faces and fingers can be told [m]."""
_STAYS = 0.85
"""Share of its distance that counts for somebody who is whole already, so that nobody changes to and fro."""
_MOST_MADE = 2
"""Number of people that become whole in one frame."""


@dataclass(frozen=True, eq=False)
class WholeBody:
    """The body of one individual, by colours."""

    mesh: BodyMesh
    colors: tuple[tuple[int, int, int], ...]
    """sRGB of each part."""
    parts: tuple[tuple[IntArray, npt.NDArray[np.uint32]], ...]
    """Numbers of the vertices (V,) and triangles (T, 3) of each part, which has one colour."""


@lru_cache(maxsize=256)
def whole_body(skeleton: Skeleton, individual: int, fine: bool) -> WholeBody:
    """Return the body of an individual, as films have it; a fine one has a face and fingers."""
    mesh = body_mesh(skeleton, individual_shape(skeleton, individual), coarse=not fine)
    rows = np.concatenate([built_in_palette(skeleton, individual), mesh.own_colors])[mesh.tones]
    colors, numbers = np.unique(albedo(rows), axis=0, return_inverse=True)
    # lips and eyes are smaller than a pixel from where coarse bodies are seen, and cost as much to send as a coat
    tiny = () if fine else (TONES.index("eye"), TONES.index("mouth"))
    wanted = ~np.isin(mesh.tones, tiny)[mesh.triangles[:, 0]]
    of_faces = numbers.ravel()[mesh.triangles[:, 0]]
    parts, kept = [], []
    for number, color in enumerate(colors):
        faces = mesh.triangles[(of_faces == number) & wanted]
        if len(faces):
            used, corners = np.unique(faces, return_inverse=True)
            parts.append((used, corners.reshape(-1, 3).astype(np.uint32)))
            r, g, b = color.tolist()
            kept.append((r, g, b))
    return WholeBody(mesh, tuple(kept), tuple(parts))


def chosen(roots: FloatArray, eyes: FloatArray, first: int | None, before: Sequence[int]) -> dict[int, bool]:
    """Return who is to be whole, and whether with face and fingers.

    Args:
        roots: places of all characters [m]; (N, 3).
        eyes: places of the cameras of all viewers [m]; (C, 3).
        first: row of a character that is whole wherever it is; None for nobody.
        before: rows of those who are whole now.
    """
    if not len(roots) or not len(eyes):
        return {}
    far: FloatArray = np.linalg.norm(roots[:, None] - eyes[None], axis=-1).min(axis=1)
    near = far.copy()
    near[list(before)] *= _STAYS
    if first is not None:
        near[first] = 0.0
    order = np.argsort(near, kind="stable")[:MOST_SKINNED].tolist()
    return {row: place < MOST_FINE and bool(near[row] < FINE_WITHIN) for place, row in enumerate(order)}


class WholePerson:
    """One person on the page. This class is **mutable**."""

    def __init__(
        self, scene: viser.SceneApi, place: str, body: WholeBody, points: FloatArray, clicked: Callable[[], None]
    ) -> None:
        self.body, self.handles = body, list[viser.MeshHandle]()
        for number, ((used, faces), color) in enumerate(zip(body.parts, body.colors, strict=True)):
            handle = scene.add_mesh_simple(
                f"{place}/{number}", points[used].astype(np.float32), faces, color=color, cast_shadow=False,
                receive_shadow=False,
            )  # fmt: skip
            handle.on_click(lambda _: clicked())
            self.handles.append(handle)

    def move(self, points: FloatArray) -> None:
        """Move all vertices; (V, 3) [m]."""
        placed = points.astype(np.float32)
        for (used, _), handle in zip(self.body.parts, self.handles, strict=True):
            handle.vertices = placed[used]

    def remove(self) -> None:
        """Remove it from the page."""
        for handle in self.handles:
            handle.remove()
        self.handles = []


class WholePeople:
    """The whole people of one kind of body. This class is **mutable**.

    Bodies are made on a thread of their own, since one takes some hundredths of a second. Who waits for its body is
    made of pieces meanwhile.
    """

    def __init__(self, scene: viser.SceneApi, place: str, skeleton: Skeleton, clicked: Callable[[str], None]) -> None:
        self._scene, self._place, self._skeleton, self._clicked = scene, place, skeleton, clicked
        self._people: dict[str, WholePerson] = {}
        self._poses: dict[str, tuple[FloatArray, FloatArray]] = {}
        self._bodies: dict[tuple[int, bool], Future[WholeBody]] = {}
        self._workers = ThreadPoolExecutor(1, thread_name_prefix="bodies")
        self._made = 0

    @property
    def names(self) -> frozenset[str]:
        """Who is whole."""
        return frozenset(self._people)

    def show(
        self, joints: Joints, names: Sequence[str], wanted: dict[int, bool], individual: Callable[[str], int]
    ) -> frozenset[int]:
        """Show those who are wanted as far as their bodies are made, and nobody else; return the rows of those shown.

        Args:
            joints: all characters of this kind.
            names: their names.
            wanted: rows of those who are to be whole, and whether with face and fingers.
            individual: which individual somebody is, by name.
        """
        out, fresh = [], 0
        for row, fine in wanted.items():
            name = names[row]
            body, person = self._body(individual(name), fine), self._people.get(name)
            if person is None or (body is not None and person.body is not body):
                if body is None or fresh >= _MOST_MADE:
                    if person is not None:  # the body it has will do until then
                        self._move(name, person, joints, row)
                        out.append(row)
                    continue
                self._drop(name)
                fresh, self._made = fresh + 1, self._made + 1
                points = skinned_points(body.mesh, joints.positions[row], joints.rotations[row])
                place = f"{self._place}/{self._made}"
                self._people[name] = WholePerson(self._scene, place, body, points, partial(self._clicked, name))
            else:
                self._move(name, person, joints, row)
            out.append(row)
        shown = {names[row] for row in out}
        for name in [name for name in self._people if name not in shown]:
            self._drop(name)
        return frozenset(out)

    def vertices(self) -> dict[str, FloatArray]:
        """Return the vertices of all parts of everybody [m]; (V, 3) each."""
        return {
            name: np.concatenate([handle.vertices for handle in person.handles]).astype(np.float64)
            for name, person in list(self._people.items())
        }

    def remove(self) -> None:
        """Remove all of them."""
        for name in list(self._people):
            self._drop(name)

    def close(self) -> None:
        """Remove all of them, and end the thread that makes bodies."""
        self.remove()
        self._workers.shutdown(wait=False, cancel_futures=True)

    def _move(self, name: str, person: WholePerson, joints: Joints, row: int) -> None:
        pose = (joints.positions[row], joints.rotations[row])
        before = self._poses.get(name)
        if before is not None and np.array_equal(before[0], pose[0]) and np.array_equal(before[1], pose[1]):
            return
        self._poses[name] = pose
        person.move(skinned_points(person.body.mesh, *pose))

    def _drop(self, name: str) -> None:
        person = self._people.pop(name, None)
        self._poses.pop(name, None)
        if person is not None:
            person.remove()

    def _body(self, individual: int, fine: bool) -> WholeBody | None:
        """Return a body if it is made; otherwise let it be made."""
        key = (individual, fine)
        if key not in self._bodies:
            self._bodies[key] = self._workers.submit(whole_body, self._skeleton, individual, fine)
        made = self._bodies[key]
        return made.result() if made.done() else None
