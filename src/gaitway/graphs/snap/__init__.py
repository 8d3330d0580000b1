"""Snap-together motion (gleicher2003): match sets, their common poses, and clips that join by a plain cut."""

from gaitway.graphs.snap.common_pose import HubPose, common_pose, hub_places, settled_pose, with_contacts
from gaitway.graphs.snap.displacement import Anchor, displaced, velocities
from gaitway.graphs.snap.planting import planted

__all__ = [
    "Anchor",
    "HubPose",
    "common_pose",
    "displaced",
    "hub_places",
    "planted",
    "settled_pose",
    "velocities",
    "with_contacts",
]
