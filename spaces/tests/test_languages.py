"""A space may have any language that its database can stem, also one that was installed there."""

import pytest
from django.db import connection
from django.urls import reverse

from core.errors import Invalid
from memories.search.service import search
from memories.search.tests.conftest import without_embeddings  # noqa: F401
from memories.tests.factories import make_access, remember
from spaces.languages import installed_languages
from spaces.models import Language
from spaces.services.provisioning import create_space

pytestmark = pytest.mark.django_db


@pytest.fixture
def own_language():
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEXT SEARCH CONFIGURATION house_rules (COPY = pg_catalog.german)")
    return "house_rules"


def test_all_that_the_database_has_are_offered(own_language):
    names = [name for name, _ in installed_languages()]
    assert names[0] == "simple"
    assert {own_language, "german", "lithuanian"} | set(Language.values) <= set(names)
    assert dict(installed_languages())[own_language] == "House rules"


@pytest.mark.usefixtures("without_embeddings")
def test_words_are_stemmed_by_a_language_of_ones_own(own_language):
    access = make_access(language=own_language)
    memory = remember(access, "Die Versicherungen wurden bezahlt.")
    assert [match.memory.id for match in search(access, query="Versicherung").matches] == [memory.id]


def test_one_that_is_not_there_is_refused_with_those_that_are(own_language):
    with pytest.raises(Invalid, match=f"must be one of simple, .*{own_language}"):
        create_space(key="a", language="klingon")


def test_the_admin_offers_them(admin_client, own_language):
    page = admin_client.get(reverse("admin:spaces_space_add")).content.decode()
    assert f'value="{own_language}"' in page
    assert 'value="english" selected' in page
