"""Django's handle on the annotator."""

from django.apps import AppConfig


class AnnotatorConfig(AppConfig):
    """The one application of the project."""

    name = "annotator"
    verbose_name = "Stepmark"
