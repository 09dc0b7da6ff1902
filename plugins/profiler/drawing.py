"""Curves and areas over two axes with scales and a legend, as inline SVG without scripts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from math import ceil, floor, log10

__all__ = ["COLORS", "STYLE", "Scale", "areas", "bytes_text", "curves", "number_text", "page", "time_text"]

COLORS = ("#3b7dd8", "#d9662c", "#3a9d5d", "#b04fb5", "#a8871e", "#c23b4e", "#2a9aa8", "#7a6ad8")
STYLE = """
:root { color-scheme: light dark; }
body { font: 14px/1.4 system-ui, sans-serif; margin: 1.5rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin: 1.5rem 0 .3rem; }
svg { width: 100%; max-width: 900px; display: block; font: 11px system-ui, sans-serif; }
svg text { fill: #888; } svg .grid { stroke: #8884; } svg .legend { fill: currentColor; }
"""
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 900, 260, 70, 12, 10, 40


def number_text(value: float) -> str:
    """Returns a number of a scale as text."""
    return f"{value:.6g}"


def bytes_text(value: float) -> str:
    """Returns a number of bytes as text, in the unit that suits it."""
    for unit, size in (("GB", 2**30), ("MB", 2**20), ("KB", 2**10)):
        if abs(value) >= size:
            return f"{value / size:.4g} {unit}"
    return f"{value:.4g} B"


def time_text(us: float) -> str:
    """Returns microseconds as text, in the unit that suits them."""
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if abs(us) >= size:
            return f"{us / size:.6g} {unit}"
    return f"{us:.6g} µs"


def page(title: str, body: str, head: str = "") -> str:
    """Returns a page of HTML that needs no other file."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{head}<title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )


class Scale:
    """An axis from ``least`` to ``most``, which lie at ``begin`` and ``end`` of the picture; ``log`` is by powers of
    ten. An axis without an extent gets one."""

    def __init__(self, least: float, most: float, begin: float, end: float, log: bool = False, base: float = 10):
        if least == most:
            least, most = (least / 2, most * 2) if log else (least - 0.5, most + 0.5)
        self.least, self.most, self.begin, self.end, self.log, self.base = least, most, begin, end, log, base

    def place(self, value: float) -> float:
        """Returns where a value lies in the picture."""
        least, most = self.least, self.most
        if self.log:
            value, least, most = log10(value), log10(least), log10(most)
        return self.begin + (value - least) / (most - least) * (self.end - self.begin)

    def ticks(self, about: int = 5) -> list[float]:
        """Returns round values within the axis, about so many: multiples of 1, 2 or 5 times a power of the base."""
        if self.log:
            powers = range(floor(log10(self.least)), ceil(log10(self.most)) + 1)
            found = [m * 10.0**p for p in powers for m in (1, 2, 5) if self.least <= m * 10.0**p <= self.most]
            if len(found) >= 2:
                tens = [value for value in found if round(log10(value), 9).is_integer()]
                found = tens if len(found) > 2 * about and len(tens) > 1 else found
                return found[:: -(-len(found) // (2 * about))]
        raw = (self.most - self.least) / about
        unit = self.base ** floor(log10(raw) / log10(self.base))
        factors = (1, 2, 5, 10) if self.base == 10 else [2**i for i in range(11)]
        step = unit * next(f for f in factors if f * unit >= raw * (1 - 1e-9))
        first, last = ceil(self.least / step - 1e-9), floor(self.most / step + 1e-9)
        return [i * step for i in range(first, last + 1)]


def _scales(x: Scale, y: Scale, x_text: Callable, y_text: Callable, x_name: str) -> list[str]:
    """Returns the lines and the texts of both scales."""
    parts = []
    for value in y.ticks():
        at = y.place(value)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{escape(y_text(value))}</text>')
    floor_ = HEIGHT - BOTTOM
    for value in x.ticks(8):
        at = x.place(value)
        parts.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{floor_}"/>')
        parts.append(f'<text x="{at:.1f}" y="{floor_ + 14}" text-anchor="middle">{escape(x_text(value))}</text>')
    if x_name:
        parts.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">{escape(x_name)}</text>')
    return parts


def _legend(names: Sequence[str], colors: Sequence[str]) -> list[str]:
    parts, at = [], float(LEFT)
    for name, color in zip(names, colors, strict=True):
        parts.append(f'<rect x="{at:.0f}" y="{HEIGHT - 15}" width="10" height="10" fill="{color}"/>')
        parts.append(f'<text class="legend" x="{at + 14:.0f}" y="{HEIGHT - 6}">{escape(name)}</text>')
        at += 34 + 6.2 * len(name)
    return parts


def _svg(parts: list[str], title: str) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><title>{escape(title)}</title>{"".join(parts)}</svg>'


def curves(
    title: str,
    lines: Sequence[tuple[str, Sequence[Sequence[tuple[float, float]]]]],
    x_name: str = "step",
    log: bool = False,
) -> str:
    """Returns a picture of curves: (name for the legend, its parts), each part a list of points (x, y)."""
    points = [point for _, parts in lines for part in parts for point in part]
    if not points:
        return _svg([f'<text x="{LEFT}" y="{HEIGHT / 2}">no values yet</text>'], title)
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    x = Scale(min(xs), max(xs), LEFT, WIDTH - RIGHT)
    y = Scale(min(ys), max(ys), HEIGHT - BOTTOM, TOP, log)
    drawn = _scales(x, y, number_text, number_text, x_name)
    colors = [COLORS[i % len(COLORS)] for i in range(len(lines))]
    for (_, parts), color in zip(lines, colors, strict=True):
        for part in parts:
            if len(part) == 1:
                drawn.append(
                    f'<circle cx="{x.place(part[0][0]):.1f}" cy="{y.place(part[0][1]):.1f}" r="2" fill="{color}"/>'
                )
            elif part:
                text = " ".join(f"{x.place(a):.1f},{y.place(b):.1f}" for a, b in part)
                drawn.append(f'<polyline points="{text}" fill="none" stroke="{color}" stroke-width="1.5"/>')
    return _svg(drawn + _legend([name for name, _ in lines], colors), title)


def areas(
    title: str,
    times: Sequence[float],
    columns: Sequence[tuple[str, Sequence[float]]],
    time_text: Callable[[float], str],
) -> str:
    """Returns a picture of bytes over time, in steps: each column (name, values) lies on those before it."""
    tops = [0.0] * len(times)
    x = Scale(min(times), max(times), LEFT, WIDTH - RIGHT)
    most = max(sum(values) for values in zip(*(v for _, v in columns), strict=True))
    y = Scale(0, max(most, 1), HEIGHT - BOTTOM, TOP, base=1024)
    drawn = _scales(x, y, time_text, bytes_text, "")
    colors = [COLORS[i % len(COLORS)] for i in range(len(columns))]
    for (_, values), color in zip(columns, colors, strict=True):
        below, tops = tops, [low + value for low, value in zip(tops, values, strict=True)]
        edges = [_stairs(times, heights) for heights in (tops, below)]
        outline = " ".join(f"{x.place(t):.1f},{y.place(v):.1f}" for t, v in edges[0] + edges[1][::-1])
        drawn.append(f'<polygon points="{outline}" fill="{color}" fill-opacity="0.7"/>')
    return _svg(drawn + _legend([name for name, _ in columns], colors), title)


def _stairs(times: Sequence[float], values: Sequence[float]) -> list[tuple[float, float]]:
    """Returns the corners of steps: each value lasts until the next time."""
    corners = []
    for i, (time, value) in enumerate(zip(times, values, strict=True)):
        corners += [(time, values[i - 1]), (time, value)] if i else [(time, value)]
    return corners
