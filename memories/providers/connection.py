"""The connection to one model at one address: requests with bounded patience, failures as the project's own errors.

No message or log line holds the key, the address or a text: they say what happened and which setting to look at.
"""

import logging
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import openai

from core.database import release_connection
from core.errors import ProviderUnavailable
from memories.providers.breaker import Breaker
from memories.providers.failures import Service, UnreadableAnswer, classify

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

OPENAI_URL = "https://api.openai.com/v1/"
GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta/openai/"
# The version of Azure's interface that is generally available and has the `dimensions` parameter and JSON schemas.
AZURE_API_VERSION = "2024-10-21"


@dataclass(frozen=True)
class Patience:
    """How long one call may take, in seconds: an attempt, and all attempts with the pauses between them."""

    attempt: float
    total: float


ATTEMPTS = 3
FIRST_PAUSE = 0.5
# Of a pause, at random: callers that failed together do not come back together.
JITTER = 0.25

# The portal shows addresses with a path; the client adds its own to that of the resource.
_AZURE_PATH = re.compile(r"(?<!/)/openai(/.*)?$")


class Connection:
    """A client of one model at one address. Safe to use from many threads.

    `base_url` "" means the provider's own. `prefix` is what the names of its settings begin with, for messages, where
    it is another than the service's. `pause` waits between attempts and `clock` tells seconds.
    """

    def __init__(
        self,
        service: Service,
        *,
        provider: str,
        base_url: str,
        api_key: str,
        model: str,
        prefix: str | None = None,
        pause: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.service = service
        self.provider = provider
        self.model = model
        self._prefix = prefix
        self.breaker = Breaker((service.name, provider, base_url, api_key, model), clock=clock)
        self._key_is_missing = not api_key and (provider != "openai" or not base_url)
        self._client = make_client(provider, base_url, api_key)
        self._pause = pause
        self._clock = clock

    def call(self, ask: Callable[[openai.OpenAI, float], Answer], patience: Patience) -> Answer:
        """What `ask(client, timeout)` gives, tried again while that can help.

        Raises `ProviderUnavailable`; right away while the provider is left alone after a failure.
        """
        if self._key_is_missing:
            message = (
                f"{self.service.prefix}_API_KEY must be set to use the {self.service.noun} provider {self.provider}."
            )
            raise ProviderUnavailable(self.naming(message), permanent=True)
        self.breaker.check()
        # A slow provider must not keep the connections that everybody else waits for.
        release_connection()
        deadline = self._clock() + patience.total
        for attempt in range(1, ATTEMPTS + 1):
            try:
                answer = self._ask(ask, min(patience.attempt, max(deadline - self._clock(), 0.1)))
            except openai.OpenAIError as error:
                failure = classify(error, self.service, self.provider)
                if failure.is_final or attempt == ATTEMPTS:
                    break
                usual = FIRST_PAUSE * 2 ** (attempt - 1) * random.uniform(1, 1 + JITTER)  # noqa: S311 - spreading
                wait = failure.retry_after if failure.retry_after is not None else usual
                if self._clock() + wait >= deadline:
                    break
                self._pause(wait)
            else:
                self.breaker.close()
                return answer
        logger.warning("%s provider %s: %s", self.service.noun, self.provider, failure.reason)
        unavailable = ProviderUnavailable(
            self.naming(failure.message), permanent=failure.permanent, concerns_every_call=failure.concerns_every_call
        )
        if failure.concerns_every_call:
            self.breaker.open(unavailable, failure.retry_after)
        raise unavailable

    def naming(self, message: str) -> str:
        """`message` about the service's usual settings, with the names that those of this model have."""
        return message if self._prefix is None else message.replace(f"{self.service.prefix}_", self._prefix)

    def _ask(self, ask: Callable[[openai.OpenAI, float], Answer], timeout: float) -> Answer:
        try:
            return ask(self._client, timeout)
        except (ValueError, TypeError, AttributeError) as error:
            # A page of a proxy, or another interface at this address.
            raise UnreadableAnswer from error


def make_client(provider: str, base_url: str, api_key: str) -> openai.OpenAI:
    """A client that sends nothing to anybody but the configured provider, whatever the environment says."""
    client: openai.OpenAI
    if provider == "azure":
        client = openai.AzureOpenAI(
            azure_endpoint=_AZURE_PATH.sub("", base_url),
            api_version=AZURE_API_VERSION,
            api_key=api_key or "missing",
            max_retries=0,
        )
    else:
        base_url = base_url or (GEMINI_URL if provider == "gemini" else OPENAI_URL)
        # A server of one's own may need no key; the client insists on one.
        client = openai.OpenAI(base_url=base_url, api_key=api_key or "none", max_retries=0)
    # These the client took from the environment.
    client.organization = client.project = client.admin_api_key = None
    client._custom_headers = {}
    return client
