"""A server with the official Python SDK: usage: server.py TOOLS"""

import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("bench")


def make(number):
    def tool(text: str) -> str:
        return text

    server.add_tool(tool, name=f"tool_{number}", description="Returns its text")


for number in range(int(sys.argv[1])):
    make(number)
server.run("stdio")
