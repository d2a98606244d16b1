"""`python -m memory_site.embedded up | manage … | run … | test …`; the scripts in bin/ call it.

`program web`, `worker`, `beat`, `migrate` is one program of the site alone, for a container or a service manager.
"""

import sys
from collections.abc import Sequence

from memory_site.embedded.errors import ServiceError
from memory_site.embedded.foreground import run_tests, run_with_services
from memory_site.embedded.programs import become, manage
from memory_site.embedded.state import home_from_environment
from memory_site.embedded.supervisor import say
from memory_site.embedded.up import up

USAGE = """usage:
  bin/up                       starts everything; takes no arguments, only environment variables
  bin/manage COMMAND …         a management command; `bin/manage help` lists them
  bin/run PROGRAM …            any program in the same environment
  bin/test [ARGUMENT …]        the tests; arguments are pytest's
  python -m memory_site.embedded program web|worker|beat|migrate
docs/running.md and docs/configuration.md tell more."""


def main(arguments: Sequence[str]) -> int:
    """Run one of the five; a start that fails says why and answers 1."""
    action, rest = (arguments[0] if arguments else ""), list(arguments[1:])
    try:
        if action == "up" and not rest:
            return up(home_from_environment())
        if action == "manage":
            return run_with_services(home_from_environment(), manage(*rest))
        if action == "run" and rest:
            return run_with_services(home_from_environment(), rest)
        if action == "program" and len(rest) == 1:
            become(rest[0], home_from_environment())
        if action == "test":
            return run_tests(rest)
    except ServiceError as error:
        say(str(error))
        return 1
    say(USAGE)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
