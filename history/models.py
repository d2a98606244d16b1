"""What git keeps, as rows: objects, the ref they are reached from, and two tables that make the log an indexed query.

`Object` and `Ref` are the repository; `Commit` and `Change` can be computed from them, and `history fsck` compares.
All are made by SQL (migration 0001): Django cannot declare their storage and cascades.
"""

from django.db import models

from spaces.models import Space, SpaceOwnedQuerySet

MAIN = "refs/heads/main"


class Kind(models.IntegerChoices):
    """Types of git objects, numbered as in packs."""

    COMMIT = 1
    TREE = 2
    BLOB = 3


class Object(models.Model):
    """A git object. `data` is its body as zlib makes it: byte for byte the payload of its entry in a pack."""

    pk = models.CompositePrimaryKey("space_id", "oid")
    space = models.ForeignKey(Space, models.DO_NOTHING, related_name="+")
    oid = models.BinaryField(max_length=20)
    kind = models.SmallIntegerField(choices=Kind.choices)
    # The commit that brought it, counted within the space: what a fetch lacks is a range, found without walking.
    sequence = models.BigIntegerField()
    size = models.IntegerField()
    data = models.BinaryField()

    objects = SpaceOwnedQuerySet.as_manager()

    class Meta:
        managed = False
        db_table = "history_object"


class Ref(models.Model):
    """The commit a branch stands at, and its tree. Writers of a space wait for this row; before the first commit both
    ids are null."""

    pk = models.CompositePrimaryKey("space_id", "name")
    space = models.ForeignKey(Space, models.DO_NOTHING, related_name="+")
    name = models.CharField(max_length=100)
    oid = models.BinaryField(max_length=20, null=True)
    tree = models.BinaryField(max_length=20, null=True)
    sequence = models.BigIntegerField(default=0)

    objects = SpaceOwnedQuerySet.as_manager()

    class Meta:
        managed = False
        db_table = "history_ref"


class Commit(models.Model):
    """One commit, as the log and undo ask for it."""

    pk = models.CompositePrimaryKey("space_id", "sequence")
    space = models.ForeignKey(Space, models.DO_NOTHING, related_name="+")
    sequence = models.BigIntegerField()
    oid = models.BinaryField(max_length=20)
    author_name = models.TextField()
    author_email = models.TextField()
    # Label of the key it was made with; empty for commits made without one.
    key_label = models.TextField()
    message = models.TextField()
    trailers = models.JSONField(default=dict)
    moment = models.DateTimeField()

    objects = SpaceOwnedQuerySet.as_manager()

    class Meta:
        managed = False
        db_table = "history_commit"


class Change(models.Model):
    """One file that a commit changed. `blob` is null where it was deleted, `previous` where it was new."""

    pk = models.CompositePrimaryKey("space_id", "path", "sequence")
    space = models.ForeignKey(Space, models.DO_NOTHING, related_name="+")
    path = models.TextField(db_collation="C")
    sequence = models.BigIntegerField()
    blob = models.BinaryField(max_length=20, null=True)
    previous = models.BinaryField(max_length=20, null=True)

    objects = SpaceOwnedQuerySet.as_manager()

    class Meta:
        managed = False
        db_table = "history_change"
