"""All poses of a take as plain NumPy arrays."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from gaitway.core.errors import FormatError
from gaitway.core.files import atomic_write, check_writable
from gaitway.core.progress import Progress, silent
from gaitway.export.characters import clock_blocks
from gaitway.motion.kinematics import forward_kinematics
from gaitway.take.data import checked_rate
from gaitway.take.evaluation import sampled
from gaitway.take.model import Take
from gaitway.take.tables import chosen_body, clock_frames

_ROWS_AT_ONCE = 50_000


def export_dense(
    take: Take,
    path: str | Path,
    fps: float | None = None,
    *,
    skeleton: int | None = None,
    progress: Progress = silent,
) -> None:
    """Write all poses of characters that share a skeleton as one NPZ file of plain arrays (`numpy.load` reads it).

    It holds `fps`, `names` (C), `joint_names` (J), `parents` (J), `offsets` (J, 3) [m], `start` (C) and `length` (C) in
    frames of one clock for all, and each character's frames in one run: `root` (N, 3) [m], float64, `rotations`
    (N, J, 4), local, wxyz, float32, and `positions` (N, J, 3), of the joints in the world [m], float32. A character
    between two frames of the clock has length 0. The arrays go to disk in pieces, so that crowds of any size fit.

    Args:
        take: what to write.
        path: the file; .npz.
        fps: frames a second [Hz]; the take's own if None.
        skeleton: index into `take.skeletons`: only characters with that body. May be left out if all have the same.
        progress: called with the number of frames that are done.

    Raises:
        FormatError: for another ending, or if the file cannot be written.
        TakeError: if characters have different bodies and none is chosen.
    """
    path = Path(path)
    if path.suffix.lower() != ".npz":
        raise FormatError(path, f"poses as arrays are written as .npz, not '{path.suffix}'")
    check_writable(path)
    rate = take.fps if fps is None else checked_rate(fps)
    body = chosen_body(take, skeleton)
    who, bones = np.flatnonzero(take.bodies == body), take.skeletons[body]
    first, length = (column[who] for column in clock_frames(take, rate))
    with (
        atomic_write(path) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive,
        tempfile.TemporaryFile(dir=path.parent) as roots,
        tempfile.TemporaryFile(dir=path.parent) as joints,
    ):
        small: dict[str, Any] = {
            "fps": np.float64(rate),
            "names": np.array([take.names[c] for c in who]),
            "joint_names": np.array(bones.names),
            "parents": bones.parents,
            "offsets": bones.offsets,
            "start": first,
            "length": length,
        }
        for name, value in small.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.asanyarray(value), allow_pickle=False)
        rows, done = int(length.sum()), 0
        # an archive takes one array after the other, but all come out of one evaluation
        with _array(archive, "rotations", (rows, len(bones), 4), np.dtype("<f4")) as member:
            for characters, frames in clock_blocks(take, rate, who, _ROWS_AT_ONCE):
                places, turns = sampled(take, body, characters, frames / rate)
                member.write(turns.astype("<f4").data)
                roots.write(places.astype("<f8").data)
                joints.write(forward_kinematics(bones, places, turns)[0].astype("<f4").data)
                done += len(frames)
                progress(path.name, done, rows)
        for name, shape, kind, stored in (
            ("root", (rows, 3), "<f8", roots),
            ("positions", (rows, len(bones), 3), "<f4", joints),
        ):
            stored.seek(0)
            with _array(archive, name, shape, np.dtype(kind)) as member:
                shutil.copyfileobj(stored, member, 1 << 20)


@contextmanager
def _array(archive: zipfile.ZipFile, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Iterator[IO[bytes]]:
    """Open a member of an NPZ file to which the values of an array are written row by row."""
    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(member, header)
        yield member
