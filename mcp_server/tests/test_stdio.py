"""The same server over standard input and output, as a real subprocess."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from accounts.models import ApiKey
from accounts.services.keys import revoke_key
from memories.models import Memory
from memories.tests.factories import make_key, make_person, make_space
from spaces.models import SpaceGrant
from tests.live import ERAS

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.django_db(transaction=True)


def environment(key: str | None) -> dict[str, str]:
    """Ours, with the test's database and the key."""
    address, question, options = os.environ["DATABASE_URL"].partition("?")
    url = f"{address[: address.rindex('/')]}/{connection.settings_dict['NAME']}{question}{options}"
    kept = {name: value for name, value in os.environ.items() if name != "MEMORY_API_KEY"}
    return {**kept, "DATABASE_URL": url, **({"MEMORY_API_KEY": key} if key else {})}


def run(key: str, era: str, action: Any) -> Any:
    async def connected() -> Any:
        parameters = StdioServerParameters(
            command=sys.executable, args=["manage.py", "mcp_stdio"], cwd=str(ROOT), env=environment(key)
        )
        async with Client(stdio_client(parameters), mode=era) as client:
            return await action(client)

    return asyncio.run(connected())


@pytest.mark.parametrize("era", ERAS)
def test_tools_resources_and_prompt_work(era):
    key = make_key(make_person("Ada"), make_space("own")).secret

    async def action(client: Client) -> None:
        saved = await client.call_tool("add_memory", {"content": "Saved over stdio."})
        assert not saved.is_error
        who = json.loads((await client.call_tool("whoAmI", {})).content[0].text)
        assert who["userDisplayName"] == "Ada"
        assert "Saved over stdio." in (await client.read_resource("memory-mcp://profile")).contents[0].text
        assert "(own)" in (await client.get_prompt("context")).messages[0].content.text

    run(key, era, action)
    assert Memory.objects.get().text == "Saved over stdio."


def test_a_switched_space_and_a_revoked_key_count_at_once():
    one, two = make_space("one"), make_space("two")
    new = make_key(make_person(), one, two)

    async def active(client: Client) -> str:
        who = await client.call_tool("whoAmI", {})
        return str(json.loads(who.content[0].text)["activeSpaceKey"])

    async def action(client: Client) -> None:
        assert await active(client) == "one"
        await client.call_tool("setActiveSpace", {"spaceKey": "two"})
        assert await active(client) == "two"
        await asyncio.to_thread(lambda: (revoke_key(ApiKey.objects.get()), connection.close()))
        with pytest.raises(Exception, match="revoked or has expired"):
            await client.call_tool("whoAmI", {})

    run(new.secret, "2026-07-28", action)
    assert SpaceGrant.objects.get(is_default=True).space_id == two.id


@pytest.mark.parametrize(("key", "said"), [(None, "Set MEMORY_API_KEY"), ("mmcp_wrong", "unknown, expired or revoked")])
def test_without_a_valid_key_it_does_not_start(key, said):
    done = subprocess.run(
        [sys.executable, "manage.py", "mcp_stdio"],
        cwd=ROOT, env=environment(key), input=b"", capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert said in done.stderr.decode()
    assert done.stdout == b""
    assert "Traceback" not in done.stderr.decode()


def test_a_database_that_does_not_answer_is_said_in_one_line():
    variables = {**environment("mmcp_any"), "DATABASE_URL": "postgres://memory@127.0.0.1:1/memory"}
    done = subprocess.run(
        [sys.executable, "manage.py", "mcp_stdio"],
        cwd=ROOT, env={**variables, "DATABASE_POOL_SIZE": "0"}, input=b"", capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "The database in DATABASE_URL does not answer" in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()
