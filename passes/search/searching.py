"""Running a search to its end, however that comes."""

from __future__ import annotations

from .ledger import Ledger, OutOfTime
from .protocols import Search
from .result import Ended, Result, Task


def search(how: Search, task: Task) -> Result:
    """The best schedule that a search finds; Ctrl-C ends it with the best so far."""
    ledger = Ledger(task)
    ended: Ended = "done"
    try:
        ledger.predict([task.original])
        how.explore(ledger)
    except OutOfTime:
        ended = "time"
    except KeyboardInterrupt:
        ended = "interrupted"
    return ledger.result(ended)
