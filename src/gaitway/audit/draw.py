"""Pictures of the worst findings of an audit: the whole figure, and a close view of the place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from gaitway.audit import _pair_kernels, _solid_kernels
from gaitway.audit._solid_kernels import Solids
from gaitway.audit.bodies import axes_of, bodies_of
from gaitway.audit.natural.report import NaturalReport
from gaitway.audit.penetration import groups_of
from gaitway.audit.report import Finding, Report, ReportRow, shown
from gaitway.audit.solids import stack_of
from gaitway.core.arrays import FloatArray, read_only
from gaitway.render.film.shot import Shot
from gaitway.render.film.takes import take_still
from gaitway.render.raster.camera import Camera
from gaitway.render.raster.labels import save_png, text_font
from gaitway.take.model import Take
from gaitway.world.world import World

_PANEL = (720, 720)
_INK, _MARK = "#2d3036", "#d5302a"
_NEAR, _FAR = 1.1, 5.0
"""Distances of the two cameras [m]."""
_AROUND = 16
"""Number of bearings that are tried for a clear view."""
_ELEVATIONS = (12.0, 28.0, 50.0, 75.0)
_START = 0.12
"""Distance from the place at which a line of sight begins, if the place is inside a solid [m]."""
_THIN = 0.005
"""Radius of a line of sight [m]."""


def draw_worst(report: Report, take: Take, world: World | None, folder: str | Path) -> list[Path]:
    """Draw the worst moment of every row with a violation.

    Args:
        report: what an audit of this take found.
        take: the take.
        world: its world, or None if it was audited without one.
        folder: where the PNG files go; it is made if it is not there.

    Returns:
        The files, in the order of the report's rows: `penetration.png` and so on.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    out = []
    for row in report.rows:
        if row.violations and row.violations[0].place is not None:
            path = target / f"{row.name}.png"
            save_png(picture_of(row, row.violations[0], take, world), path)
            out.append(path)
    return out


def draw_natural(report: NaturalReport, take: Take, world: World | None, folder: str | Path) -> list[Path]:
    """Draw the character that is farthest from what people do, for every figure that is outside its band.

    Args:
        report: what was measured of this take.
        take: the take.
        world: its world, or None.
        folder: where the PNG files go; it is made if it is not there.

    Returns:
        The files, in the order of the report's rows: `natural_jogging.png` and so on.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    out = []
    for row in report.outside:
        if row.worst is not None:
            band, worst = row.band, row.worst
            finding = Finding(
                row=band.name, value=worst.value, bar=band.low if worst.value < band.low else band.high,
                time=worst.time, frame=round(worst.time * take.fps), characters=(worst.character,), place=worst.place,
            )  # fmt: skip
            kind = ReportRow(name=band.name, title=band.title, unit=band.unit, bar=finding.bar)
            path = target / f"natural_{band.name}.png"
            save_png(picture_of(kind, finding, take, world), path)
            out.append(path)
    return out


def picture_of(row: ReportRow, finding: Finding, take: Take, world: World | None) -> Image.Image:
    """Draw a finding from far and near, with its place marked and a caption."""
    place = np.array(finding.place)
    direction = _clear_view(finding, take, world)
    azimuth, elevation = float(np.arctan2(direction[1], direction[0])), float(np.arcsin(direction[2]))
    middle = np.array([place[0], place[1], 0.5 * (place[2] + _ground(world, place) + 0.9)])
    sheet = Image.new("RGB", (2 * _PANEL[0], _PANEL[1] + 72), "white")
    for i, (target, distance) in enumerate(((middle, _FAR), (place, _NEAR))):
        camera = Camera.around(target, azimuth=azimuth, elevation=elevation, distance=distance)
        panel = take_still(take, finding.time, shot=Shot(camera=camera, size=_PANEL), world=world)
        _mark(panel, camera, place, 34 if i == 0 else 60)
        sheet.paste(panel, (i * _PANEL[0], 72))
    _caption(sheet, row, finding)
    return sheet


def _caption(sheet: Image.Image, row: ReportRow, finding: Finding) -> None:
    pen = ImageDraw.Draw(sheet)
    value = f"{row.title}: {shown(finding.value, row.unit)}, allowed {shown(finding.bar, row.unit)}"
    pen.text((16, 10), value, fill=_MARK, font=text_font(24))
    pen.text((16, 42), finding.words(), fill=_INK, font=text_font(18))


def _mark(panel: Image.Image, camera: Camera, place: FloatArray, radius: int) -> None:
    """Draw a ring around a point."""
    x, y, _ = (float(v) for v in camera.project(place, panel.size))
    pen = ImageDraw.Draw(panel)
    for width, color in ((7, "white"), (3, _MARK)):
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), outline=color, width=width)


def _ground(world: World | None, place: FloatArray) -> float:
    return 0.0 if world is None else float(world.ground(place[:2]))


def _clear_view(finding: Finding, take: Take, world: World | None) -> FloatArray:
    """Return the direction (unit vector) of a camera that sees the place, past walls first, then past bodies."""
    place = np.array(finding.place)
    axes, radii = _bodies(take, finding.time)
    seen = [] if world is None else [g for g in groups_of(world) if g.start <= finding.time < g.stop]
    best, least = np.array([1.0, 0.0, 0.0]), np.inf
    for k in range(_AROUND):
        for elevation in _ELEVATIONS:
            bearing, height = 2.0 * np.pi * (k + 0.5) / _AROUND, np.radians(elevation)
            way = np.array([np.cos(height) * np.cos(bearing), np.cos(height) * np.sin(bearing), np.sin(height)])
            ray = np.stack([place, place + _FAR * way])
            moments = np.full(1, finding.time)
            cost = 0.01 * abs(elevation - 25.0)
            cost += sum(10.0 * _blocked(g.solids, g.seen(moments, ray[None, None])[0, 0]) for g in seen)
            cost += sum(_pair_kernels.segment_distance(ray, a) < r for a, r in zip(axes, radii, strict=True))
            if cost < least - 1e-9:
                best, least = way, cost
    return best


def _blocked(solids: Solids, ray: FloatArray) -> int:
    """Count the solids in a line of sight (2, 3); a solid around the place counts only if the place is deep in it."""
    stack, spans = stack_of(solids), np.empty((64, 4))
    low, high = ray.min(axis=0), ray.max(axis=0)
    count = 0
    for s in np.flatnonzero(~((solids.boxes[:, :3] > high) | (solids.boxes[:, 3:] < low)).any(axis=1)).tolist():
        x, y, z = (float(v) for v in ray[0])
        inside = _solid_kernels.signed_distance(solids, s, x, y, z, stack) < 2.0 * _THIN
        begin = ray[0] + (_START if inside else 0.0) * (ray[1] - ray[0]) / np.linalg.norm(ray[1] - ray[0])
        line = read_only(np.stack([begin, ray[1]]))
        count += _solid_kernels.capsule_depth(solids, s, line, _THIN, 0.0, 0.01, stack, spans)[0] > 0.0
    return count


def _bodies(take: Take, time: float) -> tuple[FloatArray, FloatArray]:
    """Return axes (M, 2, 3) and radii (M,) of all capsules at a time [m]."""
    bodies, kinds = bodies_of(take), {id(skeleton): i for i, skeleton in enumerate(take.skeletons)}
    axes, radii = [np.empty((0, 2, 3))], [np.empty(0)]
    for group in take.joints(time):
        body, _ = bodies[kinds[id(group.skeleton)]]
        axes.append(axes_of(body, group.positions, group.rotations).reshape(-1, 2, 3))
        radii.append(np.tile(body.radii, len(group)))
    return np.concatenate(axes), np.concatenate(radii)
