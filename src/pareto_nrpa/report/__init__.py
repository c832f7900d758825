"""Views of a result: the page on which to choose, the picture in a notebook or on a terminal, the plot."""

from .page import check_page_name, page_beside, report_page, write_report

__all__ = ["check_page_name", "page_beside", "report_page", "write_report"]
