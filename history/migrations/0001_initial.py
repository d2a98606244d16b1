"""The repository of each space, all tables led by the space.

`data` is compressed already, so PostgreSQL is told not to try. Foreign keys cascade in the database, since Django does
not manage these tables. Paths sort by their bytes, so that a folder is a range; and filters by plain comparison are
what row-level security lets an index answer.
"""

from django.db import migrations, models

from spaces.policies import isolate

TABLES = ("history_object", "history_ref", "history_commit", "history_change")

OBJECTS = """
CREATE TABLE history_object (
    space_id uuid NOT NULL REFERENCES spaces_space ON DELETE CASCADE,
    oid bytea NOT NULL,
    kind smallint NOT NULL CONSTRAINT history_object_kind_is_known CHECK (kind IN (1, 2, 3)),
    sequence bigint NOT NULL,
    size integer NOT NULL,
    data bytea STORAGE EXTERNAL NOT NULL,
    PRIMARY KEY (space_id, oid)
);
CREATE INDEX history_object_by_sequence ON history_object (space_id, sequence);
CREATE TABLE history_ref (
    space_id uuid NOT NULL REFERENCES spaces_space ON DELETE CASCADE,
    name varchar(100) NOT NULL,
    oid bytea,
    tree bytea,
    sequence bigint NOT NULL,
    PRIMARY KEY (space_id, name)
) WITH (fillfactor = 50);
"""

LOG = """
CREATE TABLE history_commit (
    space_id uuid NOT NULL REFERENCES spaces_space ON DELETE CASCADE,
    sequence bigint NOT NULL,
    oid bytea NOT NULL,
    author_name text NOT NULL,
    author_email text NOT NULL,
    key_label text NOT NULL,
    message text NOT NULL,
    trailers jsonb NOT NULL,
    moment timestamp with time zone NOT NULL,
    PRIMARY KEY (space_id, sequence)
);
CREATE UNIQUE INDEX history_commit_by_oid ON history_commit (space_id, oid);
CREATE INDEX history_commit_by_author ON history_commit (space_id, author_email, sequence);
CREATE INDEX history_commit_by_key ON history_commit (space_id, key_label, sequence) WHERE key_label <> '';
CREATE INDEX history_commit_by_moment ON history_commit (space_id, moment);
CREATE TABLE history_change (
    space_id uuid NOT NULL REFERENCES spaces_space ON DELETE CASCADE,
    path text COLLATE "C" NOT NULL,
    sequence bigint NOT NULL,
    blob bytea,
    previous bytea,
    PRIMARY KEY (space_id, path, sequence)
);
CREATE INDEX history_change_by_sequence ON history_change (space_id, sequence);
"""


class Migration(migrations.Migration):
    initial = True
    dependencies = [("spaces", "0002_initial")]
    operations = [
        migrations.RunSQL(OBJECTS, "DROP TABLE history_object, history_ref"),
        migrations.RunSQL(LOG, "DROP TABLE history_commit, history_change"),
        *[isolate(table) for table in TABLES],
        migrations.CreateModel(
            name="Change",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "space_id", "path", "sequence", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("path", models.TextField(db_collation="C")),
                ("sequence", models.BigIntegerField()),
                ("blob", models.BinaryField(max_length=20, null=True)),
                ("previous", models.BinaryField(max_length=20, null=True)),
            ],
            options={
                "db_table": "history_change",
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="Commit",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "space_id", "sequence", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("sequence", models.BigIntegerField()),
                ("oid", models.BinaryField(max_length=20)),
                ("author_name", models.TextField()),
                ("author_email", models.TextField()),
                ("key_label", models.TextField()),
                ("message", models.TextField()),
                ("trailers", models.JSONField(default=dict)),
                ("moment", models.DateTimeField()),
            ],
            options={
                "db_table": "history_commit",
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="Object",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "space_id", "oid", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("oid", models.BinaryField(max_length=20)),
                ("kind", models.SmallIntegerField(choices=[(1, "Commit"), (2, "Tree"), (3, "Blob")])),
                ("sequence", models.BigIntegerField()),
                ("size", models.IntegerField()),
                ("data", models.BinaryField()),
            ],
            options={
                "db_table": "history_object",
                "managed": False,
            },
        ),
        migrations.CreateModel(
            name="Ref",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "space_id", "name", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("oid", models.BinaryField(max_length=20, null=True)),
                ("tree", models.BinaryField(max_length=20, null=True)),
                ("sequence", models.BigIntegerField(default=0)),
            ],
            options={
                "db_table": "history_ref",
                "managed": False,
            },
        ),
    ]
