"""`python -m memory_site.embedded up | manage … | run … | test …`; the scripts in bin/ call it."""

import sys
from collections.abc import Sequence

from memory_site.embedded.errors import ServiceError
from memory_site.embedded.foreground import manage, run_tests, run_with_services
from memory_site.embedded.state import home_from_environment
from memory_site.embedded.supervisor import say
from memory_site.embedded.up import up

USAGE = "usage: bin/up | bin/manage COMMAND … | bin/run PROGRAM … | bin/test [PYTEST ARGUMENTS]"


def main(arguments: Sequence[str]) -> int:
    """Run one of the four; a start that fails says why and answers 1."""
    action, rest = (arguments[0] if arguments else ""), list(arguments[1:])
    try:
        if action == "up" and not rest:
            return up(home_from_environment())
        if action == "manage":
            return run_with_services(home_from_environment(), manage(*rest))
        if action == "run" and rest:
            return run_with_services(home_from_environment(), rest)
        if action == "test":
            return run_tests(rest)
    except ServiceError as error:
        say(str(error))
        return 1
    say(USAGE)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
