"""Motion out of capture: pose distances, motion graphs, snap-together hubs, and libraries made of raw takes."""

from gaitway.graphs.building import build_graph
from gaitway.graphs.clouds import Clouds, point_clouds
from gaitway.graphs.corpus import Corpus, Span
from gaitway.graphs.distance import aligning, distances
from gaitway.graphs.extraction import Search, extract
from gaitway.graphs.following import Key, PathFollower, follow_path, keyframed
from gaitway.graphs.motion_graph import MotionGraph
from gaitway.graphs.path_task import Part
from gaitway.graphs.paths import Path, polyline, sketched, spline
from gaitway.graphs.sources import prepared_corpus, rehearsed_corpus
from gaitway.graphs.steering import Steered, SteeringTable, steering_table
from gaitway.graphs.thresholds import Thresholds
from gaitway.graphs.walks import Walk, random_walk, walk_clip

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
    "prepared_corpus",
    "random_walk",
    "rehearsed_corpus",
    "sketched",
    "spline",
    "steering_table",
    "walk_clip",
]
