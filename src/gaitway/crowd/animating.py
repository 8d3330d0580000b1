"""From a trajectory table to a take: full bodies for any tracks, by one call."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gaitway.core.errors import CrowdError
from gaitway.core.progress import Progress, silent
from gaitway.crowd.locomotion import animation
from gaitway.crowd.tracks.reading import TracksRead, read_tracks
from gaitway.crowd.trajectories import Trajectories
from gaitway.library import Library
from gaitway.scene.characters import library_ref
from gaitway.take.model import Take

USUAL_FPS = 30.0
"""Rate of takes [Hz]."""
_NAMED = 20
"""Repairs that a take keeps."""


def animate(
    tracks: str | Path | Trajectories | TracksRead,
    library: Library | str | Path = "person",
    *,
    seed: int = 0,
    rate: float = USUAL_FPS,
    facts: Mapping[str, Any] | None = None,
    progress: Progress = silent,
    **options: Any,
) -> Take:
    """Return full bodies that walk along tracks: a take as any other.

    Args:
        tracks: a trajectory table, which is read by `read_tracks`; or trajectories.
        library: whose motion: a library, the name of a built-in cast, or a library file.
        seed: seed of what people do not have in common.
        rate: frames a second of the take [Hz].
        facts: further facts of the take, as plain JSON values.
        progress: called while bodies are made.
        options: how a file is read: unit, fps, heads, most_gap, begin, until and people, as of `read_tracks`.

    Raises:
        CrowdError: if options of a file are given with trajectories, or nobody is in them.
        GaitwayError: as `read_tracks`, and if there is no such library.
    """
    about = dict(facts or {})
    if isinstance(tracks, str | Path):
        tracks = read_tracks(tracks, **options)
    elif options:
        raise CrowdError(f"{', '.join(sorted(options))}: only for files, and these tracks were read before")
    if isinstance(tracks, TracksRead):
        read = tracks.facts()
        about["tracks"] = {**read, "file": tracks.path.name, "repairs": read["repairs"][:_NAMED]}
        tracks = tracks.trajectories
    if not len(tracks):
        raise CrowdError("there is nobody in these trajectories")
    if isinstance(library, str | Path) and str(library) != "person":
        library = library_ref(library).load()
    whose = library if isinstance(library, Library) else "person"
    return animation.animate(tracks, whose, seed, fps=rate, facts=about, progress=progress)
