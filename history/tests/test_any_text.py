"""Whatever people are called and write: git finds every commit well-formed and reads back what was meant."""

import pytest
from django.conf import settings as site
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import Invalid
from history.mirror import updated_mirror
from history.queries import file_at, log
from history.services.commits import Author, commit
from history.tests import git
from history.tests.builders import NOON, save
from memories.tests.factories import make_space
from spaces.isolation import bound

TEXT = st.text(max_size=60)


@pytest.mark.django_db
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(name=TEXT, email=TEXT, message=TEXT, trailer=TEXT, content=st.binary(max_size=200))
def test_any_author_message_and_content(tmp_path_factory, name, email, message, trailer, content):
    space_id = make_space().id
    author = Author(name, email)
    try:
        with bound(space_id):
            made = commit(
                space_id,
                {"ä/note.md": content},
                author=author,
                message=message,
                trailers={"Key": trailer},
                moment=NOON,
            )
    except Invalid:
        assert save(space_id, {"a.md": "x"}) is not None
        return
    assert made is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "MEMORY_HOME", tmp_path_factory.mktemp("home"))
        path = updated_mirror(space_id)
    assert git.run(path, "fsck", "--full", "--strict") == ""
    found = git.run(path, "log", "--format=%an%x00%ae%x00%(trailers:key=Key,valueonly)").strip("\n").split("\x00")
    (entry,) = log(space_id)
    assert found[:2] == [author.name, author.email] == [entry.author_name, entry.author_email]
    assert found[2].strip() == entry.key_label
    assert file_at(space_id, made.oid, "ä/note.md") == content
