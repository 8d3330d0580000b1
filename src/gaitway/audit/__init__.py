"""The independent check of a take against its world."""

from gaitway.audit.auditing import audit_take
from gaitway.audit.draw import draw_worst
from gaitway.audit.report import Bars, Finding, Report, Row

__all__ = ["Bars", "Finding", "Report", "Row", "audit_take", "draw_worst"]
