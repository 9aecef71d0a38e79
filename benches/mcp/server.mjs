// A server with the official TypeScript SDK.
//
// usage: server.mjs PACKAGES TOOLS          on stdio, with the packages that are installed in a directory
//        server.mjs PACKAGES TOOLS PORT     over HTTP, in sessions (2025-11-25), answers as JSON
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [packages, count, port] = process.argv.slice(2);
const require = createRequire(`${packages}/`);
const load = name => import(pathToFileURL(require.resolve(name)).href);
const { Server } = await load('@modelcontextprotocol/sdk/server/index.js');
const { CallToolRequestSchema, ListToolsRequestSchema } = await load('@modelcontextprotocol/sdk/types.js');

const inputSchema = {
  type: 'object',
  properties: { text: { type: 'string', description: 'Any text' } },
  required: ['text']
};
const tools = Array.from({ length: Number(count) }, (_, number) => ({
  name: `tool_${number}`,
  description: 'Returns its text',
  inputSchema
}));
function make() {
  const server = new Server({ name: 'bench', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools }));
  server.setRequestHandler(CallToolRequestSchema, async request => ({
    content: [{ type: 'text', text: request.params.arguments?.text ?? '' }]
  }));
  return server;
}

// Only what the way needs is loaded, as a server for one way would.
if (port === undefined) {
  const { StdioServerTransport } = await load('@modelcontextprotocol/sdk/server/stdio.js');
  await make().connect(new StdioServerTransport());
} else {
  const { StreamableHTTPServerTransport } = await load('@modelcontextprotocol/sdk/server/streamableHttp.js');
  const sessions = new Map();
  async function begin() {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      onsessioninitialized: id => sessions.set(id, transport),
      onsessionclosed: id => sessions.delete(id)
    });
    await make().connect(transport);
    return transport;
  }
  const serve = async (request, response) => {
    const transport = sessions.get(request.headers['mcp-session-id']) ?? (await begin());
    await transport.handleRequest(request, response);
  };
  http.createServer(serve).listen(Number(port), '127.0.0.1');
}
