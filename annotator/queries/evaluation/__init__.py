"""Scorers measured against gold, reference labels or the holdout, for the shell and for a page."""
