"""The demo project's content, written for this project: problems, solutions with known labels, guidelines."""

from annotator.core.demo.content import DemoItem, demo_set, handwritten
from annotator.core.demo.generator import generate
from annotator.core.demo.guidelines import GUIDELINES
from annotator.core.demo.practice import PRACTICE, practice_note

__all__ = ["GUIDELINES", "PRACTICE", "DemoItem", "demo_set", "generate", "handwritten", "practice_note"]
