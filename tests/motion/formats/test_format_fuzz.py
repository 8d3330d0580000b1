"""Damaged files of every kind end in a GaitwayError or load; nothing else may come out."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bvh_text import SMALL
from gaitway.core.errors import GaitwayError
from gaitway.motion.formats import load_clip
from glb_builder import Asset

WORDS = [
    b"{", b"}", b"JOINT", b"End Site", b"OFFSET", b"CHANNELS 6", b"MOTION", b"nan", b"-inf", b"1e999", b"9" * 30, b"\n",
    b"\0", b"\xff", b"-", b".", b"0", b"-1", b"begin", b"end", b":hierarchy", b"root", b"null", b"[]", b"{}", b'""',
    b"1e8", b"\xef\xbb\xbf", b"(", b"#", b'"children": [0]', b"2147483648", b"true",
]  # fmt: skip


@st.composite
def damage(draw: st.DrawFn, original: bytes) -> bytes:
    """The file with some bytes changed, removed, doubled or replaced by words that mean something."""
    data = bytearray(original)
    for _ in range(draw(st.integers(1, 4))):
        if not data:
            break
        at = draw(st.integers(0, len(data) - 1))
        until = min(at + draw(st.integers(0, 20)), len(data))
        match draw(st.integers(0, 4)):
            case 0:
                data[at] = draw(st.integers(0, 255))
            case 1:
                del data[at:until]
            case 2:
                data[at:at] = data[at:until]
            case 3:
                data[at:until] = draw(st.sampled_from(WORDS))
            case _:
                del data[at:]
    return bytes(data)


def loads_or_complains(files: dict[str, bytes], name: str) -> None:
    with TemporaryDirectory() as folder:
        for file, data in files.items():
            (Path(folder) / file).write_bytes(data)
        try:
            clip = load_clip(Path(folder) / name)
        except GaitwayError as error:
            assert "\n" not in str(error)
        else:
            assert np.isfinite(clip.joint_positions()).all()


@given(damage(SMALL.encode()))
@settings(max_examples=400, deadline=None)
def test_bvh(data: bytes) -> None:
    loads_or_complains({"a.bvh": data}, "a.bvh")


ASF = b""":units
  length 0.45
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
  begin
    id 1
    name lfemur
    direction 0 -1 0
    length 8
    axis 0 0 20 XYZ
    dof rx rz
    limits (-160.0 20.0)
           (-inf 70.0)
  end
:hierarchy
  begin
    root lfemur
  end
"""
AMC = b":DEGREES\n1\nroot 1 2 3 0 0 0\nlfemur 0 0\n2\nroot 1 2 3 0 90 0\nlfemur 90 0\n"


@given(damage(ASF), st.just(AMC) | damage(AMC))
@settings(max_examples=300, deadline=None)
def test_asf_and_amc(asf: bytes, amc: bytes) -> None:
    loads_or_complains({"a.asf": asf, "a.amc": amc}, "a.amc")


@given(damage(AMC))
@settings(max_examples=200, deadline=None)
def test_amc(amc: bytes) -> None:
    loads_or_complains({"a.asf": ASF, "a.amc": amc}, "a.amc")


def asset() -> Asset:
    made = Asset()
    top = made.node("top", scale=[2.0, 2.0, 2.0])
    root = made.node("hips", top, translation=[1.0, 2.0, 3.0])
    made.node("arm", root, matrix=np.eye(4).ravel().tolist())
    made.animate(root, "rotation", [0.0, 0.5], [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.6, 0.8]])
    made.animate(root, "translation", [0.0, 0.5], np.ones((6, 3)), "CUBICSPLINE")
    made.skin([1, 2], np.tile(np.eye(4), (2, 1, 1)))
    return made


@given(damage(asset().glb_bytes()))
@settings(max_examples=300, deadline=None)
def test_glb(data: bytes) -> None:
    loads_or_complains({"a.glb": data}, "a.glb")


with TemporaryDirectory() as _folder:
    GLTF = asset().save_gltf(Path(_folder) / "a.gltf").read_bytes()


@given(damage(GLTF))
@settings(max_examples=400, deadline=None)
def test_gltf(data: bytes) -> None:
    loads_or_complains({"a.gltf": data}, "a.gltf")
