"""The HTTP API: a door beside the pages. It parses, calls one action, and shapes the reply."""
