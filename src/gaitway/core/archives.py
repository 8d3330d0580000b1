"""Archives: one file of plain .npy arrays and a JSON header, which NumPy alone can read, without pickle.

The file is a zip archive (`numpy.load(path, allow_pickle=False)`). `header` holds the UTF-8 bytes of a JSON object with
"format", "version" and "sha256", the hexadecimal SHA-256 over the rest of the header and all other arrays.

What is read is checked before it is believed: sizes against the limits before memory is taken, every array's type and
shape, the checksum, and the header, whose form and types a model says (`Header`), as models do for scene files.
"""

from __future__ import annotations

import hashlib
import json
import math
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, ValidationError

from gaitway._version import __version__
from gaitway.core.errors import FormatError, GaitwayError
from gaitway.core.files import atomic_write, open_file

MAX_BYTES = 2_000_000_000
"""Greatest memory of the arrays of one file, unless its kind has another limit [bytes]."""
SMALL_BYTES = 64_000_000
"""Memory that every file may ask for, however small it is [bytes]."""
MAX_RATIO = 100
"""Greatest memory of the arrays beyond that, in sizes of the file; real motion packs to a third, constants to more."""
MAX_HEADER = 64_000_000
"""Greatest size of the header [bytes]."""
MAX_HEADER_VALUES = 4_000_000
"""Greatest number of values in a header: as text they are a few bytes, in memory a hundred."""
MAX_HEADER_DEPTH = 32
"""Deepest nesting of a header."""

Built = TypeVar("Built")
Model = TypeVar("Model", bound="Header")
Arrays = dict[str, npt.NDArray[Any]]
Spec = tuple[tuple[int | None, ...], str]
"""Expected shape (None: any) and type, as NumPy writes it."""


@dataclass(frozen=True)
class ArchiveFormat:
    """A kind of archive."""

    noun: str
    """What it holds, as messages call it: "take", "library"."""
    version: int
    """Newest version that is read, and the version that is written."""
    most_bytes: int = MAX_BYTES
    """Greatest memory of its arrays [bytes]."""

    @property
    def name(self) -> str:
        """Name of the format in the header."""
        return f"gaitway {self.noun}"


class Header(BaseModel):
    """A part of a header: unknown keys are refused, nothing is converted, and NaN and infinity are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class FileHeader(Header):
    """What every header has; the header of a kind adds to it."""

    format: str
    version: int
    written_by: str = ""
    sha256: str = ""


def checked(model: type[Model], data: Any) -> Model:
    """Return a part of a header as its model.

    Raises:
        ValueError: if it has another form; the message names the place, and what is there.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])[:200]
        found = "" if first["type"] == "missing" else f", found {first['input']!r:.60}"
        problem = first["msg"][:1].lower() + first["msg"][1:]
        raise ValueError(f"{place.removeprefix('.') or 'header'}: {problem}{found}") from None


def write_archive(path: str | Path, kind: ArchiveFormat, header: Mapping[str, Any], arrays: Arrays) -> None:
    """Write an archive, which appears only when it is complete; equal content is equal bytes.

    Raises:
        FormatError: if the file cannot be written, or would be too large to be read again.
    """
    first = {"format": kind.name, "version": kind.version, "written_by": f"gaitway {__version__}"}
    whole = {**first, **header}
    whole["sha256"] = _digest(whole, arrays)
    text = json.dumps(whole, allow_nan=False, separators=(",", ":")).encode()
    _check_text(path, text)
    try:
        _check_values(path, whole, text)
    except ValueError as problem:
        raise FormatError(path, f"cannot be written: {_one_line(problem)}") from None
    size = sum(array.nbytes for array in arrays.values())
    if size > kind.most_bytes:
        raise FormatError(path, f"{size:,} bytes of arrays; a {kind.noun} may have {kind.most_bytes:,}")
    with atomic_write(path) as file, zipfile.ZipFile(file, "w") as archive:
        _write(archive, "header", np.frombuffer(text, dtype=np.uint8))
        for name, array in arrays.items():
            _write(archive, name, array)


def read_archive(
    path: str | Path,
    kind: ArchiveFormat,
    specs: Callable[[Mapping[str, Any], Mapping[str, int]], dict[str, Spec]],
    build: Callable[[Mapping[str, Any], Arrays], Built],
) -> Built:
    """Read an archive, check all of it, and return what `build` makes of it.

    Args:
        path: the file.
        kind: what it must be.
        specs: type and shape of every array that belongs to a header, given it and the arrays' sizes in bytes.
        build: makes the thing of header and arrays.

    Raises:
        FormatError: if it is none, is damaged or was edited, is of a newer version, or asks for absurd sizes.
    """
    source = Path(path)
    with _opened(source, kind) as archive:
        sizes = _members(source, archive, kind)
        header = _read_header(source, archive, sizes, kind)
        wanted = _guarded(source, lambda: specs(header, sizes), kind)
        for name in sizes.keys() - wanted.keys() - {"header"}:
            raise FormatError(source, f"has an array '{name}' that does not belong in a {kind.noun}")
        arrays = {name: _read(source, archive, name, spec, sizes) for name, spec in wanted.items()}
        told = header.pop("sha256", None)
        if _digest(header, arrays) != told:
            raise FormatError(source, "is damaged or was edited: its content does not match its checksum")
    return _guarded(source, lambda: build(header, arrays), kind)


def read_header(path: str | Path, kind: ArchiveFormat) -> dict[str, Any]:
    """Return the header alone, which is fast; nothing else is checked.

    Raises:
        FormatError: if it is no such archive, or of a newer version.
    """
    source = Path(path)
    with _opened(source, kind) as archive:
        return _read_header(source, archive, _members(source, archive, kind), kind)


def counted(value: Any, most: int, what: str) -> int:
    """Return a whole number of a header after checking that it is from 0 to `most`.

    Raises:
        ValueError: if it is not.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise ValueError(f"{value!r:.60} {what}; at most {most} are possible")
    return value


def _digest(header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """Return the SHA-256 over the header without its checksum, then over each array's name, type, shape and bytes."""
    words = json.dumps({k: v for k, v in header.items() if k != "sha256"}, sort_keys=True)
    total = hashlib.sha256(words.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        total.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        total.update(array.reshape(-1).view(np.uint8).data)
    return total.hexdigest()


def _write(archive: zipfile.ZipFile, name: str, array: npt.NDArray[Any]) -> None:
    # a fixed date, so that equal content gives equal files
    member = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
    member.compress_type = zipfile.ZIP_DEFLATED
    with archive.open(member, "w", force_zip64=True) as file:
        np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)


@contextmanager
def _opened(path: Path, kind: ArchiveFormat) -> Iterator[zipfile.ZipFile]:
    """Open the archive; every error of the zip format becomes a message of one line."""
    try:
        with open_file(path) as file, zipfile.ZipFile(file) as archive:
            yield archive
    except FormatError:
        raise
    except MemoryError:
        raise FormatError(path, "needs more memory than there is") from None
    except OSError as problem:
        raise FormatError(path, f"cannot be read: {problem.strerror or problem}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as problem:
        raise FormatError(path, f"is not a {kind.noun}, or is damaged: {_one_line(problem)}") from None


def _one_line(problem: BaseException) -> str:
    return " ".join(str(problem).split())[:200] or type(problem).__name__


def _members(path: Path, archive: zipfile.ZipFile, kind: ArchiveFormat) -> dict[str, int]:
    """Return the name and unpacked size of each array, after checking that their sum is within the limits.

    No more than these sizes is ever unpacked, whatever the file holds.
    """
    sizes: dict[str, int] = {}
    packed = 0
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if name == member.filename or name in sizes:
            raise FormatError(path, f"has a part {member.filename[:60]!r} that does not belong in a {kind.noun}")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FormatError(
                path, f"has a part {member.filename[:60]!r} that is packed in a way that is not used here"
            )
        sizes[name] = member.file_size
        packed += member.compress_size
    size, most = sum(sizes.values()), min(kind.most_bytes, max(SMALL_BYTES, MAX_RATIO * packed))
    if size > most:
        raise FormatError(path, f"asks for {size:,} bytes of memory; a {kind.noun} of its size may ask for {most:,}")
    if "header" not in sizes:
        raise FormatError(path, f"is not a {kind.noun}: it has no array 'header'")
    return sizes


def read_array_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read shape, order (True: by columns) and type of an array from the start of a .npy file.

    Raises:
        ValueError: if it is none. NumPy parses the header as Python source, so that damage is a syntax error of many
            kinds there.
    """
    try:
        version = np.lib.format.read_magic(file)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"version {version} of the .npy format is not used here")
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        return read(file)
    except (SyntaxError, TokenError, TypeError, RecursionError, EOFError) as problem:
        raise ValueError(f"damaged header of an array ({_one_line(problem)})") from None


def _read(path: Path, archive: zipfile.ZipFile, name: str, spec: Spec, sizes: Mapping[str, int]) -> npt.NDArray[Any]:
    """Read one array, whose type and shape are checked against `spec` before memory is allocated."""
    if name not in sizes:
        raise FormatError(path, f"lacks the array '{name}'")
    with archive.open(f"{name}.npy") as file:
        shape, by_column, dtype = read_array_header(file)
        wanted, kinds = spec
        fits = len(shape) == len(wanted) and all(w in (None, n) for w, n in zip(wanted, shape, strict=True))
        if dtype.hasobject or dtype.str not in kinds.split() or not fits or (by_column and len(shape) > 1):
            raise FormatError(path, f"array '{name}' is {dtype} of shape {shape}, expected {kinds} of {wanted}")
        size = math.prod(shape) * dtype.itemsize
        if size > sizes[name]:
            raise FormatError(path, f"array '{name}' of shape {shape} does not fit into its {sizes[name]} bytes")
        data = file.read(size)
        if len(data) != size or file.read(1):
            raise FormatError(path, f"array '{name}' has not the {size} bytes that its shape asks for")
    return np.frombuffer(data, dtype=dtype).reshape(shape)


def _read_header(path: Path, archive: zipfile.ZipFile, sizes: Mapping[str, int], kind: ArchiveFormat) -> dict[str, Any]:
    if sizes["header"] > MAX_HEADER:
        raise FormatError(path, f"has a header of {sizes['header']:,} bytes; at most {MAX_HEADER:,} are read")
    try:
        header = parse_json(path, _read(path, archive, "header", ((None,), "|u1"), sizes).tobytes())
    except (ValueError, RecursionError) as problem:
        raise FormatError(path, f"is not a {kind.noun}, or is damaged: {_one_line(problem)}") from None
    if not isinstance(header, dict) or header.get("format") != kind.name:
        raise FormatError(path, f"is not a {kind.noun}: its header does not say so")
    version = header.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FormatError(path, f"has version {version!r:.60}, which is none")
    if version > kind.version:
        raise FormatError(
            path, f"has version {version} of the format; this gaitway reads up to {kind.version}: update it"
        )
    return header


def parse_json(path: Path, text: bytes) -> Any:
    """Return the values of a JSON text of a file within the limits of headers.

    Raises:
        FormatError: if there are too many values, or they are nested too deep.
        ValueError: if it is not JSON.
        RecursionError: if it is nested so deep that it cannot be parsed.
    """
    _check_text(path, text)
    value = json.loads(text.decode(), parse_constant=_refuse_constant)
    _check_values(path, value, text)
    return value


def _check_values(path: str | Path, value: Any, text: bytes) -> None:
    """Refuse values that are nested too deep, and words that are no text.

    Raises:
        FormatError: if they are nested too deep.
        UnicodeEncodeError: if a word is no text.
    """
    level = [value]
    for _ in range(MAX_HEADER_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    if level:
        raise FormatError(path, f"has a header that is nested more than {MAX_HEADER_DEPTH} deep")
    if b"\\ud" in text.lower():  # halves of characters are no text, and cannot be written anywhere
        json.dumps(value, ensure_ascii=False).encode()


def _check_text(path: str | Path, text: bytes) -> None:
    """Refuse a header that would take too much memory."""
    if len(text) > MAX_HEADER:
        raise FormatError(path, f"has a header of {len(text):,} bytes; at most {MAX_HEADER:,} are read")
    values = sum(text.count(sign) for sign in (b",", b"[", b"{"))
    if values > MAX_HEADER_VALUES:
        raise FormatError(path, f"has a header of {values:,} values; at most {MAX_HEADER_VALUES:,} are read")


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number")


def _guarded(path: Path, build: Callable[[], Built], kind: ArchiveFormat) -> Built:
    """Return the result of `build`; a header or arrays that do not fit together become a message of one line."""
    try:
        return build()
    except FormatError:
        raise
    except MemoryError:
        raise FormatError(path, "needs more memory than there is") from None
    except (
        GaitwayError, KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError, RecursionError,
    ) as problem:  # fmt: skip
        what = f"lacks {_one_line(problem)}" if isinstance(problem, KeyError) else _one_line(problem)
        raise FormatError(path, f"does not hold together: {what}; save the {kind.noun} anew") from None
