"""Checks a trace file against the document of the trace-event format."""

import gzip
import json


def checked_trace(path):
    """Returns a file's content, with checked events: phases, required fields, numbers, paired flows, nested spans."""
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt") as f:
        data = json.load(f)
    events = data["traceEvents"]
    required = {"X": {"name", "cat", "ts", "dur", "pid", "tid", "args"}, "M": {"name", "pid", "args"},
                "s": {"id", "ts", "pid", "tid", "cat", "name"}, "f": {"id", "ts", "pid", "tid", "cat", "name", "bp"},
                "C": {"name", "ts", "pid", "args"}}  # fmt: skip
    tracks = {}
    for e in events:
        assert required[e["ph"]] <= set(e), e
        assert all(isinstance(e[k], (int, float)) and e[k] >= 0 for k in ("ts", "dur") if k in e)
        if e["ph"] == "X":
            tracks.setdefault((e["pid"], e["tid"]), []).append(e)
    flows = [sorted((e["cat"], e["id"]) for e in events if e["ph"] == phase) for phase in "sf"]
    assert flows[0] == flows[1]
    for e in events:  # each end of a flow lies within a span of its track
        if e["ph"] in "sf":
            at = round(e["ts"] * 1000)
            spans = tracks[e["pid"], e["tid"]]
            assert any(0 <= at - round(s["ts"] * 1000) <= round(s["dur"] * 1000) for s in spans), e
    for spans in tracks.values():
        open_ends = []
        for e in sorted(spans, key=lambda e: (round(e["ts"] * 1000), -round(e["dur"] * 1000))):
            begin = round(e["ts"] * 1000)
            while open_ends and open_ends[-1] <= begin:
                open_ends.pop()
            assert not open_ends or begin + round(e["dur"] * 1000) <= open_ends[-1]
            open_ends.append(begin + round(e["dur"] * 1000))
    return data
