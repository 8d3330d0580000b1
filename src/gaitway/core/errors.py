"""Errors a user can cause, each of which is one line that says what, where, and what to write instead."""

from __future__ import annotations

from pathlib import Path


class GaitwayError(Exception):
    """Wrong input. The message names the place, what is wrong there and what would be right.

    The command line prints the message alone and exits with status 2.
    """


class SkeletonError(GaitwayError):
    """A skeleton that cannot be built, or a joint or role that it does not have."""


class ClipError(GaitwayError):
    """Motion arrays that do not fit their skeleton or are not finite."""


class LibraryError(GaitwayError):
    """A library, behaviour or cast that does not exist or does not hold together."""


class WorldError(GaitwayError):
    """A shape, obstacle, terrain or mover that cannot be."""


class SceneError(GaitwayError):
    """A scene that does not hold together; the message names the place in the file (`characters[3].goal`)."""


class PlanError(GaitwayError):
    """A scene for which nothing at all can be planned."""


class TreeError(GaitwayError):
    """A search tree that cannot be grown or does not go with its library, or a region without room for one."""


class GraphError(GaitwayError):
    """Clips of which no motion graph can be made, or something that a graph cannot do."""


class VariationError(GaitwayError):
    """Takes from which no variation can be learnt, or something that a learnt model cannot do."""


class StudioError(GaitwayError):
    """Something that cannot be done in the studio."""


class TakeError(GaitwayError):
    """A take whose tables do not fit together, or a character or time that it does not have."""


class FormatError(GaitwayError):
    """A file that cannot be read, with its path and, where known, its line."""

    def __init__(self, path: str | Path, problem: str, line: int | None = None) -> None:
        place = f"{path}:{line}" if line is not None else f"{path}"
        super().__init__(f"{place}: {problem}")
        self.path = Path(path)
        self.line = line


class MissingExtraError(GaitwayError):
    """A feature that needs a package which is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional package; install it with: pip install 'gaitway[{extra}]'")
