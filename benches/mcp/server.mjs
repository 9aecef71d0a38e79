// A server with the official TypeScript SDK: usage: server.mjs TOOLS, where its packages are.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.cwd()}/`);
const load = name => import(pathToFileURL(require.resolve(name)).href);
const { Server } = await load('@modelcontextprotocol/sdk/server/index.js');
const { StdioServerTransport } = await load('@modelcontextprotocol/sdk/server/stdio.js');
const { CallToolRequestSchema, ListToolsRequestSchema } = await load('@modelcontextprotocol/sdk/types.js');

const inputSchema = {
  type: 'object',
  properties: { text: { type: 'string', description: 'Any text' } },
  required: ['text']
};
const tools = Array.from({ length: Number(process.argv[2]) }, (_, number) => ({
  name: `tool_${number}`,
  description: 'Returns its text',
  inputSchema
}));
const server = new Server({ name: 'bench', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, async request => ({
  content: [{ type: 'text', text: request.params.arguments?.text ?? '' }]
}));
await server.connect(new StdioServerTransport());
