"""What a person looks at: the page on which to choose, the picture in a notebook, the plot."""

from .page import report_page, write_report

__all__ = ["report_page", "write_report"]
