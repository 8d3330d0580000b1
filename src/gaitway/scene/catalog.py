"""The scenes that ship with gaitway."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from gaitway.core.errors import FormatError
from gaitway.scene.problem import nearest


def ready_scenes() -> dict[str, Path]:
    """Files of the ready scenes by name, in order of name."""
    folder = Path(str(resources.files("gaitway.scene") / "ready"))
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def find_scene(name: str | Path) -> Path:
    """The file of a scene.

    Args:
        name: a file, or the name of a ready scene (`circle_swap` or `circle-swap`). A file of that name wins.

    Raises:
        FormatError: if there is neither.
    """
    path = Path(name)
    ready = ready_scenes()
    word = str(name).replace("-", "_")
    if path.exists() or path.suffix or len(path.parts) > 1:
        return path
    if word in ready:
        return ready[word]
    near = nearest(word, ready)
    hint = f"did you mean '{near}'?" if near else f"there are {', '.join(ready)}"
    raise FormatError(path, f"no such file, and no ready scene of that name; {hint}")
