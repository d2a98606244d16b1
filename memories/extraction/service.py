"""The one place where the rest of the server gets its extractor."""

from django.conf import settings

from memories.extraction.base import Extractor

DEFAULT_MODELS = {"openai": "gpt-4o-mini", "gemini": "gemini-2.5-flash"}


def extraction_is_on() -> bool:
    """Whether texts are split into facts here."""
    return bool(settings.EXTRACTION_PROVIDER != "none")


def get_extractor() -> Extractor | None:
    """The configured extractor, one per process and configuration; None when extraction is off."""
    if not extraction_is_on():
        return None
    # Imported only where it is used: the client's package takes a second to load.
    from memories.extraction.openai_compatible import connect

    provider = settings.EXTRACTION_PROVIDER
    model = settings.EXTRACTION_MODEL or DEFAULT_MODELS[provider]
    return connect(provider, settings.EXTRACTION_ENDPOINT, settings.EXTRACTION_API_KEY, model)
