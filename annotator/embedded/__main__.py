"""``python -m annotator.embedded keep VAR LOCK THROWAWAY``: what `hold` starts; not for people."""

import sys
from pathlib import Path

from annotator.embedded.keeper import keep

if __name__ == "__main__":
    _, verb, folder, lock, throwaway = sys.argv
    assert verb == "keep"
    sys.exit(keep(Path(folder), int(lock), throwaway == "1"))
