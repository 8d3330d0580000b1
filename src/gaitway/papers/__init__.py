"""The papers' tables and figures, run again: one module each."""

from __future__ import annotations

from gaitway.papers.tables import PAPERS, PaperTable, run_paper

__all__ = ["PAPERS", "PaperTable", "run_paper"]
