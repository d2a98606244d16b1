"""The history of each space: a real git repository whose objects and refs are rows of the same database.

    with bound(space):
        ...                                   # the rows that change
        commit(space.id, {"office/hours.md": text}, author=author_of(access), message="Office hours",
               trailers=trailers_of(access), moment=now)

Rows and commit are one transaction: both are there, or neither.
"""
