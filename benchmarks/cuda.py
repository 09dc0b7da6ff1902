"""Device ``cuda`` beside torch's on one GPU: launches, bandwidth, rows, products, transforms, factorizations, attention
and training steps.

``python cuda.py [WORDS...]`` prints a table in Markdown, of the cases whose names have one of the words, or of all. It
has the medians of seven rounds, in which both libraries take turns, with the smallest and the largest round, and the
ratio. Both have the same inputs and weights, and a case is measured only after its results were found to agree.
Successive calls use different inputs, so that the L2 cache has none of them. Times are those of events; for launches,
those of the calling thread. If torch is not installed, its columns are empty.
"""

from __future__ import annotations

import gc
import importlib
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import product
from typing import Any

import lamella

Work = Callable[[int], Any]  # takes a number, which chooses the inputs; returns a result to compare
ROUNDS = 7
HUNDRED_MILLION = 10**8


@dataclass
class Case:
    """A case. Lamella makes the `inputs` once; `work` gets them as tensors of one library. `limit` bounds the norm of
    the results' difference, divided by that of torch's result; `checked` is the number of calls that are compared."""

    name: str
    target: str
    inputs: Callable[[], list[Any]]
    work: Callable[[Any, list[Any]], Work]
    limit: float = 1e-5
    calls: int = 10
    checked: int = 1
    launches: bool = False


def device_seconds(ns: Any, work: Work, calls: int, first: int) -> float:
    start, end = (ns.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for k in range(first, first + calls):
        work(k)
    end.record()
    ns.cuda.synchronize()
    return start.elapsed_time(end) / calls / 1e3


def launch_seconds(ns: Any, work: Work, calls: int, first: int) -> float:
    ns.cuda.synchronize()
    start = time.perf_counter()
    for k in range(first, first + calls):
        work(k)
    passed = time.perf_counter() - start
    ns.cuda.synchronize()
    return passed / calls


def apart(mine: Any, theirs: Any, torch: Any) -> float:
    """Returns the norm of the difference of two results, divided by that of torch's."""
    whole = (torch.from_dlpack(mine.detach()), theirs.detach())
    x, y = ((torch.view_as_real(t) if t.is_complex() else t).double() for t in whole)
    if x.shape != y.shape:
        raise AssertionError(f"shapes {tuple(x.shape)} and {tuple(y.shape)}")
    return float((x - y).norm() / y.norm())


def measure(case: Case, torch: Any) -> tuple[list[float], list[float]]:
    given = case.inputs()
    peers = [(lamella, case.work(lamella, given))]
    if torch:
        peers.append((torch, case.work(torch, [torch.from_dlpack(x) for x in given])))
    for k in range(max(case.checked, 3)):
        results = [work(k) for _, work in peers]
        if torch and k < case.checked:
            lamella.cuda.synchronize()
            differs = apart(*results, torch)
            if not differs <= case.limit:
                raise AssertionError(f"results differ by {differs:.2g}, more than {case.limit:g}")
    clock = launch_seconds if case.launches else device_seconds
    times: list[list[float]] = [[] for _ in peers]
    for r in range(ROUNDS):
        for (ns, work), of in zip(peers, times, strict=True):
            of.append(clock(ns, work, case.calls, r * case.calls))
    return times[0], times[1] if torch else []


# ---- the cases -------------------------------------------------------------------------------------------------------


def rotated(kind: Any, *shape: int) -> Callable[[], list[Any]]:
    """Makes inputs that together do not fit into the L2 cache."""
    count = 1
    for n in shape:
        count *= n
    copies = max(2, min(8, (256 << 20) // (count * (2 if kind == lamella.bfloat16 else 4))))
    return lambda: [lamella.randn(*shape, device="cuda").to(kind) for _ in range(copies)]


def each(function: Callable[[Any, Any], Any]) -> Callable[[Any, list[Any]], Work]:
    """Makes the work of a function of the library and one input."""
    return lambda ns, xs: lambda k: function(ns, xs[k % len(xs)])


def copying(ns: Any, xs: list[Any]) -> Work:
    out = ns.empty_like(xs[0])
    return lambda k: out.copy_(xs[k % len(xs)])


def adding(ns: Any, xs: list[Any]) -> Work:
    out = ns.empty_like(xs[0])
    return lambda k: ns.add(xs[k % len(xs)], xs[(k + 1) % len(xs)], out=out)


def matrices(tf32: bool) -> Callable[[Any, list[Any]], Work]:
    def work(ns: Any, xs: list[Any]) -> Work:
        def run(k: int) -> Any:
            ns.backends.cuda.matmul.allow_tf32 = tf32
            return xs[k % len(xs)] @ xs[(k + 1) % len(xs)]

        return run

    return work


def definite(*shape: int) -> Callable[[], list[Any]]:
    """Makes positive definite matrices, whose singular values are their eigenvalues."""

    def inputs() -> list[Any]:
        made = []
        for _ in range(3):
            x = lamella.randn(*shape, shape[-1], device="cuda")
            made.append(x @ x.mT / shape[-1] + lamella.eye(shape[-1], device="cuda"))
        return made

    return inputs


# The part of each factorization that is unique.
FACTORIZATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "cholesky": lambda ns, x: ns.linalg.cholesky(x),
    "solve": lambda ns, x: ns.linalg.solve(x, x[..., :1]),
    "lu_factor": lambda ns, x: ns.linalg.lu_factor(x)[0],
    "qr": lambda ns, x: ns.linalg.qr(x)[1].diagonal(0, -2, -1).abs(),
    "eigh": lambda ns, x: ns.linalg.eigh(x)[0],
    "svd": lambda ns, x: ns.linalg.svd(x)[1],
    "eig": lambda ns, x: ns.linalg.eigvals(x).abs().sum(-1),
}


def bytes_by_bytes(ns: Any, xs: list[Any]) -> Work:
    multiply = ns.ops.aten._int_mm if ns is lamella else ns._int_mm
    return lambda k: multiply(xs[k % len(xs)], xs[(k + 1) % len(xs)].t())


def weight_of(four_bits: bool, rows: int, n: int = 4096) -> Callable[[], list[Any]]:
    """Makes inputs, and weights of bfloat16 as codes, scales by groups of 32 and values."""
    ops = lamella.ops.aten

    def inputs() -> list[Any]:
        made = []
        for _ in range(8):
            w = lamella.randn(n, n, device="cuda").bfloat16().float()
            low, high, kind = (-8, 7, lamella.int8) if four_bits else (-128, 127, lamella.int8)
            scale = w.view(-1, 32).abs().amax(1) / high
            codes = ops._quantize(w, scale, None, 32, low, high, kind)
            values = ops._dequantize(codes, scale, None, 32, lamella.bfloat16)
            held = ops._pack_nibbles(codes).view(n, n // 2) if four_bits else codes
            made += [lamella.randn(rows, n, device="cuda").bfloat16(), held, scale.view(n, -1), values]
        return made

    return inputs


def by_codes(ns: Any, xs: list[Any]) -> Work:
    """Makes the work of a layer whose weight is codes, beside torch's linear layer of bfloat16."""

    def run(k: int) -> Any:
        x, codes, scale, values = xs[4 * (k % 8) : 4 * (k % 8) + 4]
        return ns.ops.aten._weight_linear(x, codes, scale) if ns is lamella else ns.nn.functional.linear(x, values)

    return run


def with_bias(ns: Any, xs: list[Any]) -> Work:
    return lambda k: ns.nn.functional.linear(xs[k % len(xs)], xs[(k + 1) % len(xs)], xs[k % len(xs)][0])


def attention(backward: bool, causal: bool, flash: bool) -> Callable[[Any, list[Any]], Work]:
    """Makes the work of attention. With `flash` torch must use its flash kernels; else it chooses its kernels."""

    def work(ns: Any, xs: list[Any]) -> Work:
        q, k, v = (x.detach().requires_grad_(backward) for x in xs[:3])
        kinds = ns.nn.attention

        def run(_: int) -> Any:
            with kinds.sdpa_kernel(kinds.SDPBackend.FLASH_ATTENTION) if flash else nullcontext():
                out = ns.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
            if not backward:
                return out
            q.grad = k.grad = v.grad = None
            out.backward(xs[3])
            return ns.stack([q.grad, k.grad, v.grad])

        return run

    return work


def residual(nn: Any, wide: int = 64) -> Any:
    """Makes ResNet-18, with `wide` channels after the stem."""

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
    """Makes the layers of GPT-small."""
    layer = nn.TransformerEncoderLayer(768, 12, 3072, dropout=0.0, batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, 12, enable_nested_tensor=False)


def step_of(make: Callable[[Any], Any], *shape: int) -> Callable[[], list[Any]]:
    """Makes the input of a step and the network's initial state."""
    return lambda: (
        [lamella.randn(*shape, device="cuda")] + [x.detach().to("cuda") for x in make(lamella.nn).state_dict().values()]
    )


def training(make: Callable[[Any], Any], captured: bool) -> Callable[[Any, list[Any]], Work]:
    def work(ns: Any, xs: list[Any]) -> Work:
        net = make(ns.nn).to("cuda")
        with ns.no_grad():
            for own, given in zip(net.state_dict().values(), xs[1:], strict=True):
                own.copy_(given)
        optimizer = ns.optim.SGD(net.parameters(), lr=1e-3)

        def step(_: int = 0) -> Any:
            optimizer.zero_grad(set_to_none=False)
            loss = (net(xs[0]) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        if not captured:
            return step
        with ns.cuda.stream(ns.cuda.Stream()):
            for _ in range(3):
                step()
        ns.cuda.synchronize()
        graph = ns.cuda.CUDAGraph()
        with ns.cuda.graph(graph):
            loss = step()

        def replay(_: int) -> Any:
            graph.replay()
            return loss

        return replay

    return work


def transforms() -> Iterator[tuple[str, Any, tuple[int, ...], str, dict[str, Any]]]:
    """Returns Fourier transforms: a name, a dtype, a shape, a function and its arguments. Both libraries use cuFFT."""
    real, pairs = lamella.float32, lamella.complex64
    yield "lines", pairs, (16384, 1024), "fft", {}
    yield "real lines", real, (16384, 1024), "rfft", {}
    yield "real lines, all frequencies", real, (16384, 1024), "fft", {}
    yield "back to real lines", pairs, (16384, 513), "irfft", {}
    yield "lines of a prime", pairs, (1024, 10007), "fft", {}
    yield "a long line", pairs, (1 << 24,), "fft", {"norm": "ortho"}
    yield "the first dimension", pairs, (4096, 4096), "fft", {"dim": 0}
    yield "the middle", pairs, (64, 512, 512), "fft", {"dim": 1}
    yield "the middle, small", pairs, (4096, 64, 16), "fft", {"dim": 1}
    yield "images", pairs, (64, 512, 512), "fft2", {}
    yield "real images", real, (64, 512, 512), "rfft2", {}
    yield "back to real images", pairs, (64, 512, 257), "irfft2", {}
    yield "a volume", pairs, (256, 256, 256), "fftn", {}
    yield "a small line", pairs, (64,), "fft", {}


def cases() -> Iterator[Case]:
    functional = lambda name, *more: each(lambda ns, x: getattr(ns.nn.functional, name)(x, *more))  # noqa: E731
    small = lambda: [lamella.rand(16, device="cuda")]  # noqa: E731
    yield Case("launch: add of 16", "0.6", small, each(lambda ns, x: x + x), calls=5000, launches=True)
    for kind in (lamella.float32, lamella.bfloat16):
        name, limit = str(kind).rpartition(".")[2], 1e-5 if kind == lamella.float32 else 1e-2
        large, table = rotated(kind, HUNDRED_MILLION), rotated(kind, 8192, 4096)
        yield Case(f"copy 1e8 {name}", "the bandwidth", large, copying, 0)
        yield Case(f"add 1e8 {name}", "90 % of copy", large, adding, limit)
        yield Case(f"gelu 1e8 {name}", "90 % of copy", large, functional("gelu"), limit)
        yield Case(f"sum 1e8 {name}", "90 % of copy", large, each(lambda ns, x: x.sum()), 0.05)
        yield Case(f"softmax 8192x4096 {name}", "1.0", table, functional("softmax", -1), limit)
        yield Case(f"layer_norm 8192x4096 {name}", "1.0", table, functional("layer_norm", (4096,)), limit)
        yield Case(f"sum of columns {name}", "90 % of copy", table, each(lambda ns, x: x.sum(0)), limit)
    for n in (1024, 2048, 4096, 8192):
        for kind, tf32 in ((lamella.float32, False), (lamella.float32, True), (lamella.bfloat16, False)):
            name = f"matmul {n} {str(kind).rpartition('.')[2]}{' tf32' if tf32 else ''}"
            limit = 1e-2 if kind == lamella.bfloat16 else 1e-3 if tf32 else 1e-5
            yield Case(name, "1.03", rotated(kind, n, n), matrices(tf32), limit, calls=5)
    for kind in (lamella.float32, lamella.bfloat16):
        name, limit = str(kind).rpartition(".")[2], 1e-5 if kind == lamella.float32 else 1e-2
        yield Case(f"linear 2048 {name}, with a bias", "1.03", rotated(kind, 2048, 2048), with_bias, limit)
    for (name, unique), shape in product(FACTORIZATIONS.items(), ((512,), (2048,), (1000, 8), (100, 100))):
        slow = {"svd": ((2048,), (100, 100)), "eig": ((2048,), (1000, 8), (100, 100))}
        if shape not in slow.get(name, ()):
            title = f"factorization: {name} {'x'.join(map(str, (*shape, shape[-1])))}"
            yield Case(title, "1.1", definite(*shape), each(unique), 1e-3, calls=3)
    large = rotated(lamella.float32, HUNDRED_MILLION)
    rounded = each(lambda ns, x: ns.fake_quantize_per_tensor_affine(x, 0.1, 3, -128, 127))
    yield Case("quantization: fake_quantize 1e8", "1.0", large, rounded)
    whole = lambda n: lambda: [lamella.randint(-128, 128, (n, n), device="cuda").to(lamella.int8) for _ in range(4)]  # noqa: E731
    for n in (1024, 4096):
        yield Case(f"quantization: int8 matmul {n}", "1.03", whole(n), bytes_by_bytes, 0)
    for bits, rows in product((8, 4), (1, 64)):
        name = f"quantization: int{bits} weight, batch {rows}, 4096x4096, beside bfloat16"
        yield Case(
            name, {8: "0.6", 4: "0.35"}[bits] if rows == 1 else "none", weight_of(bits == 4, rows), by_codes, 2e-2
        )
    for what, kind, shape, function, more in transforms():
        name = f"fft: {what}, {' × '.join(map(str, shape))} {str(kind).rpartition('.')[2]}"
        inputs = rotated(kind, *shape)
        yield Case(name, "1.03", inputs, each(lambda ns, x, f=function, m=more: getattr(ns.fft, f)(x, **m)))
    four = lambda: [lamella.randn(1, 16, 4096, 64, device="cuda").bfloat16() for _ in range(4)]  # noqa: E731
    for causal, flash in product((False, True), (True, False)):
        what = f"{'causal ' if causal else ''}attention{' by flash kernels' if flash else ''}"
        target = "1.2" if flash else "none"
        yield Case(f"{what} forward", target, four, attention(False, causal, flash), 1e-2)
        yield Case(f"{what} and backward", target, four, attention(True, causal, flash), 2e-2, calls=5)
    exact = lambda: [lamella.randn(8, 12, 512, 64, device="cuda") for _ in range(4)]  # noqa: E731
    yield Case("attention float32 forward", "none", exact, attention(False, False, False), 1e-5)
    yield Case("attention float32 and backward", "none", exact, attention(True, False, False), 1e-4)
    for name, make, shape in (
        ("ResNet-18, 64 images", residual, (64, 3, 224, 224)),
        ("GPT-small, 8x512", transformer, (8, 512, 768)),
    ):
        for captured in (False, True):
            title = f"{name}{', graph' if captured else ''}"
            target = "0.9 of eager torch" if captured else "1.1"
            inputs, checked = step_of(make, *shape), 1 if captured else 3
            yield Case(title, target, inputs, training(make, captured), 2e-3, calls=3, checked=checked)


def shown(times: list[float]) -> str:
    middle, low, high = statistics.median(times), min(times), max(times)
    return f"{middle * 1e6:.1f} us ({low * 1e6:.1f} to {high * 1e6:.1f})" if times else ""


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
    failed = False
    for case in cases():
        if not any(word in case.name for word in words):
            continue
        try:
            mine, theirs = measure(case, torch)
        except Exception as error:  # the other rows count, too
            failed = True
            text = f"{type(error).__name__}: {str(error).splitlines()[0][:120]}"
            print(f"| {case.name} | {text} | | | {case.target} |", flush=True)
        else:
            ratio = f"{statistics.median(mine) / statistics.median(theirs):.2f}" if theirs else ""
            print(f"| {case.name} | {shown(mine)} | {shown(theirs)} | {ratio} | {case.target} |", flush=True)
        gc.collect()
        lamella.cuda.empty_cache()
        if torch:
            torch.cuda.empty_cache()
    lists = sorted({f.operator for f in lamella.fallback_counts()})
    print(f"\nServed by the host: {', '.join(lists) or 'nothing'}")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [""]))
