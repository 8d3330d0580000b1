"""The report of an import as a page: tables of what was found, made and left out, with reasons, and film strips."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from pathlib import Path

from gaitway.capture.importing import Imported
from gaitway.capture.report import ImportReport
from gaitway.core.files import atomic_folder
from gaitway.core.progress import Progress, silent
from gaitway.render.sheets.library_sheet import library_sheet

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #22262b; background: #f7f6f3; margin: 2rem auto; max-width: 72rem; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; } img { max-width: 100%; }
table { border-collapse: collapse; } td, th { padding: .15rem .7rem .15rem 0; text-align: left; vertical-align: top; }
th { color: #6a7078; font-weight: 500; border-bottom: 1px solid #d5d3cd; } td.n { text-align: right; }
.bars { width: 100%; } .bar { display: flex; } .bar i { display: block; height: .9rem; }
.bar .u { background: #5f9e6e; } .bar .n { background: #d8d5cd; border-left: 1px solid #f7f6f3; }
.made { color: #9a5a00; } .note { color: #6a7078; }
"""

_LEAST_S = 0.05
"""Least duration for which a reason is listed [s]."""


def import_report(imported: Imported, folder: str | Path, *, progress: Progress = silent) -> Path:
    """Write `report.html`, `report.json` and `library.png` into a folder, which is made; files of the same name go.

    Returns:
        The page.

    Raises:
        FormatError: if they cannot be written.
    """
    report, place = imported.report, Path(folder)
    with atomic_folder(place, overwrite=True) as draft:
        library_sheet(imported.library, draft / "library.png", progress=progress)
        (draft / "report.json").write_text(json.dumps(report.to_dict(), indent=1), encoding="utf-8")
        (draft / "report.html").write_text(_page(report), encoding="utf-8")
    return place / "report.html"


def _page(report: ImportReport) -> str:
    name = html.escape(report.name)
    parts = [
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{name}</title>",
        f"<style>{_STYLE}</style></head><body><h1>{name}</h1><p>{html.escape(summary(report))}</p>",
        _reasons("Found, and not usable", "motion", report.unusable),
        _list("Missing in the capture", report.missing),
        _list("Warnings", report.warnings),
        "<h2>States</h2>", _table(hub_rows(report)),
        "<h2>Behaviours</h2>", _table(behavior_rows(report)),
        "<h2>Files</h2>", _table(take_rows(report)),
        "<h2>What becomes of every second</h2>", _table(unused_rows(report)), _bars(report),
        _reasons("Files that are not used", "file", report.dropped),
        _reasons("Found, and not in the library", "behaviour", report.left_out),
        "<h2>Every clip</h2><img src='library.png' alt='film strips of every clip'></body></html>",
    ]  # fmt: skip
    return "\n".join(part for part in parts if part)


def summary(report: ImportReport) -> str:
    """Return the import in one sentence."""
    clips = sum(behavior.clips for behavior in report.behaviors)
    made = f", {len(report.made)} of them made" if report.made else ""
    return (
        f"{len(report.behaviors)} behaviours with {clips} clips{made}, between {len(report.hubs)} states, from "
        f"{report.files} files with {report.seconds:.0f} s of motion, {report.coverage:.0%} of which is used."
    )


def hub_rows(report: ImportReport) -> list[dict[str, object]]:
    """Return one row for each state."""
    return [
        {"state": h.name, "frames": h.members, "takes": h.takes, "spread cm": f"{h.spread_cm:.1f}",
         "radius cm": f"{h.radius_cm:.1f}", "m/s": f"{h.speed:.2f}", "made": h.made}
        for h in report.hubs
    ]  # fmt: skip


def behavior_rows(report: ImportReport) -> list[dict[str, object]]:
    """Return one row for each behaviour."""
    return [
        {"behaviour": b.name, "from > to": f"{b.start} > {b.end}", "clips": b.clips, "s": f"{b.seconds:.2f}",
         "ahead": f"{b.ahead:z.2f}", "left": f"{b.left:z.2f}", "turn": f"{b.turn_deg:z.0f}",
         "passes": f"{b.obstacle} at {b.pass_time:.2f} s" if b.obstacle and b.pass_time is not None else "",
         "made": b.made, "of": ", ".join(dict.fromkeys(b.takes))}
        for b in report.behaviors
    ]  # fmt: skip


def take_rows(report: ImportReport) -> list[dict[str, object]]:
    """Return one row for each file that was used."""
    return [
        {"file": t.take, "s": f"{t.seconds:.1f}", "used": f"{t.used_seconds:.1f}", "clips": t.clips,
         "found": ", ".join(t.found), "refused": "; ".join(t.refused), "notes": "; ".join(t.notes)}
        for t in report.takes
    ]  # fmt: skip


def unused_rows(report: ImportReport) -> list[dict[str, object]]:
    """Return one row for each reason why parts of takes are not used, the largest first."""
    used = sum(take.used_seconds for take in report.takes)
    rows = [("used", used), *report.unused_seconds().items()]
    return [{"s": f"{seconds:.1f}", "of all": f"{seconds / max(report.seconds, 1e-9):.0%}", "why": why}
            for why, seconds in rows if seconds >= _LEAST_S]  # fmt: skip


def _bars(report: ImportReport) -> str:
    """Return a bar for each take, with a part for each use; the parts tell their use when they are pointed at."""
    lines = []
    for take in report.takes:
        length = max(take.seconds, 1e-9)
        parts = "".join(
            f"<i class='{'u' if use.used else 'n'}' style='width:{100.0 * (use.stop_s - use.start_s) / length:.2f}%' "
            f"title='{use.start_s:.2f} to {use.stop_s:.2f} s: {html.escape(use.what, quote=True)}'></i>"
            for use in take.uses
        )
        name = html.escape(take.take)
        lines.append(f"<tr><td>{name}</td><td style='width:75%'><div class='bar'>{parts}</div></td></tr>")
    return f"<table class='bars'>{''.join(lines)}</table>"


def _reasons(title: str, noun: str, pairs: Iterable[tuple[str, str]]) -> str:
    rows: list[dict[str, object]] = [{noun: name, "why": why} for name, why in pairs]
    return f"<h2>{title}</h2>{_table(rows)}" if rows else ""


def _table(rows: list[dict[str, object]]) -> str:
    if not rows:
        return "<p class='note'>none</p>"
    head = "".join(f"<th>{html.escape(key)}</th>" for key in rows[0])
    body = "".join("<tr>" + "".join(_cell(key, value) for key, value in row.items()) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _cell(key: str, value: object) -> str:
    text = str(value)
    number = text.replace(".", "", 1).replace("-", "", 1).isdigit()
    kind = " class='n'" if number else " class='made'" if key == "made" else ""
    return f"<td{kind}>{html.escape(text)}</td>"


def _list(title: str, lines: Iterable[str]) -> str:
    items = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
    return f"<h2>{title}</h2><ul>{items}</ul>" if items else ""
