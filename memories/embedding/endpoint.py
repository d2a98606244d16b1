"""One embeddings endpoint."""

import time
from collections.abc import Callable, Sequence

import openai

from core.errors import ProviderUnavailable
from memories.providers.connection import Connection, Patience
from memories.providers.failures import Service

# A person or agent waits for the search, which goes on without vectors.
QUERY = Patience(attempt=8, total=12)
# A save waits for these; what fails is done again in the background.
PASSAGES = Patience(attempt=20, total=30)


class Endpoint(Connection):
    """The connection to a model that embeds."""

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
        super().__init__(
            Service.EMBEDDING,
            provider=provider,
            base_url=base_url,
            api_key=api_key,
            model=model,
            prefix=prefix,
            pause=pause,
            clock=clock,
        )

    def embed(self, inputs: Sequence[str], *, dimensions: int | None, patience: Patience) -> list[Sequence[float]]:
        """One row of numbers per input, in order. `dimensions` is sent only when given.

        Raises `ProviderUnavailable`; right away while the provider is left alone after a failure.
        """

        def ask(client: openai.OpenAI, timeout: float) -> list[Sequence[float]]:
            answer = client.embeddings.create(
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
            return [rows[number] for number in range(len(inputs))]

        return self.call(ask, patience)

    def rest_after(self, error: ProviderUnavailable) -> None:
        """Leave the provider alone for a while: `error` answers the calls meanwhile."""
        self.breaker.open(error)
