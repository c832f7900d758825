"""What a person looks at: the page on which to choose, the picture in a notebook, the plot."""

from .page import check_page_name, report_page, write_report

__all__ = ["check_page_name", "report_page", "write_report"]
