"""The page without a browser: what it sends and to whom, what it refuses, and that nobody who goes leaves a mess."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import shapely
import viser

from gaitway.cast.catalog import load_cast
from gaitway.core import rotations
from gaitway.core.errors import StudioError
from gaitway.motion.body import capsule_body
from gaitway.render.bodies.body import built_in_palette
from gaitway.render.bodies.palette import person_palette
from gaitway.scene import load_scene, scene_from_dict
from gaitway.scene.catalog import ready_scenes
from gaitway.studio import events
from gaitway.studio.edits import goal_area, item_pose
from gaitway.studio.frames import StudioRoute
from gaitway.studio.page import page as page_module
from gaitway.studio.page import server as page_server
from gaitway.studio.page import skinned
from gaitway.studio.page.camera import framing, ground_point, near_heights, on_level, panel_share, seen, seen_point
from gaitway.studio.page.gallery import PageWindows, thumbnail
from gaitway.studio.page.marks import behavior_color, changes, colored_way
from gaitway.studio.page.paint import flat_mesh, paving, room_picture, shadows, sky, soft_shadows
from gaitway.studio.page.people import beneath, flattening, resting
from gaitway.studio.page.skinned import whole_body
from gaitway.studio.segments import body_segments, capsule_segments, shadow_segments
from gaitway.studio.serving import Studio
from gaitway.studio.tones import SUN, albedo, copied_albedo, film, unfilmed
from gaitway.take.evaluation import Joints
from wire_viewer import PATIENCE, WireViewer, until, whole_as

SCENE: dict[str, object] = {
    "gaitway": 1, "bounds": [0, 0, 16, 12], "seed": 3,
    "obstacles": [{"box": {"center": [8, 2], "size": [1, 1], "height": 2}}],
    "characters": [
        {"name": "ada", "start": [2, 6, 0], "goal": [14, 6]},
        {"name": "ben", "start": [14, 4, 180], "goal": [2, 4]},
        {"count": 2, "name": "pair", "start_area": [1, 10, 4, 11], "goal_area": [12, 9, 15, 11]},
    ],
}  # fmt: skip


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    made = Studio(scene_from_dict(SCENE), port=0, folder=tmp_path)
    made.session  # noqa: B018 - wait until it is prepared
    thread = threading.Thread(target=made.run, daemon=True)
    thread.start()
    yield made
    made.stop()
    thread.join(PATIENCE)
    made.close()


def drawn(studio: Studio) -> bool:
    """Whether the place can be gripped."""
    return "/place/0" in studio._server.scene._handle_from_node_name


@pytest.mark.slow
def test_two_viewers_are_shown_the_same_people_where_they_are(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skinned, "MOST_SKINNED", 0)
    viewers = [WireViewer(studio.address) for _ in range(2)]
    assert until(lambda: len(studio.page.viewers()) == 2)
    first, second = (viewer.shown for viewer in viewers)
    for viewer in viewers:
        assert until(lambda viewer=viewer: viewer.read(0.1) and viewer.shown)  # type: ignore[misc]
    studio.session.post(events.Pause())
    assert until(lambda: not studio.session.engine.playing)

    def agree() -> bool:
        """Whether all that was on its way has come."""
        for viewer in viewers:
            viewer.read(0.1)
        moved = [name for name in first if "batched_wxyzs" in first[name] and "/shadow/" not in name]
        wanted = {tuple(np.round(places.ravel(), 4)) for _, places in studio.page.shown()}
        return (
            {name for name in first if name.startswith("/people")} == {n for n in second if n.startswith("/people")}
            and len(moved) >= len(dict(studio.page.shown()))
            and all(np.array_equal(first[name][key], second[name][key]) for name in moved for key in first[name])
            and {tuple(np.round(first[n]["batched_positions"].astype(np.float64), 4)) for n in moved} <= wanted
        )

    assert until(agree)
    for viewer in viewers:
        viewer.vanish()


@pytest.mark.slow
def test_who_vanishes_with_a_thing_in_hand_lets_go_of_it(studio: Studio) -> None:
    engine = studio.session.engine
    viewer = WireViewer(studio.address)
    assert until(lambda: viewer.read(0.05) >= 0 and studio.page.viewers() and drawn(studio))
    for phase, x in (("start", 8.0), ("update", 8.5), ("update", 9.0)):
        viewer.drag(phase, "/place/0", (8.0, 2.0, 2.0), (x, 2.0, 2.0))
    assert until(lambda: abs(item_pose(engine.scene.source, "obstacles/0")[0] - 9.0) < 0.05)
    viewer.vanish()
    assert until(lambda: not studio.page.viewers() and studio.page._place._grip is None)
    other = WireViewer(studio.address)
    assert until(lambda: other.read(0.05) >= 0 and studio.page.viewers() and drawn(studio))
    settled = lambda: not studio.session._waiting and studio.page._place.scene is engine.scene  # noqa: E731
    assert until(lambda: other.read(0.05) >= 0 and settled())  # the thing that was let go is drawn where it is now
    for phase, x in (("start", 9.0), ("update", 7.0), ("end", 7.0)):
        other.drag(phase, "/place/0", (9.0, 2.0, 2.0), (x, 2.0, 2.0))
    assert until(lambda: abs(item_pose(engine.scene.source, "obstacles/0")[0] - 7.0) < 0.05)
    assert until(lambda: other.read(0.05) >= 0 and studio.page._place._grip is None)
    studio.session.post(events.Undo())
    assert until(lambda: abs(item_pose(engine.scene.source, "obstacles/0")[0] - 9.0) < 0.05)  # two drags, two edits
    other.vanish()


@pytest.mark.slow
def test_the_camera_of_who_has_gone_is_not_worth_a_word(studio: Studio) -> None:
    viewer = WireViewer(studio.address)
    assert until(studio.page.viewers)
    (client,) = studio.page.viewers()
    viewer.vanish()
    assert until(lambda: not studio.page.viewers())
    studio.page.look(client)  # warnings are errors here
    studio.page.cameras.track((3.0, 3.0, 1.0))
    studio.page.cameras.begin(client)


@pytest.mark.slow
def test_what_another_has_in_hand_stays_there(studio: Studio) -> None:
    engine = studio.session.engine
    viewers = [WireViewer(studio.address) for _ in range(2)]
    assert until(lambda: viewers[0].read(0.05) >= 0 and len(studio.page.viewers()) == 2 and drawn(studio))
    viewers[0].drag("start", "/place/0", (8.0, 2.0, 2.0), (8.0, 2.0, 2.0))
    viewers[0].drag("update", "/place/0", (8.0, 2.0, 2.0), (9.0, 2.0, 2.0))
    assert until(lambda: abs(item_pose(engine.scene.source, "obstacles/0")[0] - 9.0) < 0.05)
    viewers[1].drag("start", "/place/0", (8.0, 2.0, 2.0), (8.0, 2.0, 2.0))
    viewers[1].drag("update", "/place/0", (8.0, 2.0, 2.0), (3.0, 2.0, 2.0))
    viewers[1].read(0.5)
    assert abs(item_pose(engine.scene.source, "obstacles/0")[0] - 9.0) < 0.05
    for viewer in viewers:
        viewer.vanish()


@pytest.mark.slow
def test_tools_and_goals_work_by_the_mouse(studio: Studio) -> None:
    engine = studio.session.engine
    viewer = WireViewer(studio.address)
    assert until(lambda: viewer.read(0.05) >= 0 and studio.page.viewers() and drawn(studio))
    studio.page.panel.hold("box")
    viewer.send(
        "ScenePointerMessage", event_type="click", ray_origin=(10.0, 9.0, 8.0), ray_direction=(0.0, 0.0, -1.0),
        screen_pos=((0.5, 0.5),), modifier=None,
    )  # fmt: skip
    assert until(lambda: len(engine.scene.world.obstacles) == 2)
    assert item_pose(engine.scene.source, "obstacles/1")[:2] == pytest.approx((10.0, 9.0))
    assert until(lambda: studio.page.tool == "")  # it puts one thing, which is selected
    assert until(lambda: viewer.read(0.05) >= 0 and studio.page.item == "obstacles/1")
    for phase, x in (("start", 10.0), ("update", 10.6), ("end", 11.0)):
        viewer.drag(phase, "/place/1", (10.0, 9.0, 1.8), (x, 9.0, 1.8))
    assert until(lambda: abs(item_pose(engine.scene.source, "obstacles/1")[0] - 11.0) < 0.05)
    studio.session.select("ada")
    goal = "/way/goal"

    def dragged() -> bool:
        """Drag the goal; it may just be drawn anew for the box that was moved, and then the drag is lost."""
        assert until(lambda: viewer.read(0.05) >= 0 and np.isfinite(_goal(studio)).all())
        (x, y), z = _goal(studio), 0.02
        for phase in ("start", "update", "end"):
            viewer.drag(phase, goal, (x, y, z), (5.0, 10.0, z))
        return until(lambda: viewer.read(0.05) >= 0 and _goal(studio) == pytest.approx((5.0, 10.0), abs=0.05), 20.0)

    assert dragged() or dragged()
    viewer.vanish()


@pytest.mark.slow
def test_a_mover_is_put_selected_and_dragged(studio: Studio) -> None:
    engine = studio.session.engine
    viewer = WireViewer(studio.address)
    assert until(lambda: viewer.read(0.05) >= 0 and studio.page.viewers() and drawn(studio))
    studio.session.post(events.Pause())
    studio.page.panel.use_tool("mover", (4.0, 8.5, 0.0))
    assert until(lambda: viewer.read(0.05) >= 0 and studio.page.item == "movers/0")
    nodes = studio._server.scene._handle_from_node_name
    assert until(lambda: viewer.read(0.05) >= 0 and {"/movers/0", "/shades/0", "/ring"} <= set(nodes))
    for phase, x in (("start", 4.0), ("update", 4.6), ("end", 5.0)):
        viewer.drag(phase, "/movers/0", (4.0, 8.5, 1.0), (x, 8.5, 1.0))
    assert until(lambda: viewer.read(0.05) >= 0 and abs(item_pose(engine.scene.source, "movers/0")[0] - 5.0) < 0.05)

    def at(name: str) -> list[float] | None:
        handle = nodes.get(name)  # while it is drawn anew there is none
        return None if handle is None else handle.position.tolist()

    assert until(lambda: viewer.read(0.05) >= 0 and at("/ring") and at("/ring") == pytest.approx(at("/movers/0")))
    x = engine.scene.world.movers[0].pose(engine._play.time)[0]
    assert until(lambda: viewer.read(0.05) >= 0 and (at("/movers/0") or [0.0])[0] == pytest.approx(x, abs=0.01))
    viewer.vanish()


@pytest.mark.slow
def test_a_group_is_sent_elsewhere_by_the_mouse(studio: Studio) -> None:
    engine = studio.session.engine
    viewer = WireViewer(studio.address)
    assert until(studio.page.viewers)
    mark = "/goals/characters-2"
    assert until(lambda: viewer.read(0.05) >= 0 and mark in studio._server.scene._handle_from_node_name)
    for phase in ("start", "update", "end"):
        viewer.drag(phase, mark, (13.0, 10.0, 0.02), (8.0, 8.0, 0.02))
    assert until(lambda: viewer.read(0.05) >= 0 and engine.stage.can_undo)
    marks = lambda: list(studio.page._goals._marks.values())  # noqa: E731
    assert until(lambda: viewer.read(0.05) >= 0 and [m for m in marks() if abs(m.middle[0] - 8.5) < 0.1])  # drawn anew
    middle = goal_area(engine.scene.source, "characters/2").centroid
    assert (middle.x, middle.y) == pytest.approx((8.5, 8.0), abs=0.05)
    for phase in ("start", "end"):  # out of bounds it stays within
        viewer.drag(phase, mark, (8.0, 8.0, 0.02), (8.0, 300.0, 0.02))
    assert until(lambda: viewer.read(0.05) >= 0 and goal_area(engine.scene.source, "characters/2").bounds[3] > 11.9)
    assert goal_area(engine.scene.source, "characters/2").bounds[3] <= 12.0
    viewer.vanish()


@pytest.mark.slow
def test_a_key_that_is_no_longer_held_lets_somebody_stop(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    viewer, page, posted = WireViewer(studio.address), studio.page, []
    assert until(page.viewers)
    studio.session.select("ada")
    post = page.post
    page.post = lambda event: (posted.append(event), post(event))[1]  # type: ignore[method-assign]
    (client,), now = page.viewers(), [1000.0]
    monkeypatch.setattr(page_module, "time", SimpleNamespace(perf_counter=lambda: now[0]))  # no clock of a busy machine
    for _ in range(6):
        page._keys._drive(1.0, 0.0, client)
        now[0] += 0.11
    assert [event.forward for event in posted] == [1.0] * 2  # one that is held is not posted all the time
    now[0] += 0.9
    assert until(lambda: viewer.read(0.05) >= 0 and len(posted) == 3)
    assert posted[-1].forward == 0.0
    viewer.vanish()


@pytest.mark.slow
def test_windows_for_who_has_gone_are_not_worth_a_word(studio: Studio) -> None:
    viewer = WireViewer(studio.address)
    assert until(studio.page.viewers)
    (client,) = studio.page.viewers()
    viewer.vanish()
    assert until(lambda: not studio.page.viewers())
    PageWindows().show_keys(client)
    with pytest.raises(ZeroDivisionError), page_server.sent_to(_Here(client)):  # type: ignore[arg-type]
        _ = 1 / 0
    with page_server.sent_to(client):
        _ = 1 / 0


class _Here:
    """A viewer that has not gone."""

    def __init__(self, client: viser.ClientHandle) -> None:
        self.client_id, self._websock_connection, self.atomic = 7, client._websock_connection, client.atomic
        self._viser_server = self

    def get_clients(self) -> dict[int, object]:
        return {7: self}


def _goal(studio: Studio) -> tuple[float, float]:
    handle = studio._server.scene._handle_from_node_name.get("/way/goal")  # none while it is drawn anew
    return (np.nan, np.nan) if handle is None else (float(handle.position[0]), float(handle.position[1]))


@pytest.mark.slow
def test_rubbish_and_floods_are_survived(studio: Studio) -> None:
    for data in (b"", b"\x00\xff rubbish", b"\x81\xa4type\xa9NoSuchMsg", bytes(1000)):
        viewer = WireViewer(studio.address)
        viewer.send_rubbish(data)
        viewer.vanish()
    flood = WireViewer(studio.address)
    assert until(lambda: flood.read(0.05) >= 0 and studio.page.viewers() and drawn(studio))
    nan = float("nan")
    for k in range(300):
        flood.drag("start" if k == 0 else "update", "/place/0", (8.0, 2.0, 2.0), (nan if k % 3 else 1e30, 2.0, 2.0))
        flood.send(
            "ScenePointerMessage", event_type="click", ray_origin=(nan, 0.0, 1.0), ray_direction=(0.0, 0.0, -1.0),
            screen_pos=((0.5, 0.5),), modifier=None,
        )  # fmt: skip
    flood.drag("start", "/no/such/thing", (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    flood.vanish()
    before = studio.session._ticks
    viewer = WireViewer(studio.address)
    assert until(lambda: viewer.read(0.05) >= 0 and len(studio.page.viewers()) == 1)
    assert until(lambda: viewer.read(0.2) and viewer.shown)
    assert until(lambda: viewer.read(0.05) >= 0 and studio.session._ticks > before + 5)
    assert np.isfinite(item_pose(studio.session.engine.scene.source, "obstacles/0")).all()
    viewer.vanish()


@pytest.mark.slow
def test_a_share_is_never_asked_for(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr("viser._viser.ViserTunnel", lambda *given: asked.append(given))
    viewer = WireViewer(studio.address)
    assert until(studio.page.viewers)
    viewer.send("ShareUrlRequest")
    viewer.send("ShareUrlDisconnect")
    viewer.read(0.5)
    assert asked == []
    assert studio._server.request_share_url() is None
    viewer.vanish()


def test_nothing_is_said_on_the_terminal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    made = Studio(scene_from_dict({**SCENE, "characters": []}), port=0, folder=tmp_path)
    made.run(3, alone=True)
    made.close()
    assert capfd.readouterr().out == ""


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="the list of sockets is that of Linux")
def test_only_loopback_hears_it(studio: Studio) -> None:
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    hears = {row[1].split(":")[0] for row in rows if row[3] == "0A" and int(row[1].split(":")[1], 16) == studio.port}
    assert hears == {"0100007F"}  # 127.0.0.1


def test_a_port_in_use_is_passed_over_and_no_address_is_a_clear_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        if port < 65_000:
            assert port < page_server.free_port("127.0.0.1", port) < port + page_server.PORTS
    with pytest.raises(StudioError, match=r"cannot listen on no\.such\.host\.invalid"):
        Studio(scene_from_dict(SCENE), host="no.such.host.invalid", port=0, folder=tmp_path)


@pytest.mark.slow
def test_frames_are_left_out_while_nobody_has_got_the_one_before(studio: Studio) -> None:
    viewer = WireViewer(studio.address)
    assert until(studio.page.viewers)
    assert until(lambda: viewer.read(0.2) and viewer.shown)  # all is drawn, and moves
    buffer = studio._server._websock_server.get_message_buffer()
    held = len(buffer.message_from_id)
    buffer.atomic_start()  # nothing goes out any more
    try:
        first = studio.page.dropped
        assert until(lambda: studio.page.dropped > first + 10)
        assert len(buffer.message_from_id) < held + 60  # one frame waits, not ten
    finally:
        buffer.atomic_end()
    viewer.shown.clear()
    assert until(lambda: viewer.read(0.1) and viewer.shown)  # frames come again
    viewer.vanish()


@pytest.mark.slow
def test_people_near_a_viewer_are_whole_and_move(studio: Studio) -> None:
    """They have the bodies of films, their pieces are out of sight, and their vertices are where their joints are."""
    page, viewer = studio.page, WireViewer(studio.address)
    assert until(lambda: viewer.read(0.05) >= 0 and len(page.whole()) == 4)
    studio.session.post(events.Pause())
    assert until(lambda: viewer.read(0.05) >= 0 and not studio.session.engine.playing)
    frame = studio.session.engine.frame()

    scene = studio.session.engine.scene
    assert until(lambda: viewer.read(0.05) >= 0 and whole_as(page, scene, frame.names, frame.joints[0]))
    assert not any(handle.visible for handle in page._people._batches[0]._handles)
    assert any("vertices" in keys for name, keys in viewer.shown.items() if "/whole/" in name)
    studio.session.post(events.RemovePeople(1, "ada"))
    assert until(lambda: viewer.read(0.05) >= 0 and len(page.whole()) == 3)
    assert "ada" not in page.whole()
    viewer.vanish()
    assert until(lambda: not page.viewers())


def test_the_nearest_and_the_selected_are_whole_and_nobody_changes_to_and_fro() -> None:
    roots = np.column_stack([np.arange(60.0), np.zeros(60), np.ones(60)])
    eyes = np.array([[-2.0, 0.0, 1.0]])
    near = skinned.chosen(roots, eyes, None, ())
    assert list(near) == list(range(skinned.MOST_SKINNED))
    assert [row for row, fine in near.items() if fine] == list(range(skinned.MOST_FINE))
    assert 59 in skinned.chosen(roots, eyes, 59, ())
    last = skinned.MOST_SKINNED
    assert last in skinned.chosen(roots, eyes, None, [last])  # who is whole stays so, as near as the one before
    assert not any(skinned.chosen(roots, eyes - (30.0, 0.0, 0.0), None, ()).values())  # no faces from far
    assert 59 in skinned.chosen(roots, np.vstack([eyes, [70.0, 0.0, 1.0]]), None, ())  # whoever looks
    assert skinned.chosen(roots, np.empty((0, 3)), None, ()) == {}


def test_whole_bodies_leave_nothing_out_and_have_the_colours_of_films() -> None:
    skeleton = load_cast("person", behaviors=["stand"]).skeleton
    body = whole_body(skeleton, 5, True)
    assert sum(len(faces) for _, faces in body.parts) == len(body.mesh.triangles)
    wanted = {tuple(row) for row in albedo(built_in_palette(skeleton, 5)[np.unique(body.mesh.tones)]).tolist()}
    assert set(body.colors) == wanted
    coarse = whole_body(skeleton, 5, False)
    assert len(coarse.mesh.points) < 0.5 * len(body.mesh.points)
    assert len(coarse.parts) < len(body.parts)


@pytest.mark.slow
def test_people_come_and_go_without_new_handles(studio: Studio) -> None:
    viewer = WireViewer(studio.address)
    assert until(studio.page.shown)
    handles = [id(handle) for handle in studio.page._people._batches[0]._handles]
    people = len(studio.page.shown()[0][1])
    studio.session.post(events.AddPeople(3, 5.0, 9.0, 10.0, 9.0, 2.0))
    assert until(lambda: viewer.read(0.05) >= 0 and len(studio.page.shown()[0][1]) == people + 3)
    studio.session.post(events.RemovePeople(1, "ada"))
    assert until(lambda: viewer.read(0.05) >= 0 and len(studio.page.shown()[0][1]) == people + 2)
    assert [id(handle) for handle in studio.page._people._batches[0]._handles] == handles
    viewer.vanish()


@pytest.mark.slow
def test_everything_can_be_shown_and_hidden(studio: Studio) -> None:
    viewer = WireViewer(studio.address)
    assert until(studio.page.shown)
    page, scene = studio.page, studio._server.scene
    assert until(lambda: {"/people/0/shadow/0", "/goals/characters-2", "/place/0"} <= set(_nodes(scene)))

    def changes_to(wanted: Callable[[set[str]], bool]) -> bool:
        return until(lambda: viewer.read(0.03) >= 0 and wanted(_nodes(scene)))

    before = _nodes(scene)
    page.panel._shown["goals"].value = False  # type: ignore[misc]
    assert changes_to(lambda nodes: not any(name.startswith("/goals/") for name in nodes))
    page.panel._shown["goals"].value = True  # type: ignore[misc]
    assert changes_to(lambda nodes: nodes == before)
    for what in ("trails", "all plans", "grid", "clearance", "contacts", "capsules", "names"):
        page.panel._shown[what].value = True  # type: ignore[misc]
        assert changes_to(lambda nodes: nodes != before), what
        page.panel._shown[what].value = False  # type: ignore[misc]
        assert changes_to(lambda nodes: nodes == before), what
    viewer.vanish()


_ALONE = ("/trails", "/plans", "/grid", "/room")


def _nodes(scene: viser.SceneApi) -> set[str]:
    """Names of what is shown, but for whole bodies, which come and go with who is near."""
    names = [name for name in list(scene._handle_from_node_name) if "/whole" not in name]
    return {name for name in names if name.count("/") > 1 or name in _ALONE}


def test_capsules_are_drawn_as_they_are_checked() -> None:
    skeleton = load_cast("person", behaviors=["stand"]).skeleton
    body = capsule_body(skeleton)
    for segment, start, end, radius in zip(capsule_segments(skeleton), body.starts, body.ends, body.radii, strict=True):
        along = end - start
        share = np.clip((segment.vertices - start) @ along / (along @ along), 0.0, 1.0)
        away = np.linalg.norm(segment.vertices - start - share[:, None] * along, axis=1)
        assert np.allclose(away, radius, atol=2e-3)


def test_pieces_of_a_body_meet_where_people_stand() -> None:
    skeleton = load_cast("person", behaviors=["stand"]).skeleton
    pieces = body_segments(skeleton)
    assert 10 < len(pieces) < 60
    assert all(np.isfinite(piece.vertices).all() and len(piece.faces) for piece in pieces)
    arms = [p for p in pieces if p.joint == skeleton.roles["left_shoulder"]]
    assert arms
    assert max(np.linalg.norm(p.vertices, axis=1).max() for p in arms) < 0.5  # nothing of the trunk far off


def test_a_piece_turns_half_as_far_as_the_knee() -> None:
    skeleton = load_cast("person", behaviors=["stand"]).skeleton
    knee, hip = skeleton.roles["left_knee"], skeleton.roles["left_hip"]
    half = next(piece for piece in body_segments(skeleton) if piece.half is not None and piece.joint == knee)
    assert half.half is not None and half.half[0] == hip
    bend = rotations.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.array(1.2))
    turns = np.tile(rotations.identity(), (1, len(skeleton), 1)).reshape(1, len(skeleton), 4)
    straight = rotations.multiply(turns[0, hip], np.array(half.half[1]))
    turns[0, knee] = rotations.multiply(bend, straight)
    shown = half.turns(turns)[0]
    away = [2.0 * np.arccos(min(abs(float(shown @ other)), 1.0)) for other in (straight, turns[0, knee])]
    assert away == pytest.approx([0.6, 0.6], abs=1e-6)
    whole = next(piece for piece in body_segments(skeleton) if piece.half is None and piece.joint == knee)
    np.testing.assert_array_equal(whole.turns(turns), turns[:, knee])


def test_ends_of_pieces_do_not_stick_out_of_a_bent_knee() -> None:
    """Corners of a thigh that lie well beyond the knee are nearer to its axis than the skin is there."""
    skeleton = load_cast("person", behaviors=["stand"]).skeleton
    hip, knee = (skeleton.roles[f"left_{role}"] for role in ("hip", "knee"))
    thigh = [piece for piece in body_segments(skeleton) if piece.joint == hip and piece.half is None]
    along = np.asarray(skeleton.offsets[knee])
    length = np.linalg.norm(along)
    points = np.concatenate([piece.vertices for piece in thigh]).astype(np.float64)
    beyond = points[points @ along / length > length + 0.06]
    assert len(beyond)
    across = beyond - np.outer(beyond @ along, along) / length**2
    assert np.linalg.norm(across, axis=1).max() < 0.046


def test_a_shadow_falls_where_the_light_says() -> None:
    turn, scale, before, ray = flattening()
    for point in np.array([[3.0, 4.0, 2.0], [-20.0, 30.0, 0.5], [0.0, 0.0, 1.0]]):
        turned = rotations.rotate(before, point)
        flat = rotations.rotate(turn, np.array(scale) * (turned - (turned @ ray) * ray))
        assert flat == pytest.approx([point[0] - SUN[0] * point[2], point[1] - SUN[1] * point[2], 0.0], abs=1e-9)
    skeleton = load_cast("person", behaviors=["stand"]).skeleton
    assert 8 <= len(shadow_segments(skeleton)) <= 16


def test_shadows_of_obstacles_have_soft_edges() -> None:
    """Rings that do not meet, darker inwards, about the edge of the hard shadow."""
    world = scene_from_dict(SCENE).world
    hard, rings = shadows(world), soft_shadows(world)
    shares = [share for _, share in rings]
    assert shares == sorted(shares) and shares[-1] == 1.0 and shares[0] <= 0.25
    whole = shapely.union_all([area for area, _ in rings])
    assert whole.area == pytest.approx(sum(area.area for area, _ in rings), rel=1e-6)
    assert whole.covers(hard.buffer(-0.01)) and hard.buffer(0.1).covers(whole)
    assert rings[-1][0].buffer(0.05).within(hard.buffer(0.02))
    open_field = scene_from_dict({**SCENE, "obstacles": [], "specials": []}).world
    assert soft_shadows(open_field) == []


def test_colors_come_through_the_film_curve_as_the_renderer_has_them() -> None:
    colors = np.array([palette[tone] for palette in map(person_palette, range(40)) for tone in range(9)])
    assert film(unfilmed(colors)) == pytest.approx(colors, abs=1e-6)
    sent = copied_albedo(colors) / 255.0
    assert film(sent) == pytest.approx(colors, abs=0.012)  # eight bits
    assert film(np.zeros(3)) == pytest.approx(np.zeros(3), abs=1e-3)
    assert np.diff(film(np.linspace(0.0, 2.0, 50)[:, None].repeat(3, axis=1))[:, 0]).min() > 0.0


@pytest.mark.parametrize(("aspect", "width"), [(1280 / 760, 1280), (1920 / 1080, 1920), (0.8, 700)])
@pytest.mark.parametrize("top", [False, True])
def test_all_is_seen_beside_the_panel(aspect: float, width: float, top: bool) -> None:
    low, high = np.array([-2.0, 1.0]), np.array([42.0, 29.0])
    eye, target = framing((low, high), aspect, width, top)
    ahead = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(ahead, (0.0, 1.0, 0.0) if top else (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    up = np.cross(right, ahead)
    half = np.tan(0.25)
    corners = np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (0.0, 2.0)]) - eye
    x, y = corners @ right / (corners @ ahead * half * aspect), corners @ up / (corners @ ahead * half)
    assert x.min() > -1.0 and x.max() < 1.0 - 2.0 * panel_share(width) and np.abs(y).max() < 1.0
    assert max(x.max() - x.min(), y.max() - y.min()) > 1.0  # and it is not far away


def test_feet_on_the_ground_are_marked() -> None:
    clip = next(iter(load_cast("person", behaviors=["stand"]).clips.values()))
    positions, turns = clip.joint_transforms()
    flat = lambda points: np.zeros(len(points))  # noqa: E731
    here = Joints(clip.skeleton, np.array([0]), positions[:1], turns[:1])
    assert len(resting(here, flat)) >= 2
    high = Joints(clip.skeleton, np.array([0]), np.add(positions[:1], (0.0, 0.0, 0.5)), turns[:1])
    assert len(resting(high, flat)) == 0


def test_shadows_fall_away_from_the_sun_and_room_is_green() -> None:
    world = scene_from_dict(SCENE).world
    area = shadows(world)
    assert area.covers(shapely.box(7.55, 1.55, 8.45, 2.45))
    assert area.covers(shapely.Point(7.0, 3.2))
    assert not area.intersects(shapely.Point(8.9, 1.6))
    vertices, faces = flat_mesh(area, 0.01)
    corners = vertices[faces][..., :2].astype(np.float64)
    a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    assert 0.5 * np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum() == pytest.approx(area.area, rel=1e-4)
    colors, bounds = room_picture(world)
    assert bounds == (0.0, 0.0, 16.0, 12.0)
    assert colors[20, 80, 0] > colors[20, 80, 1]  # in the box: red
    assert colors[90, 80, 1] > colors[90, 80, 0]  # in the open: green
    assert flat_mesh(shapely.Polygon(), 0.0)[1].shape == (0, 3)
    assert paving().shape[2] == sky().shape[2] == 3


def test_ways_are_coloured_by_what_is_done() -> None:
    points = np.column_stack([np.arange(5.0), np.zeros((5, 2))])
    names = ("walk_forward", "walk_forward", "jump", "walk_forward")
    labels = tuple((name, float(k), 0.0, 0.0) for k, name in enumerate(names))
    ahead = StudioRoute(points, labels, (4.0, 0.0, 0.0))
    _, colors = colored_way(ahead)
    assert colors[:, 0].tolist() == [
        list(behavior_color(name)) for name in ("walk_forward", "walk_forward", "jump", "walk_forward")
    ]
    assert [name for name, *_ in changes(ahead)] == ["walk_forward", "jump", "walk_forward"]
    turns = tuple((f"walk_left_{15 * k}" if k else "walk_short", float(k), 0.0, 0.0) for k in range(4))
    assert changes(StudioRoute(points, turns, (4.0, 0.0, 0.0))) == turns[:1]  # one word for one walk


def test_rays_meet_the_ground() -> None:
    scene = scene_from_dict(SCENE)
    assert ground_point(scene, (4.0, 4.0, 10.0), (0.1, 0.0, -1.0)) == pytest.approx((5.0, 4.0))
    assert ground_point(scene, (4.0, 4.0, 10.0), (0.0, 0.0, 1.0)) is None
    assert ground_point(scene, (4.0, 4.0, 10.0), (5.0, 0.0, -1.0)) is None
    assert ground_point(scene, (float("nan"), 4.0, 10.0), (0.0, 0.0, -1.0)) is None
    assert on_level(np.array([0.0, 0.0, 4.0]), np.array([1.0, 0.0, 3.0]), 1.0).tolist() == [3.0, 0.0]


def test_rays_meet_the_floor_that_is_seen() -> None:
    scene = load_scene("house")
    down = (0.0, 0.0, -1.0)
    assert seen_point(scene.world, (12.0, 4.0, 9.0), down) == pytest.approx((12.0, 4.0, 2.38), abs=1e-6)
    assert seen_point(scene.world, (4.0, 4.0, 9.0), down) == pytest.approx((4.0, 4.0, 0.0), abs=1e-6)
    # below the upper floor, from the west, at a slope of one to eight
    assert seen_point(scene.world, (2.0, 4.0, 1.5), (8.0, 0.0, -1.0)) == pytest.approx((14.0, 4.0, 0.0), abs=0.2)
    # onto it over its western edge
    assert seen_point(scene.world, (2.0, 4.0, 5.38), (3.0, 0.0, -1.0)) == pytest.approx((11.0, 4.0, 2.38), abs=0.1)
    assert seen_point(scene.world, (40.0, 4.0, 9.0), down) is None
    assert seen_point(scene.world, (4.0, 4.0, 9.0), (0.0, 0.0, 1.0)) is None
    assert seen_point(scene.world, (4.0, float("inf"), 9.0), down) is None


def test_shadows_and_footprints_lie_on_the_floor_of_whoever_casts_them() -> None:
    world = load_scene("house").world
    heights = partial(near_heights, world)
    roots = np.array([[12.0, 4.0, 2.38 + 0.95], [12.0, 4.0, 0.95]])
    assert heights(beneath(roots[:, :2], roots[:, 2])).tolist() == pytest.approx([2.38, 0.0])
    assert heights(np.array([[12.0, 4.0, 2.41], [12.0, 4.0, 0.02]])).tolist() == pytest.approx([2.38, 0.0])
    assert heights(np.array([[12.0, 4.0]])).tolist() == [0.0]


@pytest.mark.parametrize("name", ["market_square", "hills"])
def test_thumbnails_and_what_is_seen(name: str) -> None:
    title, text, picture = thumbnail(name)
    assert title
    assert text
    assert 500 < len(picture) < 60_000
    low, high = seen(load_scene(name))
    assert (low < high).all()
    assert name in ready_scenes()
