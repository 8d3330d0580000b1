"""Libraries by name: of the built-in cast, or of a file; and scenes with another one."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from gaitway.core.errors import LibraryError
from gaitway.scene.characters import LibraryRef
from gaitway.scene.model import LibraryItem
from gaitway.scene.problem import nearest
from gaitway.scene.scene import Scene, build_scene


def library_ref(name: str | Path, style: str | int | None = None, seed: int = 0) -> LibraryRef:
    """The library that somebody means.

    Args:
        name: a built-in cast, or a library file (.gwlib).
        style: whose manner, of a cast.
        seed: draw of the takes, of a cast.

    Raises:
        LibraryError: if there is neither a cast nor a file of that name, or a style is wanted of a file.
        FormatError: if the file is no library.
    """
    casts = import_module("gaitway.cast.catalog").cast_names()
    if str(name) in casts:
        return LibraryRef(str(name), style, seed=seed)
    file = Path(name)
    if not file.suffix and not file.exists():
        near = nearest(str(name), casts)
        hint = f"did you mean '{near}'?" if near else f"write {', '.join(casts)}, or the name of a .gwlib file"
        raise LibraryError(f"no library '{name}'; {hint}")
    if style is not None:
        raise LibraryError(f"'{file.name}' is a file and has no styles; leave --style out")
    import_module("gaitway.library.storage").describe_library(file)
    return LibraryRef(file=str(file.absolute()))


def with_library(scene: Scene, library: LibraryRef) -> Scene:
    """The scene with another library for everybody in it.

    Raises:
        SceneError: if it does not hold together so.
    """
    if library.file:
        item = LibraryItem(file=library.file)
    else:
        item = LibraryItem(cast=library.cast, style=library.style, takes=library.takes, seed=library.seed)
    people = [character.model_copy(update={"library": None}) for character in scene.source.characters]
    source = scene.source.model_copy(update={"library": item, "characters": tuple(people)})
    return build_scene(source, scene.folder, scene.path)
