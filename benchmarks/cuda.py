"""Device ``cuda`` beside torch's on one GPU: launches, bandwidth, rows, products, attention and training steps.

``python cuda.py [WORDS...]`` prints a table in Markdown, of the cases whose names have one of the words or of all: the median, torch's, their ratio and the target. Where torch is
not installed its columns are empty. Inputs are rotated past the L2 cache; times are those of events.
"""

from __future__ import annotations

import importlib
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import lamella

Work = Callable[[int], Any]  # of the number of the round, which chooses the inputs
HUNDRED_MILLION = 10**8


def seconds(ns: Any, work: Work, rounds: int = 7, calls: int = 10) -> float:
    """The median time of a call on the device, by events."""
    for k in range(3):
        work(k)
    ns.cuda.synchronize()
    times = []
    for r in range(rounds):
        start, end = (ns.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for k in range(calls):
            work(r * calls + k)
        end.record()
        ns.cuda.synchronize()
        times.append(start.elapsed_time(end) / calls / 1e3)
    return statistics.median(times)


def launch_seconds(ns: Any, work: Work, calls: int = 5000) -> float:
    """The median time of the calling thread, while the device keeps up."""
    times = []
    for _ in range(7):
        ns.cuda.synchronize()
        start = time.perf_counter()
        for k in range(calls):
            work(k)
        times.append((time.perf_counter() - start) / calls)
        ns.cuda.synchronize()
    return statistics.median(times)


def rotated(make: Callable[[], Any], bytes_each: int) -> list[Any]:
    """Inputs that together do not fit into the L2 cache."""
    return [make() for _ in range(max(2, min(8, (256 << 20) // max(bytes_each, 1))))]


class Step:
    """A training step of a network, eager or captured into a graph."""

    def __init__(self, ns: Any, net: Any, x: Any, loss: Callable[[Any], Any], captured: bool = False):
        net.to("cuda")
        optimizer = ns.optim.SGD(net.parameters(), lr=1e-3)

        def step(_: int = 0) -> None:
            optimizer.zero_grad(set_to_none=False)
            loss(net(x)).backward()
            optimizer.step()

        self.run: Work = step
        if captured:
            side = ns.cuda.Stream()
            with ns.cuda.stream(side):
                for _ in range(3):
                    step()
            ns.cuda.synchronize()
            graph = ns.cuda.CUDAGraph()
            with ns.cuda.graph(graph):
                step()
            self.run = lambda _: graph.replay()


def residual(nn: Any, wide: int) -> Any:
    class Block(nn.Module):
        def __init__(self, into: int, out: int, stride: int):
            super().__init__()
            self.one = nn.Conv2d(into, out, 3, stride, 1, bias=False)
            self.two = nn.Conv2d(out, out, 3, 1, 1, bias=False)
            self.norm1, self.norm2 = nn.BatchNorm2d(out), nn.BatchNorm2d(out)
            self.way = nn.Conv2d(into, out, 1, stride, bias=False) if stride > 1 or into != out else nn.Identity()

        def forward(self, x: Any) -> Any:
            return (self.norm2(self.two(self.norm1(self.one(x)).relu())) + self.way(x)).relu()

    layers: list[Any] = [nn.Conv2d(3, wide, 7, 2, 3, bias=False), nn.BatchNorm2d(wide), nn.ReLU()]
    layers += [nn.MaxPool2d(3, 2, 1)]
    sizes = [(wide, wide, 1), (wide, wide, 1)]
    for k in range(1, 4):
        sizes += [(wide << (k - 1), wide << k, 2), (wide << k, wide << k, 1)]
    layers += [Block(*s) for s in sizes]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(wide << 3, 1000))


def transformer(nn: Any) -> Any:
    layer = nn.TransformerEncoderLayer(768, 12, 3072, dropout=0.0, batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, 12)


def cases(ns: Any) -> Iterator[tuple[str, Callable[[], float], str]]:
    """Name, a function that measures, and the target."""
    functional = ns.nn.functional
    small = ns.rand(16, device="cuda")
    yield "launch: add of 16", lambda: launch_seconds(ns, lambda _: small + small), "0.6 x torch"

    for kind in (ns.float32, ns.bfloat16):
        name = str(kind).rpartition(".")[2]
        size = 4 if kind is ns.float32 else 2
        xs = rotated(lambda kind=kind: ns.rand(HUNDRED_MILLION, device="cuda").to(kind), HUNDRED_MILLION * size)
        pick = lambda k, xs=xs: xs[k % len(xs)]  # noqa: E731
        out = ns.empty_like(xs[0])
        yield f"copy 1e8 {name}", lambda p=pick, o=out: seconds(ns, lambda k: o.copy_(p(k))), "the bandwidth"
        both = lambda k, p=pick, o=out: ns.add(p(k), p(k + 1), out=o)  # noqa: E731
        yield f"add 1e8 {name}", lambda f=both: seconds(ns, f), "90 % of copy"
        yield f"gelu 1e8 {name}", lambda p=pick: seconds(ns, lambda k: functional.gelu(p(k))), "90 % of copy"
        yield f"sum 1e8 {name}", lambda p=pick: seconds(ns, lambda k: p(k).sum()), "90 % of copy"
        table = [x[: 8192 * 4096].reshape(8192, 4096) for x in xs]
        row = lambda k, t=table: t[k % len(t)]  # noqa: E731
        yield f"softmax 8192x4096 {name}", lambda r=row: seconds(ns, lambda k: r(k).softmax(-1)), "1.0 x torch"
        weight = ns.ones(4096, device="cuda", dtype=kind)
        norm = lambda k, r=row, w=weight: functional.layer_norm(r(k), (4096,), w, w)  # noqa: E731
        yield f"layer_norm 8192x4096 {name}", lambda f=norm: seconds(ns, f), "1.0 x torch"
        yield f"sum of columns {name}", lambda r=row: seconds(ns, lambda k: r(k).sum(0)), "90 % of copy"

    for n in (1024, 4096, 8192):
        for kind, tf32 in ((ns.float32, False), (ns.float32, True), (ns.bfloat16, False)):
            name = f"{str(kind).rpartition('.')[2]}{' tf32' if tf32 else ''}"
            a = ns.rand(n, n, device="cuda").to(kind)

            def product(a: Any = a, tf32: bool = tf32) -> float:
                ns.backends.cuda.matmul.allow_tf32 = tf32
                return seconds(ns, lambda _: a @ a, calls=5)

            yield f"matmul {n} {name}", product, "1.03 x torch"

    q = ns.rand(1, 16, 4096, 64, device="cuda").to(ns.bfloat16)
    attend = functional.scaled_dot_product_attention
    yield "attention forward", lambda: seconds(ns, lambda _: attend(q, q, q)), "1.2 x torch"
    g = q.clone().requires_grad_()
    whole = lambda _: attend(g, g, g).sum().backward()  # noqa: E731
    yield "attention and backward", lambda: seconds(ns, whole, calls=5), "1.2 x torch"

    for name, make, x in (
        ("ResNet-18, 64 images", lambda: residual(ns.nn, 64), lambda: ns.rand(64, 3, 224, 224, device="cuda")),
        ("GPT-small, 8x512", lambda: transformer(ns.nn), lambda: ns.rand(8, 512, 768, device="cuda")),
    ):
        for captured in (False, True):
            step = lambda m=make, x=x, c=captured: seconds(  # noqa: E731
                ns, Step(ns, m(), x(), lambda y: (y * y).mean(), c).run, calls=3
            )
            yield f"{name}{', graph' if captured else ''}", step, "0.9 x eager torch" if captured else "1.1 x torch"


def main(words: list[str]) -> int:
    if not lamella.cuda.is_available():
        print("cuda.py: there is no device 'cuda'", file=sys.stderr)
        return 1
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        torch = None
    version = torch.__version__ if torch else "absent"
    print(f"{lamella.cuda.get_device_name()}, {time.strftime('%Y-%m-%d')}, torch {version}\n")
    print("| case | lamella | torch | ratio | target |\n|---|---|---|---|---|")
    others = cases(torch) if torch else None
    for name, measure, target in cases(lamella):
        other = next(others) if others else None
        if not any(word in name for word in words):
            continue
        row = [name]
        try:
            mine = measure()
            row.append(f"{mine * 1e6:.1f} us")
        except Exception as error:  # the other rows count, too
            mine = None
            row.append(f"{type(error).__name__}: {str(error).splitlines()[0][:80]}")
        beside = other[1]() if other else None
        row += [f"{beside * 1e6:.1f} us" if beside else "", f"{mine / beside:.2f}" if mine and beside else "", target]
        print(f"| {' | '.join(row)} |", flush=True)
    lists = sorted({f.operator for f in lamella.fallback_counts()})
    print(f"\nServed by the host: {', '.join(lists) or 'nothing'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [""]))
