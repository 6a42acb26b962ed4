"""Step IDs as the protocol has them: SHA-1 of the ID in the code; its nth repeat in a run hashes `id:n`."""

from __future__ import annotations

import hashlib


def hash_step_id(id: str) -> str:
    return hashlib.sha1(id.encode(errors="replace"), usedforsecurity=False).hexdigest()


class RepeatNumbers:
    """Numbers the repeats of each ID in one replay: `id`, `id:1`, `id:2`.

    Passes over what the code itself has taken.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._repeats: dict[str, int] = {}

    def name_of(self, id: str) -> str:
        n = self._repeats.get(id, 0)
        name = f"{id}:{n}" if n else id
        while name in self._taken:
            n += 1
            name = f"{id}:{n}"
        self._repeats[id] = n + 1
        self._taken.add(name)
        return name
