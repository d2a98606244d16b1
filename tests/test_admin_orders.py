"""The lists of the admin come in an order that an index has: a page costs a page, however many rows there are."""

from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.test import RequestFactory

from accounts.models import User

pytestmark = pytest.mark.django_db

# As long as people made them one by one in the admin: sorted in no time.
SMALL = {"Group", "Resolution"}


@pytest.mark.parametrize("model", [model for model in admin.site._registry if model.__name__ not in SMALL])
def test_the_first_page_of_a_list_is_read_in_order(model):
    request = RequestFactory().get("/")
    request.user = User.objects.create_superuser("admin@example.org", "a long password")
    shown = admin.site._registry[model].get_changelist_instance(request).queryset[:100]
    statement, parameters = shown.query.sql_with_params()
    with connection.cursor() as cursor:
        # What is left to sort has no index.
        for way in ("sort", "incremental_sort", "seqscan", "bitmapscan", "hashjoin", "mergejoin", "hashagg"):
            cursor.execute(f"SET LOCAL enable_{way} = off")
        cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}", parameters)
        ((plan,),) = cursor.fetchall()
    assert sorts(plan[0]["Plan"]) == []


def sorts(node: dict[str, Any]) -> list[list[str]]:
    """What is sorted beneath a node of a plan; what is counted for each shown row is not looked at."""
    own = [node["Sort Key"]] if node["Node Type"].endswith("Sort") else []
    beneath = [child for child in node.get("Plans", ()) if child["Parent Relationship"] not in ("SubPlan", "InitPlan")]
    return own + [key for child in beneath for key in sorts(child)]
