"""What stops a start: one sentence for the person at the terminal."""


class ServiceError(Exception):
    """The services cannot be started or kept running; the text says why and what helps."""


class HomeInUse(ServiceError):
    """Another process holds this MEMORY_HOME."""


class StopRequested(Exception):
    """A signal asked the supervisor to stop."""
