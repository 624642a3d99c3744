"""MCP over standard input and output, with the official package `mcp`."""

from __future__ import annotations

import json
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from ..session.calls import calls
from ..session.records import Problem
from ..support.json_records import DIALECT, schema_of
from ..support.version import __version__
from .call_worker import input_schema, output_schema
from .dispatcher import Dispatcher

INSTRUCTIONS = """\
A polyhedral compiler for loop nests. Load a program (MLIR text, a file, or a shipped kernel such as
polybench/gemm); describe it; then find a fast schedule: a list of steps such as
tile{loops=i,j sizes=32,32},parallel{loops=it}. 'legal' says exactly whether a step keeps all
dependences, shows a counterexample where it does not, and offers repairs that were tried. 'time'
runs the scheduled program and checks its results. Schedules are texts: hand them back to go on."""


def serve_stdio(dispatcher: Dispatcher) -> None:
    """Answers until standard input ends."""
    anyio.run(_serve, dispatcher)


async def _serve(dispatcher: Dispatcher) -> None:
    server = make_server(dispatcher)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def _answer_schema(result: dict[str, Any]) -> dict[str, Any]:
    """The schema of what a tool answers with: its result, or a problem.

    Clients check errors as well, and show nothing of one that is not of the schema.
    """
    both = result, schema_of(Problem)
    definitions = {name: each for schema in both for name, each in schema.get("$defs", {}).items()}
    kinds = [{k: v for k, v in each.items() if k not in ("$schema", "$defs")} for each in both]
    return {"$schema": DIALECT, "type": "object", "anyOf": kinds, "$defs": definitions}


def make_server(dispatcher: Dispatcher) -> Server[dict[str, Any]]:
    """The server, for any transport."""

    async def list_tools(
        _: object, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=call.name,
                    description=call.summary,
                    input_schema=input_schema(call),
                    output_schema=_answer_schema(output_schema(call)),
                )
                for call in calls().values()
            ]
        )

    async def call_tool(_: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        future = dispatcher.begin(params.name, params.arguments or {})
        try:
            answer = await anyio.to_thread.run_sync(future.result, abandon_on_cancel=True)
        except anyio.get_cancelled_exc_class():
            dispatcher.cancel(future)
            raise
        is_error = "problem" in answer
        content = answer["problem"] if is_error else answer["result"]
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=json.dumps(content))],
            structured_content=content,
            is_error=is_error,
        )

    return Server(
        "loopwright",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
