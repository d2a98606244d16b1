"""What a failed call means: whether to try again, whom it concerns, and which setting to look at.

No message holds the key, the address or a text.
"""

import re
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum

import openai

_HARMLESS_CODE = re.compile(r"[a-z][a-z0-9_]{0,47}")


class Service(Enum):
    """What a provider is used for: how it is called in sentences, what it should answer, and its settings' prefix."""

    EMBEDDING = ("embedding", "embeddings", "EMBEDDINGS", ("MODEL", "DIMENSIONS", "API_KEY"))
    EXTRACTION = ("extraction", "facts", "EXTRACTION", ("MODEL", "API_KEY"))

    def __init__(self, noun: str, answers: str, prefix: str, settings: tuple[str, ...]) -> None:
        self.noun = noun
        self.answers = answers
        self.prefix = prefix
        self.requested_by = tuple(f"{prefix}_{name}" for name in settings)


class UnreadableAnswer(openai.OpenAIError):
    """The answer is not one of the interface that was called: a page of a proxy, or another interface."""


@dataclass(frozen=True)
class Failure:
    """What a failed attempt means. `is_final`: trying again at once cannot help. `concerns_every_call`: the provider
    itself is the cause, and not what it was asked."""

    reason: str
    message: str
    permanent: bool
    is_final: bool
    concerns_every_call: bool = True
    retry_after: float | None = None


def classify(error: openai.OpenAIError, service: Service, provider: str) -> Failure:
    """The meaning of an error that the client raised."""
    name = f"The {service.noun} provider {provider}"
    if isinstance(error, openai.APIStatusError):
        return _classify_status(error, service, name)
    if isinstance(error, openai.APITimeoutError):
        return Failure("timeout", f"{name} did not answer in time.", permanent=False, is_final=False)
    if isinstance(error, openai.APIConnectionError):
        message = f"{name} cannot be reached; if it stays so, check {service.prefix}_ENDPOINT."
        return Failure("no connection", message, permanent=False, is_final=False)
    message = f"{name} answered something else than {service.answers}; check {service.prefix}_ENDPOINT."
    return Failure("unreadable answer", message, permanent=True, is_final=True)


def _classify_status(error: openai.APIStatusError, service: Service, name: str) -> Failure:
    status, prefix = error.status_code, service.prefix
    code = error.code if isinstance(error.code, str) and _HARMLESS_CODE.fullmatch(error.code) else ""
    reason = f"status {status} {code}".strip()
    if status in (401, 403):
        message = f"{name} refused the key ({reason}); correct {prefix}_API_KEY."
        return Failure(reason, message, permanent=True, is_final=True)
    if status == 404:
        message = f"{name} does not know the model or the address ({reason}); correct {prefix}_MODEL or"
        return Failure(reason, f"{message} {prefix}_ENDPOINT.", permanent=True, is_final=True)
    if status in (408, 409, 425, 429) or status >= 500:
        out_of_money = code == "insufficient_quota"
        message = f"{name} is out of quota ({reason})." if out_of_money else f"{name} is busy or down ({reason})."
        return Failure(reason, message, permanent=False, is_final=out_of_money, retry_after=retry_after(error))
    *others, last = service.requested_by
    message = f"{name} refused the request ({reason}); check {', '.join(others)} and {last}."
    # It may be about this one text, such as one that is too long for the model.
    return Failure(reason, message, permanent=True, is_final=True, concerns_every_call=False)


def retry_after(error: openai.APIStatusError) -> float | None:
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
