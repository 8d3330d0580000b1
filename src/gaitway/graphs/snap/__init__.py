"""Snap-together motion (gleicher2003): match sets, their common poses, and clips that join by plain cuts."""

from gaitway.graphs.snap.common_pose import HubPose, common_pose, hub_places, settled_pose, with_contacts
from gaitway.graphs.snap.displacement import Anchor, displaced, velocities
from gaitway.graphs.snap.hub_graph import HubClip, HubGraph, SnapHub, snap_together
from gaitway.graphs.snap.match_sets import MatchSearch, MatchSet, choose_match_sets, match_sets_around
from gaitway.graphs.snap.planting import planted
from gaitway.graphs.snap.playing import HubPlayer, play_clips, random_clips

__all__ = [
    "Anchor",
    "HubClip",
    "HubGraph",
    "HubPlayer",
    "HubPose",
    "MatchSearch",
    "MatchSet",
    "SnapHub",
    "choose_match_sets",
    "common_pose",
    "displaced",
    "hub_places",
    "match_sets_around",
    "planted",
    "play_clips",
    "random_clips",
    "settled_pose",
    "snap_together",
    "velocities",
    "with_contacts",
]
