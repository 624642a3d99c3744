"""Child process that answers calls: a Session in one folder, within limits of memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from ..runtime.measuring.children import limit_memory
from ..session.calls import Call, calls
from ..session.loaded_program import RunLimits
from ..session.problems import CallError, problem_of
from ..session.session import Session
from .pages import MOST_PER_PAGE, PER_PAGE, Page, paged
from .root_folder import RootFolder


@dataclass(frozen=True)
class Service:
    """Initial message: the folder that is served, and what a call may take.

    `seconds` are those of a call, `memory` the bytes of each process.
    """

    root: str
    seconds: float
    memory: int

    @property
    def run_limits(self) -> RunLimits:
        """What a run may take, so that its call ends in time and says what happened."""
        return RunLimits(self.seconds / 4, self.seconds / 2, self.memory // 4, self.memory)


@dataclass(frozen=True)
class Request:
    """A call by name, with arguments of plain JSON, and the names of other programs."""

    name: str
    arguments: Mapping[str, Any]
    reserved: frozenset[str] = frozenset()


def main(connection: Connection) -> None:
    """Answers requests with JSON texts, until the end."""
    service: Service = connection.recv()
    limit_memory(service.memory)
    with Session(service.run_limits, RootFolder(Path(service.root))) as session:
        connection.send("")
        while True:
            request: Request = connection.recv()
            session.reserved = request.reserved
            connection.send(json.dumps(answer(session, request)))


def answer(session: Session, request: Request) -> dict[str, Any]:
    """`{"result": ...}` or `{"problem": ...}`."""
    try:
        call = calls().get(request.name)
        if call is None:
            raise CallError("unknown", f"no call {request.name!r}; there are {', '.join(calls())}")
        arguments, page = split_page(call, request.arguments)
        return {"result": paged(call(session, arguments).to_json(), call.paged, page)}
    except Exception as error:  # a mistake of the compiler costs one answer, not the server
        return {"problem": paged(problem_of(error).to_json(), None, Page())}


def split_page(call: Call, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], Page]:
    """The arguments of the call itself, and the page that is wanted; raises CallError."""
    rest = dict(arguments)
    if call.paged is None:
        return rest, Page()
    number, limit = rest.pop("page", 1), rest.pop("limit", PER_PAGE)
    for name, value, most in (("page", number, 1_000_000), ("limit", limit, MOST_PER_PAGE)):
        if type(value) is not int or not 1 <= value <= most:
            raise CallError("type", f"{name} must be an integer from 1 to {most}")
    return rest, Page(number, limit)


def input_schema(call: Call) -> dict[str, Any]:
    """The schema of the arguments of a served call, with those of pages."""
    schema = call.input_schema()
    if call.paged is not None:
        schema["properties"] |= {
            "page": {
                "type": "integer",
                "minimum": 1,
                "default": 1,
                "description": f"of {call.paged}, counted from 1",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MOST_PER_PAGE,
                "default": PER_PAGE,
                "description": "items of a page; fewer where these are long",
            },
        }
    return schema


def output_schema(call: Call) -> dict[str, Any]:
    """The schema of a served call's result."""
    schema = call.output_schema()
    if call.paged is not None:
        texts = {
            "page": "which page this is",
            "pages": "how many there are",
            "total": f"how many {call.paged} there are in all",
        }
        schema["properties"] |= {
            name: {"type": "integer", "description": text} for name, text in texts.items()
        }
        schema["required"] = [*schema["required"], *texts]
    return schema
