# The web server, the worker, beat or the migrations against your own PostgreSQL (with pgvector) and Redis:
#   docker build -t memory .
#   docker run --env-file memory.env memory migrate
#   docker run --env-file memory.env -p 8000:8000 memory
#   docker run --env-file memory.env memory worker
#   docker run --env-file memory.env memory beat
# memory.env holds DATABASE_URL, REDIS_URL, SECRET_KEY and ALLOWED_HOSTS (docs/running.md).
FROM python:3.12-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /app

# git serves the clones of histories.
RUN apt-get update && apt-get install --yes --no-install-recommends git && rm -rf /var/lib/apt/lists/*

COPY requirements.txt .
RUN pip install -r requirements.txt

COPY . .
RUN useradd --system --create-home --home-dir /var/lib/memory memory
USER memory

ENV PYTHONPATH=/app MEMORY_HOME=/var/lib/memory MEMORY_HOST=0.0.0.0 MEMORY_PORT=8000
EXPOSE 8000
# The web server is asked; worker and beat have no address and count as well while they run.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD grep --quiet uvicorn /proc/1/cmdline || exit 0; \
    python -c 'import os, urllib.request as r; r.urlopen("http://127.0.0.1:" + os.environ["MEMORY_PORT"] + "/livez", timeout=4)'
ENTRYPOINT ["python", "-P", "-m", "memory_site.embedded", "program"]
CMD ["web"]
