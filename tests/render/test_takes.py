"""Takes in pictures and films."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import numpy as np
import pytest
from PIL import Image

from figures import standing, walking
from gaitway.core.errors import GaitwayError, TakeError
from gaitway.export.pictures import export_picture
from gaitway.render import Camera, Shot
from gaitway.render.bodies.figures import in_sight
from gaitway.render.film.cameras import FIELD, best_direction, filled, hidden, led_cameras, standing_boxes
from gaitway.render.film.shot import named_camera
from gaitway.render.film.take_stage import TakeStage
from gaitway.render.film.takes import take_film, take_still, take_strip
from gaitway.take import Take, assemble, lay_track
from gaitway.world import Box, Obstacle, Terrain, World

SIZE = (200, 120)


@pytest.fixture(scope="module")
def take() -> Take:
    clip = walking(seconds=2.0, fps=30.0)
    tracks = [
        lay_track(name, [clip], (0.0, y, 0.0), start) for name, y, start in (("ada", 0.0, 0.0), ("ben", 2.0, 1.0))
    ]
    return assemble(tracks)


@pytest.fixture(scope="module")
def world() -> World:
    return World((-2, -2, 6, 4), (Obstacle(Box((4, 1), (0.3, 3), 1.0)),))


def test_only_those_who_are_present_are_shown(take: Take, world: World):
    stage = TakeStage.of(take, world)
    assert [len(stage.figures(t)) for t in (0.5, 1.5, 2.5)] == [1, 2, 1]
    alone = stage.figures(0.5)[0]
    assert alone.positions[0, 0] == pytest.approx(0.5, abs=0.1)
    assert alone.positions[0, 1] == pytest.approx(0.0, abs=0.1)


def test_people_differ_and_stay_the_same(take: Take, world: World):
    early, late = TakeStage.of(take, world).figures(1.2), TakeStage.of(take).figures(1.8)
    assert not np.array_equal(early[0].colors, early[1].colors)
    assert early[0].body != early[1].body
    assert np.array_equal(early[1].colors, late[1].colors)
    assert early[1].body == late[1].body


def test_a_still_shows_people_where_they_are(take: Take, world: World):
    """Taking ben away changes the picture about where ben is, and not where ada is."""
    camera = Camera(np.array([2.0, 1.0, 20.0]), np.array([2.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0]), span=6.0)
    both = np.asarray(take_still(take, 1.0, shot=Shot(camera=camera, size=SIZE), world=world)).astype(int)
    before = np.asarray(take_still(take, 0.99, shot=Shot(camera=camera, size=SIZE), world=world)).astype(int)
    changed = np.abs(both - before).max(axis=2) > 40
    rows, columns = np.nonzero(changed)
    (x, y, _) = camera.project(np.array([0.0, 2.0, 1.0]), SIZE)
    near = np.hypot(columns - x, rows - y) < 15
    assert near.sum() > 40
    assert near.mean() > 0.7


def test_trails_are_as_long_as_asked(take: Take, world: World):
    stage = TakeStage.of(take, world)
    assert stage.trails(1.5, 0.0) == ([], [])
    _, paint = stage.trails(1.5, 1.0)
    lengths = [np.linalg.norm(np.diff(p.path, axis=0), axis=1).sum() for p in paint]
    assert lengths == pytest.approx([1.0, 0.5], abs=0.12)
    hills = TakeStage.of(take, World((-2, -2, 6, 4), terrain=Terrain(np.zeros((3, 3)), 4.0)))
    ribbons, paint = hills.trails(1.5, np.inf)
    assert (len(ribbons), paint) == (2, [])


def test_names_over_heads(take: Take, world: World):
    stage = TakeStage.of(take, world)
    assert [label.text for label in stage.labels(1.5)] == ["ada", "ben"]
    assert [label.text for label in stage.labels(1.5, ["ben"])] == ["ben"]
    assert stage.labels(1.5)[0].place[2] > 1.6
    with pytest.raises(TakeError):
        stage.labels(1.5, ["zoe"])
    plain, named = (
        np.asarray(take_still(take, 1.5, shot=Shot(size=SIZE, labels=on), world=world)) for on in (False, True)
    )
    assert (plain != named).any()


def test_a_following_camera_goes_along_and_keeps_them_in_the_picture(take: Take, world: World):
    stage = TakeStage.of(take, world)
    times = list(np.arange(0.0, 2.0, 0.1))
    cameras = stage.cameras(Shot(camera="follow", who=["ada"]), times, SIZE)
    assert cameras[-1].target[0] > cameras[0].target[0] + 0.8
    for time, camera in zip(times, cameras, strict=True):
        seen = camera.project(stage.figures(time)[0].positions, SIZE)
        assert (seen[:, 0] > 0).all() and (seen[:, 0] < SIZE[0]).all()
        assert (seen[:, 1] > 0).all() and (seen[:, 1] < SIZE[1]).all()
    steps = np.diff([c.target for c in cameras], axis=0)
    assert np.linalg.norm(np.diff(steps, axis=0), axis=1).max() < 0.03  # no jerks


def test_frames_of_a_film_are_whatever_draws_them(take: Take, world: World):
    """A frame upon a plate is the frame drawn as a whole, to the byte, with trails, shadows, labels and all."""
    for shot in (Shot(size=SIZE, trails=1.0, labels=True), Shot(size=SIZE, camera="top", cutaway=0.5)):
        stage = TakeStage.of(take, world, shot.cutaway)
        times = [0.9, 1.1, 1.5]
        cameras = stage.cameras(shot, times, SIZE)
        film_set = stage.film_set(shot, times, cameras, SIZE)
        plate = film_set.plate(cameras[0], SIZE, 4)
        frames = [stage.film_frame(film_set, plate, t, cameras[0], shot, SIZE, 4) for t in times]
        for time, frame in zip(times, frames, strict=True):
            whole = stage.film_frame(film_set, None, time, cameras[0], shot, SIZE, 4)
            np.testing.assert_array_equal(frame, whole)
            still = stage.draw(time, cameras[0], shot, SIZE, 4)  # its shadows are drawn by other texels
            assert (np.abs(frame.astype(int) - still.astype(int)).max(axis=2) > 40).mean() < 0.003
        again = stage.film_frame(film_set, plate, times[0], cameras[0], shot, SIZE, 4)
        np.testing.assert_array_equal(again, frames[0])
        assert (frames[0] != frames[2]).any()


@pytest.mark.parametrize("camera", ["auto", "orbit"])
def test_a_film_is_the_same_on_any_number_of_threads(take: Take, world: World, tmp_path, camera):
    shot = Shot(size=(96, 64), camera=camera, samples=1)
    films = [
        take_film(take, tmp_path / f"{n}.webp", shot, world=world, fps=6.0, threads=n).read_bytes() for n in (1, 2, 5)
    ]
    assert films[0] == films[1] == films[2]


def in_picture(camera: Camera, points: np.ndarray) -> np.ndarray:
    x, y, depth = np.moveaxis(camera.project(points, SIZE), -1, 0)
    return (depth > 0) & (x > 0) & (x < SIZE[0]) & (y > 0) & (y < SIZE[1])


def test_an_automatic_camera_sees_all_who_move_from_eye_level_or_above():
    clip = walking(seconds=3.0, fps=30.0)
    starts = (("ada", (0.0, 0.0, 0.0), 0.0), ("ben", (12.0, 5.0, np.pi), 1.0), ("cleo", (5.0, -3.0, 1.5), 2.0))
    crowd = assemble([lay_track(name, [clip] * 3, place, start) for name, place, start in starts])
    walls = (Obstacle(Box((6, -1.2), (14, 0.3), 2.5)), Obstacle(Box((6, 6.4), (14, 0.3), 2.5)))
    hall = World((-4, -8, 16, 12), walls)
    stage = TakeStage.of(crowd, hall, 1.2)
    times = list(np.arange(0.0, crowd.duration, 0.1))
    cameras = stage.cameras(Shot(camera="auto"), times, SIZE)
    for time, camera in zip(times, cameras, strict=True):
        assert camera.eye[2] >= 1.6
        for figure in stage.figures(time):
            assert in_picture(camera, figure.positions).all()
    steps = np.diff([c.eye for c in cameras], axis=0)
    assert np.linalg.norm(np.diff(steps, axis=0), axis=1).max(initial=0.0) < 0.05


def test_who_stands_about_does_not_matter_as_long_as_others_move():
    clip, idle = walking(seconds=2.0, fps=30.0), standing(frames=121)
    take = assemble([lay_track("ada", [clip], (0, 0, 0)), lay_track("post", [idle], (40, 0, 0))])
    times = np.linspace(0.0, 2.0, 9)
    _, matters = TakeStage.of(take).interest(times)
    assert matters[0].all() and not matters[1].any()
    assert TakeStage.of(take).interest(times, ["post"])[1].all()
    alone = assemble([lay_track("post", [idle], (40, 0, 0)), lay_track("pole", [idle], (42, 0, 0))])
    assert TakeStage.of(alone).interest(times)[1].all()


def test_automatic_cameras_look_over_walls_that_hide_people():
    """A high wall on one side: the camera goes to the other side, or higher, until heads, hips and feet are seen."""
    clip = walking(seconds=2.0, fps=30.0)
    take = assemble([lay_track(name, [clip], (x, 0.0, 0.0)) for name, x in (("ada", 0.0), ("ben", 3.0))])
    for y in (-1.0, 1.0):
        world = World((-6, -6, 12, 6), (Obstacle(Box((3, y), (18, 0.2), 3.0)),))
        stage = TakeStage.of(take, world)
        triangles = np.concatenate([s.mesh.points[s.mesh.triangles] for s in stage.scenery.still])
        for kind in ("auto", "follow"):
            camera = stage.cameras(Shot(camera=kind), [1.0, 1.1], SIZE)[0]
            points = np.concatenate([f.positions for f in stage.figures(1.0)])
            assert not hidden(camera.eye, points, triangles).any()
        across = Camera.looking((3.0, 8.0 * np.sign(y), 1.5), (3.0, 0.0, 1.0))
        assert hidden(across.eye, points, triangles).all()


def test_cameras_that_circle_and_look_down(take: Take, world: World):
    stage = TakeStage.of(take, world)
    times = list(np.arange(0.0, 3.0, 0.1))
    circling = stage.cameras(Shot(camera="orbit"), times, SIZE)
    bearings = np.unwrap([np.arctan2(*(c.eye - c.target)[1::-1]) for c in circling])
    assert np.diff(bearings) == pytest.approx(0.1 * np.radians(9.0), rel=0.2)
    for time, camera in zip(times, circling, strict=True):
        assert camera.eye[2] > 1.6
        for figure in stage.figures(time):
            assert in_picture(camera, figure.positions).all()
    (top, *_) = stage.cameras(Shot(camera="top"), times, SIZE)
    np.testing.assert_allclose(top.axes[2], [0, 0, -1], atol=1e-9)
    x, y, _ = np.moveaxis(top.project([[-2.0, -2.0, 0.0], [6.0, 4.0, 0.0]], SIZE), -1, 0)
    assert 0 < x[0] < x[1] < SIZE[0] and 0 < y[1] < y[0] < SIZE[1]


def test_words_for_cameras():
    own = Camera.looking((0, 0, 5), (0, 0, 0))
    assert named_camera("auto") == ("auto", None)
    assert named_camera("follow Cleo Späth") == ("follow", ["Cleo Späth"])
    assert named_camera("scene", own) == (own, None)
    for words in ("drone", "top ada", "scene"):
        with pytest.raises(GaitwayError, match="camera"):
            named_camera(words)


def test_a_take_needs_no_world(take: Take):
    assert take_still(take, 1.0, shot=Shot(size=SIZE)).size == SIZE


def test_a_strip_has_a_tile_for_each_moment(take: Take, world: World, tmp_path):
    strip = take_strip(take, 5, tmp_path / "strip.png", Shot(size=(100, 60), samples=1), world=world, columns=2)
    assert strip.size == (200, 180)
    with Image.open(tmp_path / "strip.png") as saved:
        assert saved.size == strip.size
    first, second = (np.asarray(strip.crop((0, 0, 100, 60))), np.asarray(strip.crop((100, 0, 200, 60))))
    assert (first != second).any()


def test_a_film_has_the_frames_it_should(take: Take, world: World, tmp_path):
    seen = []
    path = take_film(
        take, tmp_path / "film.webp", Shot(size=(64, 40), samples=1, camera="follow", trails=1.0), world=world, fps=5.0,
        start=0.5, end=1.5, progress=lambda *told: seen.append(told),
    )  # fmt: skip
    with Image.open(path) as film:
        assert film.n_frames == 6
        assert film.size == (64, 40)
    assert seen[-1] == ("film.webp", 6, 6)


@pytest.mark.skipif(find_spec("imageio_ffmpeg") is None, reason="needs the extra video")
def test_an_mp4_is_written(take: Take, world: World, tmp_path):
    path = take_film(take, tmp_path / "film.mp4", Shot(size=(65, 41), samples=1), world=world, fps=4.0)
    assert path.read_bytes()[4:8] == b"ftyp"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda take, folder: take_still(take, -1.0), "from 0 to 172800"),
        (lambda take, folder: take_still(take, np.nan), "from 0 to 172800"),
        *(
            (lambda take, folder, far=far: export_picture(take, folder / "p.png", end=far), "from 0 to 172800")
            for far in (1e308, 1e30, float(2**63), np.inf)
        ),
        (lambda take, folder: take_film(take, folder / "film.webp", end=1e308), "the take lasts"),
        (lambda take, folder: take_still(take, shot=Shot(camera="drone")), "not known"),
        (lambda take, folder: take_still(take, shot=Shot(size=(0, 10))), "cannot be drawn"),
        (lambda take, folder: take_strip(take, []), "moments"),
        (lambda take, folder: take_strip(take, 0), "moments"),
        (lambda take, folder: take_strip(take, 2, columns=0), "columns"),
        (lambda take, folder: take_film(take, folder / "film.gif"), "must end in"),
        (lambda take, folder: take_film(take, folder / "film.webp", fps=0.0), "Hz"),
        (lambda take, folder: take_film(take, folder / "film.webp", start=2.0, end=1.0), "the take lasts"),
        (lambda take, folder: take_film(take, folder / "film.webp", end=1e4), "too long"),
        (lambda take, folder: take_film(take, folder / "film.webp", quality=0), "quality"),
    ],
)
def test_what_cannot_be_shown_is_refused_and_nothing_is_written(take: Take, tmp_path, call, words):
    with pytest.raises(GaitwayError, match=words):
        call(take, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("spread", [(40.0, 24.0), (30.0, 30.0), (50.0, 18.0)])
def test_wide_places_leave_little_empty_ground_before_people(spread: tuple[float, float]) -> None:
    """Everybody is in the picture, they fill half of its height, and the nearest stand close to its lower edge."""
    size, times = (1280, 720), np.array([0.0, 1.0])
    across, deep = (np.linspace(-0.5 * reach, 0.5 * reach, 4) for reach in spread)
    places = np.repeat(np.array([(x, y) for x in across for y in deep])[:, None], 2, axis=1)
    present = np.ones(places.shape[:2], bool)
    boxes = standing_boxes(places, np.zeros(places.shape[:2]), 0.4, 1.9)
    ground = lambda where: np.zeros(len(where))  # noqa: E731
    azimuth, elevation = best_direction(boxes, present, times, [], size, np.radians(-74.0), ground)
    near = Camera.around(np.zeros(3), azimuth=azimuth, elevation=elevation, field=FIELD)
    (camera, _) = led_cameras(near, boxes, present, times, [0.0, 1.0], size)
    spots = camera.project(boxes[:, 0].reshape(-1, 3), size)[:, :2]
    assert (spots > 0.0).all()
    assert (spots < size).all()
    assert filled(camera, boxes[:, 0], present[:, 0], size) > 0.5
    below, above = size[1] - spots[:, 1].max(), spots[:, 1].min()
    assert below < 0.15 * size[1]
    assert below <= above + 1.0
    assert camera.eye[2] > 1.6


def test_people_who_stand_close_are_filmed_from_as_low_as_before() -> None:
    size, times = (1280, 720), np.array([0.0, 1.0])
    places = np.repeat(np.array([(0.0, 0.0), (1.5, 0.5), (3.0, 2.0)])[:, None], 2, axis=1)
    present = np.ones(places.shape[:2], bool)
    boxes = standing_boxes(places, np.zeros(places.shape[:2]), 0.4, 1.9)
    _, elevation = best_direction(boxes, present, times, [], size, 0.0, lambda where: np.zeros(len(where)))
    assert elevation == pytest.approx(np.radians(20.0))


@pytest.mark.slow
def test_frames_leave_out_only_who_cannot_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A camera close to one of many: most bodies are left out, and every byte of the picture stays."""
    clip = walking(seconds=1.0, fps=30.0)
    tracks = [lay_track(f"p{i}", [clip], (3.0 * (i % 6), 3.0 * (i // 6), 0.5 * i)) for i in range(24)]
    take = assemble(tracks, fps=30.0)
    stage = TakeStage.of(take)
    shot = Shot(camera="follow", who=["p8"], elevation=0.9)
    times = [0.0, 0.4]
    cameras = stage.cameras(shot, times, SIZE)
    film_set = stage.film_set(shot, times, cameras, SIZE)
    drawn = list[int]()

    def counted(figures, *rest):
        drawn.append(len(in_sight(figures, *rest)))
        return in_sight(figures, *rest)

    module = sys.modules[TakeStage.__module__]
    monkeypatch.setattr(module, "in_sight", counted)
    some = [stage.film_frame(film_set, None, t, c, shot, SIZE, 4) for t, c in zip(times, cameras, strict=True)]
    assert 1 <= max(drawn) < 16
    monkeypatch.setattr(module, "in_sight", lambda figures, *_: figures)
    for picture, t, c in zip(some, times, cameras, strict=True):
        assert (picture == stage.film_frame(film_set, None, t, c, shot, SIZE, 4)).all()
