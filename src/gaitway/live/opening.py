"""Live crowds of scenes and worlds: the function that `gaitway.live` calls."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gaitway.core.errors import GaitwayError, LiveError
from gaitway.core.warming import expect
from gaitway.live.crowd import LiveCrowd
from gaitway.live.libraries import AnyLibrary, neutral
from gaitway.live.options import Dynamics, LiveOptions
from gaitway.live.record import MINUTES
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.scene import Scene, load_scene
from gaitway.world.levels.floors import GROUND
from gaitway.world.world import World


def live(
    scene: Scene | World | str | Path,
    library: AnyLibrary | None = None,
    *,
    seed: int | None = None,
    dynamics: Dynamics | None = None,
    options: LiveOptions | None = None,
    record_minutes: float = MINUTES,
) -> LiveCrowd:
    """Return a live crowd: characters that plan and move while the program runs.

    All characters of a scene are put in where they start, in their neutral manner and at normal speed; later starts,
    styles and priorities are for planned takes only. Characters for which there is no room yet are `Refused` events.

    Args:
        scene: a scene, its file, the name of a ready scene, or a world without characters.
        library: library of all characters: a built-in cast's name, a .gwlib file, a library, or a reference. If left
            out, that of each character in the scene, or the built-in person. More libraries can join: `add(library=)`.
        seed: seed of all that is drawn; None takes the scene's, or 0.
        dynamics: how people get past one another. "mixed": by plans of clips where it is open, by local dynamics where
            it is dense; "clips": by plans alone, which keep whole plans apart and jam in two-way throngs; "crowd": by
            local dynamics wherever there is a way on the floor. None takes that of the options; without options it is
            "mixed" for a scene that is planned by `planner: crowd`, and "clips" for all others.
        options: options of the characters' planning.
        record_minutes: length of the record for `LiveCrowd.take` [min]; 0 for none. A minute of 1,000 characters takes
            about 5 MB.

    Raises:
        FormatError: if a file cannot be read.
        SceneError: if the scene does not hold together.
        LibraryError: if there is no such library.
    """
    expect(["live"], unless_known=True)
    if dynamics is not None:
        options = replace(options or LiveOptions(), dynamics=dynamics)
    if isinstance(scene, World):
        crowd = LiveCrowd(scene, seed=seed or 0, options=options, record_minutes=record_minutes)
        crowd.add_library(LibraryRef() if library is None else library)
        return crowd
    loaded = scene if isinstance(scene, Scene) else load_scene(scene)
    if loaded.busy:
        raise LiveError("people of this scene do errands; write LiveErrands(scene) of gaitway.live.errands")
    upstairs = next((c for c in loaded.characters if {c.start_floor, c.goal_floor} - {None, GROUND}), None)
    # who is to be planned as a throng also lives as one, where there is one floor
    throng = loaded.plan.planner == "crowd" and upstairs is None
    known = options or LiveOptions(dynamics="mixed" if throng else "clips")
    if upstairs is not None and known.dynamics != "clips":
        raise LiveError(
            f"'{upstairs.name}' starts or ends on a floor above the ground; dynamics '{known.dynamics}' knows one "
            "floor, so write 'clips' for this scene"
        )
    crowd = LiveCrowd(
        loaded.world,
        plan=loaded.plan,
        seed=loaded.seed if seed is None else seed,
        options=known,
        record_minutes=record_minutes,
    )
    groups: dict[LibraryRef, list[Character]] = {}
    for character in loaded.characters:
        groups.setdefault(neutral(character.library), []).append(character)
    try:
        if library is not None:
            crowd.add_library(library)
            groups = {LibraryRef(): list(loaded.characters)} if loaded.characters else {}
        elif not groups:
            crowd.add_library(LibraryRef())
        for ref, characters in groups.items():
            crowd.add_many(
                [(*c.start, *crowd.on_floor(*c.start[:2], c.start_floor)[2:]) for c in characters],
                [crowd.on_floor(*c.goal, c.goal_floor) for c in characters],
                names=[c.name for c in characters],
                library=ref if library is None else library,
            )
    except GaitwayError:
        crowd.close()
        raise
    return crowd
