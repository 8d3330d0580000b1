"""The independent check of a take against its world."""

from gaitway.audit.auditing import audit
from gaitway.audit.draw import draw_worst
from gaitway.audit.report import Bars, Finding, Report, Row

audit_take = audit
"""The name of `audit` at the top of the package, where `audit` is this module."""

__all__ = ["Bars", "Finding", "Report", "Row", "audit", "audit_take", "draw_worst"]
