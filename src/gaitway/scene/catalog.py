"""The ready scenes that are part of gaitway, and summaries of scene files."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from gaitway.core.errors import FormatError
from gaitway.core.suggest import nearest
from gaitway.scene.problem import in_order, scene_error
from gaitway.scene.reading.documents import Reader, merged


@dataclass(frozen=True, kw_only=True)
class SceneSummary:
    """The title and the sizes of a scene."""

    title: str
    bounds: tuple[float, float, float, float] | None
    """xmin, ymin, xmax, ymax [m]; None if the file has none."""
    characters: int
    obstacles: int
    """Number of obstacles, special ones included; each straight piece of a wall is one."""
    movers: int


def ready_scenes() -> dict[str, Path]:
    """Return the files of the ready scenes by name, in order of name."""
    folder = Path(str(resources.files("gaitway.scene") / "ready"))
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def find_scene(name: str | Path) -> Path:
    """Return the file of a scene.

    Args:
        name: A file, or the name of a ready scene (`circle_swap` or `circle-swap`). A file of that name wins.

    Raises:
        FormatError: If there is neither.
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


def scene_summary(path: str | Path) -> SceneSummary:
    """Read the title and the sizes of a scene, without building its world or placing its characters.

    That takes a few milliseconds. Only the form of the file is checked; `load_scene` checks the rest.

    Args:
        path: A scene file, or the name of a ready scene.

    Raises:
        FormatError: If there is no such file, or it is not YAML.
        SceneError: If the file does not have the form of a scene.
    """
    reader = Reader()
    document = reader.read(find_scene(path))
    if document is None or reader.problems:
        raise scene_error(in_order(reader.problems))
    whole = merged(document)
    title, bounds = (whole.singles[key].value if key in whole.singles else None for key in ("title", "bounds"))
    return SceneSummary(
        title=title or "",
        bounds=bounds,
        characters=sum(entry.value.count or 1 for entry in whole.lists["characters"]),
        obstacles=len(whole.lists["specials"]) + sum(entry.value.pieces for entry in whole.lists["obstacles"]),
        movers=len(whole.lists["movers"]),
    )
