"""The admin of who reaches what: spaces with their members, keys with their grants, and people with both."""

from spaces.admin import keys, people, spaces

__all__ = ("keys", "people", "spaces")
