"""A worker of a shared folder: takes a moment for each item, and writes down what it begins."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from loopwright.support.shared_work import SharedWork


def main() -> None:
    """`shared_worker.py FOLDER ITEMS LEASE SECONDS`: works until nothing is left."""
    folder, items = Path(sys.argv[1]), int(sys.argv[2])
    lease, seconds = map(float, sys.argv[3:])
    with SharedWork(folder, "a test", items, lease=lease) as work:
        while True:
            for item in work.items():
                time.sleep(seconds)
                work.record(item, item * item)
            if not work.wait():
                return


if __name__ == "__main__":
    main()
