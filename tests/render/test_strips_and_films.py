from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from figures import standing, walking
from gaitway.core.errors import FormatError, GaitwayError, MissingExtraError
from gaitway.motion.contacts import detect_contacts
from gaitway.motion.editing import move
from gaitway.render import contact_sheet, film, filmstrip, still, top_view, turntable
from gaitway.render.film import encoder
from gaitway.render.film.clip_stage import set_stage
from gaitway.render.film.shot import Shot, bearing
from gaitway.render.sheets.strips import _chosen
from gaitway.render.sheets.top_view import footprints


@pytest.fixture(scope="module")
def walk():
    return detect_contacts(walking(seconds=1.5, fps=30.0))


def ink(image):
    """Where a picture is far from its backdrop."""
    return np.asarray(image).astype(int).min(axis=2) < 170


def test_strip_has_a_row_a_clip_and_is_written_whole(walk, tmp_path):
    path = tmp_path / "strip.png"
    image = filmstrip([walk, standing(5)], path, columns=4, row_height=80, samples=4)
    with Image.open(path) as read:
        np.testing.assert_array_equal(np.asarray(read), np.asarray(image))
    assert list(tmp_path.iterdir()) == [path]
    single = filmstrip(walk, columns=4, row_height=80, samples=4)
    assert image.height == pytest.approx(2 * single.height, abs=16)


@pytest.mark.parametrize("layout", ["spaced", "travel"])
@pytest.mark.parametrize("view", ["side", "front", "three-quarter", "back", "top", 0.3])
def test_every_view_and_layout_draws_figures(walk, view, layout):
    image = filmstrip(walk, columns=3, view=view, layout=layout, row_height=70, labels=False, samples=1)
    assert 0.01 < ink(image).mean() < 0.6


def test_figures_stand_apart_in_a_spaced_strip():
    image = filmstrip(standing(9), columns=5, row_height=100, labels=False, times=False, samples=4)
    heads = ink(image)[: image.height // 3].any(axis=0).astype(int)
    assert (np.diff(heads) == 1).sum() + heads[0] == 5


def test_frames_of_a_row():
    clip = standing(61, fps=30.0)
    assert _chosen(clip, 5, None, None).tolist() == [0, 15, 30, 45, 60]
    assert _chosen(clip, 1, [3, 70, 7], None).tolist() == [3, 7]
    assert _chosen(clip, 3, None, 0.5).tolist() == [0, 15, 30]
    assert len(_chosen(standing(2), 12, None, None)) == 2


def test_a_turned_clip_gives_the_same_strip(walk):
    turned = move(walk, (3.0, -2.0, 2.1))
    a, b = (np.asarray(filmstrip(c, columns=3, row_height=80, samples=8)).astype(int) for c in (walk, turned))
    assert a.shape == b.shape and (np.abs(a - b) > 12).mean() < 0.01


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": 0}, "1 or more"),
        ({"view": "sidewise"}, "not known"),
        ({"layout": "grid"}, "'spaced' or 'travel'"),
        ({"labels": ["a", "b"]}, "2 labels for 1 clips"),
        ({"frames": [99]}, "none of the frames"),
        ({"step": 0.0}, "more than 0"),
        ({"row_height": 5}, "too low"),
        ({"row_height": 40_000, "max_width": 10**9}, "too large"),
    ],
)
def test_strip_refuses(options, words):
    with pytest.raises(GaitwayError, match=words):
        filmstrip(standing(5), **options)
    with pytest.raises(GaitwayError, match="at least one clip"):
        filmstrip([])


def test_strip_into_a_missing_folder_is_one_line(tmp_path):
    with pytest.raises(FormatError, match="cannot be written"):
        filmstrip(standing(2), tmp_path / "no" / "strip.png", columns=1, row_height=40, samples=1)


def test_webp_has_every_frame_and_its_time(walk, tmp_path):
    calls = []
    path = film([walk, standing(4)], tmp_path / "f.webp", Shot(size=(65, 49), samples=1), fps=10,
                progress=lambda *told: calls.append(told))  # fmt: skip
    with Image.open(path) as read:
        assert read.n_frames == 16 and read.size == (65, 49)
        read.load()
        assert read.info["duration"] == 100
        first = np.asarray(read.convert("RGB"))
        read.seek(15)
        assert (np.asarray(read.convert("RGB")) != first).any()
    assert calls == [("f.webp", i + 1, 16) for i in range(16)]
    assert [p.name for p in tmp_path.iterdir()] == ["f.webp"]


def test_one_frame_film(tmp_path):
    with Image.open(film(standing(1), tmp_path / "one.webp", Shot(size=(32, 32), samples=1))) as read:
        assert read.size == (32, 32) and ink(read.convert("RGB")).any()


def test_mp4_is_read_back(walk, tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    path = film(walk, tmp_path / "f.mp4", Shot(size=(97, 65), samples=1), fps=15)
    count, seconds = ffmpeg.count_frames_and_secs(str(path))
    assert count == 23 and seconds == pytest.approx(23 / 15, abs=0.05)
    frames = ffmpeg.read_frames(str(path))
    assert next(frames)["size"] == (96, 64)
    picture = np.frombuffer(next(frames), np.uint8).reshape(64, 96, 3)
    frames.close()
    assert ink(picture).any() and picture.max() > 220
    assert [p.name for p in tmp_path.iterdir()] == ["f.mp4"]


@pytest.mark.parametrize("written", [b"", b"\0\0\0\x10ftypisom\0\0\0\0", b"\0\0\1\0mdat", "half"])
def test_a_film_that_its_encoder_does_not_finish_is_no_film(walk, tmp_path, monkeypatch, written):
    """As on a full disk: ffmpeg ends, says so on the terminal, and nobody hears it."""
    pytest.importorskip("imageio_ffmpeg")
    if written == "half":
        written = film(walk, tmp_path / "whole.mp4", Shot(size=(96, 64), samples=1), fps=15).read_bytes()[:-100]
        (tmp_path / "whole.mp4").unlink()

    def write_frames(path, *given, **options):
        Path(path).write_bytes(written)
        while True:
            yield

    monkeypatch.setattr(encoder, "_ffmpeg", lambda: SimpleNamespace(write_frames=write_frames))
    (tmp_path / "f.mp4").write_bytes(b"before")
    with pytest.raises(FormatError, match="cannot be written: the video encoder stopped early"):
        film(walk, tmp_path / "f.mp4", Shot(size=(96, 64), samples=1), fps=15)
    assert [p.name for p in tmp_path.iterdir()] == ["f.mp4"]
    assert (tmp_path / "f.mp4").read_bytes() == b"before"


def test_names_that_ffmpeg_takes_for_protocols(walk, tmp_path, monkeypatch):
    pytest.importorskip("imageio_ffmpeg")
    monkeypatch.chdir(tmp_path)
    film(walk, "concat:a%03d|-b.mp4", Shot(size=(96, 64), samples=1), fps=5)
    assert [p.name for p in tmp_path.iterdir()] == ["concat:a%03d|-b.mp4"]


def test_mp4_without_its_extra_says_how(walk, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingExtraError, match=r"gaitway\[video\]"):
        film(walk, tmp_path / "f.mp4")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["f.webp", "f.mp4"])
def test_interrupted_film_leaves_nothing(walk, tmp_path, name):
    pytest.importorskip("imageio_ffmpeg")
    kept = tmp_path / name
    kept.write_bytes(b"before")

    def stop(what, done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        film(walk, kept, Shot(size=(32, 32), samples=1), progress=stop)
    assert kept.read_bytes() == b"before" and [p.name for p in tmp_path.iterdir()] == [name]


def test_film_refuses(walk, tmp_path):
    with pytest.raises(GaitwayError, match=r"\.mp4 or \.webp"):
        film(walk, tmp_path / "f.gif")
    with pytest.raises(GaitwayError, match="1 to 100"):
        film(walk, tmp_path / "f.webp", quality=0)
    with pytest.raises(GaitwayError, match="'row' or 'placed'"):
        film(walk, tmp_path / "f.webp", arrange="pile")
    with pytest.raises(GaitwayError, match="too long"):
        film(standing(40), tmp_path / "f.webp", fps=1_000_000.0)


def test_rate_of_a_film_is_the_clips_up_to_sixty():
    assert set_stage(standing(5, fps=30.0)).fps == 30.0
    assert set_stage(standing(9, fps=120.0)).fps == 60.0
    assert set_stage([standing(9, fps=30.0), standing(9, fps=100.0)]).fps == 50.0


def test_row_of_clips_faces_ahead_side_by_side(walk):
    stage = set_stage([move(walk, (9, 9, 2.0)), walk, standing(3)])
    starts = np.array([p[0, 0, :2] for p in stage.positions])
    np.testing.assert_allclose(starts, [[0, 1.2], [0, 0], [0, -1.2]], atol=1e-9)
    assert stage.positions[0][-1, 0, 0] > 1.0
    np.testing.assert_array_equal(stage.figures(40)[2].positions, stage.figures(2)[2].positions)


def test_following_camera_keeps_everybody_in_the_picture(walk):
    stage = set_stage([walk, move(walk, (0, 0, 1.0))], arrange="placed")
    size = (160, 90)
    for frame, camera in enumerate(stage.cameras(Shot(elevation=0.2), size)):
        for figure in stage.figures(frame):
            seen = camera.project(figure.positions, size)
            assert (seen[:, :2] > 0).all() and (seen[:, :2] < size).all()


def test_contact_sheet_numbers_successive_frames(walk, tmp_path):
    sheet = contact_sheet(walk, tmp_path / "c.png", Shot(size=(60, 60), samples=1), start=3, count=7, columns=3)
    assert sheet.size == (180, 180)
    assert np.asarray(sheet)[120:, :60].max() > 0 and np.asarray(sheet)[120:, 60:].max() == 0  # the seventh, then none
    with pytest.raises(GaitwayError, match="no frames"):
        contact_sheet(walk, start=1000)


def test_still_and_turntable(walk, tmp_path):
    image = still([walk, standing(5)], tmp_path / "s.png", Shot(size=(120, 80), trails=True, samples=1), time=0.5)
    assert image.size == (120, 80) and (tmp_path / "s.png").exists()
    table = turntable(walk, tmp_path / "t.png", Shot(size=(40, 50), samples=4), views=5, columns=3)
    assert table.size == (120, 100)
    tiles = [np.asarray(table)[:50, 40 * i : 40 * i + 40].astype(int) for i in range(3)]
    assert np.abs(tiles[0] - tiles[1]).max() > 30
    with pytest.raises(GaitwayError, match="0 or more"):
        still(walk, time=-1.0)
    with pytest.raises(GaitwayError, match="1 or more"):
        turntable(walk, views=0)


def test_top_view_shows_the_path_where_it_is(tmp_path):
    corner = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 3.0]])
    path = np.concatenate([np.linspace(corner[i], corner[i + 1], 20) for i in range(2)])
    image = np.asarray(top_view(path, tmp_path / "top.png", size=(280, 230), samples=4)).astype(int)
    dark = np.abs(image - np.median(image, axis=(0, 1))).sum(axis=2) > 90
    rows, cols = np.nonzero(dark)
    assert 4.0 / np.ptp(cols) == pytest.approx(3.0 / np.ptp(rows), rel=0.1)
    lower_left = dark[rows.max() - 8 : rows.max() + 1, cols.min() : cols.min() + 30]
    upper_left = dark[rows.min() : rows.min() + 30, cols.min() : cols.min() + 30]
    assert lower_left.any() and not upper_left.any()  # +X is right and +Y is up


def test_top_view_of_clips_and_what_it_refuses(walk):
    assert top_view([walk, standing(3)], size=(120, 90), samples=1).size == (120, 90)
    with pytest.raises(GaitwayError, match="at least one"):
        top_view([])
    with pytest.raises(GaitwayError, match="expected"):
        top_view([np.zeros((5, 4))])
    with pytest.raises(GaitwayError, match="labels for 1"):
        top_view(walk, labels=["a", "b"])


def test_footprints_are_where_the_feet_rest(walk):
    marks = footprints(walk)
    assert 3 <= len(marks) <= 6
    for mark in marks:
        middle = mark.outline.mean(axis=0)
        assert abs(abs(middle[1]) - 0.09) < 0.03
        assert np.ptp(mark.outline[:, 0]) == pytest.approx(0.28, abs=0.05)
    assert footprints(standing(3)) == [] if standing(3).contacts is None else True


def test_named_bearings():
    assert bearing("front") == 0.0 and bearing("side") == pytest.approx(-np.pi / 2) and bearing(1.25) == 1.25


def test_trails_and_names_of_clips(walk):
    stage = set_stage([walk, standing(30)])
    assert stage.trails(20, 0.0) == []
    whole, part = (stage.trails(20, seconds)[0].path for seconds in (np.inf, 0.2))
    assert len(whole) == 21 and len(part) == round(0.2 * stage.fps) + 1
    np.testing.assert_array_equal(part, whole[-len(part) :])
    assert [label.text for label in stage.labels(0, None)] == [clip.name for clip in stage.clips]
    assert [label.text for label in stage.labels(0, [walk.name])] == [walk.name]
    with pytest.raises(GaitwayError, match="no clip is called 'zoe'"):
        stage.cameras(Shot(who=["zoe"]), (60, 60))


def test_a_camera_can_stand_still_and_see_the_whole_path(walk):
    stage = set_stage(walk)
    cameras = stage.cameras(Shot(camera="overview"), (160, 90))
    assert len(cameras) == len(stage) and all(camera is cameras[0] for camera in cameras)
    for frame in (0, len(stage) - 1):
        seen = cameras[0].project(stage.positions[0][frame], (160, 90))
        assert (seen[:, :2] > 0).all() and (seen[:, :2] < (160, 90)).all()


@pytest.mark.parametrize(("options", "words"), [({"camera": "drone"}, "not known"), ({"view": "below"}, "not known")])
def test_a_shot_refuses_unknown_names(options, words):
    with pytest.raises(GaitwayError, match=words):
        Shot(**options)
