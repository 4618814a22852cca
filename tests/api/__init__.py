"""The HTTP API, one file per part."""
