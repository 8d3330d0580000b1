"""Archives: what a file may ask for, whatever it holds."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from pydantic import Field

from gaitway.bench._mutation import craft_archive as craft
from gaitway.core import archives
from gaitway.core.archives import ArchiveFormat, FileHeader, checked, read_archive, write_archive
from gaitway.core.errors import FormatError

KIND = ArchiveFormat("thing", 1)


class ThingHeader(FileHeader):
    size: Annotated[int, Field(ge=0, le=10)]
    words: dict[str, Any] = Field(default_factory=dict)


def read(path: Path) -> tuple[Any, Any]:
    def specs(header: Any, sizes: Any) -> Any:
        del sizes
        checked(ThingHeader, header)
        return {"values": ((None,), "<f8")}

    return read_archive(path, KIND, specs, lambda header, arrays: (header, arrays))


def test_it_comes_back(tmp_path: Path) -> None:
    write_archive(tmp_path / "a", KIND, {"size": 3, "words": {"a": [1, "é", None]}}, {"values": np.arange(3.0)})
    header, arrays = read(tmp_path / "a")
    assert header["words"] == {"a": [1, "é", None]}
    assert arrays["values"].tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ({"size": "3"}, "size: input should be a valid integer, found '3'"),
        ({"size": True}, "size: input should be a valid integer, found True"),
        ({"size": 3.5}, "size: input should be a valid integer"),
        ({"size": 11}, "size: input should be less than or equal to 10, found 11"),
        ({}, "size: field required"),
        ({"size": 3, "more": 1}, "more: extra inputs are not permitted"),
        ({"size": 3, "words": []}, "words: input should be a valid dictionary"),
    ],
)
def test_types_are_checked(tmp_path: Path, header: dict[str, Any], problem: str) -> None:
    craft(tmp_path / "a", {"format": "gaitway thing", "version": 1, **header}, {"values": np.zeros(1)})
    with pytest.raises(FormatError, match="does not hold together") as caught:
        read(tmp_path / "a")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def nested(depth: int) -> Any:
    return [] if depth == 0 else [nested(depth - 1)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"a": [0] * 5_000_000}, "a header of 5,000,00. values; at most 4,000,000"),
        ({"a": nested(40)}, "nested more than 32 deep"),
        ({"a": "\ud800"}, "surrogates not allowed"),
    ],
)
def test_headers_are_limited(tmp_path: Path, words: dict[str, Any], problem: str) -> None:
    header = {"format": "gaitway thing", "version": 1, "size": 1, "words": words}
    craft(tmp_path / "a", header, {"values": np.zeros(1)})
    with pytest.raises(FormatError, match=problem):
        read(tmp_path / "a")
    with pytest.raises(FormatError, match=problem):
        write_archive(tmp_path / "b", KIND, {"size": 1, "words": words}, {"values": np.zeros(1)})
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"a": NaN}', b'{"a": 1' + b"0" * 5000 + b"}", b"{", b"\xff", b"3"])
def test_headers_that_are_no_header(tmp_path: Path, text: bytes) -> None:
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archives._write(archive, "header", np.frombuffer(text, np.uint8))
    with pytest.raises(FormatError, match="is not a thing") as caught:
        read(tmp_path / "a")
    assert len(str(caught.value)) < 500


@pytest.mark.slow
def test_little_is_unpacked_of_a_small_file(tmp_path: Path) -> None:
    """A kilobyte may ask for a little, and a large file for as much as it may hold."""
    header = {"format": "gaitway thing", "version": 1, "size": 1}
    craft(tmp_path / "a", header, {"values": np.zeros(9_000_000)})
    assert (tmp_path / "a").stat().st_size < 200_000
    with pytest.raises(
        FormatError, match=r"asks for 72,000,\d+ bytes of memory; a thing of its size may ask for 64,000"
    ):
        read(tmp_path / "a")
    craft(tmp_path / "a", header, {"values": np.random.default_rng(0).random(9_000_000)})
    assert len(read(tmp_path / "a")[1]["values"]) == 9_000_000


def test_sizes_that_lie(tmp_path: Path) -> None:
    """No more comes out of a member than its directory says."""
    header = {"format": "gaitway thing", "version": 1, "size": 1}
    craft(tmp_path / "a", header, {"values": np.zeros(100_000)})
    content = (tmp_path / "a").read_bytes()
    told = (800_128).to_bytes(4, "little")
    assert content.count(told) >= 1
    (tmp_path / "a").write_bytes(content.replace(told, (1000).to_bytes(4, "little")))
    with pytest.raises(FormatError):
        read(tmp_path / "a")


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_other_ways_of_packing_are_refused(tmp_path: Path, method: int) -> None:
    """Their dictionaries may need gigabytes."""
    buffer = io.BytesIO()
    np.save(buffer, np.frombuffer(json.dumps({"format": "gaitway thing", "version": 1}).encode(), np.uint8))
    with zipfile.ZipFile(tmp_path / "a", "w", method) as archive:
        archive.writestr("header.npy", buffer.getvalue())
    with pytest.raises(FormatError, match="packed in a way that is not used here"):
        read(tmp_path / "a")


def test_no_memory_is_one_line(tmp_path: Path) -> None:
    write_archive(tmp_path / "a", KIND, {"size": 3}, {"values": np.arange(3.0)})

    def build(header: Any, arrays: Any) -> Any:
        raise MemoryError

    with pytest.raises(FormatError, match="needs more memory than there is"):
        read_archive(tmp_path / "a", KIND, lambda header, sizes: {"values": ((None,), "<f8")}, build)


def test_what_is_too_large_to_be_read_is_not_written(tmp_path: Path) -> None:
    small = ArchiveFormat("thing", 1, most_bytes=100)
    with pytest.raises(FormatError, match="800 bytes of arrays; a thing may have 100"):
        write_archive(tmp_path / "a", small, {}, {"values": np.zeros(100)})
    assert not (tmp_path / "a").exists()
