"""Tracks: trajectory tables of many programs, read, repaired, freed of head sway, and resampled."""

from __future__ import annotations

from gaitway.crowd.tracks.reading import TracksRead, read_tracks, read_trajectories
from gaitway.crowd.tracks.resampling import cut, resampled
from gaitway.crowd.tracks.sway import without_sway

__all__ = ["TracksRead", "cut", "read_tracks", "read_trajectories", "resampled", "without_sway"]
