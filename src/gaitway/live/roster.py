"""Characters of a live crowd: ids that are never used again, names, and numbers in the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gaitway.core.arrays import IntArray, read_only
from gaitway.core.errors import LiveError
from gaitway.core.suggest import did_you_mean

Who = int | str | Sequence[int] | Sequence[str] | IntArray
"""Characters: an id, a name, or several of them."""


class Roster:
    """Characters by id, by name and by their numbers in the engine. This class is **mutable**.

    Attributes:
        slots: number in the engine of each id.
        names: name of each id.
    """

    def __init__(self) -> None:
        self.slots: dict[int, int] = {}
        self.names: dict[int, str] = {}
        self._by_name: dict[str, int] = {}
        self._by_slot: dict[int, int] = {}
        self._lives: dict[tuple[int, int], str] = {}
        self._next = 0
        self._everyone: tuple[IntArray, IntArray] | None = None

    def __len__(self) -> int:
        return len(self.slots)

    def __contains__(self, who: object) -> bool:
        return who in self._by_name if isinstance(who, str) else who in self.slots

    def next_ids(self, count: int) -> range:
        """Return the ids that the next characters get."""
        return range(self._next, self._next + count)

    def add(self, slot: int, life: int, name: str | None, library: str) -> int:
        """Add a character.

        Args:
            slot: number of the character in the engine.
            life: number of characters that have had this number in the engine.
            name: name of the character; None makes one from its library's name and its id.
            library: name of its library.

        Returns:
            Its id.
        """
        number, self._next = self._next, self._next + 1
        called = name or f"{library} {number + 1}"
        while called in self._by_name:
            called += "'"
        self.names[number], self._by_name[called] = called, number
        self.place(number, slot, life)
        return number

    def place(self, number: int, slot: int, life: int) -> None:
        """Give a character another number in the engine."""
        self.slots[number], self._by_slot[slot] = slot, number
        self._everyone = None
        self._lives[slot, life] = self.names[number]

    def lift(self) -> None:
        """Take all characters out of the engine, to be placed again."""
        self.slots, self._by_slot, self._lives, self._everyone = {}, {}, {}, None

    def remove(self, number: int) -> str:
        """Remove a character and return its name, which a record still knows."""
        name = self.names.pop(number)
        del self._by_name[name]
        slot = self.slots.pop(number, None)
        self._everyone = None
        if slot is not None:
            del self._by_slot[slot]
        return name

    def everyone(self) -> tuple[IntArray, IntArray]:
        """Return the ids of all characters, ascending, and their numbers in the engine; read-only, (N,) each."""
        if self._everyone is None:
            ids = sorted(self.slots)
            slots = [self.slots[number] for number in ids]
            self._everyone = read_only(np.array(ids, np.int64)), read_only(np.array(slots, np.int64))
        return self._everyone

    def id_in(self, slot: int) -> int:
        """Return the id of the character with a number in the engine."""
        return self._by_slot[slot]

    def name_in(self, slot: int, life: int) -> str:
        """Return the name of the character that has or had a number in the engine."""
        return self._lives.get((slot, life), f"character {slot + 1}")

    def id(self, name: str) -> int:
        """Return the id of a name.

        Raises:
            LiveError: if no character has it.
        """
        if name not in self._by_name:
            raise LiveError(f"no character '{name}'{did_you_mean(name, self._by_name)}")
        return self._by_name[name]

    def ids(self, who: Who | None) -> list[int]:
        """Return the ids of characters; None means all, ascending.

        Raises:
            LiveError: if one of them is not there, or is named twice.
        """
        if who is None:
            return sorted(self.slots)
        asked: list[Any] = [who] if isinstance(who, str | int | np.integer) else list(who)
        out = [self.id(one) if isinstance(one, str) else one for one in asked]
        for one in out:
            if isinstance(one, bool) or not isinstance(one, int | np.integer):
                raise LiveError(f"{one!r} is no id of a character; ids are whole numbers")
            if int(one) not in self.slots:
                raise LiveError(f"no character {int(one)}; see `ids`")
        found = [int(one) for one in out]
        if len(set(found)) != len(found):
            raise LiveError("one character is named twice")
        return found

    def places(self, ids: Sequence[int]) -> IntArray:
        """Return the numbers in the engine of ids; (N,)."""
        return np.array([self.slots[number] for number in ids], np.int64)

    def check_names(self, names: Sequence[str]) -> None:
        """Check that new names are free.

        Raises:
            LiveError: if one is taken, or there twice.
        """
        seen = set(self._by_name)
        for name in names:
            if name in seen:
                raise LiveError(f"two characters called '{name}'; give each its own name")
            seen.add(name)

    def state(self) -> dict[str, Any]:
        """Return all that `restore` needs, as plain values."""
        return {
            "next": self._next,
            "characters": [[number, slot, self.names[number]] for number, slot in self.slots.items()],
            "lives": [[slot, life, name] for (slot, life), name in self._lives.items()],
        }

    def restore(self, state: Mapping[str, Any], there: IntArray) -> None:
        """Take saved characters.

        Args:
            state: values of `state`.
            there: numbers of the characters in the engine.

        Raises:
            ValueError: if these are others.
        """
        rows = [(int(number), int(slot), str(name)) for number, slot, name in state["characters"]]
        self._next, self._everyone = int(state["next"]), None
        self.slots = {number: slot for number, slot, _ in rows}
        self.names = {number: name for number, _, name in rows}
        self._by_slot = {slot: number for number, slot, _ in rows}
        self._by_name = {name: number for number, _, name in rows}
        self._lives = {(int(slot), int(life)): str(name) for slot, life, name in state["lives"]}
        tables = (self.slots, self._by_slot, self._by_name)
        if sorted(self._by_slot) != there.tolist() or any(len(table) != len(rows) for table in tables):
            raise ValueError("names of characters that are not there")
        if any(not 0 <= number < self._next for number in self.slots):
            raise ValueError("ids of characters that were never given")
