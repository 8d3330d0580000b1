"""The studio goes on whatever fails, saves where it may and never over a file unasked, and records while it runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from gaitway.cli import app
from gaitway.core.errors import FormatError, StudioError
from gaitway.scene import load_scene, scene_from_dict
from gaitway.scene.scene import Scene
from gaitway.scene.writing import relocated, scene_to_yaml
from gaitway.studio import events, serving, session
from gaitway.studio.serving import KINDS, Studio
from gaitway.studio.session import StudioSession, replay
from gaitway.studio.stage import StudioStage
from recording_front import RecordingFront
from wire_viewer import PATIENCE, WireViewer, until

SCENE: dict[str, object] = {
    "gaitway": 1, "bounds": [0, 0, 16, 12], "seed": 3,
    "characters": [{"name": "ada", "start": [2, 6, 0], "goal": [14, 6]}],
}  # fmt: skip
EMPTY: dict[str, object] = {**SCENE, "characters": []}


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    """A studio that goes on in a thread."""
    made = Studio(scene_from_dict(EMPTY), port=0, folder=tmp_path / "out")
    made.session  # noqa: B018 - wait until it is prepared
    thread = threading.Thread(target=made.run, daemon=True)
    thread.start()
    yield made
    made.stop()
    thread.join(PATIENCE)
    made.close()


@pytest.fixture
def still(tmp_path: Path) -> Iterator[Studio]:
    """A studio that goes on only when it is told to."""
    made = Studio(scene_from_dict(EMPTY), port=0, folder=tmp_path / "out")
    yield made
    made.close()


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


# files


@pytest.mark.slow
def test_each_kind_of_file_has_a_folder_and_none_is_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = Studio(scene_from_dict(SCENE), port=0)
    try:
        assert list(tmp_path.iterdir()) == []  # who only looks finds nothing new
        made.run(10, alone=True)
        written = {what: made.save(what, "mine") for what in ("scene", "take", "glb")}
    finally:
        made.close()
    assert files(tmp_path) == {
        "gaitway-studio/scenes/mine.yaml", "gaitway-studio/takes/mine.npz", "gaitway-studio/models/mine.glb"
    }  # fmt: skip
    assert load_scene(written["scene"]).characters == made.session.engine.scene.characters
    assert len({folder for folder, _ in KINDS.values()}) == len(KINDS)


def test_a_folder_is_made_or_refused_in_one_line(tmp_path: Path) -> None:
    Studio(scene_from_dict(EMPTY), port=0, folder=tmp_path / "a" / "b").close()
    assert (tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(StudioError, match=r"no folder '.*file.*' can be made"):
            Studio(scene_from_dict(EMPTY), port=0, folder=place)


def test_no_file_is_replaced_unasked(still: Studio) -> None:
    first = still.save("scene", "docker-compose")
    first.write_text("precious")
    with pytest.raises(StudioError, match=r"is there already; save it as 'docker-compose-2'"):
        still.save("scene", "docker-compose")
    (first.parent / "docker-compose-2.yaml").symlink_to("nowhere")  # a link is a file too, wherever it leads
    with pytest.raises(StudioError, match="save it as 'docker-compose-3'"):
        still.save("scene", "docker-compose")
    with pytest.raises(StudioError, match="is there already"):
        still.save("scene", "docker-compose-2")
    assert first.read_text() == "precious"
    assert still.save("scene", "docker-compose", replace=True) == first
    assert load_scene(first).world.bounds == (0.0, 0.0, 16.0, 12.0)


def test_links_in_the_folder_lead_nowhere_else(still: Studio, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious.yaml").write_text("precious")
    (still.folder / "scenes").mkdir()
    (still.folder / "scenes" / "mine.yaml").symlink_to(outside / "precious.yaml")
    (still.folder / "takes").symlink_to(outside)
    with pytest.raises(StudioError, match=r"mine\.yaml' is a link that leads elsewhere"):
        still.save("scene", "mine", replace=True)
    with pytest.raises(StudioError, match="takes' is a link that leads elsewhere"):
        still.save("take", "mine")
    assert files(outside) == {"precious.yaml"}
    assert (outside / "precious.yaml").read_text() == "precious"


@pytest.mark.slow
def test_a_folder_that_is_a_link_itself_was_chosen(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    made = Studio(scene_from_dict(EMPTY), port=0, folder=tmp_path / "link")
    try:
        made.save("scene", "mine")
    finally:
        made.close()
    assert files(tmp_path / "real") == {"scenes/mine.yaml"}


@pytest.mark.slow
def test_files_that_a_scene_names_are_found_from_where_it_is_saved(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    Image.fromarray(np.full((9, 9), 40, np.uint8)).save(here / "hills.png")
    (here / "more.yaml").write_text("gaitway: 1\nobstacles:\n  - box: {center: [3, 3], size: [1, 1], height: 1}\n")
    (here / "all.yaml").write_text(
        "gaitway: 1\nbounds: [0, 0, 8, 8]\ninclude: [more.yaml]\nterrain: {heights: hills.png, cell: 1}\n"
    )
    scene = load_scene(here / "all.yaml")
    made = Studio(scene, port=0, folder=tmp_path / "out", record=tmp_path / "log.jsonl")
    saved = load_scene(made.save("scene", "mine"))
    made.run(2, alone=True)
    made.close()
    again = replay(tmp_path / "log.jsonl")
    again.close()
    for one in (saved, again.engine.scene):
        assert repr(one.world.obstacles) == repr(scene.world.obstacles)
        assert one.world.ground(np.array([4.0, 4.0])) == scene.world.ground(np.array([4.0, 4.0]))
    assert relocated(scene.source, here, here) is scene.source


def press(viewer: WireViewer, handles: dict[str, Any], label: str) -> None:
    """Press a button by what is written on it."""
    found = next(one for one in list(handles.values()) if getattr(one._impl.props, "label", "") == label)
    viewer.send("GuiUpdateMessage", uuid=found._impl.uuid, updates={"value": True})


def test_the_page_asks_before_a_file_is_replaced(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_SAVED", 0.0)
    out, viewer = studio.folder, WireViewer(studio.address)
    assert until(studio.page.viewers)
    (client,) = studio.page.viewers()
    panel, window = studio._server.gui._gui_input_handle_from_uuid, client.gui._gui_input_handle_from_uuid

    def saved(*names: str) -> bool:
        return until(lambda: viewer.read(0.02) >= 0 and files(out) == set(names) and not studio._saving)

    def asked() -> bool:
        return until(lambda: viewer.read(0.02) >= 0 and len(window) == 3 and not studio._saving)

    press(viewer, panel, "Save scene (YAML)")
    assert saved("scenes/scene.yaml")
    place = out / "scenes" / "scene.yaml"
    place.write_text("precious")
    press(viewer, panel, "Save scene (YAML)")
    assert asked()
    assert place.read_text() == "precious"
    press(viewer, window, "Save as scene-2")
    assert saved("scenes/scene.yaml", "scenes/scene-2.yaml")
    assert place.read_text() == "precious"
    press(viewer, panel, "Save scene (YAML)")
    assert asked()
    press(viewer, window, "Replace it")
    assert until(lambda: viewer.read(0.02) >= 0 and place.read_text() != "precious")
    assert saved("scenes/scene.yaml", "scenes/scene-2.yaml")
    viewer.vanish()


def test_who_saves_on_and_on_gets_one_file(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_SAVED", 600.0)
    studio._saved = time.monotonic() - 601.0
    viewer = WireViewer(studio.address)
    assert until(studio.page.viewers)
    panel = studio._server.gui._gui_input_handle_from_uuid
    name = next(one for one in list(panel.values()) if getattr(one._impl.props, "label", "") == "Name")
    told: list[str] = []
    tell = studio.page.tell
    studio.page.tell = lambda message: (told.append(message), tell(message))[1]  # type: ignore[method-assign]
    for k in range(30):
        viewer.send("GuiUpdateMessage", uuid=name._impl.uuid, updates={"value": f"file-{k}"})
        press(viewer, panel, "Save scene (YAML)")
        viewer.read(0.01)
    assert until(lambda: viewer.read(0.02) >= 0 and len([text for text in told if "one file at a time" in text]) >= 29)
    assert until(lambda: viewer.read(0.02) >= 0 and not studio._saving)
    assert len(files(studio.folder)) == 1
    viewer.vanish()


# errors


def test_a_tick_survives_any_error_and_says_it(still: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(still.page, "tell", told.append)
    engine = still.session.engine

    def broken(*_: object) -> None:
        raise ZeroDivisionError("of no use")

    with monkeypatch.context() as patch:
        patch.setattr(engine._live, "step", broken)
        still.run(3, alone=True)
    assert not engine.playing  # time stands still until somebody lets it go on
    assert any("an error of gaitway" in text and "ZeroDivisionError" in text and "of no use" in text for text in told)
    assert still.session.failures == 1
    with monkeypatch.context() as patch:
        patch.setattr(still.page, "show", broken)
        still.run(3, alone=True)
    with monkeypatch.context() as patch:
        patch.setattr(engine.stage, "apply", broken)
        still.session.post(events.AddItem("box", 5.0, 5.0))
        still.session.post(events.Play())  # what came after it is done all the same
        still.run(1, alone=True)
    assert engine.playing
    before = engine.frame().time
    still.run(3, alone=True)
    assert engine.frame().time > before
    assert all("\n" not in text and len(text) <= 300 for text in told)


def test_what_a_viewer_wants_may_fail(still: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(still.page, "tell", told.append)
    for problem in (MemoryError("much too large"), StudioError("not so"), OSError("no disk")):

        def broken(*_: object, problem: Exception = problem, **__: object) -> Path:
            raise problem

        monkeypatch.setattr(still, "save", broken)
        monkeypatch.setattr(still, "_saved", -1e9)
        still._save_later("scene", "x", None)
        still.run(1, alone=True)
        assert str(problem) in told[-1]
    still._open_later("no_such_scene")
    still.run(1, alone=True)
    assert "no_such_scene" in told[-1]
    still._save_later("scene", "../x", None)
    monkeypatch.setattr(still, "_saved", -1e9)
    still._save_later("scene", "../x", None)
    still.run(1, alone=True)
    assert "is no name for a file" in told[-1]


@pytest.fixture(scope="module")
def shared_session() -> Iterator[tuple[StudioSession, RecordingFront]]:
    """A session that stays as it is, whatever is posted to it."""
    front = RecordingFront()
    one = StudioSession(scene_from_dict(SCENE), front)
    yield one, front
    one.close()


@pytest.mark.parametrize("speed", [float("nan"), float("inf"), 0.0, -5.0, 1e6, 1e12])
def test_no_speed_freezes_a_tick(shared_session: tuple[StudioSession, RecordingFront], speed: float) -> None:
    one, front = shared_session
    front.messages.clear()
    one.post(events.SetSpeed(speed))
    one.tick()
    assert one.engine.speed == 1.0
    assert any("factor" in text for text in front.messages)
    one.engine.speed = speed  # past all events
    one.tick()
    assert any("speed" in text and "write one from" in text for text in front.messages)
    assert not one.engine.playing
    one.engine.speed, one.engine.playing = 1.0, True


@pytest.mark.parametrize("count", [0, -1, 10**6, 10**12, 2.5, float("nan"), "many", None])
def test_no_number_of_people_is_taken_unchecked(
    shared_session: tuple[StudioSession, RecordingFront], count: Any
) -> None:
    one, front = shared_session
    front.messages.clear()
    failures = one.failures
    one.post(events.RemovePeople(count))
    one.post(events.AddPeople(count, 3.0, 3.0, 5.0, 5.0))
    one.tick()
    assert [c.name for c in one.engine.scene.characters] == ["ada"]
    assert sum("count" in text for text in front.messages) == 2
    assert one.failures == failures


def test_events_of_no_kind_are_refused() -> None:
    class Mine(events.Play):
        pass

    front = RecordingFront()
    one = StudioSession(scene_from_dict(EMPTY), front)
    for event in (Mine(), events.StudioEvent(), None):
        one.post(event)  # type: ignore[arg-type]
    one.tick()
    assert sum("no event" in text for text in front.messages) == 3
    one.close()


def test_many_events_leave_time_for_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    one = StudioSession(scene_from_dict(EMPTY))
    applied: list[object] = []
    monkeypatch.setattr(one.engine, "apply", lambda event: (applied.append(event), time.sleep(0.06)))
    for _ in range(10):
        one.post(events.Pause())
    one.tick()
    assert 1 <= len(applied) < 10  # the others wait for the next tick
    for _ in range(10):
        one.tick()
    assert len(applied) == 10
    one.close()


# records


@pytest.mark.slow
def test_a_session_is_recorded_while_it_goes_on(tmp_path: Path) -> None:
    first, again = RecordingFront(), RecordingFront()
    place = tmp_path / "log.jsonl"
    one = StudioSession(scene_from_dict(SCENE), first)
    one.post(events.AddItem("cylinder", 5.0, 9.0))
    one.tick()  # before it is recorded
    one.record(place)
    for tick in range(70):
        if tick == 40:
            one.post(events.AddItem("box", 8.0, 6.0, 0.0, 1.5, 1.5, 2.0))
        one.tick()
    killed = tmp_path / "killed.jsonl"
    killed.write_bytes(place.read_bytes() + b'{"tick": 70, "do": "rest')  # torn off in the middle of a line
    one.close()
    rows = [json.loads(line) for line in place.read_text().splitlines()]
    assert [row["do"] for row in rows if "do" in row] == ["add_item", "add_item"]
    assert rows[-1] == {"ticks": 71}
    replay(place, again).close()
    assert len(first.frames) == len(again.frames) == 71
    for a, b in zip(first.frames, again.frames, strict=True):
        assert a.joints[0].positions.tobytes() == b.joints[0].positions.tobytes()
    part = RecordingFront()
    replay(killed, part).close()
    assert 41 <= len(part.frames) <= 71
    assert np.array_equal(part.frames[-1].joints[0].positions, first.frames[len(part.frames) - 1].joints[0].positions)


def test_records_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be written"):
        Studio(scene_from_dict(EMPTY), port=0, folder=tmp_path, record=tmp_path / "none" / "log.jsonl")
    if Path("/dev/full").exists():
        front = RecordingFront()
        one = StudioSession(scene_from_dict(EMPTY), front)
        one.record("/dev/full")
        one.post(events.Pause())
        one.tick()
        one.close()
        assert sum("ends here: No space left" in text for text in front.messages) == 1
        assert not one.engine.playing


@pytest.mark.slow
def test_each_scene_has_a_record_of_its_own(tmp_path: Path) -> None:
    made = Studio(scene_from_dict(EMPTY), port=0, folder=tmp_path / "out", record=tmp_path / "log.jsonl")
    (tmp_path / "log-2.jsonl").write_text("precious")
    made.session.post(events.AddItem("box", 5.0, 5.0))
    made.run(3, alone=True)
    made._open_later("circle_swap")
    made.run(2, alone=True)
    made.close()
    assert made.records == [tmp_path / "log.jsonl", tmp_path / "log-3.jsonl"]
    assert (tmp_path / "log-2.jsonl").read_text() == "precious"
    heads = [json.loads(path.read_text().splitlines()[0])["scene"] for path in made.records]
    assert heads == [scene_to_yaml(scene_from_dict(EMPTY).source), scene_to_yaml(load_scene("circle_swap").source)]
    assert '"do": "add_item"' in made.records[0].read_text()
    replay(made.records[1]).close()


def test_more_events_than_are_kept_are_not_saved_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "MOST_KEPT", 3)
    one = StudioSession(scene_from_dict(EMPTY))
    for _ in range(5):
        one.apply(events.Pause())
    assert len(one._log) == 3
    with pytest.raises(FormatError, match="5 events"):
        one.save_log(tmp_path / "log.jsonl")
    one.close()


BOMB = "a0: &a0 x\n" + "".join(f"a{k}: &a{k} [{', '.join(10 * [f'*a{k - 1}'])}]\n" for k in range(1, 9))
"""A hundred million values in a few hundred letters."""
HEAD = '{"gaitway session": 1, "scene": %s, "ticks": 1}'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (HEAD % json.dumps("a: &a [1]\nb: !!python/object/apply:os.system ['true']"), "tag .* is not allowed"),
        (HEAD % json.dumps("[" * 5_000), "nested more than"),
        (HEAD % json.dumps(BOMB), "more than 4000000 values"),
        (HEAD % json.dumps("a: 1\na: 2"), "occurs twice"),
        (HEAD % json.dumps("\ud800"), "does not hold together"),
        (HEAD % '"3"', "does not hold together"),
        ('{"gaitway session": 1, "scene": "", "ticks": 1000000000000}', "number of its ticks"),
        ('{"gaitway session": 1, "scene": "", "ticks": true}', "number of its ticks"),
        ('{"gaitway session": 1, "scene": "", "ticks": 1e400}', "number of its ticks"),
        ('{"gaitway session": 1, "scene": ""}\n{"ticks": 1e400}\n', "line 2: the number of its tick"),
        ('{"gaitway session": 1, "scene": ""}\n{"tick": -1, "do": "play"}\n', "line 2: the number of its tick"),
        ('{"gaitway session": 1, "scene": ""}\n{"tick": Infinity, "do": "play"}\n', "line 2: the number of its tick"),
        ('{"gaitway session": 1, "scene": ""}\n' + "[" * 100_000 + "\n", "line 2 is not JSON"),
        ("[" * 100_000, "line 1 is not JSON"),
    ],
    ids=range(14),
)
def test_crafted_records_are_refused_in_one_line(tmp_path: Path, text: str, problem: str) -> None:
    place = tmp_path / "log.jsonl"
    place.write_text(text)
    with pytest.raises(FormatError, match=problem) as caught:
        replay(place)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_only_files_of_a_fair_size_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (tmp_path, Path("/dev/zero")):
        if place.exists():
            with pytest.raises(FormatError, match="cannot be read"):
                replay(place)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(FormatError, match="it is no file"):
            replay(tmp_path / "pipe")
    monkeypatch.setattr(session, "MOST_BYTES", 10)
    (tmp_path / "log.jsonl").write_text(HEAD % '""')
    with pytest.raises(FormatError, match="a record may have 10"):
        replay(tmp_path / "log.jsonl")


# the command


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX systems")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_the_command_ends_at_once_and_has_its_record(number: int, code: int, tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(scene_to_yaml(scene_from_dict(SCENE).source))
    # its ordinary way out may take long on a busy machine
    program = "from gaitway.cli import interrupt, main; interrupt.PATIENCE_S = 600.0; main()"
    command = [sys.executable, "-c", program, "studio", "small.yaml", "--no-browser", "--folder", "out", "--record"]
    with subprocess.Popen(
        [*command, "out/log.jsonl"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            line = next(line for line in process.stdout if "the studio is at" in line)
            viewer = WireViewer(line.split()[4].rstrip(";"))
            record = tmp_path / "out" / "log.jsonl"
            assert until(lambda: viewer.read(0.1) >= 0 and record.read_text().count("ticks") >= 3)
            process.send_signal(number)
            out, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert process.returncode == code, errors
    assert "Traceback" not in out + errors
    front = RecordingFront()
    replay(record, front).close()
    assert len(front.frames) >= 60
    assert files(tmp_path) == {"small.yaml", "out/log.jsonl"}


def test_the_studio_draws_placements_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--scene-seed` draws starts and goals as it does for plans, and an edit keeps them."""
    (tmp_path / "areas.yaml").write_text(
        "gaitway: 1\nbounds: [0, 0, 12, 8]\nseed: 1\n"
        "characters:\n  - {count: 3, start_area: [0, 0, 4, 8], goal_area: [8, 0, 12, 8]}\n"
    )
    opened: list[Scene] = []

    class Seen:
        port, address, records = 8080, "", ()

        def __init__(self, scene: Scene, **_: object) -> None:
            opened.append(scene)

        run = close = lambda self: None

    monkeypatch.setattr(serving, "Studio", Seen)
    file = str(tmp_path / "areas.yaml")
    for more in ([], ["--scene-seed", "9"]):
        assert CliRunner().invoke(app, ["studio", file, "--no-browser", *more]).exit_code == 0
    serving.studio(file, scene_seed=9, run=False)
    starts = [[character.start for character in scene.characters] for scene in opened]
    assert starts[0] != starts[1] == starts[2]
    assert starts[1] == [c.start for c in load_scene(file, seed=9).characters]
    stage = StudioStage(opened[1])
    stage.apply(events.AddItem("box", 6.0, 4.0))
    assert [c.start for c in stage.scene.characters] == starts[1]
    with pytest.raises(StudioError, match="load_scene"):
        serving.studio(opened[0], scene_seed=9, run=False)
