// The official TypeScript client calls every tool that it is offered, and prints what came of each as JSON.
//
//     node mcp_client.mjs OSTLER ARGUMENTS     ARGUMENTS: {"tool": {...}} for tools that shall succeed

import { createRequire } from "node:module";

const require = createRequire(process.env.NODE_CLIENTS + "/");
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");

const [program, calls] = process.argv.slice(2);
const known = JSON.parse(calls);

const values = { number: 1, integer: 1, boolean: false, array: [], object: {} };
const valueFor = (schema) => schema.enum?.[0] ?? values[schema.type] ?? "x";
const argumentsFor = ({ name, inputSchema: { properties, required = [] } }) =>
    known[name] ?? Object.fromEntries(required.map((field) => [field, valueFor(properties[field])]));

const client = new Client({ name: "typescript", version: "1" });
await client.connect(new StdioClientTransport({ command: program, args: ["mcp"], env: process.env }));
const results = {};
for (const tool of (await client.listTools()).tools) {
    results[tool.name] = await client.callTool({ name: tool.name, arguments: argumentsFor(tool) });
}
await client.close();
console.log(JSON.stringify(results));
