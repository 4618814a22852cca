"""How often a person may ask. Each web process counts for itself."""

from __future__ import annotations

from django.conf import settings
from rest_framework.throttling import UserRateThrottle


class PerPerson(UserRateThrottle):
    """Every request of a person, whichever token they use."""

    scope = "api"

    def get_rate(self) -> str:
        """Such as ``600/min``."""
        rate: str = settings.STEPMARK_API_RATE
        return rate


class WholeFiles(UserRateThrottle):
    """Imports and exports, which read or write a whole project."""

    scope = "api-files"

    def get_rate(self) -> str:
        """Such as ``60/hour``."""
        rate: str = settings.STEPMARK_API_FILE_RATE
        return rate
