"""Stepmark: step-level labels for process reward models."""

import os

# One thread of linear algebra a process, unless the installation says otherwise. Matrices here are small, and programs
# that share a machine's cores lose far more by waiting for each other than two threads gain. Before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
