"""Models behind an HTTP interface: one way to call them, to judge their failures and to leave them alone.

connection = Connection(Service.EXTRACTION, provider="openai", base_url="", api_key="…", model="gpt-4o-mini")
answer = connection.call(lambda client, timeout: client.chat.completions.create(…), Patience(attempt=60, total=90))
"""
