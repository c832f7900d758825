"""Views of a result: page, picture in a notebook or on a terminal, plot."""

from .page import check_page_name, page_beside, report_page, write_report

__all__ = ["check_page_name", "page_beside", "report_page", "write_report"]
