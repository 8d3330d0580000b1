"""Files of gaitway's own formats with other content and right checksums, as an attacker would craft them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gaitway.bench._mutation import craft_archive, opened_archive
from gaitway.core.archives import ArchiveFormat, Arrays

Change = Callable[[dict[str, Any], Arrays], None]
HOSTILE = Path(__file__).resolve().parents[2] / "shared" / "hostile"


def changed(path: Path, change: Change, kind: ArchiveFormat | None = None) -> Path:
    """Return another file beside an archive, with its content changed."""
    header, arrays = opened_archive(path)
    change(header, arrays)
    if kind is not None:
        header["format"] = kind.name
    out = path.with_name(f"changed{path.suffix}")
    craft_archive(out, header, arrays)
    return out
