"""The memory over MCP: thin adapters over the services, served at `/mcp` and over stdio.

A tool is one function with its parameters declared beside it:

    @tool(title="Who am I", read_only=True, output=WireIdentity)
    def whoAmI(access: AccessContext) -> WireIdentity:
        "Tells which person and key this is, and which spaces they reach."
        return WireIdentity.of(access, space_summaries(access))

`parameters` parses arguments, `registry` holds the tools, `tools` are the tools, `resources` and `prompts` what their
names say, `server` joins them into one MCP server, `endpoint` serves it over HTTP.
"""
