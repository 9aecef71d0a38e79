"""A server with the official Python SDK.

usage: server.py TOOLS          on stdio
       server.py TOOLS PORT     over HTTP, both revisions, answers as JSON
"""

import sys

from mcp.server.mcpserver import MCPServer

# A line of log for each request is not what is measured.
server = MCPServer("bench", log_level="WARNING")


def make(number):
    def tool(text: str) -> str:
        return text

    server.add_tool(tool, name=f"tool_{number}", description="Returns its text")


count, *port = map(int, sys.argv[1:])
for number in range(count):
    make(number)
if port:
    server.run("streamable-http", host="127.0.0.1", port=port[0], json_response=True)
else:
    server.run("stdio")
