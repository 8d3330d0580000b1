"""Measure what the first use of a command compiles on a new machine, by kernel and by room.

    python tools/compile_times.py [--top 30] [--json FILE] [-- COMMAND ...]
    python tools/compile_times.py --record "demo" -- demo -o OUT

The command is one of `gaitway`, such as `scene draw maze -o maze.png`; without one it is `demo`. It runs in a fresh
process whose caches of kernels and of results are empty folders, unless `--caches` names a folder. CPU seconds are
those of the thread that compiles, without the kernels that it compiles inside another one: they hold on a busy machine
too, where wall time does not.

`--record NAME` writes the kernels into src/gaitway/core/kernels.json as those of a command whose words include all
words of NAME; without a command, that of `RECORDED`. `--record-all` does so for all commands of `RECORDED`: run it when
kernels were moved, renamed or given other types. Kernels are then compiled in one process alone.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

RECORD = "GAITWAY_COMPILE_RECORD"
KERNELS = Path(__file__).parents[1] / "src" / "gaitway" / "core" / "kernels.json"
LONG = 0.4
"""An inner kernel that takes longer with all that it calls is recorded too [s]."""
RECORDED = {
    "demo": "demo -o OUT/demo",
    "plan": "plan market_square -o OUT/take.npz",
    "plan tree": "plan market_square --planner tree -o OUT/tree.npz",
    "plan crowd": "plan doorways --planner crowd -o OUT/throng.npz",
    "animate": "animate SHARED/pedestrians/corner.txt --until 3 -o OUT/walkers.npz",
    "vary": "vary person -b walk_forward --count 2 -o OUT/varied.gwlib",
    "library import": "library import SHARED/mocap/bvh_accad -o OUT/captured.gwlib",
    "live": "PYTHON crowd = gaitway.live('market_square'); USE",
    "studio": "PYTHON page = gaitway.studio(folder='OUT', port=18080, run=False); page.run(150, alone=True); "
    "crowd = page.session.engine._live.crowd; USE; page.close()",
}
"""Commands whose kernels are recorded: the words that tell them apart, and how each is run.

OUT is a folder, SHARED is the folder of captures, PYTHON is before code instead of a command, and USE stands for what
users of live crowds do.
"""
USE = (
    "box = crowd.add_obstacle(gaitway.Obstacle(gaitway.Box((9, 6), (1, 1), 1))); "
    "[crowd.step(1 / 30) for _ in range(60)]; crowd.move_obstacle(box, 10, 6); "
    "[crowd.step(1 / 30) for _ in range(60)]; crowd.events(); crowd.joints(); crowd.matrices(); crowd.take()"
)


def measure(arguments: list[str], record: Path) -> None:
    """Run a command in this process, and write what it compiled when it ends."""
    import atexit

    from numba.core import event

    began, began_wall = time.process_time(), time.perf_counter()
    rows: list[dict[str, Any]] = []
    passes: dict[str, float] = defaultdict(float)

    class Compiling(event.Listener):
        """Adds up seconds of each kernel without those of kernels that are compiled inside it."""

        def __init__(self) -> None:
            self.stack: list[tuple[float, float, list[float]]] = []

        def on_start(self, event: Any) -> None:
            del event
            self.stack.append((time.thread_time(), time.perf_counter(), [0.0, 0.0]))

        def on_end(self, event: Any) -> None:
            cpu, wall, inner = self.stack.pop()
            cpu, wall = time.thread_time() - cpu, time.perf_counter() - wall
            if self.stack:
                self.stack[-1][2][0] += cpu
                self.stack[-1][2][1] += wall
            function = event.data["dispatcher"].py_func
            name = f"{function.__module__}.{function.__qualname__}"
            rows.append(
                {
                    "types": recordable(name, event.data["args"]) if not self.stack or cpu >= LONG else None,
                    "whole": cpu,
                    "kernel": name,
                    "signature": str(event.data["args"]),
                    "cpu": cpu - inner[0],
                    "wall": wall - inner[1],
                    "depth": len(self.stack),
                    "at": time.perf_counter() - began_wall,
                }
            )

    class Passing(event.Listener):
        """Adds up seconds of each pass of the compiler."""

        def __init__(self) -> None:
            self.stack: list[list[float]] = []

        def on_start(self, event: Any) -> None:
            del event
            self.stack.append([time.thread_time(), 0.0])

        def on_end(self, event: Any) -> None:
            start, inner = self.stack.pop()
            total = time.thread_time() - start
            if self.stack:
                self.stack[-1][1] += total
            passes[event.data["name"]] += total - inner

    event.register("numba:compile", Compiling())
    event.register("numba:run_pass", Passing())

    def write() -> None:
        whole = {"cpu": time.process_time() - began, "wall": time.perf_counter() - began_wall}
        record.write_text(json.dumps({"rows": rows, "passes": passes, **whole}))

    atexit.register(write)
    if arguments[0] == "PYTHON":
        import gaitway

        exec(" ".join(arguments[1:]), {"gaitway": gaitway})
        return
    sys.argv = ["gaitway", *arguments]
    from gaitway.cli import main

    main()


def recordable(kernel: str, types: Sequence[Any]) -> list[Any] | None:
    """Return the types of a kernel as text; None if it cannot be compiled from a record."""
    from gaitway.core.warming import Recorded, type_text

    if not kernel.startswith("gaitway."):
        return None
    try:
        Recorded(kernel.removeprefix("gaitway."), [], 0.0).dispatcher()
        return [type_text(kind) for kind in types]
    except (AttributeError, ImportError, ValueError):
        return None


def record(name: str, found: dict[str, Any]) -> None:
    """Write the kernels of a command into the package."""
    old = json.loads(KERNELS.read_text()) if KERNELS.exists() else {"commands": {}, "types": []}
    commands = {
        command: [(kernel, [old["types"][number] for number in numbers], *rest) for kernel, numbers, *rest in rows]
        for command, rows in old["commands"].items()
    }
    commands[name] = [
        (row["kernel"].removeprefix("gaitway."), row["types"], round(row["whole"], 2), int(row["depth"] > 0))
        for row in found["rows"]
        if row["types"] is not None
    ]
    texts = sorted({json.dumps(kind) for rows in commands.values() for _, types, *_ in rows for kind in types})
    numbers = {text: number for number, text in enumerate(texts)}
    lines = [
        f"  {json.dumps(command)}: [\n   "
        + ",\n   ".join(
            json.dumps([kernel, [numbers[json.dumps(kind)] for kind in types], *rest]) for kernel, types, *rest in rows
        )
        + "\n  ]"
        for command, rows in sorted(commands.items())
    ]
    text = ' {\n "commands": {\n' + ",\n".join(lines) + '\n },\n "types": [\n  ' + ",\n  ".join(texts) + "\n ]\n}\n"
    KERNELS.write_text(text.lstrip())


def room(kernel: str) -> str:
    """Return the room of a kernel, or "numba" for functions of the compiler itself."""
    parts = kernel.split(".")
    return parts[1] if parts[0] == "gaitway" else "numba"


def show(found: dict[str, Any], top: int) -> None:
    """Print the seconds by room, by pass and by kernel."""
    rows = found["rows"]
    cpu, wall = sum(row["cpu"] for row in rows), sum(row["wall"] for row in rows)
    names = {row["kernel"] for row in rows}
    print(
        f"compiling {cpu:.1f} s of CPU, {wall:.1f} s of wall; whole command {found['cpu']:.1f} s, {found['wall']:.1f} s"
    )
    print(f"{len(rows)} versions of {len(names)} kernels")
    rooms: dict[str, list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
    for row in rows:
        entry = rooms[room(row["kernel"])]
        entry[0] += 1
        entry[1] += row["cpu"]
        entry[2] += row["wall"]
    print("\n  CPU s   wall s  kernels  room")
    for name, (count, seconds, walls) in sorted(rooms.items(), key=lambda item: -item[1][1]):
        print(f"{seconds:7.2f}  {walls:7.2f}  {count:7d}  {name}")
    print("\n  CPU s  pass")
    for name, seconds in sorted(found["passes"].items(), key=lambda item: -item[1])[:12]:
        print(f"{seconds:7.2f}  {name}")
    print("\n  CPU s  at s   depth  kernel")
    for row in sorted(rows, key=lambda row: -row["cpu"])[:top]:
        print(f"{row['cpu']:7.2f}  {row['at']:5.1f}  {row['depth']:5d}  {row['kernel']}")
    print("\n  CPU s  kernels with several versions")
    versions: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        versions[row["kernel"]].append(row)
    several = {name: found for name, found in versions.items() if len(found) > 1}
    for name, copies in sorted(several.items(), key=lambda item: -sum(row["cpu"] for row in item[1])):
        print(f"{sum(row['cpu'] for row in copies):7.2f}  {len(copies)} of {name}")


def measured(command: list[str], folder: Path, environment: dict[str, str]) -> tuple[dict[str, Any], int]:
    """Run a command in a fresh process with caches in a folder; return what was found, and its exit status."""
    record = folder / "record.json"
    caches = {"NUMBA_CACHE_DIR": f"{folder}/kernels", "GAITWAY_CACHE": f"{folder}/results", RECORD: str(record)}
    status = subprocess.run([sys.executable, __file__, *command], env=os.environ | caches | environment, check=False)
    return json.loads(record.read_text()), status.returncode


def filled(command: str, folder: str) -> list[str]:
    """Return the words of a command of `RECORDED`."""
    places = {"USE": USE, "OUT": folder, "SHARED": str(KERNELS.parents[4] / "shared")}
    for name, text in places.items():
        command = command.replace(name, text)
    return command.split()


def main() -> None:
    """Measure in a fresh process and print the tables."""
    if RECORD in os.environ:
        measure(sys.argv[1:], Path(os.environ.pop(RECORD)))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--top", type=int, default=30, help="number of kernels to list")
    parser.add_argument("--json", type=Path, help="file for all that was found")
    parser.add_argument(
        "--caches", type=Path, help="folder for caches that stay, to measure what later commands compile"
    )
    parser.add_argument("--record", metavar="NAME", help="record the kernels in the package under this name")
    parser.add_argument("--record-all", action="store_true", help="record all commands anew")
    parser.add_argument("command", nargs="*", help="of gaitway, after --")
    asked = parser.parse_args()
    if asked.record_all:
        KERNELS.unlink(missing_ok=True)
    usual = RECORDED.get(asked.record, RECORDED["demo"])
    runs = RECORDED if asked.record_all else {asked.record: " ".join(asked.command) or usual}
    for name, command in runs.items():
        with tempfile.TemporaryDirectory() as folder:
            alone = {"GAITWAY_COMPILERS": "1"} if name is not None else {}
            found, status = measured(filled(command, folder), asked.caches or Path(folder), alone)
        if name is not None:
            record(name, found)
        if asked.json:
            asked.json.write_text(json.dumps(found))
        show(found, asked.top)
        if status:
            sys.exit(status)


if __name__ == "__main__":
    main()
