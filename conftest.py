"""Settings that every test run shares. Services come from `bin/test`, or from DATABASE_URL and REDIS_URL."""

import os

os.environ.setdefault("SECRET_KEY", "only-for-tests-and-never-for-anything-else")
os.environ.setdefault("RATE_LIMIT_ENABLED", "0")
