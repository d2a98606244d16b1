"""One Redis server for the queue and the rate limit: in memory, on a Unix socket, forgotten when it stops.

Nothing in it must survive: what is to be done follows from rows in PostgreSQL, and a sweep queues it again.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import redis

from memory_site.embedded.placement import Account
from memory_site.embedded.processes import Program


@dataclass(frozen=True)
class Redis:
    """A server that is described, not started; `program()` is what runs it."""

    binaries: Path
    sockets: Path
    log: Path
    account: Account | None

    @property
    def socket(self) -> Path:
        return self.sockets / "redis.sock"

    @property
    def url(self) -> str:
        """As redis-py reads it; Celery's form has the scheme `redis+socket`."""
        return f"unix://{self.socket}"

    def program(self) -> Program:
        settings = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "save": "",
            "appendonly": "no",
            "maxmemory": "256mb",
            "maxmemory-policy": "noeviction",  # a full queue must be an error, not a lost task
        }
        options = [argument for name, value in settings.items() for argument in (f"--{name}", value)]
        return Program(
            name="redis",
            command=[str(self.binaries / "redis-server"), *options],
            environment={"PATH": os.defpath, "TZ": "UTC"},
            directory=self.sockets,
            log=self.log,
            account=self.account,
            stop_seconds=5,
        )

    def is_ready(self) -> bool:
        try:
            with redis.Redis(unix_socket_path=str(self.socket), socket_timeout=5) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False
