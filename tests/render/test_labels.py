"""Words that keep off one another."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gaitway.render import Camera, Label
from gaitway.render.raster.labels import LabelPlacer, Wish, overlap, text_size
from gaitway.render.raster.picture import draw_labels

PLACES = st.tuples(st.floats(-20.0, 320.0), st.floats(-20.0, 220.0))


@given(st.lists(PLACES, max_size=25))
def test_no_two_placed_words_overlap_and_all_are_in_the_picture(places):
    placer = LabelPlacer(300, 200)
    placer.block((100.0, 80.0, 160.0, 120.0))
    placed = placer.place(Wish(f"word {i}", x, y) for i, (x, y) in enumerate(places))
    boxes = [p.box for p in placed] + [(100.0, 80.0, 160.0, 120.0)]
    assert not any(overlap(a, b) for a, b in combinations(boxes, 2))
    for left, top, right, bottom in boxes:
        assert left >= 0.0
        assert top >= 0.0
        assert right <= 300.0
        assert bottom <= 200.0


def test_one_word_stands_beside_its_place_and_not_on_it():
    (placed,) = LabelPlacer(300, 200).place([Wish("ada", 150.0, 100.0, gap=6.0)])
    assert not overlap(placed.box, (147.0, 97.0, 153.0, 103.0))
    assert min(abs(placed.box[0] - 150.0), abs(placed.box[2] - 150.0)) < 12.0


def test_an_anchored_word_is_at_its_place_and_a_second_one_beside_it():
    wishes = [Wish("first", 150.0, 100.0, anchor="mm"), Wish("second", 150.0, 100.0, anchor="mm")]
    first, second = LabelPlacer(300, 200).place(wishes)
    width, height = text_size("first", 13.0)
    assert np.allclose(first.box, (150 - width / 2, 100 - height / 2, 150 + width / 2, 100 + height / 2))
    assert not overlap(first.box, second.box)


def test_words_without_room_are_left_out_unless_they_must_stay():
    wishes = [Wish("a long word indeed", 20.0, 10.0, size=16.0)] * 3
    assert LabelPlacer(40, 20).place(wishes) == []
    assert len(LabelPlacer(40, 20).place(wishes, keep=True)) == 3


def test_labels_of_a_picture_do_not_cover_one_another():
    camera = Camera(np.array([0.0, 0.0, 10.0]), np.zeros(3), np.array([0.0, 1.0, 0.0]), span=4.0)
    blank = np.full((200, 300, 3), 255, dtype=np.uint8)
    one = draw_labels(blank, [Label("walker", (0.0, 0.0, 0.0), size=16)], camera)
    two = draw_labels(blank, [Label("walker", (0.0, 0.0, 0.0), size=16)] * 2, camera)
    # written twice at one place it would be no more ink than once
    assert (two < 128).sum() > 1.8 * (one < 128).sum() > 0
    outside = draw_labels(blank, [Label("walker", (50.0, 0.0, 0.0), size=16)], camera)
    assert (outside == 255).all()
