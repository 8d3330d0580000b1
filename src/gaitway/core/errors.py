"""Errors that a user can cause. Each message is one line: the place, what is wrong, what to write instead."""

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
    """A shape, obstacle, terrain or mover with impossible values."""


class SceneError(GaitwayError):
    """A scene that does not hold together; the message names the place in the file (`characters[3].goal`)."""


class PlanError(GaitwayError):
    """A scene for which nothing can be planned."""


class TreeError(GaitwayError):
    """A search tree that cannot be grown, does not belong to its library, or lies in a region without space."""


class LiveError(GaitwayError):
    """A character, obstacle or library that a live crowd does not have, or something that it cannot do."""


class CrowdError(GaitwayError):
    """Trajectories or a crowd that cannot be, or that nobody could walk."""


class GraphError(GaitwayError):
    """Clips from which no motion graph can be made, or an operation that a graph does not support."""


class VariationError(GaitwayError):
    """Takes from which no variation can be learnt, or an operation that a learnt model does not support."""


class LimbError(GaitwayError):
    """A limb that a skeleton does not have, a span that cannot be planned, or a target that no limb reaches."""


class SittingError(GaitwayError):
    """A seat on which nobody can sit, a manner that does not exist, or a body that cannot sit."""


class StudioError(GaitwayError):
    """An operation that the studio does not support."""


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
