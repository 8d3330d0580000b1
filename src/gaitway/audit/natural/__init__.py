"""Naturalness: whether the characters of a take move as people do, measured against captures and published facts."""

from gaitway.audit.natural.bands import BANDS, NaturalBand
from gaitway.audit.natural.report import NaturalMoment, NaturalReport, NaturalRow, natural_report

__all__ = ["BANDS", "NaturalBand", "NaturalMoment", "NaturalReport", "NaturalRow", "natural_report"]
