"""The quality report: how far a project's labels can be trusted, and whose can't."""
