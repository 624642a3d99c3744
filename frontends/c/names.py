"""Names in the text: unique where they are visible at once."""

from __future__ import annotations

import re


class Names:
    """Gives out names."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, name: str) -> str:
        """The name, or with a number behind it where it is taken."""
        base = re.sub(r"\W", "_", name, flags=re.ASCII)
        found, count = base, 0
        while found in self._taken:
            count += 1
            found = f"{base}_{count}"  # `$` is in the names of constants
        self._taken.add(found)
        return found

    def release(self, name: str) -> None:
        """The name may be given out again."""
        self._taken.discard(name)
