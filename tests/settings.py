"""No settings of its own: gives the one settings file a throwaway database, then takes it as it is.

pytest-django reads this before any conftest. The process that the person started holds the services;
pytest-xdist's workers are its children and inherit where they are.
"""

import os
import tempfile
from pathlib import Path

from annotator.embedded import Services, hold

os.environ["STEPMARK_ENV"] = "test"
services: Services | None = None
if not (os.environ.get("DATABASE_URL") and os.environ.get("REDIS_URL")):
    services = hold(Path(tempfile.mkdtemp(prefix="stepmark-test-")), throwaway=True)
    os.environ.update(DATABASE_URL=services.database_url, REDIS_URL=services.redis_url)

if not os.environ.get("STEPMARK_STATIC_ROOT"):
    os.environ["STEPMARK_STATIC_ROOT"] = tempfile.mkdtemp(prefix="stepmark-static-")

from annotator.config.settings import *  # noqa: E402, F403
