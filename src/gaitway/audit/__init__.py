"""The independent check of a take against its world."""

from gaitway.audit.auditing import audit_take
from gaitway.audit.collisions import CollisionWatch, find_collisions
from gaitway.audit.draw import draw_natural, draw_worst
from gaitway.audit.natural.report import NaturalReport, natural_report
from gaitway.audit.report import AuditBars, Finding, Report, ReportRow

__all__ = [
    "AuditBars", "CollisionWatch", "Finding", "NaturalReport", "Report", "ReportRow", "audit_take", "draw_natural",
    "draw_worst", "find_collisions", "natural_report",
]  # fmt: skip
