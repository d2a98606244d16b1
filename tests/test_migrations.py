import pytest
from django.core.management import call_command


@pytest.mark.django_db
def test_every_change_of_a_model_has_its_migration():
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


@pytest.mark.django_db(transaction=True)
def test_search_tables_can_be_taken_back_and_made_again():
    call_command("migrate", "memories", "0001", verbosity=0)
    call_command("migrate", "memories", verbosity=0)
