"""Corpora of libraries, and the pictures of the graphs that are built from them."""

from __future__ import annotations

import numpy as np
import pytest

from gaitway.cast.catalog import load_cast
from gaitway.core.errors import GaitwayError, GraphError
from gaitway.graphs.corpus import library_corpus
from gaitway.graphs.distance import distances
from gaitway.graphs.kovar.building import build_graph
from gaitway.graphs.kovar.following import follow_path
from gaitway.graphs.kovar.path_task import PathPart
from gaitway.graphs.kovar.paths import polyline
from gaitway.graphs.kovar.transitions import TransitionThresholds
from gaitway.graphs.kovar.walks import walk_clip
from gaitway.graphs.minima import local_minima
from gaitway.motion.quality import foot_slide
from gaitway.render.sheets.motion_graph_pictures import error_picture, path_picture, transition_strips


def test_random_takes_of_a_person_walk_and_change_to_a_jog() -> None:
    motions = library_corpus(load_cast("person"), 30.0, np.random.default_rng(0), takes=2)
    assert {"walk", "jog", "jump"} <= set(motions.labels)
    assert len(motions) >= 900
    steps = np.linalg.norm(np.diff(motions.roots, axis=0), axis=1)
    inside = np.diff(motions.clip_of) == 0
    assert steps[inside].max() < 0.25  # nobody jumps from place to place where clips join
    graph = build_graph(motions, TransitionThresholds(ease=1.0), actions=("jump", "duck"))
    path = polyline([(0.0, 0.0), (14.0, 0.0)])
    followed = follow_path(graph, path, [PathPart(("walk",), 4.0), PathPart(("jog",))], slack=2.0)
    assert len(followed.changes) == 1
    clip = walk_clip(followed.walk)
    assert np.percentile(foot_slide(clip), 95.0) < 0.005
    assert (np.abs(clip.contact_positions()[..., 2][clip.contacts]) < 0.03).all()
    picture = path_picture(followed, title="a path", width=400)
    assert picture.width == 400
    strip = transition_strips(followed.walk, clip, [0], columns=3)
    assert strip.width > 100
    with pytest.raises(GaitwayError, match="no such transitions"):
        transition_strips(followed.walk, clip, [999])


def test_an_error_function_is_drawn() -> None:
    clouds = library_corpus(load_cast("person"), 6.0, np.random.default_rng(0), takes=1).clouds
    matrix = distances(clouds, clouds, ends=False)
    picture = error_picture(matrix, local_minima(matrix), 0.05, title="figure 3", names=("a", "b"), width=200)
    middle = np.asarray(picture.convert("L"))[64 + 60 : 64 + 140, 46 + 60 : 46 + 140]
    assert middle.min() < 128 < middle.max()
    with pytest.raises(GaitwayError, match="without numbers"):
        error_picture(np.full((3, 3), np.inf, dtype=np.float32), local_minima(matrix), 0.1, title="", names=("", ""))


def test_libraries_without_such_states_are_refused() -> None:
    with pytest.raises(GraphError, match="no behaviour in the states swim"):
        library_corpus(load_cast("person"), 5.0, np.random.default_rng(0), states=("swim",))
