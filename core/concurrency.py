"""How much one process does at once: every thread that may ask the database has a connection of the pool.

Half of the connections serve MCP calls, half everything that Django serves; short questions have threads of their own,
so that slow calls shut nobody out.
"""

from django.conf import settings

# Who calls over MCP is found out in these.
AUTHENTICATIONS = 4
# Health is asked in these.
PROBES = 4
# Connections that git and what is written beside a request may take.
_ELSEWHERE = 8
_MOST = 16


def _share(pool_size: int) -> int:
    if pool_size <= 0:
        return _MOST
    return max(1, min(_MOST, (pool_size - AUTHENTICATIONS - PROBES - _ELSEWHERE) // 2))


# Tool calls, and requests to Django, at the same time.
CALLS = REQUESTS = _share(settings.DATABASE_POOL_SIZE)
