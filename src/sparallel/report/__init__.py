"""One self-contained HTML file: the answer in words, then everything behind it."""

from sparallel.report.html import write_report

__all__ = ["write_report"]
