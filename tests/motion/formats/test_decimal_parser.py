"""The number parser against Python's own, and the kernels against plain twins."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gaitway.core import rotations
from gaitway.core.errors import FormatError
from gaitway.motion.formats import _kernels
from gaitway.motion.formats.bvh import POWERS_HIGH, POWERS_LOW, eight_bytes, read_table

PATH = Path("table.txt")


def parse(text: str) -> tuple[int, float]:
    data = np.frombuffer(text.encode() + b"\n", dtype=np.uint8)
    return _kernels.parse_number(data, 0, POWERS_HIGH, POWERS_LOW)


def ulps(a: float, b: float) -> float:
    return abs(a - b) / math.ulp(b) if a != b else 0.0


@settings(deadline=None)  # the first example compiles
@given(st.floats(min_value=-1e9, max_value=1e9), st.sampled_from(["repr", ".6f", ".17g", ".3e", ".25f"]))
@example(0.1, "repr")
@example(5e-324, "repr")
@example(2.2250738585072014e-308, "repr")
def test_floats_come_back(value: float, style: str) -> None:
    text = repr(value) if style == "repr" else format(value, style)
    end, found = parse(text)
    assert end == len(text)
    wanted = float(text)
    assert ulps(found, wanted) <= 1.0 or abs(wanted) < 1e-270
    table = read_table(PATH, f"{text} 1\n".encode(), 0, 2)
    assert ulps(table[0, 0], wanted) <= 1.0 or abs(wanted) < 1e-270


DECIMALS = st.from_regex(r"[+-]?([0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})([eE][+-]?[0-9]{1,3})?", fullmatch=True)


@pytest.mark.slow
@settings(deadline=None)
@given(DECIMALS)
@example("9007199254740993")
@example("999999999999999999999e-12")
@example("0." + "0" * 30 + "123456789012345678901234567890e30")
@example("123456789012345678")
@example("1" + "0" * 39 + "e-39")
def test_any_decimal_is_right_to_one_unit_in_the_last_place(text: str) -> None:
    end, found = parse(text)
    assert end == len(text)
    wanted = float(text)
    if abs(wanted) > 1e290 or 0.0 < abs(wanted) < 1e-270:
        return  # beyond the table of powers: infinite, or zero
    assert ulps(found, wanted) <= 1.0
    assert math.copysign(1.0, found) == math.copysign(1.0, wanted)


@pytest.mark.parametrize(
    "text", ["", "-", "+", ".", "-.", "e5", "1e", "1e+", "1.2.3", "--1", "0x10", "1_0", "nan", "inf", "1f"]
)
def test_what_is_no_number(text: str) -> None:
    assert parse(text)[0] == -1
    assert (
        _kernels.parse_number.py_func(np.frombuffer(text.encode() + b"\n", dtype=np.uint8), 0, POWERS_HIGH, POWERS_LOW)[
            0
        ]
        == -1
    )


def test_beyond_the_table_of_powers() -> None:
    assert parse("1e400")[1] == math.inf
    assert parse("-1e999999999999")[1] == -math.inf
    assert parse("1e-999999999999")[1] == 0.0
    assert parse("0e999")[1] == 0.0


@given(
    st.lists(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), min_size=1, max_size=5),
    st.sampled_from([" ", "\t", "  "]),
)
def test_a_table_comes_back(rows: list[list[float]], blank: str) -> None:
    data = "".join(blank + blank.join(f"{v:.6f}" for v in row) + " \r\n\n" for row in rows).encode()
    np.testing.assert_array_equal(read_table(PATH, data, 0, 3), [[float(f"{v:.6f}") for v in row] for row in rows])


def test_compiled_and_plain_parsers_agree() -> None:
    rng = np.random.default_rng(5)
    rows = rng.normal(0.0, 100.0, (20, 4))
    styles = ["{:.6f}", "{:.17g}", "{:.3e}", "{:.0f}"]
    lines = [" ".join(style.format(v) for style, v in zip(styles, row, strict=True)) for row in rows]
    data = np.frombuffer(("\n".join(lines) + "\n").encode(), dtype=np.uint8)
    compiled, plain = np.empty((21, 4)), np.empty((21, 4))
    arguments = (data, eight_bytes(data.tobytes()), 0, 1e9, POWERS_HIGH, POWERS_LOW)
    assert _kernels.parse_rows(*arguments, compiled) == _kernels.parse_rows.py_func(*arguments, plain)
    np.testing.assert_array_equal(compiled[:20], plain[:20])
    np.testing.assert_array_equal(compiled[:20], [[float(word) for word in line.split()] for line in lines])


def test_euler_kernel_agrees_with_the_rotations_module() -> None:
    rng = np.random.default_rng(6)
    table = rng.uniform(-400.0, 400.0, (7, 8))
    columns = np.array([[3, 1, 0], [2, 7, -1], [5, -1, -1], [-1, -1, -1]])
    axes = np.array([[2, 1, 0], [0, 2, -1], [1, -1, -1], [-1, -1, -1]])
    out = np.empty((7, 4, 4))
    _kernels.euler_quaternions(table, columns, axes, np.empty((2, 8)), out)
    for joint, order in enumerate(("zyx", "xz", "y", "")):
        wanted = rotations.from_euler(order, np.radians(table[:, columns[joint, : len(order)]]))
        np.testing.assert_allclose(out[:, joint], wanted, atol=1e-14)


@given(st.floats(-1e9, 1e9))
@example(180.0)
@example(-540.0)
def test_half_angles_are_right_to_the_last_digits(degrees: float) -> None:
    half = math.radians(math.fmod(degrees, 720.0)) / 2.0  # fmod is exact
    np.testing.assert_allclose(_kernels.half_angle.py_func(degrees), (math.cos(half), math.sin(half)), atol=1e-15)


@pytest.mark.parametrize(
    "text", ["1.234567", "-0.000001", "1.2345678", "1.23456", "12.1234567890123", "3", "999.9999995"]
)
@pytest.mark.parametrize("after", ["\n", " \n", " 1.5\n", " 1.500000 \r\n"])
def test_six_decimals_at_the_end_of_a_file_and_before(text: str, after: str) -> None:
    wanted = [float(word) for word in (text + after).split()]
    np.testing.assert_array_equal(read_table(PATH, (text + after).encode(), 0, len(wanted)), [wanted])


@pytest.mark.parametrize("text", ["1.23456/", "1.23456:", "1.2345.7", "1.2 3456x", "1.234567x", "1.23456\xff"])
def test_what_is_no_digit_among_six(text: str) -> None:
    with pytest.raises(FormatError, match="is not a number"):
        read_table(PATH, f"{text} 1.000000\n".encode("latin-1"), 0, 2)


def test_reordering_axes_is_the_same_turn_in_other_axes() -> None:
    q = rotations.normalize(np.random.default_rng(7).normal(size=(5, 3, 4)))
    vectors = np.random.default_rng(8).normal(size=(5, 3, 3))
    turned = q.copy()
    _kernels.reorder_axes(turned, 2, 0, 1)
    wanted = rotations.rotate(q, vectors)[..., [2, 0, 1]]
    np.testing.assert_allclose(rotations.rotate(turned, vectors[..., [2, 0, 1]]), wanted, atol=1e-12)


def test_errors_point_at_the_number() -> None:
    with pytest.raises(FormatError, match=r"table\.txt:2: 'x' \(value 1 of frame 1\) is not a number"):
        read_table(PATH, b"1 2\n3 x\n", 0, 2)
