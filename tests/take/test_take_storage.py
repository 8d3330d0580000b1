"""Takes on disk: exact round trips, and every kind of damage refused in one line."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gaitway.core import archives
from gaitway.core.errors import FormatError
from gaitway.take import Segments, Take, load_take, save_take
from take_makers import random_take


def equal_takes(a: Take, b: Take) -> bool:
    def same(x, y) -> bool:
        if x is None or y is None:
            return x is y
        x, y = np.asarray(x), np.asarray(y)
        return x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()

    arrays = [(getattr(a, n), getattr(b, n)) for n in ("bodies", "rows", "ends", "goals", "radii")]
    arrays += [(getattr(a.segments, n), getattr(b.segments, n)) for n in Segments.__dataclass_fields__]
    for x, y in zip(a.clips, b.clips, strict=True):
        arrays += [(x.rotations, y.rotations), (x.root_positions, y.root_positions), (x.contacts, y.contacts)]
        if (x.name, x.fps, x.labels) != (y.name, y.fps, y.labels):
            return False
    for x, y in zip(a.layers, b.layers, strict=True):
        arrays += [(getattr(x, n), getattr(y, n)) for n in ("joints", "turns", "root_turns", "root_moves")]
        if (x.name, x.character, x.start) != (y.name, y.character, y.start):
            return False
    for x, y in zip(a.skeletons, b.skeletons, strict=True):
        arrays += [(getattr(x, n), getattr(y, n)) for n in ("parents", "offsets", "rest_rotations")]
        words = ("name", "names", "roles", "contact_points", "tips")
        if any(getattr(x, w) != getattr(y, w) for w in words):
            return False
    plain = [(t.names, t.fps, t.behaviors, dict(t.facts)) for t in (a, b)]
    return plain[0] == plain[1] and all(same(x, y) for x, y in arrays)


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1))
def test_round_trips_are_exact_and_repeatable(tmp_path_factory, seed):
    folder = tmp_path_factory.mktemp("take")
    take = random_take(seed)
    save_take(take, folder / "a.npz")
    back = load_take(folder / "a.npz")
    assert equal_takes(take, back)
    save_take(back, folder / "b.npz")
    assert (folder / "a.npz").read_bytes() == (folder / "b.npz").read_bytes()


def test_it_is_readable_with_numpy_alone(tmp_path):
    take = random_take(4)
    save_take(take, tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        header = json.loads(bytes(file["header"]))
        assert (header["format"], header["version"], header["names"]) == ("gaitway take", 1, list(take.names))
        np.testing.assert_array_equal(file["segments.pose.x"] / 2**20, take.segments.pose[:, 0])
        np.testing.assert_array_equal(file["clip.0.rotations"], take.clips[0].rotations)


def rewritten(data: bytes, change) -> bytes:
    """The archive with its members passed through `change(dict)`; `None` drops one."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def npy(array) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def edit_header(**values):
    def change(members):
        header = json.loads(np.load(io.BytesIO(members["header.npy"])).tobytes())
        header.update(values)
        members["header.npy"] = npy(np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))

    return change


def huge(members) -> None:
    """A small member whose own header asks for a terabyte."""
    content = io.BytesIO()
    np.lib.format.write_array_header_1_0(content, {"descr": "<f8", "fortran_order": False, "shape": (10**11, 1)})
    members["ends.npy"] = content.getvalue()


DAMAGE = {
    "lacks": (lambda m: m.pop("ends.npy"), "lacks the array 'ends'"),
    "more": (lambda m: m.update({"extra.npy": npy(np.zeros(3))}), "'extra' that does not belong"),
    "other file": (lambda m: m.update({"notes.txt": b"hello"}), "'notes.txt' that does not belong"),
    "wrong type": (lambda m: m.update({"ends.npy": npy(np.zeros(6, dtype=np.float32))}), "array 'ends' is float32"),
    "objects": (lambda m: m.update({"ends.npy": npy(np.array([1] * 6, dtype=object))}), "array 'ends' is object"),
    "wrong shape": (lambda m: m.update({"ends.npy": npy(np.zeros(7))}), "of shape \\(7,\\)"),
    "other values": (lambda m: m.update({"ends.npy": npy(np.full(6, 99.0))}), "does not match its checksum"),
    "huge": (huge, "array 'ends' is float64 of shape|does not fit"),
    "newer": (edit_header(version=2), "version 2 of the format; this gaitway reads up to 1"),
    "no version": (edit_header(version="x"), "version 'x', which is none"),
    "another format": (edit_header(format="library"), "is not a take: its header"),
    "absurd": (edit_header(segments=10**15), "does not hold together"),
    "no header": (lambda m: m.pop("header.npy"), "no array 'header'"),
    "header of lists": (edit_header(skeletons=3), "does not hold together"),
    "edited words": (edit_header(names=[f"x{i}" for i in range(6)]), "does not match its checksum"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_refused_in_one_line(tmp_path, kind):
    change, message = DAMAGE[kind]
    path = tmp_path / "a.npz"
    save_take(random_take(4), path)
    path.write_bytes(rewritten(path.read_bytes(), change))
    with pytest.raises(FormatError, match=message) as caught:
        load_take(path)
    assert "\n" not in str(caught.value) and str(path) in str(caught.value)


def test_not_archives(tmp_path):
    for name, content in (("empty.npz", b""), ("text.npz", b"hello"), ("cut.npz", b"PK\x03\x04 and nothing")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(FormatError, match="is not a take, or is damaged"):
            load_take(tmp_path / name)
    with pytest.raises(FormatError, match="is a folder"):
        load_take(tmp_path)
    with pytest.raises(FormatError, match="cannot be read: No such file"):
        load_take(tmp_path / "none.npz")


def test_a_zip_bomb_is_not_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    save_take(random_take(4), path)
    path.write_bytes(rewritten(path.read_bytes(), lambda m: m.update({"ends.npy": bytes(3_000_000)})))
    monkeypatch.setattr(archives, "SMALL_BYTES", 2_000_000)
    with pytest.raises(FormatError, match=r"asks for .* bytes of memory; a take of its size may ask for 2,"):
        load_take(path)


def test_truncated_files(tmp_path):
    path = tmp_path / "a.npz"
    save_take(random_take(4), path)
    data = path.read_bytes()
    for share in np.linspace(0.0, 0.999, 12):
        path.write_bytes(data[: int(share * len(data))])
        with pytest.raises(FormatError):
            load_take(path)


@pytest.mark.slow
def test_flipped_bytes_give_an_error_or_the_same_take(tmp_path):
    take, path = random_take(4), tmp_path / "a.npz"
    save_take(take, path)
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(400):
        flipped = bytearray(data)
        flipped[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(flipped))
        try:
            assert equal_takes(load_take(path), take)
        except FormatError as problem:
            refused += 1
            assert "\n" not in str(problem)
    assert refused > 300
