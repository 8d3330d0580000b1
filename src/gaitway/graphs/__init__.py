"""Graphs of captured motion: pose distances, motion graphs (`kovar`) and snap-together hubs (`snap`)."""

from gaitway.graphs.clouds import Clouds, point_clouds
from gaitway.graphs.corpus import Corpus, Span
from gaitway.graphs.distance import aligning, distances
from gaitway.graphs.kovar.building import build_graph
from gaitway.graphs.kovar.extraction import Search, extract
from gaitway.graphs.kovar.following import Key, PathFollower, follow_path, keyframed
from gaitway.graphs.kovar.motion_graph import MotionGraph
from gaitway.graphs.kovar.path_task import Part
from gaitway.graphs.kovar.paths import Path, polyline, sketched, spline
from gaitway.graphs.kovar.steering import Steered, SteeringTable, steering_table
from gaitway.graphs.kovar.transitions import Thresholds
from gaitway.graphs.kovar.walks import Walk, random_walk, walk_clip

__all__ = [
    "Clouds",
    "Corpus",
    "Key",
    "MotionGraph",
    "Part",
    "Path",
    "PathFollower",
    "Search",
    "Span",
    "Steered",
    "SteeringTable",
    "Thresholds",
    "Walk",
    "aligning",
    "build_graph",
    "distances",
    "extract",
    "follow_path",
    "keyframed",
    "point_clouds",
    "polyline",
    "random_walk",
    "sketched",
    "spline",
    "steering_table",
    "walk_clip",
]
