"""`gaitway.vary`: a library with variants in one call, as `gaitway vary` makes it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from gaitway.cast.catalog import cast_names, load_cast
from gaitway.core.progress import Progress, silent
from gaitway.library.behavior import Library
from gaitway.scene.characters import library_ref
from gaitway.variation.enriching import Enriched, EnrichOptions, enrich

TAKES = 4
"""Number of takes of each behaviour of a built-in cast that are learnt from."""


def vary(
    library: Library | str | Path,
    *,
    count: int = 12,
    behaviors: Collection[str] | None = None,
    gain: float = 1.0,
    upper: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> Enriched:
    """Learn how the behaviours of a library vary, and add variants to it.

    Variants begin and end on the feet of the library's own clips, so that they join as those do, and hold the rest of
    the body in their own way there. What was learnt is kept on
    disk, so that another count or gain does not learn again.

    Args:
        library: a library whose clips have contacts, the name of a built-in cast, or a .gwlib file.
        count: number of variants of each behaviour.
        behaviors: names of the behaviours that get variants, or patterns such as "walk_*"; None for all that can.
        gain: distance of variants from the mean; 1 is that of the takes.
        upper: whether only upper bodies vary, so that legs and path stay.
        seed: seed of the variants.
        progress: called with what is being done.

    Returns:
        The new library (`.library`) and one row for each behaviour that says what became of it (`.rows`).

    Raises:
        LibraryError: if there is no such library or behaviour.
        VariationError: if no behaviour got any variants.
    """
    if isinstance(library, Library):
        loaded = library
    elif str(library) in cast_names():
        loaded = load_cast(str(library), seed=seed, takes=TAKES)
    else:
        loaded = library_ref(library).load()
    return enrich(loaded, EnrichOptions(count=count, seed=seed, gain=gain, upper=upper), behaviors, progress)
