"""Projects: Writers make their own, managers change them, and nobody else sees them."""

import pytest

from core.errors import AccessDenied, Conflict, Invalid, NotFound
from memories.services.notes import upsert_note
from memories.tests.factories import make_access, make_person, make_space
from spaces.access import access_for_key
from spaces.models import ApiKey, Space
from spaces.services.projects import create_project, projects_of, update_project
from spaces.services.provisioning import create_api_key

pytestmark = pytest.mark.django_db


@pytest.fixture
def secret():
    return create_api_key(make_person("Ada"), label="test").secret


def test_a_writer_makes_a_project_and_writes_into_it_at_once(secret):
    access = access_for_key(secret)
    made = create_project(access, name="Ferienhaus Müller", sensitivity="Niedrig", description=" Dach ")
    assert (made.key, made.sensitivity, made.description, made.can_manage) == ("ferienhaus-muller", "low", "Dach", True)
    access = access_for_key(secret)
    assert upsert_note(access, project=made.key, topic="dach", title="Ziegel", text="Rot.").created
    assert [project.key for project in projects_of(access)] == [made.key]
    assert projects_of(make_access())[0].key != made.key


def test_a_key_that_is_taken_is_refused_whoever_has_it(secret):
    access = access_for_key(secret)
    create_project(access, name="Steuer", sensitivity="hoch")
    make_space("geheim")
    for name in ("STEUER", "Geheim"):
        with pytest.raises(Conflict, match="exists already"):
            create_project(access, name=name, sensitivity="hoch")
    assert Space.objects.count() == 2


@pytest.mark.parametrize(
    ("name", "sensitivity"), [("🎉", "low"), ("", "low"), ("New", "low"), ("House", "secret"), ("House", None)]
)
def test_a_project_that_cannot_be_is_refused(secret, name, sensitivity):
    with pytest.raises(Invalid):
        create_project(access_for_key(secret), name=name, sensitivity=sensitivity)
    assert not Space.objects.exists()


def test_readers_make_none(secret):
    ApiKey.objects.get().user.__class__.objects.update(role="Reader")
    with pytest.raises(AccessDenied):
        create_project(access_for_key(secret), name="House", sensitivity="low")


def test_managers_change_a_project_and_members_do_not(secret):
    made = create_project(access_for_key(secret), name="House", sensitivity="low")
    manager = access_for_key(secret)
    changed = update_project(manager, made.key, name="Our house", sensitivity="hoch", description="")
    assert (changed.key, changed.name, changed.sensitivity) == ("house", "Our house", "high")
    member = make_access(Space.objects.get())
    assert not projects_of(member)[0].can_manage
    with pytest.raises(AccessDenied, match="managers"):
        update_project(member, made.key, name="Mine")
    with pytest.raises(NotFound):
        update_project(make_access(), made.key, name="Mine")


def test_projects_take_three_queries(secret, django_assert_max_num_queries):
    for name in ("One", "Two", "Three"):
        create_project(access_for_key(secret), name=name, sensitivity="low")
    access = access_for_key(secret)
    with django_assert_max_num_queries(2):
        assert len(projects_of(access)) == 3
