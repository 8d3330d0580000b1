"""Measure what the first use of a command compiles on a new machine, by kernel and by room.

    python tools/compile_times.py [--top 30] [--json FILE] [-- COMMAND ...]

The command is one of `gaitway`, such as `scene draw maze -o maze.png`; without one it is `demo`. It runs in a fresh
process whose caches of kernels and of results are empty folders. CPU seconds are those of the thread that compiles,
without the kernels that it compiles inside another one: they hold on a busy machine too, where wall time does not.
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
from pathlib import Path
from typing import Any

RECORD = "GAITWAY_COMPILE_RECORD"


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
            rows.append(
                {
                    "kernel": f"{function.__module__}.{function.__qualname__}",
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
    sys.argv = ["gaitway", *arguments]
    from gaitway.cli import main

    main()


def room(kernel: str) -> str:
    """Return the room of a kernel, or "numba" for functions of the compiler itself."""
    parts = kernel.split(".")
    return parts[1] if parts[0] == "gaitway" else "numba"


def show(found: dict[str, Any], top: int) -> None:
    """Print the seconds by room, by pass and by kernel."""
    rows = found["rows"]
    cpu, wall = sum(row["cpu"] for row in rows), sum(row["wall"] for row in rows)
    names = {row["kernel"] for row in rows}
    print(f"compiling {cpu:.1f} s of CPU, {wall:.1f} s of wall; whole command {found['cpu']:.1f} s, {found['wall']:.1f} s")
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


def main() -> None:
    """Measure in a fresh process and print the tables."""
    if RECORD in os.environ:
        measure(sys.argv[1:], Path(os.environ.pop(RECORD)))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--top", type=int, default=30, help="number of kernels to list")
    parser.add_argument("--json", type=Path, help="file for all that was found")
    parser.add_argument("command", nargs="*", help="of gaitway, after --")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.json"
        caches = {"NUMBA_CACHE_DIR": f"{folder}/kernels", "GAITWAY_CACHE": f"{folder}/results", RECORD: str(record)}
        command = asked.command or ["demo", "-o", f"{folder}/demo"]
        done = subprocess.run([sys.executable, __file__, *command], env=os.environ | caches, check=False)
        found = json.loads(record.read_text())
    if asked.json:
        asked.json.write_text(json.dumps(found))
    show(found, asked.top)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
