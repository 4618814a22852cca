"""``python -m annotator.embedded keep VAR LOCK THROWAWAY``: what `hold` starts; not for people."""

import os
import sys
from pathlib import Path

from annotator.embedded.keeper import keep

if __name__ == "__main__":
    _, verb, folder, lock, throwaway = sys.argv
    assert verb == "keep"
    os.set_inheritable(int(lock), False)  # held until this process is gone, and by no child of it
    sys.exit(keep(Path(folder), throwaway == "1"))
