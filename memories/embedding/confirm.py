"""Whether two texts say the same in (nearly) the same words."""

import re


def is_same_statement(content: str, memory_text: str) -> bool:
    """True only when both texts have the same words in the same order, up to case and punctuation."""
    return re.findall(r"\w+", content.casefold()) == re.findall(r"\w+", memory_text.casefold())
