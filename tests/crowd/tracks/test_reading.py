"""Trajectory tables of many programs: units, rates, repairs, and what is refused in a line."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gaitway
from gaitway.cast.catalog import load_cast
from gaitway.core.errors import CrowdError, FormatError, GaitwayError
from gaitway.crowd.tracks import TracksRead, read_tracks, repairing, table, text
from gaitway.export.tables import export_trajectories
from gaitway.take import take_of

PEDESTRIANS = Path(__file__).parents[4] / "shared" / "pedestrians"
Rows = list[tuple[object, ...]]
Write = Callable[..., Path]


def walk(
    person: object = 1, *, start: int = 0, count: int = 50, fps: float = 25.0, speed: float = 1.2, y: float = 0.0
) -> Rows:
    """Rows of somebody who walks along x: id, frame, x, y."""
    return [(person, start + k, round(speed * k / fps, 6), y) for k in range(count)]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(rows: Rows, head: str = "id,frame,x,y", name: str = "tracks.csv", sign: str = ",") -> Path:
        path = tmp_path / name
        body = "".join(sign.join(map(str, row)) + "\n" for row in rows)
        path.write_text(head + "\n" * bool(head) + body, encoding="utf-8")
        return path

    return written


def said(read: TracksRead) -> str:
    return "\n".join(read.lines())


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_our_own_tables_come_back(tmp_path: Path, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    library = load_cast("person", behaviors=("walk_forward", "wait"))
    clips = [library.clips[library.graph[name].clips[0]] for name in ("walk_forward", "wait")]
    take = take_of(clips)
    path = tmp_path / f"walk.{ending}"
    export_trajectories(take, path, 15.0)
    read = read_tracks(path)
    assert (read.unit, read.fps, read.sway, read.repairs[:-1]) == ("m", 15.0, None, ())
    table = take.trajectories(15.0)
    np.testing.assert_allclose(read.trajectories.positions, np.column_stack([table.x, table.y]), atol=1e-4)
    assert np.abs(np.sin(0.5 * (read.trajectories.headings - table.heading))).max() < 1e-3
    assert read.trajectories.names == ("0", "1")


@pytest.mark.parametrize(
    ("name", "people", "unit", "fps", "by"),
    [
        ("040_c_56_h-.txt", 75, "m", 25.0, "header"),
        ("corner.txt", 137, "m", 16.0, "speed"),
        ("uo-060-180-180.txt", 66, "cm", 16.0, "speed"),
        ("jupedsim.sqlite", 30, "m", 25.0, "JuPedSim"),
    ],
)
def test_real_people(name: str, people: int, unit: str, fps: float, by: str) -> None:
    if not PEDESTRIANS.is_dir():
        pytest.skip("no tracked people beside the clone")
    read = read_tracks(PEDESTRIANS / name, heads=False)
    assert (len(read.trajectories), read.unit, read.fps) == (people, unit, fps)
    assert by in said(read)
    assert read.repairs == () or name.startswith("040")
    assert 0.2 < read.speed < 1.7


@pytest.mark.parametrize(
    ("head", "sign", "scale", "unit"),
    [
        ("id,frame,x,y", ",", 1.0, "m"),
        ("id;frame;x/cm;y/cm", ";", 100.0, "cm"),
        ("# framerate: 25 fps\n# id frame x/mm y/mm z/mm", " ", 1000.0, "mm"),
        ("", "\t", 100.0, "cm"),
        ("person_id,frame_number,pos_x [m],pos_y [m]", ",", 1.0, "m"),
        ("Agent,Frame,X_cm,Y_cm", ",", 100.0, "cm"),
        ("$PEDESTRIAN:NO;FRAME;COORDCENTX;COORDCENTY", ";", 1.0, "m"),
        ("pedestrianId frame startX-PID1 startY-PID1", " ", 1000.0, "mm"),
    ],
)
def test_units_and_names_of_columns(write: Write, head: str, sign: str, scale: float, unit: str) -> None:
    rows: Rows = [(p, f, x * scale, y * scale) for p, f, x, y in walk() + walk(2, y=2.0)]  # type: ignore[operator]
    read = read_tracks(write(rows, head, sign=sign), heads=False)
    assert (read.unit, read.fps, read.trajectories.names) == (unit, 25.0, ("1", "2"))
    assert read.speed == pytest.approx(1.2, abs=0.01)
    np.testing.assert_allclose(read.trajectories.positions[:50, 0], np.arange(50) * 1.2 / 25.0, atol=1e-6)


def test_decimal_commas(write: Write) -> None:
    rows: Rows = [(p, f, str(x).replace(".", ","), "0,5") for p, f, x, _ in walk()]
    read = read_tracks(write(rows, sign=";", head="id;frame;x;y"), heads=False)
    assert read.trajectories.positions[-1] == pytest.approx([1.2 * 49 / 25, 0.5])


@pytest.mark.parametrize(
    ("unit", "head"), [(1.0, "id,time,x,y"), (1000.0, "id,time/ms,x,y"), (1000.0, "id,timestamp,x,y")]
)
def test_times_tell_the_rate(write: Write, unit: float, head: str) -> None:
    rows: Rows = [(p, round(1e6 + f / 20.0 * unit, 3), x, y) for p, f, x, y in walk(fps=20.0)]  # type: ignore[operator]
    read = read_tracks(write(rows, head), heads=False)
    assert read.fps == pytest.approx(20.0) and "its times" in read.fps_by
    assert len(read.trajectories.positions) == 50 and read.speed == pytest.approx(1.2, abs=0.01)


def test_uneven_times_are_moved_to_frames(write: Write) -> None:
    rng = np.random.default_rng(0)
    times = np.arange(100) / 20.0 + rng.uniform(-0.012, 0.012, 100)
    read = read_tracks(write([(1, t, 1.2 * t, 0.0) for t in times.tolist()], "id,time,x,y"), heads=False)
    assert "interpolated" in said(read)
    steps = np.diff(read.trajectories.positions[:, 0])
    np.testing.assert_allclose(steps, 1.2 / read.fps, atol=1e-6)


def test_headings_in_degrees_and_as_vectors(write: Write) -> None:
    rows: Rows = [(*row, 170.0 + k) for k, row in enumerate(walk(count=30))]
    read = read_tracks(write(rows, "id,frame,x,y,heading"), heads=False)
    assert "degrees" in said(read)
    assert read.trajectories.headings[20] == pytest.approx(np.radians(190.0 - 360.0))
    rows = [(*row, 0.0, 2.0) if k < 20 else (*row, 0.0, 0.0) for k, row in enumerate(walk(count=30))]
    read = read_tracks(write(rows, "id,frame,x,y,ori_x,ori_y"), heads=False)
    assert read.trajectories.headings[:20] == pytest.approx(np.pi / 2)
    assert np.isnan(read.trajectories.headings[20:]).all()


def test_what_is_asked_for_counts(write: Write) -> None:
    path = write(walk(), "# framerate: 25\nid,frame,x,y")
    read = read_tracks(path, unit="cm", fps=50.0, heads=False)
    assert (read.unit, read.fps) == ("cm", 50.0)
    assert read.trajectories.positions[49, 0] == pytest.approx(0.01 * 1.2 * 49 / 25)
    assert "50 Hz were asked for" in said(read) and "0.024 m/s" in said(read)


def test_rates_that_lie_are_said(write: Write) -> None:
    slow = read_tracks(write(walk(), "# framerate: 1 fps\n# unit: m\nid,frame,x,y"), heads=False)
    assert "0.048 m/s" in said(slow) and "--fps" in said(slow)
    with pytest.raises(FormatError, match=r"30 m/s; tell the unit or the rate"):
        read_tracks(write(walk(), "# framerate: 625 fps\n# unit: m\nid,frame,x,y"))
    many = write(walk(count=200), "# framerate: 625 fps\n# unit: m\nid,frame,x,y")
    assert read_tracks(many, unit="m", fps=625.0).speed > 25.0


def test_a_rate_that_is_nowhere_written_is_assumed_and_said(write: Write) -> None:
    read = read_tracks(write(walk(fps=60.0, count=120)), heads=False)
    assert read.fps == 60.0 or read.speed > 0.3
    assert "assumed" in said(read)
    slow = read_tracks(write(walk(fps=2.5, count=40)), heads=False)
    assert 0.9 <= slow.speed <= 1.7


def test_short_gaps_are_filled_and_long_ones_end_a_person(write: Write) -> None:
    rows = walk(count=100)
    read = read_tracks(write([*rows[:20], *rows[35:]]), heads=False)
    assert "1 gaps of up to 0.64 s" in said(read) and read.trajectories.names == ("1",)
    np.testing.assert_allclose(np.diff(read.trajectories.positions[:, 0]), 1.2 / 25.0, atol=1e-5)
    read = read_tracks(write([*rows[:20], *rows[60:]]), heads=False)
    assert read.trajectories.names == ("1", "1-2") and "counts as another person" in said(read)
    assert read.trajectories.starts.tolist() == [0, 60]
    read = read_tracks(write([*rows[:20], *rows[60:]]), heads=False, most_gap=2.0)
    assert read.trajectories.names == ("1",)


def test_every_tenth_frame_is_no_row_of_gaps(write: Write) -> None:
    read = read_tracks(write(walk(count=200)[::10]), heads=False)
    assert "every 10th frame" in said(read) and "gaps" not in said(read)
    assert read.trajectories.lengths.tolist() == [191]


def test_somebody_who_jumps_becomes_two_and_a_spike_is_mended(write: Write) -> None:
    rows = walk(count=60)
    rows[30:] = [(p, f, x + 5.0, y) for p, f, x, y in rows[30:]]  # type: ignore[operator]
    read = read_tracks(write(rows), heads=False)
    assert "jumps" in said(read) and read.trajectories.lengths.tolist() == [30, 30]
    rows = walk(count=60)
    rows[30] = (1, 30, 40.0, 40.0)
    read = read_tracks(write(rows), heads=False)
    assert read.trajectories.names == ("1",) and read.trajectories.lengths.tolist() == [60]
    np.testing.assert_allclose(np.diff(read.trajectories.positions[:, 0]), 1.2 / 25.0, atol=1e-5)
    assert "jumps" in said(read) and "left out" in said(read)


def test_two_people_of_one_id_are_told_apart(write: Write) -> None:
    rows = [row for pair in zip(walk(7), walk(7, y=3.0), strict=True) for row in pair]
    read = read_tracks(write(rows), heads=False)
    assert read.trajectories.lengths.tolist() == [50, 50] and "two places at once" in said(read)
    ends = read.trajectories.positions.reshape(2, 50, 2)
    assert np.ptp(ends[0, :, 1]) == np.ptp(ends[1, :, 1]) == 0.0


def test_doubles_and_disorder_change_nothing(write: Write) -> None:
    rows = walk() + walk(2, y=1.5)
    good = read_tracks(write(rows), heads=False)
    mixed = [*rows, *rows[:7]]
    np.random.default_rng(1).shuffle(mixed)  # type: ignore[arg-type]
    read = read_tracks(write(mixed), heads=False)
    assert "7 rows are there twice" in said(read) and "out of order" in said(read)
    order = [read.trajectories.names.index(name) for name in good.trajectories.names]
    for person, other in enumerate(order):
        assert np.array_equal(
            good.trajectories.positions[good.trajectories.rows(person)],
            read.trajectories.positions[read.trajectories.rows(other)],
        )
    by_frame = sorted(rows, key=lambda row: row[1])  # type: ignore[arg-type, return-value]
    assert "out of order" not in said(read_tracks(write(by_frame), heads=False))


def test_rows_that_are_no_numbers_are_left_out_and_named(write: Write) -> None:
    rows = walk(count=60)
    rows[10], rows[40] = (1, 10, "nan", 0.0), (1, 40, "", 0.0)
    read = read_tracks(write(rows), heads=False)
    assert "2 of 60 rows cannot be read and are left out; the first is line 12: x is 'nan'" in said(read)
    assert read.trajectories.lengths.tolist() == [60]
    with pytest.raises(FormatError, match=r"20 of 60 rows cannot be read; the first is line 2: x is 'oops'"):
        read_tracks(write([(1, k, "oops", 0) if k < 20 else row for k, row in enumerate(walk(count=60))]))


def test_people_inside_one_another_are_said(write: Write) -> None:
    read = read_tracks(write(walk("ada") + walk("bob", y=0.05)), heads=False)
    assert "people are inside one another" in said(read) and "'ada' and 'bob', 0.05 m" in said(read)
    crowd = [row for person in range(1000) for row in walk(person, count=10)]
    read = read_tracks(write(crowd), heads=False)
    assert len(read.trajectories) == 1000 and "499,500 pairs" in said(read)


def test_one_id_for_everybody_is_refused(write: Write) -> None:
    crowd = [(1, k, x, 0.7 * person) for person in range(30) for _, k, x, _ in walk(person)]
    with pytest.raises(FormatError, match="person '1' is at 30 places in one frame"):
        read_tracks(write(crowd))


def test_parts_of_the_time_and_of_the_people(write: Write) -> None:
    rows = walk(1, count=100) + walk(2, count=100, y=2.0) + walk(3, start=80, count=50, y=4.0) + walk("ada", y=6.0)
    path = write(rows)
    read = read_tracks(path, heads=False, begin=2.0, until=3.0, people="1-2, ada")
    assert read.trajectories.names == ("1", "2") and read.trajectories.lengths.tolist() == [26, 26]
    assert read.trajectories.starts.tolist() == [0, 0]
    assert read.trajectories.positions[0, 0] == pytest.approx(2.4)
    assert read_tracks(path, heads=False, rate=50.0).trajectories.lengths.tolist() == [199, 199, 99, 99]
    for options, words in (
        ({"people": "bob"}, "nobody of that name"), ({"people": "8-9"}, "such a number"), ({"begin": 60.0}, "0 to"),
        ({"begin": 2.0, "until": 1.0}, "later end"), ({"people": ","}, "at least one"),
    ):  # fmt: skip
        with pytest.raises(CrowdError, match=words):
            read_tracks(path, **options)  # type: ignore[arg-type]


def sqlite_file(path: Path, *commands: str) -> Path:
    with sqlite3.connect(path) as database:
        for command in commands:
            database.execute(command)
    database.close()
    return path


TABLE = "CREATE TABLE trajectory_data(frame, id, pos_x, pos_y, ori_x, ori_y)"


def test_a_database_is_read_and_never_trusted(tmp_path: Path) -> None:
    rows = [f"INSERT INTO trajectory_data VALUES({k}, 1, {1.2 * k / 10}, 0.0, 1.0, 0.0)" for k in range(30)]
    fps = ["CREATE TABLE metadata(key, value)", "INSERT INTO metadata VALUES('fps', '10')"]
    path = sqlite_file(tmp_path / "good.sqlite", TABLE, *rows, *fps)
    read = read_tracks(path)
    assert (read.fps, read.kind, read.sway) == (10.0, "JuPedSim's SQLite", None)
    assert read.trajectories.headings == pytest.approx(0.0)
    view = "CREATE VIEW trajectory_data AS SELECT 1 AS id, 1 AS frame, 1 AS x, load_extension('x') AS y"
    for name, commands, words in (
        ("view", (view,), "no table 'trajectory_data'"),
        ("other", ("CREATE TABLE other(id, x)",), "no table 'trajectory_data' among its tables \\('other'\\)"),
        ("columns", ("CREATE TABLE trajectory_data(id, frame, x)",), "no column for y"),
        ("empty", (TABLE,), "no rows"),
        ("text", (TABLE, *(["INSERT INTO trajectory_data VALUES('a', x'00', 'b', NULL, 1, 1)"] * 3)), "3 of 3 rows"),
    ):
        with pytest.raises(FormatError, match=words):
            read_tracks(sqlite_file(tmp_path / f"{name}.sqlite", *commands))
    logged = bytearray(path.read_bytes())
    logged[18:20] = b"\2\2"
    (tmp_path / "logged.sqlite").write_bytes(logged)
    assert len(read_tracks(tmp_path / "logged.sqlite").trajectories) == 1
    (tmp_path / "torn.sqlite").write_bytes(path.read_bytes()[:5000])
    with pytest.raises(FormatError, match="cannot be read as a recording"):
        read_tracks(tmp_path / "torn.sqlite")
    assert not list(tmp_path.glob("*-journal")) and not list(tmp_path.glob("*-wal"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"# nothing\n\n", "holds no rows"),
        (b"id,frame,x,y\n", "holds no rows"),
        (b"1,2,3\n", "3 columns without names"),
        (b"id,frame,speed\n1,2,3\n", "no column for x and y among 'id', 'frame', 'speed'"),
        (b"1,0,0,0\n", "nobody is seen"),
        (b"PK\3\4abcdefghijklmnop", "unpack it first"),
        (b"\x00\x01\x02\x03" * 50, "is no text"),
        (b"x" * 70_000, "longer than"),
        (b"id,frame,x,y\n1,0,0,0\n1,1e14,1,1\n1,2,0,0\n", "days"),
        (b'id,frame,x,y\n1,0,"a\nb",0\n1,1,2,3\n', "x is 'a b'"),
        (b"id,frame,x,y\n" + b"1,zwei,0,0\n" * 9, "9 of 9 rows cannot be read; the first is line 2: frame is 'zwei'"),
    ],
)
def test_what_is_no_table_is_refused_in_a_line(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "tracks.csv"
    path.write_bytes(content)
    with pytest.raises(GaitwayError, match=words) as problem:
        read_tracks(path)
    assert "\n" not in str(problem.value) and "tracks.csv" in str(problem.value)


def test_options_that_cannot_be(write: Write) -> None:
    path = write(walk())
    for options, words in (
        ({"unit": "km"}, "none of m, cm, mm"), ({"fps": 0.0}, "above 0"), ({"fps": float("nan")}, "above 0"),
        ({"most_gap": -1.0}, "write 0 to 60"), ({"rate": 0.0}, "above 0"),
    ):  # fmt: skip
        with pytest.raises(GaitwayError, match=words):
            read_tracks(path, **options)  # type: ignore[arg-type]


def test_only_regular_files_within_limits(tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FormatError, match="is a folder"):
        read_tracks(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(FormatError, match="is a pipe"):
            read_tracks(tmp_path / "pipe")
    path = write(walk() + walk(2, y=1.0))
    for module, limit, most, words in (
        (text, "MOST_BYTES", 100, "at most"), (table, "MOST_ROWS", 99, "more than 99 rows"),
        (table, "MOST_PEOPLE", 1, "more than 1 people"), (repairing, "MOST_FRAMES", 99, "more than 99 frames"),
    ):  # fmt: skip
        with monkeypatch.context() as patch:
            patch.setattr(module, limit, most)
            with pytest.raises(FormatError, match=words):
                read_tracks(path)


def test_the_public_name_logs_what_was_decided(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="gaitway")
    trajectories = gaitway.read_trajectories(write(walk()), heads=False)
    assert isinstance(trajectories, gaitway.Trajectories) and len(trajectories) == 1
    assert "1 people for 1.96 s, m (by the speed of people" in caplog.text


@pytest.mark.slow
def test_a_million_rows(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    with path.open("w") as file:
        file.write("id,frame,x,y\n")
        for person in range(1000):
            file.writelines(f"{person},{k},{0.05 * k:.3f},{2.0 * person}\n" for k in range(1000))
    read = read_tracks(path)
    assert read.rows == 1_000_000 and len(read.trajectories) == 1000
