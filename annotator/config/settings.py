"""All settings, read from the environment. One file; a setting that is not here does not exist."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parents[2]


def flag(name: str, default: bool) -> bool:
    """A yes/no variable: 1, true, yes, on count as yes."""
    value = os.environ.get(name)
    return default if value is None else value.strip().lower() in {"1", "true", "yes", "on"}


def words(name: str, default: str = "") -> list[str]:
    """A comma-separated variable."""
    return [word.strip() for word in os.environ.get(name, default).split(",") if word.strip()]


#: production (the default: strict), demo (embedded services on one machine) or test.
ENVIRONMENT = os.environ.get("STEPMARK_ENV", "production")
if ENVIRONMENT not in {"production", "demo", "test"}:
    raise ImproperlyConfigured("STEPMARK_ENV is production, demo or test.")
PRODUCTION = ENVIRONMENT == "production"
DEBUG = flag("STEPMARK_DEBUG", False)
if DEBUG and PRODUCTION:
    raise ImproperlyConfigured("STEPMARK_DEBUG shows internals to visitors; it is refused in production.")

SECRET_KEY = os.environ.get("SECRET_KEY", "")
if not SECRET_KEY:
    if PRODUCTION:
        raise ImproperlyConfigured(
            "Set SECRET_KEY to a long random value of your own (see docs/operators.md)."
        )
    SECRET_KEY = secrets.token_urlsafe(48)  # of this process alone: nothing anybody could know in advance
elif PRODUCTION and len(SECRET_KEY) < 32:
    raise ImproperlyConfigured("SECRET_KEY is too short to be safe; use at least 32 random characters.")

ALLOWED_HOSTS = words("STEPMARK_HOSTS", "localhost,127.0.0.1,[::1]" if not PRODUCTION else "")
CSRF_TRUSTED_ORIGINS = words("STEPMARK_ORIGINS")
FORCE_SCRIPT_NAME = os.environ.get("STEPMARK_PREFIX") or None


def database(url: str) -> dict[str, Any]:
    """Django's settings for a postgresql:// URL; a socket folder goes into ?host=."""
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured(
            "DATABASE_URL must start with postgresql:// (PostgreSQL is the only database)."
        )
    query = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")) or "stepmark",
        "USER": query.pop("user", unquote(parts.username or "")),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.pop("host", unquote(parts.hostname or "")),
        "PORT": query.pop("port", str(parts.port or "")),
        "OPTIONS": query,
        "CONN_HEALTH_CHECKS": True,
        "CONN_MAX_AGE": 0,
    }


DATABASES = {"default": database(os.environ.get("DATABASE_URL", "postgresql:///stepmark"))}
if flag("STEPMARK_DB_POOL", False):  # web processes only: workers fork, and a pool does not survive a fork
    # Two for each of the eight threads that docs/operators.md gives one: an export reads ahead on a second connection.
    DATABASES["default"]["OPTIONS"]["pool"] = {"min_size": 1, "max_size": 16, "timeout": 10}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "annotator",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "csp",
    "axes",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "annotator.config.urls"
WSGI_APPLICATION = "annotator.config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "frontend" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "annotator.web.context.preferences",
            ],
        },
    }
]

AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
AXES_FAILURE_LIMIT = 8
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_TEMPLATE = "registration/locked.html"
AXES_DISABLE_ACCESS_LOG = True
AXES_VERBOSE = False
SILENCED_SYSTEM_CHECKS = ["axes.W003"] if ENVIRONMENT == "test" else []

#: One language a server; where there is no catalogue for it (annotator/locale), the words stay English.
LANGUAGE_CODE = os.environ.get("STEPMARK_LANGUAGE", "en")
LOCALE_PATHS = [BASE_DIR / "annotator" / "locale"]
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = Path(os.environ.get("STEPMARK_STATIC_ROOT", BASE_DIR / "var" / "static"))
STATICFILES_DIRS = [BASE_DIR / "frontend" / "dist"] if (BASE_DIR / "frontend" / "dist").is_dir() else []
_STATIC = "whitenoise.storage.CompressedManifestStaticFilesStorage"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": _STATIC
        if ENVIRONMENT != "test"
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}

# Security. KaTeX sets style attributes on its spans, which is why style-src-attr is open; scripts never are.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "style-src-attr": ["'unsafe-inline'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}
HTTPS = flag("STEPMARK_HTTPS", PRODUCTION)
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_PROXY_SSL_HEADER = (
    ("HTTP_X_FORWARDED_PROTO", "https") if flag("STEPMARK_BEHIND_PROXY", False) else None
)
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_AGE = 14 * 24 * 3600
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024

#: Servers that scorers may talk to (annotator/scorers/endpoint.py), and variables whose keys they may be given.
SCORER_HOSTS = words("STEPMARK_SCORER_HOSTS")
SCORER_KEYS = words("STEPMARK_SCORER_KEYS")
#: Servers that webhooks may tell of events, written as for scorers; empty: no webhooks.
WEBHOOK_HOSTS = words("STEPMARK_WEBHOOK_HOSTS")
#: Folders that local scorers may read weights from (annotator/scorers/local/folders.py); none, unless named.
STEPMARK_MODEL_FOLDERS = words("STEPMARK_MODEL_FOLDERS")

#: Files on their way from the import page to a worker, and rejected rows; web processes and workers share it.
#: By default beside the embedded database, whose numbers its files bear.
STEPMARK_VAR = Path(os.environ.get("STEPMARK_VAR") or BASE_DIR / "var")
STEPMARK_UPLOADS = Path(os.environ.get("STEPMARK_UPLOADS") or STEPMARK_VAR / "uploads")
STEPMARK_UPLOAD_BYTES = int(os.environ.get("STEPMARK_UPLOAD_BYTES", str(4 * 1024**3)))

# The HTTP API (annotator/api). Rates are per person and web process.
STEPMARK_API_RATE = os.environ.get("STEPMARK_API_RATE", "600/min")
STEPMARK_API_FILE_RATE = os.environ.get("STEPMARK_API_FILE_RATE", "120/hour")
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotator.api.signing_in.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["annotator.api.signing_in.HasScope"],
    "DEFAULT_THROTTLE_CLASSES": ["annotator.api.throttles.PerPerson"],
    "DEFAULT_PARSER_CLASSES": ["annotator.api.wire.StrictJson"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "annotator.api.wire.OneFormat",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "annotator.api.refusals.refuse",
    "UNICODE_JSON": False,  # a half of a surrogate pair in an error message is escaped, not a reason to fail
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Stepmark",
    "DESCRIPTION": "Step-level labels by program: claim, judge, import, export. See docs/api.md.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "POSTPROCESSING_HOOKS": [],  # choices stand where they are used; components named by a hash help nobody
    "SCHEMA_PATH_PREFIX": r"/api/v1",
}

# Jobs live in PostgreSQL; the broker only carries "wake up" (annotator/jobs.py).
CELERY_BROKER_URL = os.environ.get("REDIS_URL", "redis://localhost:6379/0")
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False  # a lost wake-up costs nothing: the reconcile announces the job again
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_connect_timeout": 1.0,
    "socket_timeout": 5.0,
    "visibility_timeout": 3600,
    # A request that finds the broker dead must not wait for it.
    "max_retries": 0,
    "interval_start": 0,
    "interval_step": 0,
}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_BEAT_SCHEDULE = {
    "reconcile": {"task": "annotator.tasks.reconcile", "schedule": 5.0, "options": {"expires": 5}},
    "look_at_scorers": {
        "task": "annotator.tasks.look_at_scorers",
        "schedule": 300.0,
        "options": {"expires": 300},
    },
    "look_at_training": {
        "task": "annotator.tasks.look_at_training",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "reclaim": {"task": "annotator.tasks.reclaim", "schedule": 60.0, "options": {"expires": 60}},
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": os.environ.get("STEPMARK_LOG_LEVEL", "INFO")},
}
