"""An interpreter of pickle opcodes for untrusted files: it imports nothing, and calls only the functions passed to
it."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

from lamella.serialization.limits import Limits
from lamella.serialization.modules import is_class

MARKED = object()  # stands on the stack below the elements of a container


class Known:
    """A global that this reader supports. If the pickle calls it, the interpreter calls ``make`` instead.

    Args:
        plain: the meaning of the global where the pickle does not call it: a type of Python, "tensor", "parameter" or
            "array"
        limited: whether ``make`` takes the file's limits before its other arguments
        copied: returns the number of bytes of tensors that ``make`` copies, for the same arguments
    """

    def __init__(
        self,
        name: str,
        make: Callable[..., Any],
        plain: Any = None,
        limited: bool = False,
        copied: Callable[..., int] | None = None,
    ):
        self.name, self.make, self.plain = name, make, plain
        self.limited, self.copied = limited, copied

    def __repr__(self) -> str:
        return f"<{self.name} of a pickle>"


class Interpreter:
    """Runs one pickle.

    Args:
        data: the pickle
        find: returns the object for a module and a name, or raises
        persistent: returns the object for a persistent id
        call: calls a global that the pickle found, with a tuple of arguments
        build: sets the state of an object
        limits: the limits of memory and time
    """

    def __init__(
        self,
        data: bytes,
        find: Callable[[str, str], Any],
        persistent: Callable[[Any], Any],
        call: Callable[[Any, tuple], Any],
        build: Callable[[Any, Any], None],
        limits: Limits,
    ):
        self.data, self.at = data, 0
        self.find, self.persistent, self.call, self.build = find, persistent, call, build
        self.limits = limits
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        """Runs the pickle and returns its object. Raises UnpicklingError, and any error of the functions."""
        while True:
            code = self.take(1)[0]
            if code == 0x2E:  # STOP
                if len(self.stack) != 1 or self.stack[0] is MARKED:
                    raise UnpicklingError("the pickle ends in the middle of an object")
                return self.stack[0]
            step = STEPS.get(code)
            if step is None:
                raise UnpicklingError(f"opcode {bytes([code])!r} is not one that a file of tensors needs")
            step(self)

    # ---- bytes ----

    def take(self, count: int) -> bytes:
        end = self.at + count
        if count < 0 or end > len(self.data):
            raise UnpicklingError(f"the pickle is truncated: it announces {count} more bytes")
        part = self.data[self.at : end]
        self.at = end
        return part

    def number(self, layout: str) -> Any:
        return struct.unpack("<" + layout, self.take(struct.calcsize(layout)))[0]

    def line(self) -> str:
        end = self.data.find(b"\n", self.at)
        if end < 0:
            raise UnpicklingError("the pickle is truncated: a line has no end")
        return self.take(end + 1 - self.at)[:-1].decode("utf-8")

    # ---- the stack ----

    def pop(self) -> Any:
        if not self.stack or self.stack[-1] is MARKED:
            raise UnpicklingError("the pickle takes more than it has made")
        return self.stack.pop()

    def top(self, kind: Any) -> Any:
        if not self.stack or self.stack[-1] is MARKED or not isinstance(self.stack[-1], kind):
            raise UnpicklingError("the pickle adds elements to an object of another type")
        return self.stack[-1]

    def since_mark(self) -> list[Any]:
        for i in range(len(self.stack) - 1, -1, -1):
            if self.stack[i] is MARKED:
                parts = self.stack[i + 1 :]
                del self.stack[i:]
                return parts
        raise UnpicklingError("the pickle has no mark where it needs one")

    def recall(self, key: int) -> None:
        if key not in self.memo:
            raise UnpicklingError(f"the pickle recalls object {key}, which it has not made")
        self.stack.append(self.memo[key])

    def remember(self, key: int) -> None:
        self.memo[key] = self.top(object)

    def tuple_of(self, count: int) -> None:
        parts = [self.pop() for _ in range(count)]
        self.stack.append(tuple(reversed(parts)))

    def set_items(self, parts: list[Any]) -> None:
        target = self.top(dict)
        if len(parts) % 2:
            raise UnpicklingError("the pickle gives a dict a key without a value")
        for key, value in zip(parts[::2], parts[1::2], strict=True):
            target[self.limits.key(key, target)] = value

    def items(self) -> None:
        self.set_items(self.since_mark())

    def item(self) -> None:
        value = self.pop()
        self.set_items([self.pop(), value])

    def append(self) -> None:
        value = self.pop()
        self.top((list, deque)).append(value)

    def appends(self) -> None:
        parts = self.since_mark()
        self.top((list, deque)).extend(parts)

    def add(self) -> None:
        parts = self.since_mark()
        target = self.top(set)
        target.update(self.limits.key(part, target) for part in parts)

    # ---- globals ----

    def global_(self) -> None:
        module, name = self.line(), self.line()
        self.stack.append(self.find(module, name))

    def stack_global(self) -> None:
        name, module = self.pop(), self.pop()
        if type(name) is not str or type(module) is not str:
            raise UnpicklingError("the name of a global must be text")
        self.stack.append(self.find(module, name))

    def reduce(self) -> None:
        arguments, function = self.pop(), self.pop()
        if type(arguments) is not tuple:
            raise UnpicklingError("the arguments of a call must be a tuple")
        self.stack.append(self.call(function, arguments))

    def new_object(self) -> None:
        arguments, kind = self.pop(), self.pop()
        if type(arguments) is not tuple:
            raise UnpicklingError("the arguments of a new object must be a tuple")
        if arguments and is_class(kind):
            raise UnpicklingError(f"the pickle gives arguments to a new {kind.__qualname__}; a module has a state only")
        if isinstance(kind, type):
            self.stack.append(kind.__new__(kind, *arguments))
        else:
            self.stack.append(self.call(kind, arguments))

    def set_state(self) -> None:
        state = self.pop()
        self.build(self.top(object), state)

    def protocol(self) -> None:
        if self.take(1)[0] > 5:
            raise UnpicklingError("the pickle is of a protocol after 5")


def _push(make: Callable[[Interpreter], Any]) -> Callable[[Interpreter], None]:
    return lambda machine: machine.stack.append(make(machine))


def _long(width: str) -> Callable[[Interpreter], Any]:
    def read(machine: Interpreter) -> int:
        return int.from_bytes(machine.take(machine.number(width)), "little", signed=True)

    return read


def _bytes(width: str, kind: Callable[[bytes], Any] = bytes) -> Callable[[Interpreter], Any]:
    return lambda machine: kind(machine.take(machine.number(width)))


def _text(width: str, encoding: str = "utf-8") -> Callable[[Interpreter], Any]:
    return lambda machine: machine.take(machine.number(width)).decode(encoding, "surrogatepass")


PUSHES: dict[bytes, Callable[[Interpreter], Any]] = {
    b"N": lambda machine: None,
    b"\x88": lambda machine: True,
    b"\x89": lambda machine: False,
    b"(": lambda machine: MARKED,
    b")": lambda machine: (),
    b"]": lambda machine: [],
    b"}": lambda machine: {},
    b"\x8f": lambda machine: set(),
    b"J": lambda machine: machine.number("i"),
    b"K": lambda machine: machine.number("B"),
    b"M": lambda machine: machine.number("H"),
    b"G": lambda machine: struct.unpack(">d", machine.take(8))[0],
    b"\x8a": _long("B"),
    b"\x8b": _long("i"),
    b"X": _text("I"),
    b"\x8c": _text("B"),
    b"\x8d": _text("Q"),
    b"B": _bytes("I"),
    b"C": _bytes("B"),
    b"\x8e": _bytes("Q"),
    b"\x96": _bytes("Q", bytearray),
    b"U": lambda machine: machine.take(machine.number("B")).decode("latin1"),  # text of Python 2
    b"t": lambda machine: tuple(machine.since_mark()),
    b"\x91": lambda machine: frozenset(machine.limits.keys(machine.since_mark())),
    b"Q": lambda machine: machine.persistent(machine.pop()),
}
OTHERS: dict[bytes, Callable[[Interpreter], None]] = {
    b"\x80": Interpreter.protocol,
    b"\x95": lambda machine: machine.number("Q") and None,  # the length of a frame, which is only a hint
    b"q": lambda machine: machine.remember(machine.number("B")),
    b"r": lambda machine: machine.remember(machine.number("I")),
    b"\x94": lambda machine: machine.remember(len(machine.memo)),
    b"h": lambda machine: machine.recall(machine.number("B")),
    b"j": lambda machine: machine.recall(machine.number("I")),
    b"\x85": lambda machine: machine.tuple_of(1),
    b"\x86": lambda machine: machine.tuple_of(2),
    b"\x87": lambda machine: machine.tuple_of(3),
    b"a": Interpreter.append,
    b"e": Interpreter.appends,
    b"s": Interpreter.item,
    b"u": Interpreter.items,
    b"\x90": Interpreter.add,
    b"c": Interpreter.global_,
    b"\x93": Interpreter.stack_global,
    b"R": lambda machine: machine.reduce(),
    b"\x81": Interpreter.new_object,
    b"b": Interpreter.set_state,
}
STEPS = {code[0]: _push(make) for code, make in PUSHES.items()} | {code[0]: step for code, step in OTHERS.items()}
