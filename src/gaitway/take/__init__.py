"""What all characters do over time, compactly: segments over clips, evaluated on demand."""

from gaitway.take.data import Layer, Segments
from gaitway.take.evaluation import Joints, Poses
from gaitway.take.model import Take
from gaitway.take.storage import load_take, save_take
from gaitway.take.tables import Dense, RootPaths
from gaitway.take.tracks import ClipEnds, Track, assemble, lay_track, take_of

__all__ = [
    "ClipEnds",
    "Dense",
    "Joints",
    "Layer",
    "Poses",
    "RootPaths",
    "Segments",
    "Take",
    "Track",
    "assemble",
    "lay_track",
    "load_take",
    "save_take",
    "take_of",
]
