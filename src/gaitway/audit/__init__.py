"""The independent check of a take against its world."""

from gaitway.audit.auditing import audit_take
from gaitway.audit.draw import draw_worst
from gaitway.audit.report import AuditBars, Finding, Report, ReportRow

__all__ = ["AuditBars", "Finding", "Report", "ReportRow", "audit_take", "draw_worst"]
