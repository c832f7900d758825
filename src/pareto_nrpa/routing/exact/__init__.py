"""Exact fronts: all efficient tours with time windows, with the proof that there are no others."""

from .certificate import Certificate, CertificateError
from .certify import certify
from .check import check_certificate
from .intervals import check_intervals

__all__ = ["Certificate", "CertificateError", "certify", "check_certificate", "check_intervals"]
