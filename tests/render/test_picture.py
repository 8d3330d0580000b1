from __future__ import annotations

import numpy as np
import pytest

from figures import standing
from gaitway.core.errors import GaitwayError
from gaitway.render import (
    BodyPart,
    BodyShape,
    Camera,
    FloorMark,
    Label,
    Lighting,
    Trail,
    figures_of,
    render_frame,
)
from gaitway.render.bodies.palette import TONES, palette
from gaitway.render.film.scenery import solid_of
from gaitway.render.raster.picture import _SAMPLES
from gaitway.world import Box, Cylinder

SIZE = (96, 72)
PLAIN = Lighting(ground=None, backdrop=("#ffffff", "#ffffff"))
CAMERA = Camera.around([0, 0, 0.9], azimuth=-1.0, elevation=0.2, distance=5.0)


def people(count=1, spacing=1.0):
    clip = standing(frames=2)
    figures = []
    for i in range(count):
        moved = clip.joint_transforms()[0] + [0.0, spacing * i, 0.0]
        figure = figures_of(clip, [0])[0]
        figures.append(type(figure)(figure.skeleton, moved[0], figure.rotations, figure.colors))
    return figures


def ball(radius=0.5):
    """A skeleton-free way to a sphere: one part with nearly no length."""
    clip = standing(frames=1)
    shape = BodyShape((BodyPart("Hips", (0, 0, -1e-6), (0, 0, 1e-6), (radius, radius), color="#000000"),))
    return figures_of(clip, [0], body=shape)


def darkness(image):
    return 1.0 - image.astype(float).mean(axis=2) / 255.0


def test_sphere_covers_its_disc():
    size, span = (400, 400), 2.0
    figure = ball()[0]
    camera = Camera.around(figure.positions[0], azimuth=0.3, elevation=0.2, span=span)
    # a black ball without light of its own: how dark a pixel is says how much of it is covered
    image = render_frame([figure], camera, size=size, lighting=PLAIN, samples=16)
    inside = darkness(image) > 0.5 * darkness(image).max()
    area = inside.sum() * (span / 400) ** 2
    assert area == pytest.approx(np.pi * 0.25, rel=0.03)
    rows, cols = np.nonzero(inside)
    assert rows.mean() == pytest.approx(199.5, abs=0.6) and cols.mean() == pytest.approx(199.5, abs=0.6)
    assert inside[rows.min() : rows.max() + 1, 200].all()  # no holes along the middle


@pytest.mark.parametrize("samples", sorted(_SAMPLES))
def test_edges_are_smooth_only_with_several_samples(samples):
    thing = solid_of(Box((0.0, 0.0), (1.0, 1.0), 1.0, yaw=0.3), "#000000")
    camera = Camera.around([0, 0, 0.5], azimuth=0.0, elevation=0.5 * np.pi, span=2.0)
    image = render_frame([], camera, size=(64, 64), obstacles=[thing], lighting=PLAIN, samples=samples)
    levels = np.unique(image[..., 1])
    assert (len(levels) <= 3) if samples == 1 else (len(levels) >= samples)


def test_same_bytes_for_any_number_of_threads_and_on_every_run():
    figures = people(3)
    pictures = [render_frame(figures, CAMERA, size=(160, 200), threads=n) for n in (1, 2, 5, 1)]
    for other in pictures[1:]:
        np.testing.assert_array_equal(pictures[0], other)


def test_order_of_figures_does_not_matter():
    figures = people(3)
    np.testing.assert_array_equal(
        render_frame(figures, CAMERA, size=SIZE), render_frame(figures[::-1], CAMERA, size=SIZE)
    )


def test_nearer_box_hides_the_farther():
    front, back = (
        solid_of(Box((1.0, 0.0), (0.2, 1.0), 1.0), "#ff0000"),
        solid_of(Box((-1.0, 0.0), (0.2, 1.0), 1.0), "#00ff00"),
    )
    camera = Camera.around([0, 0, 0.5], azimuth=0.0, elevation=0.0)
    for things in ([front, back], [back, front]):
        red, green, _ = render_frame([], camera, size=SIZE, obstacles=things)[36, 48].astype(int)
        assert red > 2 * green
    red, green, _ = render_frame([], Camera.around([0, 0, 0.5], azimuth=np.pi, elevation=0.0), size=SIZE,
                                 obstacles=[front, back])[36, 48].astype(int)  # fmt: skip
    assert green > 2 * red


def test_empty_scene_is_ground_and_backdrop():
    image = render_frame([], CAMERA, size=SIZE)
    assert image.shape == (72, 96, 3) and image.dtype == np.uint8
    assert image.min() > 150


def test_what_is_beside_or_behind_the_camera_is_not_seen():
    figure = people()[0]
    away = Camera(eye=np.array([3.0, 0, 1.0]), target=np.array([6.0, 0, 1.0]), up=np.array([0, 0, 1.0]))
    np.testing.assert_array_equal(
        render_frame([figure], away, size=SIZE, lighting=PLAIN), render_frame([], away, size=SIZE, lighting=PLAIN)
    )


def test_camera_inside_a_figure_or_box_draws_without_harm():
    figure = people()[0]
    inside = Camera(eye=figure.positions[0], target=figure.positions[0] + [1.0, 0, 0], up=np.array([0, 0, 1.0]))
    assert render_frame([figure], inside, size=SIZE).shape == (72, 96, 3)
    wall = solid_of(Box((0.0, 0.0), (0.4, 8.0), 3.0), "#ff0000")
    beside = Camera(eye=np.array([0.5, 3.5, 1.0]), target=np.array([0.3, 0.0, 1.0]), up=np.array([0, 0, 1.0]))
    red, green, _ = render_frame([], beside, size=SIZE, obstacles=[wall])[36, 95].astype(int)
    assert red > 1.5 * green  # the wall begins behind the camera and is cut, not dropped


def test_shadow_falls_away_from_the_light_and_only_there():
    post = solid_of(Cylinder((0.0, 0.0), 0.1, 1.0))
    camera = Camera(eye=np.array([0, 0, 9.0]), target=np.zeros(3), up=np.array([0, 1.0, 0]), span=4.0)
    lighting = Lighting(grid=0.0, fade=1000.0, light_azimuth=0.0, light_elevation=np.radians(45.0))
    image = darkness(render_frame([], camera, size=(80, 80), obstacles=[post], lighting=lighting))
    floor = image[5, 5]
    assert image[40, 28] > floor + 0.05  # 0.6 m away from the light, in the shadow of the post
    assert image[40, 52] == pytest.approx(floor, abs=0.01)
    assert image[40, 10] == pytest.approx(floor, abs=0.01)  # beyond the shadow's end


def test_ground_under_a_sole_is_darker_than_beside():
    figure = people()[0]
    camera = Camera(eye=np.array([0, 0, -9.0]), target=np.zeros(3), up=np.array([0, 1.0, 0]), span=4.0)
    assert render_frame([figure], camera, size=SIZE).shape == (72, 96, 3)  # from below: nothing breaks
    front = Camera.around([0, 0, 0.05], azimuth=0.0, elevation=0.3, span=0.8)
    image = darkness(render_frame([figure], front, size=(160, 160), lighting=Lighting(grid=0.0)))
    toe = front.project([0.26, 0.09, 0.0], (160, 160))
    far = front.project([0.26, 0.38, 0.0], (160, 160))
    assert image[int(toe[1]), int(toe[0])] > image[int(far[1]), int(far[0])] + 0.02


def test_what_sinks_into_the_floor_is_hidden():
    buried = solid_of(Box((0.0, 0.0), (1.0, 1.0), 1.0, bottom=-1.2), "#ff0000")
    image = render_frame([], CAMERA, size=SIZE, obstacles=[buried], lighting=Lighting(shadow=0.0)).astype(int)
    assert (np.abs(image[..., 0] - image[..., 1]) < 30).all()


def test_paint_lies_on_the_floor_under_the_figure():
    path = np.stack([np.linspace(-3, 3, 30), np.zeros(30)], axis=1)
    camera = Camera(eye=np.array([0, 0, 9.0]), target=np.zeros(3), up=np.array([0, 1.0, 0]), span=4.0)
    trail = Trail(path, "#ff0000", width=0.4, opacity=1.0)
    spot = FloorMark(np.array([[0.9, -0.2], [1.1, -0.2], [1.0, 0.2]]), "#0000ff", 1.0)
    image = render_frame([], camera, size=(80, 80), paint=[trail, spot])
    assert image[40, 10, 0] > 2 * image[40, 10, 1]
    assert image[41, 60, 2] > 2 * image[41, 60, 1]  # later paint covers earlier
    assert np.ptp(image[20, 20].astype(int)) < 20
    covered = render_frame(people(), camera, size=(80, 80), paint=[trail])
    assert covered[40, 40, 0] < 2 * covered[40, 40, 1]


def test_standing_trail_draws_nothing():
    empty = Trail(np.zeros((5, 2)))
    np.testing.assert_array_equal(
        render_frame([], CAMERA, size=SIZE, paint=[empty]), render_frame([], CAMERA, size=SIZE)
    )


def test_labels_are_written_in_front_and_not_behind():
    plain = render_frame([], CAMERA, size=SIZE)
    seen = render_frame([], CAMERA, size=SIZE, labels=[Label("here", (0, 0, 0.9))])
    behind = render_frame([], CAMERA, size=SIZE, labels=[Label("here", tuple(2 * CAMERA.eye - CAMERA.target))])
    assert (seen != plain).any()
    np.testing.assert_array_equal(behind, plain)


def test_colours_come_from_the_palette():
    rows = {name: [0.0, 0.0, 0.0] for name in TONES} | {"top": [0.9, 0.0, 0.0], "bottom_left": [0.0, 0.0, 0.9]}
    image = render_frame(figures_of(standing(1), [0], palette(rows)), CAMERA, size=(160, 200)).astype(int)
    assert ((image[..., 0] > image[..., 1] + 80) & (image[..., 0] > image[..., 2] + 80)).sum() > 100
    assert ((image[..., 2] > image[..., 0] + 60) & (image[..., 2] > image[..., 1] + 60)).sum() > 50


@pytest.mark.parametrize("size", [(0, 10), (10, -1), (100_000, 100_000), (64_000_001, 1)])
def test_impossible_sizes_are_refused(size):
    with pytest.raises(GaitwayError, match="cannot be drawn"):
        render_frame([], CAMERA, size=size)


def test_wrong_options_are_refused():
    with pytest.raises(GaitwayError, match="one of 1, 4, 8, 16"):
        render_frame([], CAMERA, samples=3)
    with pytest.raises(GaitwayError, match="over the horizon"):
        render_frame([], CAMERA, lighting=Lighting(light_elevation=0.0))
    with pytest.raises(GaitwayError, match="which has 1"):
        figures_of(standing(1), [3])
    with pytest.raises(GaitwayError, match="hexadecimal"):
        render_frame([], CAMERA, obstacles=[solid_of(Box((0, 0), (1, 1), 1), "red")])
    with pytest.raises(GaitwayError, match="not finite"):
        type(people()[0])(standing(1).skeleton, np.full((25, 3), np.nan), np.zeros((25, 4)))
