"""A program that improves a kernel over MCP: it talks to `loopwright serve`, and shows the talk."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from itertools import pairwise
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

WIDTH = 110


class Talk:
    """Calls of a client, each shown with its answer on one line."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def __call__(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = await self._client.call_tool(name, arguments)
        answer: dict[str, Any] = result.structured_content or {}
        print(_short(f"> {name} {json.dumps(arguments)}"))
        print(_short(f"{'!' if result.is_error else '<'} {json.dumps(answer)}"))
        return answer


def _short(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 4]} ..."


async def climb(call: Talk, program: str, rounds: int) -> dict[str, Any]:
    """Takes legal steps, or their repairs, as long as one makes the program faster."""
    best = await call("time", program=program)
    for _ in range(rounds):
        applied = await call("apply", program=program, step="", schedule=best["schedule"])
        candidates: list[str] = []
        for step in _steps(applied["loops"]):
            answer = await call("legal", program=program, step=step, schedule=best["schedule"])
            repairs = [each["schedule"] for each in answer["repairs"] if each["kind"] == "before"]
            candidates += [answer["schedule"]] if answer["legal"] else repairs[:1]
        found = await call("predict", program=program, schedules=candidates)
        promising = sorted(found["predictions"], key=lambda each: -(each["speedup"] or 0))
        measured = [
            await call("time", program=program, schedule=each["schedule"]) for each in promising[:2]
        ]
        fastest = max([best, *measured], key=lambda each: each["speedup"])
        if fastest is best:
            break
        best = fastest
    return best


def _steps(loops: list[str]) -> list[str]:
    found = [f"interchange{{loops={outer},{inner}}}" for outer, inner in pairwise(loops)]
    found += [f"vectorize{{loops={loop}}}" for loop in loops]
    return found + [f"parallel{{loops={loop}}}" for loop in loops]


async def talk(size: int, rounds: int, root: str) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "loopwright", "serve", "--root", root],
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    # The server's standard error has to be a file, which that of a notebook is not.
    async with Client(stdio_client(server, errlog=sys.__stderr__ or sys.stderr)) as client:
        call = Talk(client)
        await call("load", source="polybench/mvt", sizes={"n": size})
        best = await climb(call, "mvt", rounds)
        await call("verify", program="mvt", schedule=best["schedule"])
        await call("save", program="mvt", path="mvt-schedule.mlir", schedule=best["schedule"])
        print(f"{best['speedup']:.2f} times as fast: {best['schedule'] or 'as written'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1200)
    parser.add_argument("--rounds", type=int, default=2, help="steps at most")
    parser.add_argument("--root", help="the folder to write to (default: a temporary one)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(talk(options.size, options.rounds, options.root or folder))


if __name__ == "__main__":
    main()
