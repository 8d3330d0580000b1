"""How people of a crowd differ: build, clothes and hair. Bones are the skeleton's and stay as they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SLEEVES = ("long", "short", "none")
LEGS = ("trousers", "shorts", "skirt")
HEMS = ("tucked", "shirt", "jacket")
HAIRS = ("short", "crop", "bob", "long", "tail", "bald")


@dataclass(frozen=True)
class Look:
    """One person's build and clothes; plain numbers are shares of the average person's."""

    girth: float = 1.0
    """Thickness of everything but the head."""
    shoulders: float = 1.0
    """Width of the chest."""
    hips: float = 1.0
    """Width of the pelvis and thickness of the thighs."""
    belly: float = 0.0
    """0..1."""
    bust: float = 0.0
    """0..1."""
    sleeves: str = "long"
    """One of `SLEEVES`."""
    legs: str = "trousers"
    """One of `LEGS`."""
    hem: str = "shirt"
    """One of `HEMS`: where the top ends."""
    hair: str = "short"
    """One of `HAIRS`."""


_BUILDS = (
    # girth, shoulders, hips, belly, bust
    (1.00, 1.02, 0.98, 0.10, 0.0),
    (0.93, 0.94, 1.03, 0.00, 0.8),
    (1.10, 1.06, 1.00, 0.55, 0.0),
    (0.90, 0.98, 0.96, 0.00, 0.0),
    (1.05, 0.97, 1.09, 0.30, 1.0),
    (1.04, 1.09, 0.97, 0.00, 0.0),
    (0.97, 0.95, 1.05, 0.10, 0.9),
    (1.18, 1.05, 1.08, 0.95, 0.0),
)
_OUTFITS = (
    # sleeves, legs, hem
    ("long", "trousers", "jacket"),
    ("short", "trousers", "tucked"),
    ("short", "shorts", "shirt"),
    ("long", "trousers", "shirt"),
    ("short", "trousers", "shirt"),
    ("long", "skirt", "tucked"),
    ("none", "skirt", "tucked"),
)
_WITH_SKIRTS, _WITHOUT = len(_OUTFITS), len(_OUTFITS) - 2
LOOKS = 24
"""Different looks that seeds lead to."""


def person_look(seed: int) -> Look:
    """The look of one person of a crowd. Neighbours in number differ; looks repeat after `LOOKS` numbers."""
    number = seed % LOOKS
    rng = np.random.default_rng([34, number])
    girth, shoulders, hips, belly, bust = _BUILDS[(3 * number + number // len(_BUILDS)) % len(_BUILDS)]
    feminine = bust > 0.0
    sleeves, legs, hem = _OUTFITS[rng.integers(_WITH_SKIRTS if feminine else _WITHOUT)]
    hairs, shares = (
        (("bob", "long", "tail", "short"), (0.3, 0.3, 0.25, 0.15))
        if feminine
        else (("short", "crop", "bald", "bob"), (0.55, 0.28, 0.12, 0.05))
    )
    return Look(girth, shoulders, hips, belly, bust, sleeves, legs, hem, str(rng.choice(hairs, p=shares)))
