"""Bodies of variants: whether they go into the ground, or their arms into themselves."""

from __future__ import annotations

import numpy as np

from gaitway.core.arrays import FloatArray
from gaitway.motion.body import capsule_body, capsules
from gaitway.motion.clip import Clip

_ALONG = np.linspace(0.0, 1.0, 5)
"""Where along a forearm and a hand depths are taken."""
_ARM = ("elbow", "hand")
"""What of an arm may meet the rest of the body: the forearm, which begins at the elbow, and the hand."""
_SIDES = ("left", "right")


def under_ground(clip: Clip) -> float:
    """How deep the deepest part of the body is under the floor at z = 0 [m]; 0 if none is."""
    radii = capsule_body(clip.skeleton).radii
    return max(float((radii[:, None] - capsules(clip)[..., 2]).max()), 0.0)


def arms_inside(clip: Clip) -> float:
    """How deep a forearm or hand is in the rest of the body, the other arm too [m]; 0 if none is, or there are none."""
    body = capsule_body(clip.skeleton)
    axes, deepest = capsules(clip, body), 0.0
    for side in _SIDES:
        arm = [k for k, name in enumerate(body.names) if name in [f"{side}_{part}" for part in _ARM]]
        # what an arm is joined to touches it always
        rest = [k for k, name in enumerate(body.names) if not (name.startswith(side) and _of_arm(name))]
        for one in arm:
            begin, end = axes[:, one, 0, None], axes[:, one, 1, None]
            points = begin + _ALONG[:, None] * (end - begin)
            away = _distances(points, axes[:, rest, 0], axes[:, rest, 1])
            deepest = max(deepest, float((body.radii[one] + body.radii[rest] - away).max(initial=0.0)))
    return deepest


def _of_arm(name: str) -> bool:
    return name.partition("_")[2] in ("clavicle", "shoulder", "elbow", "hand")


def _distances(points: FloatArray, starts: FloatArray, ends: FloatArray) -> FloatArray:
    """From points (F, P, 3) to segments (F, C, 3) each; (F, P, C)."""
    along = ends - starts
    length = np.maximum((along**2).sum(axis=-1), 1e-12)
    away = points[:, :, None] - starts[:, None]
    share = np.clip((away * along[:, None]).sum(axis=-1) / length[:, None], 0.0, 1.0)
    out: FloatArray = np.linalg.norm(away - share[..., None] * along[:, None], axis=-1)
    return out
