"""A clip: one skeleton's motion sampled at a fixed rate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gaitway.core import rotations
from gaitway.core.arrays import BoolArray, FloatArray, owned, read_only
from gaitway.core.errors import ClipError
from gaitway.motion import _kernels
from gaitway.motion.kinematics import contact_positions, forward_kinematics
from gaitway.motion.skeleton import Skeleton

_LENGTH_TOLERANCE = 1e-3
"""Greatest deviation of a rotation's length from one; such a rotation is normalised."""


@dataclass(frozen=True, eq=False)
class Clip:
    """Motion of one skeleton; world is Z up, metres, and arrays are read-only."""

    skeleton: Skeleton
    root_positions: FloatArray
    """World position of the root [m]; (F, 3)."""
    rotations: FloatArray
    """Local (parent-from-joint) unit quaternions wxyz; (F, J, 4)."""
    fps: float
    """Frame rate [Hz]."""
    name: str = "clip"
    contacts: BoolArray | None = None
    """Which of `skeleton.contact_points` rest on the ground; (F, C), or None where not known."""
    labels: tuple[str, ...] = ()
    """Free words that describe the clip, such as "walk" or "take-2"."""

    def __post_init__(self) -> None:
        frames = len(np.asarray(self.root_positions))
        if frames < 1:
            raise ClipError(f"clip '{self.name}' has no frames")
        if not (np.isfinite(self.fps) and 0.0 < self.fps <= 100_000.0):
            raise ClipError(f"clip '{self.name}' has frame rate {self.fps}; it must be above 0 and at most 100000 Hz")
        unit = self._unit_rotations(frames)
        set_field = object.__setattr__
        set_field(self, "root_positions", owned(self.root_positions, "root_positions", (frames, 3), error=ClipError))
        set_field(self, "rotations", unit)
        set_field(self, "fps", float(self.fps))
        set_field(self, "labels", tuple(self.labels))
        if self.contacts is not None:
            shape = (frames, len(self.skeleton.contact_points))
            set_field(self, "contacts", owned(self.contacts, "contacts", shape, np.bool_, ClipError))

    def _unit_rotations(self, frames: int) -> FloatArray:
        """Return a read-only copy (F, J, 4) of what was given as `rotations`, each of length one (within 1e-7)."""
        given, shape = self.rotations, (frames, len(self.skeleton), 4)
        plain = isinstance(given, np.ndarray) and given.dtype == np.float64 and given.shape == shape
        q = read_only(given) if plain else owned(given, "rotations", shape, error=ClipError)
        unit = np.empty(shape)
        bad = _kernels.unit_quaternions(q, _LENGTH_TOLERANCE, unit)
        if bad >= 0:
            owned(q, "rotations", shape, error=ClipError)  # says where a value is not finite
            frame, joint = divmod(bad, len(self.skeleton))
            raise ClipError(
                f"clip '{self.name}': rotation of joint '{self.skeleton.names[joint]}' in frame {frame} has length "
                f"{np.linalg.norm(q[frame, joint]):.4g}; pass it through rotations.normalize first"
            )
        unit.setflags(write=False)
        return unit

    def __len__(self) -> int:
        return len(self.root_positions)

    def __repr__(self) -> str:
        return f"Clip('{self.name}', {len(self)} frames at {self.fps:g} Hz, {self.skeleton!r})"

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return (len(self) - 1) / self.fps

    def joint_positions(self) -> FloatArray:
        """Return the world positions of all joints [m]; (F, J, 3)."""
        return forward_kinematics(self.skeleton, self.root_positions, self.rotations)[0]

    def joint_transforms(self) -> tuple[FloatArray, FloatArray]:
        """Return the world positions [m] (F, J, 3) and world rotations (F, J, 4) of all joints."""
        return forward_kinematics(self.skeleton, self.root_positions, self.rotations)

    def contact_positions(self) -> FloatArray:
        """Return the world positions of the skeleton's contact points [m]; (F, C, 3)."""
        return contact_positions(self.skeleton, self.root_positions, self.rotations)

    def headings(self) -> FloatArray:
        """Return the heading of the root [rad], continuous from frame to frame; (F,), read-only."""
        return self._headings

    @cached_property
    def _headings(self) -> FloatArray:
        # planners ask the same clips of a library again and again
        ahead = rotations.rotate(self.rotations[:, 0], self.skeleton.forward)
        out = np.arctan2(ahead[:, 1], ahead[:, 0])
        if (np.abs(np.diff(out)) >= np.pi).any():  # rarely; `unwrap` takes as long as all the rest
            out = np.unwrap(out)
        out.setflags(write=False)
        return out

    @cached_property
    def is_single(self) -> bool:
        """Whether single precision holds root positions and rotations exactly; takes keep only such clips."""
        return all(np.array_equal(a.astype(np.float32), a) for a in (self.root_positions, self.rotations))

    def planar_path(self) -> FloatArray:
        """Return the root's planar pose (x, y, heading) in every frame; (F, 3)."""
        return np.column_stack([self.root_positions[:, :2], self.headings()])
