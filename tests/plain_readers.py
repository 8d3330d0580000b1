"""Second opinions: BVH and ASF/AMC read slowly and plainly, with matrices, from what the formats say.

They share no code with gaitway and give joint positions in the file's own units and axes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass
class PlainMotion:
    names: list[str]
    positions: np.ndarray  # (F, J, 3)
    tips: dict[int, np.ndarray]  # joint -> (F, 3)
    parents: list[int]


def axis_matrix(axis: str, degrees: np.ndarray) -> np.ndarray:
    """Rotation matrices (F, 3, 3) about x, y or z."""
    a = np.radians(np.atleast_1d(degrees))
    c, s, o, e = np.cos(a), np.sin(a), np.zeros_like(a), np.ones_like(a)
    rows = {
        "x": [[e, o, o], [o, c, -s], [o, s, c]],
        "y": [[c, o, s], [o, e, o], [-s, o, c]],
        "z": [[c, -s, o], [s, c, o], [o, o, e]],
    }[axis]
    return np.moveaxis(np.array(rows), -1, 0)


def read_plain_bvh(path: Path) -> PlainMotion:
    head, numbers = re.split(r"Frame Time:\s*\S+", path.read_text(), maxsplit=1)
    words = head.split()
    names, parents, offsets, channels, end_sites = [], [], [], [], {}
    stack: list[int] = []
    at = 1
    pending = None
    while words[at] != "MOTION":
        word = words[at]
        if word in ("ROOT", "JOINT"):
            names.append(words[at + 1])
            parents.append(stack[-1] if stack else -1)
            channels.append([])
            offsets.append(None)
            pending, at = len(names) - 1, at + 2
        elif word == "End":
            pending, at = ("end", stack[-1]), at + 2
        elif word == "{":
            stack.append(pending)
            at += 1
        elif word == "}":
            stack.pop()
            at += 1
        elif word == "OFFSET":
            value = np.array([float(w) for w in words[at + 1 : at + 4]])
            if isinstance(stack[-1], tuple):
                end_sites[stack[-1][1]] = value
            else:
                offsets[stack[-1]] = value
            at += 4
        elif word == "CHANNELS":
            count = int(words[at + 1])
            channels[stack[-1]] = words[at + 2 : at + 2 + count]
            at += 2 + count
        else:
            raise AssertionError(word)
    table = np.array([[float(w) for w in line.split()] for line in numbers.splitlines() if line.strip()])
    frames = len(table)
    world, places = [], []
    column = 0
    for j in range(len(names)):
        turn = np.tile(np.eye(3), (frames, 1, 1))
        offset = np.tile(offsets[j], (frames, 1))
        for name in channels[j]:
            values = table[:, column]
            column += 1
            if name.lower().endswith("position"):
                offset[:, "xyz".index(name[0].lower())] = values
            else:
                turn = turn @ axis_matrix(name[0].lower(), values)
        if parents[j] < 0:
            places.append(offset)
            world.append(turn)
        else:
            above = world[parents[j]]
            places.append(places[parents[j]] + np.einsum("fij,fj->fi", above, offset))
            world.append(above @ turn)
    tips = {j: places[j] + world[j] @ tip for j, tip in end_sites.items()}
    return PlainMotion(names, np.stack(places, axis=1), tips, parents)


def read_plain_amc(asf: Path, amc: Path) -> PlainMotion:
    text = re.sub(r"#.*", "", asf.read_text())
    bones = {
        "root": {
            "direction": np.zeros(3),
            "length": 0.0,
            "axis": np.zeros(3),
            "dof": ["tx", "ty", "tz", "rx", "ry", "rz"],
        }
    }
    for body in re.findall(r"begin\s+id(.*?)\bend\b", text, re.S):

        def find(key: str, body: str = body) -> list[str]:
            match = re.search(rf"^\s*{key}\s+(.*)$", body, re.M)
            return match.group(1).split() if match else []

        bones[find("name")[0]] = {
            "direction": np.array(find("direction"), float),
            "length": float(find("length")[0]),
            "axis": np.array(find("axis")[:3], float),
            "dof": find("dof"),
        }
    children = {
        line.split()[0]: line.split()[1:] for line in text.split(":hierarchy")[1].splitlines() if len(line.split()) > 1
    }
    names, parents, stack = [], [], [("root", -1)]
    while stack:
        name, parent = stack.pop()
        stack += [(child, len(names)) for child in reversed(children.get(name, []))]
        names.append(name)
        parents.append(parent)
    frames: list[dict[str, list[float]]] = []
    for line in amc.read_text().splitlines():
        words = line.split()
        if len(words) == 1 and words[0].isdigit():
            frames.append({})
        elif frames:
            frames[-1][words[0]] = [float(w) for w in words[1:]]
    world, places = [], []
    for name, parent in zip(names, parents, strict=True):
        bone = bones[name]
        x, y, z = bone["axis"]
        own = (axis_matrix("z", z) @ axis_matrix("y", y) @ axis_matrix("x", x))[0]
        motion = np.tile(np.eye(3), (len(frames), 1, 1))
        move = np.zeros((len(frames), 3))
        for k, dof in enumerate(bone["dof"]):
            values = np.array([frame[name][k] for frame in frames])
            if dof[0] == "t":
                move[:, "xyz".index(dof[1])] = values
            else:
                motion = axis_matrix(dof[1], values) @ motion
        local = own @ motion @ own.T
        if parent < 0:
            places.append(move)
            world.append(local)
        else:
            above = bones[names[parent]]
            places.append(places[parent] + world[parent] @ (above["direction"] * above["length"]))
            world.append(world[parent] @ local)
    tips = {
        j: places[j] + world[j] @ (bones[name]["direction"] * bones[name]["length"])
        for j, name in enumerate(names)
        if j and j not in parents
    }
    return PlainMotion(names, np.stack(places, axis=1), tips, parents)
