"""The papers' tables and figures, run again: one module each."""

from __future__ import annotations

from gaitway.papers.tables import PAPERS, PaperOptions, PaperTable, run_paper, save_paper

__all__ = ["PAPERS", "PaperOptions", "PaperTable", "run_paper", "save_paper"]
