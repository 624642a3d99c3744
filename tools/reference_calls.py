"""Generator of the reference pages of calls and documents: see `tools/reference.py`.

`docs/reference/calls.md` from the table of calls and the records that they answer with,
`docs/reference/json.md` from the documents that commands write.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin

from schemas import documents

from loopwright.serving.call_worker import input_schema
from loopwright.session import records
from loopwright.session.calls import LONGEST_SOURCE, LONGEST_TEXT, MOST_ITEMS, Call, calls
from loopwright.support.json_records import Record, annotations_of

CALLS = f"""\
# Calls of a session

Written by `tools/reference.py` from the table of calls. They are the methods of
[`loopwright.Session`](api.md#sessions), the tools of `loopwright serve` (MCP over standard input
and output), and `POST /v1/NAME` of `loopwright serve --http PORT`, with the same names, arguments
and results. The [guide](../guide/programs.md) shows them at work.

A program is loaded once; all other calls name it. A schedule is a text, which calls take and give
back: nothing is stored but programs. Steps and schedules are in the
[text formats](schedules.md#text-formats) of all commands; a `step` is a pipeline.

## Serving

* **One folder.** Files are named relative to `--root`, links resolved; what lies outside is neither
  read nor written. No file is replaced but what the session wrote itself. The caches, the tuning
  database and adapted models are outside, and not used. C files are not served, as they include
  others.
* **Limits.** Calls are answered one at a time, so that nothing disturbs what is timed; 16 may wait.
  A call that an MCP client cancels is ended, and its process with it. A call that takes more than
  `--seconds` is ended; running a program as written may take a quarter of that, tuning half. Each
  process has `--memory`, arrays a quarter of it. Kernels are compiled and run in child processes of
  their own; what crashes or hangs is replaced, and programs stay loaded.
* **Sizes.** A text has at most {LONGEST_TEXT:,} characters, a program {LONGEST_SOURCE:,}, a list
  {MOST_ITEMS} items; an answer has at most 16 kB. Long lists come in pages: `page` and `limit` ask
  for one, and the answer says `page`, `pages` and `total`. Pages of long items are shorter. Texts
  in items are cut at 1,000 characters, schedules never.
* **Leniency.** `null` for an argument that has a default is the default. A text that is one block
  of code in Markdown is what is inside of it.
* **HTTP.** The address is 127.0.0.1 only. Requests need the header `Authorization: Bearer TOKEN`;
  the token is printed at the start, or is that of `LOOPWRIGHT_TOKEN`. Of connections that have not
  shown it, there are 32 at most: the oldest one makes room. `GET /v1/calls` lists the calls with
  their schemas. A `POST` has a JSON object of arguments; a call ends when its client closes the
  connection, else it is answered by
  `{{"result": ...}}` (200) or `{{"problem": ...}}`.

## Problems

What cannot be answered is a `Problem`: over MCP a result with `isError`, which the output schema
of the tool has beside the call's own, over HTTP `problem`, in Python an exception
(`loopwright.session.problems.problem_of` makes it a `Problem`).

| code | meaning |
|---|---|
| `illegal` | a step violates a dependence |
| `malformed` | a step makes no sense: no such loop, not directly nested |
| `source` | a text or a program that cannot be read |
| `input` | sizes, names or numbers that cannot be |
| `bounds` | the program would leave an array |
| `failed` | the program cannot be run |
| `unknown` | no such call, program or function |
| `type` | an argument of another type, missing, or too many |
| `path` | a file that is not there, or outside of the folder |
| `too_large` | an argument or an answer is too long |
| `too_complex` | an analysis gives up |
| `time` | the call took too long, and was ended |
| `memory` | not enough memory, or more than is allowed |
| `crash` | the process ended without an answer |
| `busy` | too many calls wait |
| `learning` | no such cost model, or one that cannot rate the program |
| `missing_extra` | a package is not installed |
| `internal` | a fault of loopwright |
"""

JSON = """\
# Results as JSON

Written by `tools/reference.py` from the documents that commands write. Every command has the option
`--json [FILE]`.

* Without a file, standard output has JSON lines and nothing else: the result is the last line.
  Long work reports `progress` in lines before it, one each second, and `bench` each case.
  What is wrong is a `problem` in place of the result, besides the message on standard error; exit
  codes are as without the option.
* With a file, that has the result, and standard output what it has without the option. An existing
  file is replaced only where its name ends in `.json` or `.jsonl`.

A document names its schema: `urn:loopwright:deps:1` is the file `schemas/deps-1.json` of the
package (JSON Schema, draft 2020-12). A version may get more fields; whatever else changes is a new
version. Numbers that JSON does not have are null.

"""


def calls_page() -> str:
    """The page of calls and records."""
    shown = [name for call in calls().values() for name in _records(call.result)]
    parts = [CALLS, "## Calls\n"]
    parts += ["\n".join(_call(call)) for call in calls().values()]
    parts.append("## Records\n")
    for name in dict.fromkeys(["Problem", "Place", *shown]):
        parts.append("\n".join(_record(getattr(records, name))))
    return "\n".join(parts)


def json_page() -> str:
    """The page of documents."""
    rows = [(f"`{each.document}` {each.version}", _first_line(each)) for each in documents()]
    return JSON + "\n".join([*_table(("document", "what it is"), rows), "", *_documents()])


def _documents() -> Iterator[str]:
    for each in documents():
        yield f"## {each.document}\n"
        yield f"{_first_line(each)}\n"
        yield from _table(("field", "type", "meaning"), _fields(each))
        yield ""


def _call(call: Call) -> Iterator[str]:
    yield f"### {call.name}\n"
    yield f"{call.summary}\n"
    properties = input_schema(call)["properties"]
    rows: list[tuple[str, ...]] = []
    for name, schema in properties.items():
        required = {each.name for each in call.parameters if each.is_required}
        default = "required" if name in required else f"`{json.dumps(schema['default'])}`"
        rows.append((f"`{name}`", schema.get("description", ""), default))
    yield from _table(("argument", "meaning", "default"), rows)
    name = call.result.__name__
    pages = f", with pages of `{call.paged}`" if call.paged else ""
    yield f"\nAnswers with [`{name}`](#{name.lower()}){pages}.\n"


def _record(record: type[Record]) -> Iterator[str]:
    yield f"### {record.__name__}\n"
    yield f"{_first_line(record)}\n"
    yield from _table(("field", "type", "meaning"), _fields(record))
    yield ""


def _fields(record: type) -> list[tuple[str, ...]]:
    hints = annotations_of(record)
    found: list[tuple[str, ...]] = []
    for field in dataclasses.fields(record):
        kind = hints[field.name]
        inner, doc = get_args(kind)[:2] if get_origin(kind) is Annotated else (kind, "")
        found.append((f"`{field.name}`", _type(inner), " ".join(str(doc).split())))
    return found


def _type(kind: Any) -> str:
    if kind is type(None):
        return "null"
    if isinstance(kind, type) and not get_args(kind):
        names = {str: "text", int: "integer", float: "number", bool: "boolean"}
        return names.get(kind, kind.__name__ if kind.__name__ != "PosixPath" else "text")
    origin, inner = get_origin(kind), get_args(kind)
    if origin is tuple:
        return f"list of {_type(inner[0])}"
    if (isinstance(origin, type) and issubclass(origin, dict)) or "Mapping" in str(origin):
        return f"{_type(inner[1])} by name"
    if "Literal" in str(origin):
        return "text"
    return " or ".join(_type(each) for each in inner) if inner else "any"


def _records(record: type[Record]) -> Iterator[str]:
    """The names of a record and those inside of it."""
    yield record.__name__
    for kind in annotations_of(record).values():
        for inner in _inside(kind):
            if isinstance(inner, type) and issubclass(inner, Record) and inner is not record:
                yield from _records(inner)


def _inside(kind: Any) -> Iterator[Any]:
    yield kind
    for inner in get_args(kind):
        yield from _inside(inner)


def _first_line(of: type) -> str:
    return " ".join((of.__doc__ or "").split())


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
