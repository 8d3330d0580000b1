"""Reader of terrain files: grey pictures and NumPy arrays."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from PIL import Image

from gaitway.core.archives import read_array_header
from gaitway.core.arrays import FloatArray
from gaitway.core.errors import FormatError, WorldError
from gaitway.core.files import open_file
from gaitway.world.terrain import MAX_HEIGHTS, Terrain

_GREY = {"L": 255.0, "I;16": 65535.0, "I;16B": 65535.0, "I;16L": 65535.0, "I": 65535.0}
"""Pillow's names of grey pictures, and what it calls white."""


def load_terrain(
    path: str | Path, cell: float, scale: float = 1.0, origin: tuple[float, float] = (0.0, 0.0)
) -> Terrain:
    """Read heights from a file.

    Args:
        path: a grey PNG of 8 or 16 bits, whose top row is the far edge (largest y) as on a map, black 0 and white 1;
            or an NPY file of a 2D array in metres, whose row 0 lies at the origin.
        cell: distance between pixels or numbers [m].
        scale: factor of the values; for a picture the height of white [m].
        origin: x and y of the corner with the least of both [m].

    Raises:
        FormatError: if the file cannot be read, is of another kind, or has more than `MAX_HEIGHTS` heights.
        WorldError: if cell, scale or origin cannot be.
    """
    path = Path(path)
    if not np.isfinite(scale):
        raise WorldError(f"terrain scale {scale} must be a number")
    readers = {".png": _read_png, ".npy": _read_npy}
    if path.suffix.lower() not in readers:
        raise FormatError(path, f"'{path.suffix}' is not a file of heights; write a .png or a .npy")
    if not path.exists():
        raise FormatError(path, "there is no such file")
    try:
        with open_file(path) as file:
            heights = readers[path.suffix.lower()](path, file)
    except OSError as problem:
        raise FormatError(path, f"cannot be read: {problem.strerror or problem}") from None
    try:
        return Terrain(heights * scale, cell, origin)
    except WorldError as problem:
        raise FormatError(path, str(problem)) from None


def _check_size(path: Path, columns: int, rows: int) -> None:
    if columns * rows > MAX_HEIGHTS:
        raise FormatError(path, f"{columns} by {rows} heights; at most {MAX_HEIGHTS} are possible")


def _read_png(path: Path, file: BinaryIO) -> FloatArray:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our own limit is lower and clearer
            with Image.open(file, formats=["PNG"]) as picture:
                _check_size(path, *picture.size)
                if picture.mode not in _GREY:
                    raise FormatError(path, f"is a picture of mode {picture.mode}; save it as grey of 8 or 16 bits")
                values = np.asarray(picture, dtype=np.float64) / _GREY[picture.mode]
    except Image.DecompressionBombError:
        raise FormatError(path, f"has too many pixels; at most {MAX_HEIGHTS} are possible") from None
    except (OSError, SyntaxError, ValueError) as problem:
        raise FormatError(path, f"is not a whole PNG picture: {_line(problem)}") from None
    return values[::-1]


def _read_npy(path: Path, file: BinaryIO) -> npt.NDArray[np.float64]:
    try:
        shape, _, dtype = read_array_header(file)
        if dtype.kind not in "fiu" or len(shape) != 2:
            raise FormatError(path, f"holds {dtype} of shape {shape}; heights are a 2D array of numbers")
        _check_size(path, shape[1], shape[0])
        file.seek(0)
        return np.asarray(np.load(file, allow_pickle=False), dtype=np.float64)
    except (ValueError, EOFError) as problem:
        raise FormatError(path, f"is not a whole NPY file: {_line(problem)}") from None


def _line(problem: Exception) -> str:
    return " ".join(str(problem).split())
