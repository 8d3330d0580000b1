"""Marks on the page: the route of the selected character, trails and plans of all characters, and names."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import viser

from gaitway.core.arrays import FloatArray
from gaitway.studio.frames import StudioRoute
from gaitway.studio.page.people import Heights, beneath
from gaitway.studio.tones import copied_color, surface_color

_GOAL, _RING = surface_color("#2f9e63"), copied_color("#f08a1e")
_TRAIL, _PLAN = (36, 62, 122), (128, 62, 26)
_LIFT = 0.035
"""Height of lines over the ground [m]."""
_TRAIL_TIME, _TRAIL_STEP = 5.0, 0.25
"""Length of a trail, and time between its points [s]."""
MOST_NAMES = 60
_LABELS, _APART = 6, 0.9
"""Largest number of behaviours that are named along a route, and least distance between their names [m]."""
_SIDES = 40
Place = tuple[float, float, float]
"""Where somebody may stand: x, y, z [m]."""
_COLORS: Mapping[str, tuple[int, int, int]] = {
    "jump": (188, 72, 12), "duck": (110, 30, 150), "crawl": (86, 40, 140), "climb": (140, 96, 0),
    "jog": (168, 24, 24), "turn": (160, 112, 0), "stand": (60, 60, 60), "wait": (60, 60, 60),
}  # fmt: skip
_WALK = (10, 74, 160)


def behavior_color(name: str) -> tuple[int, int, int]:
    """Return the colour of a behaviour in a route, by words in its name."""
    return next((color for word, color in _COLORS.items() if word in name), _WALK)


class PageRoute:
    """The ring, the route and the goal of the selected character; the goal can be dragged. This class is **mutable**.

    Handles stay while it is the same character; only what has changed is sent.
    """

    def __init__(
        self, server: viser.ViserServer, send: Callable[[Place], None], under: Callable[[FloatArray, FloatArray], Place]
    ) -> None:
        """Take the page.

        Args:
            server: where to draw.
            send: called with the place to which the goal was dragged.
            under: returns the place to stand at that is seen from a point (3,) through another (3,).
        """
        self._scene, self._send, self._under = server.scene, send, under
        self._ring: viser.BatchedMeshHandle | None = None
        self._line: viser.LineSegmentsHandle | None = None
        self._goal: viser.MeshHandle | None = None
        self._words: list[viser.LabelHandle] = []
        self._said: tuple[tuple[str, float, float, float], ...] = ()
        self._handle: int | None = None

    def let_go(self, client: int) -> None:
        """Release the goal that a viewer held who has left."""
        if self._handle == client:
            self._handle = None

    def show(
        self, ahead: StudioRoute | None, at: FloatArray | None, heights: Heights, plans: bool, labels: bool
    ) -> None:
        """Draw the route; None for no character."""
        if at is None:
            self.remove()
            return
        self._show_ring(at, heights)
        known = ahead if plans else None
        self._show_line(known, heights)
        self._show_goal(ahead.goal if ahead is not None else None, heights)
        self._show_words(changes(known) if known is not None and labels else (), heights)

    def remove(self) -> None:
        """Remove all marks."""
        for handle in (self._ring, self._line, self._goal, *self._words):
            if handle is not None:
                handle.remove()
        self._ring = self._line = self._goal = None
        self._words, self._said = [], ()

    def _show_ring(self, at: FloatArray, heights: Heights) -> None:
        height = float(heights(beneath(at[None, :2], at[None, 2]))[0])
        place = np.array([[at[0], at[1], height + _LIFT]])
        if self._ring is None:
            # a batch of one, as people are: then both are drawn in the same frame of a slow browser
            vertices, faces = annulus(0.40, 0.47)
            self._ring = self._scene.add_batched_meshes_simple(
                "/way/ring", vertices, faces, np.array([[1.0, 0.0, 0.0, 0.0]]), place, batched_colors=_RING,
                lod="off", cast_shadow=False, receive_shadow=False,
            )  # fmt: skip
        self._ring.batched_positions = place

    def _show_line(self, ahead: StudioRoute | None, heights: Heights) -> None:
        if ahead is None or len(ahead.points) < 2:
            if self._line is not None:
                self._line.remove()
                self._line = None
            return
        points, colors = colored_way(ahead)
        lines = segments(points, heights)
        if self._line is None:
            self._line = self._scene.add_line_segments(
                "/way/line", lines, colors, thickness=4.0, thickness_units="screen"
            )
        elif lines.shape != self._line.points.shape or not np.array_equal(lines, self._line.points):
            self._line.colors, self._line.points = colors, lines

    def _show_goal(self, goal: Place | None, heights: Heights) -> None:
        if goal is None:
            if self._goal is not None:
                self._goal.remove()
                self._goal = None
            return
        if self._goal is None:
            vertices, faces = _target()
            self._goal = self._scene.add_mesh_simple(
                "/way/goal", vertices, faces, color=_GOAL, side="double", flat_shading=True, cast_shadow=False,
                receive_shadow=False,
            )  # fmt: skip
            self._goal.on_drag("left")(self._drag)
        if self._handle is None:
            self._goal.position = (goal[0], goal[1], float(heights(np.array([goal]))[0]) + _LIFT)

    def _show_words(self, labels: tuple[tuple[str, float, float, float], ...], heights: Heights) -> None:
        if labels == self._said:
            return
        self._said = labels
        while len(self._words) > len(labels):
            self._words.pop().remove()
        for number, (behavior, x, y, z) in enumerate(labels):
            place = (x, y, float(heights(np.array([[x, y, z]]))[0]) + 0.12)
            if number < len(self._words):
                self._words[number].text = plain_words(behavior)
                self._words[number].position = place
            else:
                label = self._scene.add_label(
                    f"/way/word{number}", plain_words(behavior), position=place, font_screen_scale=0.8
                )
                self._words.append(label)

    async def _drag(self, event: viser.SceneNodeDragEvent[viser.MeshHandle]) -> None:
        eye, to = np.array(event.client.camera.position), np.array(event.end_position)
        x, y, z = self._under(eye, to)
        if not all(map(math.isfinite, (x, y, z))):
            return
        self._handle = event.client_id if event.phase != "end" else None
        event.target.position = (x, y, z + _LIFT)
        if event.phase == "end":
            self._send((x, y, z))


class PageTraces:
    """Trails and plans of all characters, each drawn by one handle. This class is **mutable**."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._scene = server.scene
        self._past: deque[tuple[float, dict[str, tuple[float, ...]]]] = deque()
        self._trails: viser.LineSegmentsHandle | None = None
        self._plans: viser.LineSegmentsHandle | None = None

    def note(self, time: float, names: Sequence[str], roots: FloatArray) -> None:
        """Note the root positions (N, 3) of all characters [m]."""
        if self._past and not -1e-9 <= time - self._past[-1][0] < _TRAIL_TIME:
            self._past.clear()  # another time altogether
        if not self._past or time - self._past[-1][0] >= _TRAIL_STEP - 1e-9:
            self._past.append(
                (time, dict(zip(names, map(tuple, beneath(roots[:, :2], roots[:, 2]).tolist()), strict=True)))
            )
        while self._past and self._past[0][0] < time - _TRAIL_TIME:
            self._past.popleft()

    def show_trails(self, on: bool, heights: Heights) -> None:
        """Draw the fading trails of all characters."""
        pieces, ages = [], []
        past = list(self._past) if on else []
        for number, ((_, first), (_, second)) in enumerate(pairwise(past)):
            pairs = [(first[name], at) for name, at in second.items() if name in first]
            pieces += pairs
            ages += [(len(past) - 1 - number) / max(len(past) - 1, 1)] * len(pairs)
        self._trails = self._put(self._trails, "/trails", pieces, _TRAIL, ages, heights)

    def show_plans(self, ways: Sequence[StudioRoute], heights: Heights) -> None:
        """Draw the plans of all characters."""
        pieces = [pair for way in ways for pair in zip(way.points[:-1].tolist(), way.points[1:].tolist(), strict=True)]
        self._plans = self._put(self._plans, "/plans", pieces, _PLAN, [0.0] * len(pieces), heights)

    def _put(
        self,
        handle: viser.LineSegmentsHandle | None,
        place: str,
        pieces: Sequence[Sequence[Sequence[float]]],
        color: tuple[int, int, int],
        ages: Sequence[float],
        heights: Heights,
    ) -> viser.LineSegmentsHandle | None:
        """Create, change or remove one handle for many lines."""
        if not pieces:
            if handle is not None:
                handle.remove()
            return None
        flat = np.array(pieces, dtype=np.float64).reshape(-1, 3)
        lines = np.column_stack([flat[:, :2], heights(flat) + _LIFT]).reshape(-1, 2, 3).astype(np.float32)
        share = 0.75 * np.array(ages)[:, None, None]
        mixed = (1.0 - share) * np.array(color) + share * np.array((222, 217, 206))
        colors = np.broadcast_to(mixed, lines.shape).astype(np.uint8)
        if handle is None:
            return self._scene.add_line_segments(place, lines, colors, thickness=2.0, thickness_units="screen")
        handle.colors, handle.points = colors, lines
        return handle


class PageNames:
    """Names above characters. This class is **mutable**."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._scene = server.scene
        self._handles: list[viser.LabelHandle] = []

    def show(self, names: Sequence[str], heads: FloatArray) -> None:
        """Write names at places (N, 3) [m]; no names remove all."""
        while len(self._handles) > len(names):
            self._handles.pop().remove()
        for number, (name, place) in enumerate(zip(names, heads.tolist(), strict=True)):
            if number == len(self._handles):
                self._handles.append(
                    self._scene.add_label(
                        f"/names/{number}", name, position=place, anchor="bottom-center", font_screen_scale=0.7
                    )
                )
                continue
            if self._handles[number].text != name:
                self._handles[number].text = name
            self._handles[number].position = place


def colored_way(ahead: StudioRoute) -> tuple[FloatArray, npt.NDArray[np.uint8]]:
    """Return the points of a route (K, 3) and the colours of its pieces (K - 1, 2, 3), by the behaviours along it."""
    points = np.asarray(ahead.points)
    color, colors = _WALK, []
    starts = [(np.linalg.norm(points - at, axis=1).argmin(), behavior_color(name)) for name, *at in ahead.labels]
    for number in range(len(points) - 1):
        color = next((c for k, c in reversed(starts) if k <= number), color)
        colors.append((color, color))
    return points, np.array(colors, dtype=np.uint8).reshape(-1, 2, 3)


def changes(ahead: StudioRoute) -> tuple[tuple[str, float, float, float], ...]:
    """Return the first few places along a route where another kind of motion begins: not every turn of a walk."""
    out: list[tuple[str, float, float, float]] = []
    for label in ahead.labels:
        if not out or (
            behavior_color(label[0]) != behavior_color(out[-1][0]) and math.dist(label[1:], out[-1][1:]) > _APART
        ):
            out.append(label)
    return tuple(out[:_LABELS])


def segments(points: FloatArray, heights: Heights) -> npt.NDArray[np.float32]:
    """Return a line through points (K, 3) on the ground near them as pieces (K - 1, 2, 3) [m]."""
    raised = np.column_stack([points[:, :2], heights(points) + _LIFT]).astype(np.float32)
    return np.stack([raised[:-1], raised[1:]], axis=1)


def plain_words(behavior: str) -> str:
    """Return the name of a behaviour as users read it."""
    return behavior.replace("_", " ")


def annulus(inner: float, outer: float) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32]]:
    """Return a flat ring as vertices (V, 3) and faces (T, 3)."""
    angles = np.linspace(0.0, 2.0 * np.pi, _SIDES, endpoint=False)
    circle = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(_SIDES)])
    first, second = np.arange(_SIDES), (np.arange(_SIDES) + 1) % _SIDES
    lower = np.column_stack([first, first + _SIDES, second + _SIDES])
    upper = np.column_stack([first, second + _SIDES, second])
    vertices = np.concatenate([inner * circle, outer * circle]).astype(np.float32)
    return vertices, np.concatenate([lower, upper]).astype(np.uint32)


def _target() -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32]]:
    """Return the mark of a goal, flat on the ground so that it hides nobody's legs: a disc and a ring about it."""
    parts = [annulus(1e-3, 0.26), annulus(0.38, 0.48)]
    faces = [part[1] + number * len(part[0]) for number, part in enumerate(parts)]
    return np.concatenate([part[0] for part in parts]), np.concatenate(faces).astype(np.uint32)
