"""The official MCP clients list and call every tool of ours: Python's, TypeScript's, and the inspector's command line.

Which tools there are is taken from the list, so that a new one is covered without a word here. Needs `OSTLER`, the
program, and the clients; `scripts/test` brings all of them.
"""

import asyncio
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import mcp
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

OSTLER = os.environ["OSTLER"]
NODE_CLIENTS = Path(os.environ["NODE_CLIENTS"])
HERE = Path(__file__).parent

PAGE = "data:text/html,<title>Front</title><h1>Hello</h1><input value=x><button>Press</button>"

# A call that each tool carries out on PAGE. One that stands not here is called with the least that its schema asks for,
# and may refuse that, in words.
CALLS = {
    "browser_navigate": {"url": PAGE},
    "browser_tabs": {"action": "list"},
    "browser_console": {},
    "browser_cdp": {"method": "Runtime.evaluate", "params": {"expression": "6*7"}},
    "browser_click": {"x": 5, "y": 5},
    "browser_press": {"key": "Tab"},
    "browser_scroll": {"dy": 10},
    "browser_snapshot": {},
    "browser_screenshot": {},
    "browser_wait": {"load": True},
}


def arguments_for(tool, schema):
    """Returns arguments that the tool's schema allows."""
    if tool in CALLS:
        return CALLS[tool]
    return {name: value_for(schema["properties"][name]) for name in schema.get("required", [])}


def value_for(schema):
    if "enum" in schema:
        return schema["enum"][0]
    return {"number": 1, "integer": 1, "boolean": False, "array": [], "object": {}}.get(schema.get("type"), "x")


class Clients(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        # Short, since a socket's path has about a hundred bytes.
        cls.folder = tempfile.TemporaryDirectory(prefix="ostler-", dir="/tmp")
        cls.env = {
            "PATH": os.environ["PATH"],
            "HOME": os.environ["HOME"],
            "BH_RUNTIME_DIR": cls.folder.name,
            "OSTLER_HOME": str(Path(cls.folder.name) / "home"),
            "BU_NAME": "clients",
        }
        subprocess.run([OSTLER, "connect", "--launch"], env=cls.env, check=True, stdout=subprocess.DEVNULL, timeout=60)

    @classmethod
    def tearDownClass(cls):
        subprocess.run([OSTLER, "stop"], env=cls.env, check=True, stdout=subprocess.DEVNULL, timeout=60)
        cls.folder.cleanup()

    def setUp(self):
        call = [OSTLER, "tool", "browser_navigate", json.dumps({"url": PAGE})]
        subprocess.run(call, env=self.env, check=True, stdout=subprocess.DEVNULL, timeout=60)

    def check(self, tool, is_error, text, data):
        """Whatever a tool does, it says so in text, and in data with an error's code."""
        self.assertTrue(text, tool)
        self.assertIsInstance(data, dict, tool)
        if tool in CALLS:
            self.assertFalse(is_error, f"{tool}: {text}")
        elif is_error:
            self.assertEqual(data["error"], text, tool)
            self.assertIn("error_code", data, tool)

    async def every_tool(self, server, mode):
        async with mcp.Client(server, mode=mode, read_timeout_seconds=60) as client:
            self.assertIn("browser_dialog", client.instructions)
            listed = (await client.list_tools()).tools
            self.assertTrue({"browser_dialog", "browser_cdp"} <= {tool.name for tool in listed})
            for tool in listed:
                result = await client.call_tool(tool.name, arguments_for(tool.name, tool.input_schema))
                self.check(tool.name, result.is_error, result.content[0].text, result.structured_content)
            self.assertNotIn("browser_run", [tool.name for tool in listed])
            found = await client.call_tool("browser_cdp", CALLS["browser_cdp"])
            self.assertEqual(found.structured_content["result"]["result"]["value"], 42)
            return client.protocol_version

    def test_python_over_stdio_in_the_oldest_and_the_newest_way(self):
        server = mcp.StdioServerParameters(command=OSTLER, args=["mcp"], env=self.env)
        versions = [asyncio.run(self.every_tool(server, mode)) for mode in ("legacy", "auto")]
        self.assertLess(versions[0], versions[1], "the newest protocol is spoken, and older ones are")

    def test_python_over_http_with_a_task_of_its_own(self):
        command = [OSTLER, "mcp", "--http", "127.0.0.1:0"]
        with subprocess.Popen(command, env=self.env, stderr=subprocess.PIPE, text=True) as server:
            try:
                url = server.stderr.readline().split(" at ")[1].split(";")[0]
                token = (Path(self.env["OSTLER_HOME"]) / "mcp-token").read_text().strip()
                for mode in ("legacy", "auto"):
                    asyncio.run(self.over_http(f"{url}?task=python-{mode}", token, mode))
            finally:
                server.terminate()
        tasks = json.loads(subprocess.check_output([OSTLER, "--json", "status"], env=self.env))["tasks"]
        self.assertTrue({"python-legacy", "python-auto"} <= {task["task"] for task in tasks}, tasks)

    async def over_http(self, url, token, mode):
        async with create_mcp_http_client(headers={"Authorization": f"Bearer {token}"}) as http:
            await self.every_tool(streamable_http_client(url, http_client=http), mode)

    def test_typescript(self):
        script = [str(HERE / "mcp_client.mjs"), OSTLER, json.dumps(CALLS)]
        env = {**self.env, "NODE_CLIENTS": str(NODE_CLIENTS)}
        results = json.loads(subprocess.check_output(["node", *script], env=env, timeout=120))
        self.assertIn("browser_cdp", results)
        for tool, result in results.items():
            text = result["content"][0]["text"]
            self.check(tool, result.get("isError"), text, result.get("structuredContent"))

    def test_the_inspectors_command_line(self):
        tools = {tool["name"]: tool["inputSchema"] for tool in self.inspect("tools/list")["tools"]}
        self.assertIn("browser_cdp", tools)
        for tool, schema in tools.items():
            args = [f"{name}={json.dumps(value) if not isinstance(value, str) else value}"
                    for name, value in arguments_for(tool, schema).items()]
            result = self.inspect("tools/call", "--tool-name", tool, *sum((["--tool-arg", arg] for arg in args), []))
            self.check(tool, result.get("isError"), result["content"][0]["text"], result.get("structuredContent"))

    def inspect(self, method, *more):
        cli = NODE_CLIENTS / "node_modules/@modelcontextprotocol/inspector-cli/build/cli.js"
        command = ["node", str(cli), "--cli", OSTLER, "mcp", "--method", method, *more]
        return json.loads(subprocess.check_output(command, env=self.env, timeout=120))


if __name__ == "__main__":
    unittest.main()
