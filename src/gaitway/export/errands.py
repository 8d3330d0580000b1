"""Errands of a take as a table: who did what from when to when, and what came of it."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from gaitway.core.errors import FormatError
from gaitway.core.files import atomic_write, check_writable
from gaitway.take.model import Take

COLUMNS = ("character", "errand", "start", "end", "outcome", "reason")
"""Name of the character, words for the errand, from when to when [s], what came of it, and why it was not done."""


def export_errands(take: Take, path: str | Path) -> None:
    """Write one row for each errand of each character, by character, then by time.

    Args:
        take: what to write.
        path: the file; .csv.

    Raises:
        FormatError: if nobody in the take does errands, or the file cannot be written.
    """
    path = Path(path)
    told = take.facts.get("errands")
    if not told:
        raise FormatError(path, "nobody in this take does errands; plan a scene with errands: first")
    check_writable(path)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for name in take.names:
        table.writerows([name, *row] for row in told.get(name, ()))
    with atomic_write(path) as file:
        file.write(text.getvalue().encode())
