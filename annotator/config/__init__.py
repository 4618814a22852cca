"""Settings, addresses and entry points. The Celery app loads with Django, so that every process can wake a worker."""

from annotator.config.celery import app as celery_app

__all__ = ["celery_app"]
