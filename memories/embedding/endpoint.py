"""One embeddings endpoint: requests with bounded patience, and failures as the project's own errors.

No message or log line holds the key, the address or a text: they say what happened and which setting to look at.
"""

import logging
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import openai

from core.database import release_connection
from core.errors import ProviderUnavailable

logger = logging.getLogger(__name__)

OPENAI_URL = "https://api.openai.com/v1/"
GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta/openai/"
# The version of Azure's interface that is generally available and has the `dimensions` parameter.
AZURE_API_VERSION = "2024-10-21"


@dataclass(frozen=True)
class Patience:
    """How long one call may take, in seconds: an attempt, and all attempts with the pauses between them."""

    attempt: float
    total: float


# A person or agent waits for the search, which goes on without vectors.
QUERY = Patience(attempt=8, total=12)
# A save waits for these; what fails is done again in the background.
PASSAGES = Patience(attempt=20, total=30)

ATTEMPTS = 3
FIRST_PAUSE = 0.5
# After a failure the provider is left alone for so many seconds, and calls fail at once: searches stay fast while it is
# down, and a refused key is not offered over and over.
REST_TEMPORARY = 10.0
REST_PERMANENT = 60.0

# The portal shows addresses with a path; the client adds its own to that of the resource.
_AZURE_PATH = re.compile(r"(?<!/)/openai(/.*)?$")

_HARMLESS_CODE = re.compile(r"[a-z][a-z0-9_]{0,47}")


class Endpoint:
    """A client of one model at one address. Safe to use from many threads.

    `base_url` "" means the provider's own. `prefix` is what the names of its settings begin with, for messages.
    `pause` waits between attempts and `clock` tells seconds.
    """

    def __init__(
        self,
        *,
        provider: str,
        base_url: str,
        api_key: str,
        model: str,
        prefix: str = "EMBEDDINGS_",
        pause: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.provider = provider
        self.model = model
        self._prefix = prefix
        self._key_is_missing = not api_key and (provider != "openai" or not base_url)
        self._client = _make_client(provider, base_url, api_key)
        self._pause = pause
        self._clock = clock
        self._lock = threading.Lock()
        self._rest: tuple[float, ProviderUnavailable] | None = None

    def embed(self, inputs: Sequence[str], *, dimensions: int | None, patience: Patience) -> list[Sequence[float]]:
        """One row of numbers per input, in order. `dimensions` is sent only when given.

        Raises `ProviderUnavailable`; right away while the provider is left alone after a failure.
        """
        if self._key_is_missing:
            message = f"EMBEDDINGS_API_KEY must be set to use the embedding provider {self.provider}."
            raise ProviderUnavailable(self.naming(message), permanent=True)
        self._raise_while_resting()
        # A slow provider must not keep the connections that everybody else waits for.
        release_connection()
        deadline = self._clock() + patience.total
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._ask(inputs, dimensions, min(patience.attempt, max(deadline - self._clock(), 0.1)))
            except openai.OpenAIError as error:
                failure = _classify(error, self.provider)
                if failure.is_final or attempt == ATTEMPTS:
                    break
                wait = failure.retry_after if failure.retry_after is not None else FIRST_PAUSE * 2 ** (attempt - 1)
                if self._clock() + wait >= deadline:
                    break
                self._pause(wait)
        logger.warning("embedding provider %s: %s", self.provider, failure.reason)
        unavailable = ProviderUnavailable(self.naming(failure.message), permanent=failure.permanent)
        if failure.concerns_every_call:
            self.rest_after(unavailable, failure.retry_after)
        raise unavailable

    def naming(self, message: str) -> str:
        """`message` about the default model's settings, with the names that those of this model have."""
        return message.replace("EMBEDDINGS_", self._prefix)

    def rest_after(self, error: ProviderUnavailable, seconds: float | None = None) -> None:
        """Leave the provider alone for a while: `error` answers the calls meanwhile."""
        usual = REST_PERMANENT if error.permanent else REST_TEMPORARY
        until = self._clock() + min(max(seconds or 0.0, usual), REST_PERMANENT)
        with self._lock:
            self._rest = (until, error)

    def _raise_while_resting(self) -> None:
        with self._lock:
            if self._rest is not None and self._clock() < self._rest[0]:
                # A new error each time: one object raised in several threads would mix their tracebacks.
                raise ProviderUnavailable(self._rest[1].message, permanent=self._rest[1].permanent)
            self._rest = None

    def _ask(self, inputs: Sequence[str], dimensions: int | None, timeout: float) -> list[Sequence[float]]:
        try:
            answer = self._client.embeddings.create(
                model=self.model,
                input=list(inputs),
                # The client would ask for base64, which not every server knows.
                encoding_format="float",
                dimensions=openai.omit if dimensions is None else dimensions,
                timeout=timeout,
            )
            rows = {int(row.index): [float(value) for value in row.embedding] for row in answer.data}
            if sorted(rows) != list(range(len(inputs))):
                raise ValueError("not one vector per text")
        except (ValueError, TypeError, AttributeError) as error:
            # A page of a proxy, or another interface at this address.
            raise _UnreadableAnswer from error
        return [rows[number] for number in range(len(inputs))]


class _UnreadableAnswer(openai.OpenAIError):
    """The answer is not one of the embeddings interface."""


@dataclass(frozen=True)
class _Failure:
    """What a failed attempt means. `is_final`: trying again at once cannot help."""

    reason: str
    message: str
    permanent: bool
    is_final: bool
    concerns_every_call: bool = True
    retry_after: float | None = None


def _classify(error: openai.OpenAIError, provider: str) -> _Failure:
    name = f"The embedding provider {provider}"
    if isinstance(error, openai.APIStatusError):
        return _classify_status(error, name)
    if isinstance(error, openai.APITimeoutError):
        return _Failure("timeout", f"{name} did not answer in time.", permanent=False, is_final=False)
    if isinstance(error, openai.APIConnectionError):
        message = f"{name} cannot be reached; if it stays so, check EMBEDDINGS_ENDPOINT."
        return _Failure("no connection", message, permanent=False, is_final=False)
    message = f"{name} answered something else than embeddings; check EMBEDDINGS_ENDPOINT."
    return _Failure("unreadable answer", message, permanent=True, is_final=True)


def _classify_status(error: openai.APIStatusError, name: str) -> _Failure:
    status = error.status_code
    code = error.code if isinstance(error.code, str) and _HARMLESS_CODE.fullmatch(error.code) else ""
    reason = f"status {status} {code}".strip()
    if status in (401, 403):
        message = f"{name} refused the key ({reason}); correct EMBEDDINGS_API_KEY."
        return _Failure(reason, message, permanent=True, is_final=True)
    if status == 404:
        message = f"{name} does not know the model or the address ({reason}); correct EMBEDDINGS_MODEL or"
        return _Failure(reason, f"{message} EMBEDDINGS_ENDPOINT.", permanent=True, is_final=True)
    if status in (408, 409, 425, 429) or status >= 500:
        out_of_money = code == "insufficient_quota"
        message = f"{name} is out of quota ({reason})." if out_of_money else f"{name} is busy or down ({reason})."
        return _Failure(reason, message, permanent=False, is_final=out_of_money, retry_after=_retry_after(error))
    message = f"{name} refused the request ({reason}); check EMBEDDINGS_MODEL, EMBEDDINGS_DIMENSIONS and"
    # It may be about this one text, such as one that is too long for the model.
    return _Failure(reason, f"{message} EMBEDDINGS_API_KEY.", permanent=True, is_final=True, concerns_every_call=False)


def _retry_after(error: openai.APIStatusError) -> float | None:
    """The seconds a provider asks to wait, from its Retry-After header: a number, or a date still to come.

    None without a readable one.
    """
    asked = error.response.headers.get("retry-after", "")
    try:
        seconds = float(asked)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(asked).timestamp() - time.time()
        except (ValueError, OverflowError):
            return None
    return seconds if 0 <= seconds < float("inf") else None


def _make_client(provider: str, base_url: str, api_key: str) -> openai.OpenAI:
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
