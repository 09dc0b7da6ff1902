"""The memory of a device over time, by what the recorded events say about each block: as JSON and as a page.

Note [Categories]  A profile records when a block of memory was allocated and released, and the calls around it. Four of
  torch's categories follow from that. A block is *temporary* if it goes before the outermost call ends in which it was
  allocated; else it is an *activation* if that call is an operator, and a *gradient* if it is a step of backward. The
  rest was allocated outside of all calls, and is unknown. Which blocks are parameters, inputs or the state of an
  optimizer no event says; these are among the activations, or, if they are older than the profile, not counted.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_right
from html import escape
from typing import Any

from .drawing import areas, bytes_text, time_text
from .drawing import page as page_of
from .files import replacing
from .nesting import BEGIN, END, FUNCTION, PARENT, SCOPE, THREAD
from .schedules import HOST

__all__ = ["export"]

BACKWARD = 1  # LAMELLA_SCOPE_BACKWARD_FUNCTION
# The places of the categories in a row of sizes, as in torch's files: parameter, optimizer state, input, temporary,
# activation, gradient, autograd detail, unknown.
TEMPORARY, ACTIVATION, GRADIENT, UNKNOWN, CATEGORIES = 3, 4, 5, 7, 8
NAMES = {ACTIVATION: "activations", GRADIENT: "gradients", TEMPORARY: "temporary", UNKNOWN: "unknown"}
CREATE, DESTROY = 2, 4  # torch's numbers of actions
MOST_POINTS = 1500  # on the page


class _Calls:
    """The outermost calls and steps of backward of each thread; named blocks around them do not count."""

    def __init__(self, events: list[tuple]):
        inside: list[bool] = []
        self._of: dict[int, tuple[list[int], list[tuple[int, int]]]] = {}
        for e in events:
            is_call = e[SCOPE] in (FUNCTION, BACKWARD)
            around = e[PARENT] >= 0 and inside[e[PARENT]]
            inside.append(around or is_call)
            if is_call and not around:
                begins, calls = self._of.setdefault(e[THREAD], ([], []))
                begins.append(e[BEGIN])
                calls.append((e[END], GRADIENT if e[SCOPE] == BACKWARD else ACTIVATION))

    def around(self, thread: int, time: int) -> tuple[int, int] | None:
        """Returns the end and the category of the call that was open at a time; None if there was none."""
        begins, calls = self._of.get(thread, ([], []))
        at = bisect_right(begins, time) - 1
        return calls[at] if at >= 0 and time <= calls[at][0] else None


def changes(trace: Any, device: str) -> list[tuple[int, int, int, int]]:
    """Returns the changes of a device's memory in their order: (nanoseconds, action, bytes, category). The release of a
    block that is older than the profile is left out."""
    calls = _Calls(trace.events())
    live: dict[int, tuple[int, int, int | None]] = {}  # by address: its place in the list, its end of call
    made: list[tuple[int, int, int, int]] = []
    for time, address, n, backend, index, thread in sorted(trace.memory()):
        if f"{backend}:{index}" != device:
            continue
        if n >= 0:
            call = calls.around(thread, time)
            live[address] = len(made), n, call[0] if call else None
            made.append((time, CREATE, n, call[1] if call else UNKNOWN))
        elif address in live:
            place, size, end = live.pop(address)
            begin, action, _, category = made[place]
            if end is not None and time <= end:
                category = TEMPORARY
                made[place] = begin, action, size, category
            made.append((time, DESTROY, -size, category))
    return made


def summed(made: list[tuple[int, int, int, int]]) -> tuple[list[float], list[list[int]]]:
    """Returns times in microseconds, and for each the bytes by category, after a 0 as in torch's files."""
    times: list[float] = []
    sizes: list[list[int]] = []
    now = [0] * (CATEGORIES + 1)
    for time, _, n, category in made:
        now[category + 1] += n
        if times and times[-1] == time / 1000:
            sizes[-1] = now.copy()
        else:
            times.append(time / 1000)
            sizes.append(now.copy())
    return times, sizes


def choose(trace: Any, device: str | None) -> str:
    """Returns the name of the device with its index; by default the first accelerator that allocated memory in the
    profile, or else the host."""
    changed = [(n, f"{backend}:{index}") for _, _, n, backend, index, _ in trace.memory()]
    found = sorted({name for _, name in changed})
    if device is None:  # not one whose old blocks were only released, by the garbage collector, say
        made = sorted({name for n, name in changed if n > 0})
        return next((name for name in made if not name.startswith(f"{HOST}:")), f"{HOST}:0")
    name = str(device) if ":" in str(device) else f"{device}:0"
    if name not in found:
        raise ValueError(
            f"profile.export_memory_timeline: argument 'device': the profile has no memory of {name!r}; "
            f"it has that of {', '.join(found) or 'no device'}"
        )
    return name


def export(trace: Any, path: str | os.PathLike, device: str | None) -> None:
    """Writes the file; see ``profile.export_memory_timeline``."""
    name = choose(trace, device)
    made, target = changes(trace, name), os.fspath(path)
    if target.endswith(".html"):
        content = page(name, *summed(made)).encode()
    else:
        content = json.dumps(made if target.endswith("raw.json.gz") else summed(made)).encode()
    with replacing(path) as file:
        if target.endswith(".gz"):
            import gzip

            content = gzip.compress(content)
        file.write(content)


def page(device: str, times: list[float], sizes: list[list[int]]) -> str:
    """Returns a page that needs no other file: the memory by category, as areas on each other."""
    most = max((sum(row) for row in sizes), default=0)
    if times:
        step = -(-len(times) // MOST_POINTS)
        groups = [range(i, min(i + step, len(times))) for i in range(0, len(times), step)]
        kept = sorted({max(group, key=lambda i: sum(sizes[i])) for group in groups} | {0, len(times) - 1})
        columns = [(text, [sizes[i][category + 1] for i in kept]) for category, text in NAMES.items()]
        picture = areas(f"memory of {device}", [times[i] for i in kept], columns, time_text)
    else:
        picture = "<p>No memory was allocated while the profile ran.</p>"
    title = f"Memory of {device}"
    body = (
        f"<h1>{escape(title)}</h1>\n<p>most since the profile began: {bytes_text(most)}</p>\n{picture}\n"
        "<p>Temporary: released before the outermost call ended in which it was allocated. Activations and gradients: "
        "what operators and steps of backward allocated and kept. Memory from before the profile is not counted.</p>\n"
    )
    return page_of(title, body)
