"""Graphs of captured motion: pose distances, motion graphs (`kovar`) and snap-together motion (`snap`)."""

from gaitway.graphs.clouds import Clouds, point_clouds
from gaitway.graphs.corpus import Corpus, LabelSpan, build_corpus, library_corpus
from gaitway.graphs.distance import aligning_moves, distances
from gaitway.graphs.kovar.building import build_graph
from gaitway.graphs.kovar.extraction import GraphSearch, extract
from gaitway.graphs.kovar.following import PathFollower, PathKeyframe, follow_path, keyframed
from gaitway.graphs.kovar.motion_graph import MotionGraph
from gaitway.graphs.kovar.path_task import PathPart
from gaitway.graphs.kovar.paths import GroundPath, polyline, sketched, spline
from gaitway.graphs.kovar.steering import SteeredCharacter, SteeringTable, steering_table
from gaitway.graphs.kovar.transitions import TransitionThresholds
from gaitway.graphs.kovar.walks import Walk, random_walk, walk_clip

__all__ = [
    "Clouds",
    "Corpus",
    "GraphSearch",
    "GroundPath",
    "LabelSpan",
    "MotionGraph",
    "PathFollower",
    "PathKeyframe",
    "PathPart",
    "SteeredCharacter",
    "SteeringTable",
    "TransitionThresholds",
    "Walk",
    "aligning_moves",
    "build_corpus",
    "build_graph",
    "distances",
    "extract",
    "follow_path",
    "keyframed",
    "library_corpus",
    "point_clouds",
    "polyline",
    "random_walk",
    "sketched",
    "spline",
    "steering_table",
    "walk_clip",
]
