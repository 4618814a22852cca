"""Families of parametrised problems: each instance is one problem with several routes to its solution."""
