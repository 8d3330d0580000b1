"""The tables and figures of the papers, computed again: one module for each."""

from __future__ import annotations

from gaitway.papers.tables import PAPERS, PaperOptions, PaperTable, run_paper, save_paper

__all__ = ["PAPERS", "PaperOptions", "PaperTable", "run_paper", "save_paper"]
