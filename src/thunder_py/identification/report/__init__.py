"""The report of an identification: one HTML file with figures, without references to other files."""

from .html import write_report

__all__ = ["write_report"]
