"""Crowds for `bench.live`."""

from __future__ import annotations

from gaitway.behavior.kits import Kit, kits
from gaitway.scene.characters import Character, LibraryRef
from gaitway.scene.plan_options import PlanOptions
from gaitway.world.world import World


def live_kit(world: World, speed: str | float = "normal") -> Kit:
    """The built-in person, prepared for a world."""
    who = Character("live", (0.0, 0.0, 0.0), (0.0, 0.0), None, LibraryRef(), PlanOptions(), speed=speed)
    return kits(world).of(who)
