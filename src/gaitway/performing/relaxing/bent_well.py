"""Whether clips that were bent still move as bodies can: knees within their limits, no joint that snaps.

Clips of the cast are made so that they always do. Captured ones have knees that are quite straight, and feet that slide
a little: a foot that is moved may then ask a leg for more than it can do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import FloatArray
from gaitway.motion.clip import Clip
from gaitway.motion.contacts import STILL, contact_slip
from gaitway.motion.limits import violations
from gaitway.space.prepared import PreparedLibrary

_BEYOND = 1.5
"""Most that a joint may be beyond its limit, unless it is in the source [degrees]; the audit allows 2."""
_SNAP = 6.0
"""Most by which a joint may turn faster or more slowly than in the source, from one frame to the next [degrees]."""


def feet_stay(prepared: PreparedLibrary) -> bool:
    """Return whether feet that are down stay exactly where they are in all clips of a library, as in the cast."""
    clips = prepared.library.clips.values()
    return prepared.part("feet stay", lambda: all(contact_slip(clip) <= STILL for clip in clips))


def bent_well(sources: Sequence[Clip], clips: Sequence[Clip]) -> bool:
    """Return whether bent clips keep the limits of joints and snap no more than their sources.

    Args:
        sources: the clips before they were bent.
        clips: the bent clips, as many, of the same lengths.
    """
    before, after = _joined(sources), _joined(clips)
    beyond = violations(after).max(initial=0.0)
    if beyond > _BEYOND and beyond > violations(before).max(initial=0.0):
        return False
    # the root turns with the path: what the others do beside it counts
    snap = np.abs(_turns(after)[:, 1:] - _turns(before)[:, 1:])
    return bool(np.degrees(snap.max(initial=0.0)) <= _SNAP)


def _joined(clips: Sequence[Clip]) -> Clip:
    """Return clips as one, for measures of its frames and of what changes from one to the next."""
    roots = np.concatenate([clip.root_positions for clip in clips])
    return Clip(clips[0].skeleton, roots, np.concatenate([clip.rotations for clip in clips]), clips[0].fps)


def _turns(clip: Clip) -> FloatArray:
    """Return by how much each joint turns from one frame to the next [rad]; (F - 1, J)."""
    turned = rotations.multiply(rotations.conjugate(clip.rotations[:-1]), clip.rotations[1:])
    return np.asarray(np.linalg.norm(rotations.to_rotation_vector(turned), axis=-1))
