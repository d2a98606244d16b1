"""Extraction over HTTP: OpenAI, Azure OpenAI, Gemini, and every server that speaks OpenAI's protocol."""

import functools
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import openai

from core.errors import ProviderUnavailable
from memories.extraction.answers import read_facts
from memories.extraction.base import Candidate, Fact
from memories.extraction.prompt import SCHEMA, SCHEMA_NAME, messages
from memories.providers.connection import Connection, Patience
from memories.providers.failures import Service, UnreadableAnswer

logger = logging.getLogger(__name__)

# A long text takes a model many seconds; what takes longer than this is given up, and the text stays whole.
EXTRACTION = Patience(attempt=60, total=90)

_STRICT: dict[str, Any] = {
    "type": "json_schema",
    "json_schema": {"name": SCHEMA_NAME, "strict": True, "schema": SCHEMA},
}


@functools.lru_cache(maxsize=4)
def connect(provider: str, endpoint: str, api_key: str, model: str) -> "OpenAIExtractor":
    """The extractor of a configuration, one per process; nothing is sent yet."""
    return OpenAIExtractor(
        Connection(Service.EXTRACTION, provider=provider, base_url=endpoint, api_key=api_key, model=model)
    )


# A connection must not be used by two processes.
os.register_at_fork(after_in_child=connect.cache_clear)


@dataclass(frozen=True)
class _Completion:
    text: str
    refusal: str
    is_cut: bool


class OpenAIExtractor:
    """A chat model behind a connection.

    It is asked for an answer by a strict JSON schema; a server that refuses such a request is asked in plain words.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._takes_schema = True

    def extract(self, content: str, candidates: Sequence[Candidate]) -> list[Fact]:
        """As `Extractor.extract`."""
        asked = messages(content, candidates)
        completion = self._complete(asked)
        provider = f"The extraction provider {self.connection.provider}"
        if completion.refusal:
            raise _about_this_text(f"{provider} refused to work on this text.")
        if completion.is_cut:
            raise _about_this_text(f"{provider} broke off its answer: the text holds more than the model can write.")
        try:
            return read_facts(completion.text, {candidate.id for candidate in candidates})
        except ValueError as error:
            logger.warning("extraction provider %s: an answer without facts: %s", self.connection.provider, error)
            message = f"{provider} answered something else than facts; check EXTRACTION_MODEL."
            raise ProviderUnavailable(message, concerns_every_call=False) from None

    def _complete(self, asked: list[dict[str, str]]) -> _Completion:
        if self._takes_schema:
            try:
                return self._ask(asked, _STRICT)
            except ProviderUnavailable as error:
                if error.concerns_every_call:
                    raise
        completion = self._ask(asked, None)
        # Only an answer shows that it was the schema which the server did not take.
        self._takes_schema = False
        return completion

    def _ask(self, asked: list[dict[str, str]], response_format: dict[str, Any] | None) -> _Completion:
        def ask(client: openai.OpenAI, timeout: float) -> _Completion:
            completion = client.chat.completions.create(
                model=self.connection.model,
                messages=cast("Any", asked),
                response_format=openai.omit if response_format is None else cast("Any", response_format),
                timeout=timeout,
            )
            choices = completion.choices
            if not isinstance(choices, list) or not choices:
                raise UnreadableAnswer("no choices")
            message = choices[0].message
            return _Completion(
                text=message.content or "",
                refusal=message.refusal or "" if choices[0].finish_reason != "content_filter" else "filtered",
                is_cut=choices[0].finish_reason == "length",
            )

        return self.connection.call(ask, EXTRACTION)


def _about_this_text(message: str) -> ProviderUnavailable:
    return ProviderUnavailable(message, permanent=True, concerns_every_call=False)
