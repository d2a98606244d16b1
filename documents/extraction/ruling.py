"""The lines ruled on a page, asked for what they part: rows of a table, or its columns."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from documents.extraction.positions import Rule

# Pieces of one height nearer than this are one line: borders are often drawn cell by cell. Points.
_NEAR = 4.0


class Ruling:
    """The level and upright lines of one page."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._level: list[Rule] = []
        self._upright: list[Rule] = []
        # Sorted so that the pieces of a level line follow each other.
        for rule in sorted(rules, key=lambda rule: (round(rule.top), rule.left)):
            last = self._level[-1] if self._level else None
            if rule.bottom - rule.top > rule.right - rule.left:
                self._upright.append(rule)
            elif last and round(last.top) == round(rule.top) and rule.left - last.right <= _NEAR:
                self._level[-1] = last._replace(right=max(last.right, rule.right))
            else:
                self._level.append(rule)
        self._upright.sort(key=lambda rule: rule.left)
        self._places = [rule.left for rule in self._upright]

    def levels_across(self, left: float, right: float) -> list[float]:
        """The heights of the lines that run across the whole interval and beyond it."""
        return [rule.top for rule in self._level if rule.left < left and rule.right > right]

    def upright_between(self, left: float, right: float, height: float | None = None) -> bool:
        """Whether an upright line stands in the interval, at this height if one is given."""
        standing = self._upright[bisect_left(self._places, left) : bisect_right(self._places, right)]
        return any(height is None or rule.top <= height <= rule.bottom for rule in standing)
