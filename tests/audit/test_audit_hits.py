"""Bodies that hit something are planted into clean takes: the audit finds exactly them, and nothing under its bars."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import trimesh

from audit_takes import (
    JOG,
    OPEN,
    STAND,
    WALK,
    body,
    deepest_meeting,
    segments,
    shift,
    take_with,
    track,
    violated,
    widest,
    world_of,
)
from gaitway.audit import audit_take
from gaitway.cast.catalog import load_cast
from gaitway.take.model import Take
from gaitway.take.tracks import lay_track
from gaitway.world import Box, Cylinder, Mover, MoverPhase, Obstacle, Polygon, Sphere, World
from gaitway.world.meshes import MeshShape


def beside(take: Take, depth: float) -> tuple[World, int, int]:
    """A wall along the walk of somebody, who reaches into it by `depth` [m]; in which frame, with which capsule."""
    reach, frame, part = widest(take, 1, 1)
    wall = Obstacle(Box((5.0, reach - depth + 0.5), (40.0, 1.0), 3.0), name="long wall")
    return world_of(wall), frame, part


class TestWalls:
    @pytest.mark.parametrize("depth", [0.005, 0.0095])
    def test_a_brush_passes(self, depth: float) -> None:
        take = take_with(track())
        report = audit_take(take, beside(take, depth)[0])
        assert report.ok
        worst = report["penetration"].worst
        assert worst is not None
        assert depth - 1e-4 <= worst.value <= depth + 1e-3

    @pytest.mark.parametrize("depth", [0.0105, 0.015, 0.05])
    def test_a_hand_in_a_wall(self, depth: float) -> None:
        take = take_with(track())
        world, frame, part = beside(take, depth)
        report = audit_take(take, world)
        assert violated(report) == {"penetration"}
        worst = report["penetration"].worst
        assert worst is not None
        assert worst.value == pytest.approx(depth, abs=1e-3)
        assert abs(worst.frame - frame) <= 1
        assert worst.part == body().names[part]
        assert worst.obstacle == "long wall"
        assert worst.characters == ("ada",)
        assert worst.place is not None
        assert worst.place[1] == pytest.approx(widest(take, 1, 1)[0] - body().radii[part], abs=2e-3)

    def test_which_of_two_and_where(self) -> None:
        take = take_with(track(), track("bob", WALK, (0.0, 20.0, 0.0)))
        x = float(take.clip(1).root_positions[200, 0])
        pillar = Obstacle(Cylinder((x, 20.0), 0.2, 3.0), name="pillar")
        report = audit_take(take, world_of(pillar, Obstacle(Sphere((30.0, 0.0), 1.0))))
        assert violated(report) == {"penetration"}
        (found,) = report["penetration"].violations
        assert found.characters == ("bob",)
        assert found.span is not None
        assert found.span[0] < 200 / 30 < found.span[1]
        assert set(report.characters["ada"]).isdisjoint({"penetration"})

    def test_a_thin_pole_between_two_frames_of_a_fast_arm(self) -> None:
        take = take_with(track(words=JOG))
        time, place = hidden_spot(take)
        pole = Obstacle(Sphere((place[0], place[1]), 0.005, place[2] - 0.005), name="bead")
        report = audit_take(take, world_of(pole))
        assert violated(report) == {"penetration"}
        (found,) = report["penetration"].violations
        assert found.time == pytest.approx(time, abs=0.5 / 30)
        assert found.time * 30 % 1 > 0.05, "it is not at a frame"
        assert found.value > 0.02
        assert report.between > 0

    def test_a_courtyard_in_a_concave_block(self) -> None:
        yard = ((9.0, -1.0), (11.0, -1.0), (11.0, 1.0), (9.0, 1.0))
        block = Polygon(((0, -8), (20, -8), (20, 8), (14, 8), (14, 3), (0, 3)), 3.0, holes=(yard,))
        world = world_of(Obstacle(block, name="block"))
        assert audit_take(take_with(track(words=STAND, pose=(10.0, 0.0, 0.0))), world).ok
        take = take_with(track(words=STAND, pose=(10.0, 0.0, 0.0)))
        reach, _, part = widest(take, 1, 1)
        into = take_with(track(words=STAND, pose=(10.0, 1.0 - reach + 0.03, 0.0)))
        report = audit_take(into, world)
        assert violated(report) == {"penetration"}
        assert report["penetration"].worst.value == pytest.approx(0.03, abs=1e-3)
        assert report["penetration"].worst.part == body().names[part]
        assert violated(audit_take(take_with(track(words=STAND, pose=(5.0, 0.0, 0.0))), world)) == {"penetration"}
        assert audit_take(take_with(track(words=STAND, pose=(10.0, 5.5, 0.0))), world).ok, "the notch is free"

    @pytest.mark.slow
    def test_under_and_through_a_table(self) -> None:
        top = trimesh.creation.box(bounds=[[-0.5, -0.3, 1.20], [0.5, 0.3, 1.24]])
        legs = [
            trimesh.creation.box(bounds=[[x, y, 0.0], [x + 0.05, y + 0.05, 1.2]])
            for x in (-0.5, 0.45)
            for y in (-0.3, 0.25)
        ]
        table = trimesh.util.concatenate([top, *legs])
        take = take_with(track(words=STAND))
        hand = segments(take)[0, body().names.index("left_hand")].mean(axis=0)
        beneath = MeshShape.of(table.vertices + np.array([hand[0], hand[1] + 0.29, 0.0]), table.faces)
        assert beneath.closed
        clear = audit_take(take, world_of(Obstacle(beneath, name="table")))
        assert clear["penetration"].worst is None or "hand" not in clear["penetration"].worst.part
        lower = MeshShape.of(table.vertices + np.array([hand[0], hand[1] + 0.33, hand[2] - 1.22]), table.faces)
        report = audit_take(take, world_of(Obstacle(lower, name="table")))
        assert violated(report) == {"penetration"}
        assert report["penetration"].worst.part == "left_hand"
        head = segments(take)[0, body().names.index("head")].mean(axis=0)
        above = MeshShape.of(table.vertices * [1, 1, 0.2] + [head[0], head[1], head[2] - 0.24], table.faces)
        report = audit_take(take, world_of(Obstacle(above, name="hung table")))
        assert violated(report) == {"penetration"}
        assert "head" in {v.part for v in report["penetration"].violations}

    def test_a_person_wholly_inside_a_mesh(self) -> None:
        crate = trimesh.creation.box(bounds=[[-2.0, -2.0, -0.5], [2.0, 2.0, 3.0]])
        report = audit_take(
            take_with(track(words=STAND)), world_of(Obstacle(MeshShape.of(crate.vertices, crate.faces)))
        )
        assert violated(report) == {"penetration"}
        assert report["penetration"].worst.value > 1.0
        shell = MeshShape.of(crate.vertices, crate.faces[1:])  # one triangle is missing: a thin sheet, and free inside
        assert audit_take(take_with(track(words=STAND)), world_of(Obstacle(shell))).ok

    def test_passable_things_are_no_obstacles(self) -> None:
        carpet = Obstacle(Box((1.0, 0.0), (4.0, 4.0), 0.5), "passable")
        assert audit_take(take_with(track()), world_of(carpet)).ok

    def test_special_obstacles_have_their_own_row(self) -> None:
        fence = Obstacle(Box((1.0, 0.0), (0.1, 4.0), 0.4), "jump", "fence")
        report = audit_take(take_with(track()), world_of(fence))
        assert violated(report) == {"penetration_special"}
        assert report["penetration_special"].worst.obstacle == "fence"


def hidden_spot(take: Take) -> tuple[float, np.ndarray]:
    """A time between two frames, and a place that only a hand goes through, only then."""
    names = body().names
    frames, fine = segments(take), segments(take, fps=300.0)
    for hand in (names.index("left_hand"), names.index("right_hand")):
        speed = np.linalg.norm(np.diff(frames[:, hand].mean(axis=1), axis=0), axis=-1)
        for frame in np.argsort(-speed)[:20].tolist():
            place = fine[10 * frame + 5, hand].mean(axis=0)
            if clearance(frames, place).min() > 0.012 and clearance(fine[10 * frame + 5][None], place).min() < 0.0:
                return (frame + 0.5) / 30.0, place
    raise AssertionError("no hand is fast enough")


def clearance(axes: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Distance of a place from capsules (F, C, 2, 3) [m]; (F, C)."""
    along = axes[..., 1, :] - axes[..., 0, :]
    share = np.clip(np.sum((place - axes[..., 0, :]) * along, -1) / np.sum(along**2, -1), 0.0, 1.0)
    near = axes[..., 0, :] + share[..., None] * along
    return np.linalg.norm(near - place, axis=-1) - body().radii


class TestMovers:
    def test_a_slow_cart_hits_somebody_who_stands(self) -> None:
        take = take_with(track(words=STAND))
        cart = Mover.of(Box((0.0, 0.0), (1.0, 0.6), 1.0), [0.0, 4.0], [[-5.0, 0.0, 0.0], [5.0, 0.0, 0.0]], name="cart")
        report = audit_take(take, world_of(movers=(cart,)))
        assert violated(report) == {"penetration"}
        (found,) = report["penetration"].violations
        assert found.obstacle == "cart"
        front = widest(take, 0, -1)[0]
        assert found.span[0] == pytest.approx(2.0 - (0.5 + front) / 2.5, abs=0.1)

    def test_a_shot_between_two_frames(self) -> None:
        take = take_with(track(words=STAND))
        shot = Mover.of(Sphere((0.0, 0.0), 0.05, 1.0), [0.0, 2.0], [[-200.5, 0.0, 0.0], [200.5, 0.0, 0.0]], name="shot")
        report = audit_take(take, world_of(movers=(shot,)))
        assert violated(report) == {"penetration"}
        assert report["penetration"].worst.time == pytest.approx(1.0, abs=0.01)
        past = Mover.of(Sphere((0.0, 2.0), 0.05, 1.0), [0.0, 2.0], [[-200.5, 0.0, 0.0], [200.5, 0.0, 0.0]])
        assert audit_take(take, world_of(movers=(past,))).ok

    def test_a_door_that_swings(self) -> None:
        leaf = Box((0.5, 0.0), (1.0, 0.05), 2.0)
        door = Mover.of(leaf, [1.0, 2.0], [[0.0, -0.6, 0.0], [0.0, -0.6, np.pi]], name="door")
        report = audit_take(take_with(track(words=STAND)), world_of(movers=(door,)))
        assert violated(report) == {"penetration"}
        assert 1.0 < report["penetration"].worst.time < 2.0
        still = Mover.of(leaf, [1.0], [[0.0, -0.6, 0.0]])
        assert audit_take(take_with(track(words=STAND)), world_of(movers=(still,))).ok

    def test_a_falling_tree_counts_from_when_it_falls(self) -> None:
        trunk = Box((0.0, 0.0), (6.0, 0.4), 0.5)
        falls = 2.0 + 0.5 / 30.0
        phases = (
            MoverPhase(-np.inf, trunk, "passable"),
            MoverPhase(falls, trunk, "wall"),
            MoverPhase(3.0, trunk, "passable"),
        )
        tree = Mover(phases, np.array([0.0]), np.zeros((1, 3)), "tree")
        report = audit_take(take_with(track(words=STAND)), world_of(movers=(tree,)))
        assert violated(report) == {"penetration"}
        (found,) = report["penetration"].violations
        assert found.span == pytest.approx((falls, 3.0), abs=1e-6)
        assert audit_take(take_with(track(words=STAND, pose=(9.0, 9.0, 0.0))), world_of(movers=(tree,))).ok

    def test_a_tree_that_turns_into_a_fence(self) -> None:
        trunk = Box((0.0, 0.0), (6.0, 0.4), 0.5)
        tree = Mover(
            (MoverPhase(-np.inf, trunk, "passable"), MoverPhase(1.0, trunk, "jump")), np.array([0.0]), np.zeros((1, 3))
        )
        report = audit_take(take_with(track(words=STAND)), world_of(movers=(tree,)))
        assert violated(report) == {"penetration_special"}
        assert report["penetration_special"].violations[0].span[0] == pytest.approx(1.0, abs=1e-6)


class TestCharacters:
    @pytest.mark.parametrize(("depth", "clean"), [(0.005, True), (0.0095, True), (0.0105, False), (0.04, False)])
    def test_side_by_side(self, depth: float, clean: bool) -> None:
        still = take_with(track(words=STAND))
        axes = segments(still)
        low, high = 0.2, 1.5
        for _ in range(14):
            middle = 0.5 * (low + high)
            deep = deepest_meeting(axes, axes + np.array([0.0, middle, 0.0])) > depth
            low, high = (middle, high) if deep else (low, middle)
        take = take_with(track(words=STAND), track("bob", STAND, (0.0, low, 0.0)))
        report = audit_take(take, OPEN)
        assert (not violated(report)) == clean
        worst = report["penetration_characters"].worst
        assert worst.value == pytest.approx(depth, abs=1.5e-3)
        assert worst.characters == ("ada", "bob")

    def test_two_who_cross(self) -> None:
        tracks = track(), track("bob", WALK, (5.0, 0.3, np.pi))
        report = audit_take(take_with(*tracks), OPEN)
        assert violated(report) == {"penetration_characters"}
        (found,) = report["penetration_characters"].violations
        paths = [t.clip(0).root_positions for t in (take_with(one) for one in tracks)]
        meet = np.argmin(np.linalg.norm(paths[0] - paths[1], axis=1))
        assert abs(found.frame - meet) < 6
        assert not violated(audit_take(take_with(track(), track("bob", WALK, (5.0, 1.2, np.pi))), OPEN))

    def test_two_who_pass_through_one_another_between_two_frames(self) -> None:
        """At every frame they are more than a metre apart; only a look between frames sees them meet."""
        report = audit_take(passing(0.0), OPEN)
        (found,) = report["penetration_characters"].violations
        assert found.characters == ("ada", "bob")
        assert PASSES / 30.0 < found.time < (PASSES + 1) / 30.0
        assert found.time * 30.0 % 1.0 == pytest.approx(0.5, abs=0.3)
        assert found.value > 0.05
        assert report.between > 0
        assert not audit_take(passing(1.5), OPEN)["penetration_characters"].violations

    def test_only_while_both_are_there(self) -> None:
        later = track("bob", STAND, (0.0, 0.0, 0.0), start=take_with(track(words=STAND)).ends[0] + 0.1)
        assert audit_take(take_with(track(words=STAND), later), OPEN).ok
        sooner = replace(later, starts=later.starts - 0.5, end=later.end - 0.5)
        report = audit_take(take_with(track(words=STAND), sooner), OPEN)
        assert violated(report) == {"penetration_characters"}
        found = report["penetration_characters"].violations[0]
        assert found.span[0] == pytest.approx(later.starts[0] - 0.5, abs=1.1 / 30)

    def test_a_person_and_a_horse(self) -> None:
        horse = load_cast("horse", behaviors=["stand"]).clips["stand"]
        apart = [track(words=STAND), lay_track("grani", [horse], (0.0, 3.0, 0.0))]
        assert audit_take(take_with(*apart), OPEN).ok
        report = audit_take(take_with(track(words=STAND), lay_track("grani", [horse], (0.0, 0.2, 0.0))), OPEN)
        assert violated(report) == {"penetration_characters"}
        assert report["penetration_characters"].worst.characters == ("ada", "grani")


PASSES = 30
"""The frame after which `passing` moves somebody."""


def passing(aside: float, **facts: str) -> Take:
    """A take in which bob is 1.2 m before ada up to a frame, and 1.2 m behind her from the next frame on."""
    still = (track(words=STAND, radius=0.25), track("bob", STAND, (aside, -1.2, 0.0), radius=0.25))
    take = take_with(*still, **facts)
    moves = np.zeros((int(take.ends[1] * 30) + 1, 3))
    moves[PASSES + 1 :, 1] = 2.4
    return shift(take, moves, 0.0, 1)


class TestDiscs:
    def test_discs_decide_where_they_were_kept_clear(self) -> None:
        wall = Obstacle(Box((5.0, 0.75), (40.0, 1.0), 3.0), name="wall")
        tight = audit_take(take_with(track(radius=0.2), collision="disc"), world_of(wall))
        assert tight.ok
        assert "penetration" in violated(tight), "reported all the same"
        assert not tight["penetration"].decides
        wide = audit_take(take_with(track(radius=0.3), collision="disc"), world_of(wall))
        assert not wide.ok
        sway = float(take_with(track()).clip(0).root_positions[:, 1].max())
        assert wide["disc"].worst.value == pytest.approx(0.05 + sway, abs=1e-3)
        assert wide["disc"].worst.obstacle == "wall"
        assert not audit_take(take_with(track(radius=0.2)), world_of(wall)).ok

    def test_discs_of_two_who_stand(self) -> None:
        for gap, clean in ((0.51, True), (0.49, False)):
            pair = [track(words=STAND, radius=0.25), track("bob", STAND, (0.0, gap, 0.0), radius=0.25)]
            report = audit_take(take_with(*pair, collision="disc"), OPEN)
            assert report.ok == clean
            if not clean:
                assert report["disc_characters"].worst.value == pytest.approx(0.01, abs=1e-6)

    def test_discs_that_pass_through_one_another_between_two_frames(self) -> None:
        report = audit_take(passing(0.2, collision="disc"), OPEN)
        (found,) = report["disc_characters"].violations
        assert found.value == pytest.approx(0.3, abs=0.02)
        assert PASSES / 30.0 < found.time < (PASSES + 1) / 30.0
        assert not report.ok
        assert not audit_take(passing(0.6, collision="disc"), OPEN)["disc_characters"].violations

    def test_what_is_overhead_or_underfoot_is_not_run_into(self) -> None:
        beam = Obstacle(Box((0.0, 0.0), (2.0, 2.0), 0.3, bottom=2.2))
        kerb = Obstacle(Box((0.0, 0.0), (2.0, 2.0), 0.03))
        assert not violated(audit_take(take_with(track(words=STAND, radius=0.3), collision="disc"), world_of(beam)))
        report = audit_take(take_with(track(words=STAND, radius=0.3), collision="disc"), world_of(kerb))
        assert "disc" not in violated(report)

    def test_a_beam_at_the_height_of_the_head_is_run_into(self) -> None:
        beam = Obstacle(Box((0.0, 0.0), (2.0, 2.0), 0.3, bottom=1.5), name="beam")
        report = audit_take(take_with(track(words=STAND, radius=0.3), collision="disc"), world_of(beam))
        assert report["disc"].worst.obstacle == "beam" and not report.ok

    def test_a_shot_through_a_disc(self) -> None:
        shot = Mover.of(Cylinder((0.0, 0.2), 0.02, 2.0), [0.0, 3.0], [[-3.0, 0.0, 0.0], [3.0, 0.0, 0.0]], name="shot")
        report = audit_take(take_with(track(words=STAND, radius=0.3), collision="disc"), world_of(movers=(shot,)))
        assert report["disc"].worst.obstacle == "shot"
        assert not report.ok
