"""All settings, read from the environment. Every name is documented in `docs/configuration.md`.

The defaults are safe: without `DEBUG=1` the server refuses to start with a secret anybody could guess.
"""

import re
from pathlib import Path
from typing import Any

import django_stubs_ext
import environ
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

django_stubs_ext.monkeypatch()


class Environment(environ.Env):  # type: ignore[misc]  # the package has no types
    """The environment, where a wrong number is told with the name of its variable, and an empty value is none."""

    def number(self, name: str, default: int) -> int:
        text = self.str(name, default="").strip()
        try:
            return int(text) if text else default
        except ValueError:
            raise ImproperlyConfigured(f"{name} must be a whole number, not {text!r}.") from None

    def text(self, name: str, default: str) -> str:
        return self.str(name, default="").strip() or default


env = Environment()

BASE_DIR = Path(__file__).resolve().parent.parent
MEMORY_HOME = Path(env.str("MEMORY_HOME", default=str(BASE_DIR / ".memory")))

DEBUG = env.bool("DEBUG", default=False)

_DEVELOPMENT_SECRET = "development-only-secret-that-is-public"  # noqa: S105 - refused below outside of DEBUG
_SHORTEST_SECRET = 32
SECRET_KEY = env.str("SECRET_KEY", default=_DEVELOPMENT_SECRET)
if not DEBUG and (SECRET_KEY == _DEVELOPMENT_SECRET or len(SECRET_KEY) < _SHORTEST_SECRET):
    raise ImproperlyConfigured(
        f"SECRET_KEY must be set to a random text of at least {_SHORTEST_SECRET} characters (or set DEBUG=1 on a "
        'development machine). Make one with: python3 -c "import secrets; print(secrets.token_urlsafe(50))"'
    )

MEMORY_HOST = env.text("MEMORY_HOST", default="127.0.0.1")
MEMORY_PORT = env.number("MEMORY_PORT", default=8000)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
if MEMORY_HOST not in ("0.0.0.0", "::", *ALLOWED_HOSTS):  # noqa: S104 - compared, not bound
    ALLOWED_HOSTS.append(MEMORY_HOST)
# Browser origins, beside the server's own, that may call /mcp and post forms: scheme and host, "https://chat.example".
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
HTTPS = env.bool("HTTPS", default=False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
# Peers whose X-Forwarded-For is believed by the rate limit; without one, the peer address itself counts.
TRUSTED_PROXIES = env.list("TRUSTED_PROXIES", default=[])
X_FRAME_OPTIONS = "DENY"

INSTALLED_APPS = [
    "accounts",
    "spaces",
    "history",
    "documents",
    "memories",
    "mcp_server",
    "memory_site.apps.MemorySiteConfig",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "guardian",
    "ninja",
]

MIDDLEWARE = [
    "memory_site.middleware.ApiMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "memory_site.admin_addresses.AdminAddressMiddleware",
    "spaces.middleware.AdminIsolation",
]

ROOT_URLCONF = "memory_site.urls"
ASGI_APPLICATION = "memory_site.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "memory_site.notices.admin_notices",
            ],
        },
    },
]

DATABASE_POOL_SIZE = env.number("DATABASE_POOL_SIZE", default=48)
DATABASES: dict[str, dict[str, Any]] = {
    "default": env.db_url("DATABASE_URL", default="postgres://memory@127.0.0.1:5432/memory")
}
if "postgresql" not in str(DATABASES["default"].get("ENGINE")):
    raise ImproperlyConfigured("DATABASE_URL must name a PostgreSQL database: postgres://user:password@host:5432/name")
DATABASES["default"]["ENGINE"] = "memory_site.postgresql"
# The role that requests and tasks run as: it owns nothing, so that row-level security holds it (docs/isolation.md).
DATABASE_ROLE = env.text("DATABASE_ROLE", default="memory_app")
DATABASES["default"]["CONN_MAX_AGE"] = 0
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DATABASES["default"].setdefault("OPTIONS", {})
if DATABASE_POOL_SIZE > 0:
    # A pool lends a connection per request and thread; without it every request would pay for a new one.
    DATABASES["default"]["OPTIONS"]["pool"] = {"min_size": 1, "max_size": DATABASE_POOL_SIZE, "timeout": 10}

REDIS_URL = env.text("REDIS_URL", default="redis://127.0.0.1:6379/0")
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1)
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = env.text("CELERY_QUEUE", default="memory")
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# A save must not hang on an unreachable broker: what could not be queued is found by the sweep.
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_timeout": 5, "socket_connect_timeout": 2, "max_retries": 1}
CELERY_TASK_PUBLISH_RETRY = False

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "guardian.backends.ObjectPermissionBackend",
]
ANONYMOUS_USER_NAME = None
LOGIN_URL = "admin:login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("de", _("German"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = env.text("TIME_ZONE", default="UTC")
USE_TZ = True

STATIC_URL = "/assets/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True  # static files are served without a collectstatic step; a few files, cached in memory

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Bodies larger than this are refused before they are read: a PDF of 20 MB as base64, and room for the rest.
MAXIMUM_BODY_BYTES = 30 * 1024 * 1024
# A body that takes longer, from the first byte that is read of it to the last, is refused: 30 MB at 4 Mbit a second.
MAXIMUM_BODY_SECONDS = 60
DATA_UPLOAD_MAX_MEMORY_SIZE = MAXIMUM_BODY_BYTES

# 300 requests a minute per key, as in the reference system; counted in Redis, so that it holds across workers.
RATE_LIMIT_ENABLED = env.bool("RATE_LIMIT_ENABLED", default=True)
RATE_LIMIT_REQUESTS = env.number("RATE_LIMIT_REQUESTS", default=300)
RATE_LIMIT_WINDOW_SECONDS = env.number("RATE_LIMIT_WINDOW_SECONDS", default=60)
for _name, _value in (
    ("RATE_LIMIT_REQUESTS", RATE_LIMIT_REQUESTS),
    ("RATE_LIMIT_WINDOW_SECONDS", RATE_LIMIT_WINDOW_SECONDS),
):
    if _value < 1:
        raise ImproperlyConfigured(
            f"{_name} must be at least 1, not {_value} (RATE_LIMIT_ENABLED=0 turns the limit off)."
        )

# Where notes go that name no topic.
NOTES_INBOX_TOPIC = env.text("NOTES_INBOX_TOPIC", default="allgemein")

EMBEDDINGS_PROVIDER = env.text("EMBEDDINGS_PROVIDER", default="local").lower()
EMBEDDINGS_ENDPOINT = env.text("EMBEDDINGS_ENDPOINT", default="")
EMBEDDINGS_API_KEY = env.text("EMBEDDINGS_API_KEY", default="")
EMBEDDINGS_MODEL = env.text("EMBEDDINGS_MODEL", default="")
EMBEDDINGS_DIMENSIONS = env.number("EMBEDDINGS_DIMENSIONS", default=0) or None
EMBEDDINGS_THREADS = env.number("EMBEDDINGS_THREADS", default=0)
# Further models, to change to: for each name the values of EMBEDDINGS_<NAME>_PROVIDER and so on.
EMBEDDINGS_FURTHER: dict[str, dict[str, Any]] = {}
for _name in env.list("EMBEDDINGS_FURTHER", default=[]):
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", _name.strip().lower()) or _name.strip().lower() == "default":
        raise ImproperlyConfigured(
            "EMBEDDINGS_FURTHER must list names of letters, digits and _, separated by commas, and none of them "
            f"“default”; {_name!r} is none."
        )
    _prefix = f"EMBEDDINGS_{_name.strip().upper()}_"
    EMBEDDINGS_FURTHER[_name.strip().lower()] = {
        "provider": env.text(f"{_prefix}PROVIDER", default="").lower(),
        "endpoint": env.text(f"{_prefix}ENDPOINT", default=""),
        "api_key": env.text(f"{_prefix}API_KEY", default=""),
        "model": env.text(f"{_prefix}MODEL", default=""),
        "dimensions": env.number(f"{_prefix}DIMENSIONS", default=0) or None,
        "threads": env.number(f"{_prefix}THREADS", default=0),
    }

# Off unless somebody chooses a model: texts are kept in the words of those who saved them.
EXTRACTION_PROVIDER = env.text("EXTRACTION_PROVIDER", default="none").lower()
EXTRACTION_ENDPOINT = env.text("EXTRACTION_ENDPOINT", default="")
EXTRACTION_API_KEY = env.text("EXTRACTION_API_KEY", default="")
EXTRACTION_MODEL = env.text("EXTRACTION_MODEL", default="")

LOG_LEVEL = env.text("LOG_LEVEL", default="INFO").upper()
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    # stderr, because stdout belongs to the protocol when the server speaks MCP over stdio.
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        "django.server": {"handlers": ["stderr"], "level": LOG_LEVEL, "propagate": False},
        "mcp.server.streamable_http": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
    },
}
