"""opcheck: calls an operator, and checks that it agrees with its schema and its registrations."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import lamella
from lamella import _C
from lamella._C import Tensor

from ._checks import check_type
from ._dims import fault
from ._library import Library
from ._rules import named
from ._site import latest
from ._values import (
    alike,
    bits,
    copied,
    difference,
    differentiates,
    kind,
    mapped,
    overlap,
    requires_grad,
    same,
    shown,
    tensors,
    values,
    with_gaps,
)

OF_DIFFERENCES = {"atol": 1e-5, "rtol": 1e-3}  # the smallest tolerances of finite differences, as in gradcheck


class OpCheckError(Exception):
    """A check of :func:`opcheck` failed; the message names the operator and the check."""


class Case:
    """One operator with one set of arguments."""

    def __init__(self, op: Any, args: Sequence[Any], kwargs: Mapping[str, Any], **how_close: float):
        self.about = _C._describe(named("opcheck", op))
        self.name = self.about["name"] + ("." + self.about["overload"] if self.about["overload"] else "")
        self.packet = _C._packet(f"{self.about['name']}.{self.about['overload'] or 'default'}")
        self.schema = self.about["schema"]
        self.args, self.kwargs, self.how_close = tuple(args), dict(kwargs), how_close
        self.written = [a["name"] for a in self.about["args"] if a["written"]]

    def call(self, args: Any, kwargs: Any) -> Any:
        lamella.manual_seed(0)  # random operators draw the same numbers in every call
        return self.packet(*args, **kwargs)

    def fresh(self, f: Callable[[Tensor], Any] = copied) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns copies of the arguments, each in memory of its own."""
        return mapped(f, self.args), {k: mapped(f, v) for k, v in self.kwargs.items()}

    def named(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        names = [a["name"] for a in self.about["args"]]
        return dict(zip(names, args, strict=False)) | dict(kwargs)

    def inputs(self, args: Any, kwargs: Any) -> list[tuple[str, Tensor]]:
        return [found for name, o in self.named(args, kwargs).items() for found in tensors(values(o, name))]

    def written_inputs(self, args: Any, kwargs: Any) -> list[tuple[str, Tensor]]:
        found = self.inputs(args, kwargs)
        return [(f"argument '{name}'", t) for name, t in found if name.partition("[")[0] in self.written]

    def results(self, out: Any) -> list[tuple[str, Any]]:
        several = len(self.about["returns"]) > 1
        return [f for i, o in enumerate(out if several else [out]) for f in values(o, f"result {i}")]

    def fresh_floats(self, out: Any) -> list[Tensor]:
        """Returns the results that can have a gradient, except arguments that the operator writes to and returns."""
        arguments = {a["alias"] for a in self.about["args"] if a["written"]}
        marks = self.about["return_aliases"]
        found = [(marks[index(place)], r) for place, r in tensors(self.results(out))]
        return [r for mark, r in found if differentiates(r.dtype) and mark not in arguments]

    def same(self, a: Any, b: Any) -> bool:
        return same(a, b, **self.how_close)

    def difference(self, a: list[tuple[str, Any]], b: list[tuple[str, Any]]) -> str | None:
        return difference(a, b, **self.how_close)

    def outcome(self, args: Any, kwargs: Any) -> list[tuple[str, Any]]:
        """Returns the results of a call, and the arguments that it wrote to."""
        return self.results(self.call(args, kwargs)) + self.written_inputs(args, kwargs)


def index(place: str) -> int:
    """Returns the number of the result in a place such as "result 0[1]"."""
    return int(place.split()[1].partition("[")[0])


# ---- the checks: each raises OpCheckError -------------------------------------------------------------------------


def test_schema(c: Case) -> None:
    """Checks that Python kernels take the schema's arguments with its defaults, and that results have the schema's
    types."""
    for key in sorted({key for key, _ in c.about["kernels"]}):
        kernel = latest(("kernel", c.name, key))
        if kernel is not None and not any(key == name for _, name, _ in _C._layers()):
            _check_signature(c, key, kernel)
    try:
        c.call(*c.fresh())
    except TypeError as error:
        raise OpCheckError(f"it does not do what its schema {c.schema} says: {error}") from error


def _check_signature(c: Case, key: str, kernel: Callable[..., Any]) -> None:
    try:
        signature = inspect.signature(kernel)
    except (TypeError, ValueError):
        return
    wanted = f"the kernel for '{key}' has the signature {signature}, its schema is {c.schema}"
    positional = [a["name"] for a in c.about["args"] if not a["keyword_only"]]
    keywords = [a["name"] for a in c.about["args"] if a["keyword_only"]]
    try:
        bound = signature.bind(*positional, **{k: k for k in keywords})
    except TypeError as error:
        raise OpCheckError(f"{wanted}: {error}") from error
    takes = {v: signature.parameters[p] for p, v in bound.arguments.items() if isinstance(v, str)}
    for a in c.about["args"]:
        p = takes.get(a["name"])
        if p is None or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            continue
        if a["has_default"] and p.default is p.empty:
            raise OpCheckError(f"{wanted}: '{a['name']}' has a default in the schema, and is left out where it has it")
        if a["has_default"] and not _is_default(p.default, a):
            raise OpCheckError(
                f"{wanted}: the default of '{a['name']}' is {p.default!r} here and {a['default']} in the schema"
            )


def _is_default(value: Any, a: Mapping[str, Any]) -> bool:
    """Returns whether a kernel's default is that of the schema, compared in the notation of schemas."""
    from ._schema import _default, _Unknown

    try:
        text = "f({} x={}) -> ()"
        mine, theirs = (text.format(a["type"], d) for d in (_default(value), a["default"]))
        return mine.replace(" ", "") == theirs.replace(" ", "").replace("'", '"') or _number(value, a["default"])
    except _Unknown:
        return False


def _number(value: Any, text: str) -> bool:
    try:
        return not isinstance(value, str) and value is not None and float(value) == float(text)
    except (TypeError, ValueError):
        return False


def test_mutation(c: Case) -> None:
    """Checks that the operator writes only to arguments marked with (a!), and that unmarked results share no memory."""
    args, kwargs = c.fresh(lambda t: t.detach().clone())
    before = [(name, t, t.clone(), t._version, t.stride()) for name, t in c.inputs(args, kwargs)]
    out = c.call(args, kwargs)
    for name, t, was, version, stride in before:
        declared = name.partition("[")[0] in c.written
        unchanged = t._version == version and (t.shape, t.dtype, t.stride()) == (was.shape, was.dtype, stride)
        if not declared and not (unchanged and lamella.equal(bits(t), bits(was))):
            raise OpCheckError(f"it writes to argument '{name}', which its schema {c.schema} does not mark with (a!)")
        if declared and t._version == version:
            raise OpCheckError(f"it did not count its write to argument '{name}': the version is {version} as before")
    _check_aliases(c, c.inputs(args, kwargs), tensors(c.results(out)))


def _check_aliases(c: Case, inputs: list[tuple[str, Tensor]], results: list[tuple[str, Tensor]]) -> None:
    marks = {a["name"]: a["alias"] for a in c.about["args"]}
    of_result = dict(enumerate(c.about["return_aliases"]))
    for i, (place, r) in enumerate(results):
        mark = of_result[index(place)]
        shared = [name for name, t in inputs if overlap(t, r)]
        allowed = [name for name in shared if mark and marks[name.partition("[")[0]] == mark]
        if shared and not allowed:
            raise OpCheckError(
                f"{place} shares the memory of argument '{shared[0]}', which its schema {c.schema} does not say: "
                "return a clone(), or mark both with (a)"
            )
        if mark and not shared and r.numel():
            raise OpCheckError(f"{place} has memory of its own, but its schema {c.schema} says that it is a view")
        if others := [other for other, o in results[:i] if not mark and overlap(o, r)]:
            raise OpCheckError(f"{place} shares the memory of {others[0]}, which its schema does not say")


def _differentiable(c: Case) -> bool:
    return any(requires_grad(t) for _, t in c.inputs(c.args, c.kwargs))


def test_autograd_registration(c: Case) -> None:
    """Checks that results require a gradient if an argument does, and that backward has a formula."""
    if not _differentiable(c):
        return
    args, kwargs = c.fresh()
    wanting = [name for name, t in c.inputs(args, kwargs) if t.requires_grad]
    floats = c.fresh_floats(c.call(args, kwargs))
    if not floats:
        return  # such as argmax: there is nothing to differentiate
    connected = [r for r in floats if r.requires_grad]
    if not connected:
        advice = "takes only operators that do not write" if c.written else "gives it one"
        raise OpCheckError(
            f"argument '{wanting[0]}' requires a gradient, and no result does: the kernel is not recorded, so the "
            f"gradient is silently zero; register_autograd {advice}"
        )
    try:
        lamella.autograd.backward(connected, [lamella.ones_like(r) for r in connected])
    except NotImplementedError as error:
        raise OpCheckError(f"it has no derivative: {error}") from error
    except RuntimeError as error:
        raise OpCheckError(f"its backward fails: {error}") from error


def test_gradients(c: Case) -> None:
    """Checks that gradients agree with finite differences in float64, also for incoming gradients that are not
    contiguous."""
    if not _differentiable(c):
        return
    args, kwargs = c.fresh()
    leaves = [t for _, t in c.inputs(args, kwargs) if t.requires_grad]
    results = [r for r in c.fresh_floats(c.call(args, kwargs)) if r.requires_grad]
    if not results:
        return
    grads = [
        lamella.autograd.grad(results, leaves, seeds, retain_graph=True, allow_unused=True) for seeds in _seeds(results)
    ]
    for t, plain, strided in zip(leaves, *grads, strict=True):
        if plain is None:
            continue
        if plain.shape != t.shape or plain.dtype is not t.dtype:
            raise OpCheckError(f"backward gives a gradient of {kind(plain)} for an argument of {kind(t)}")
        if not c.same(plain, strided):
            raise OpCheckError("backward gives another gradient when the one that comes in is not contiguous")
    _against_differences(c)


def _seeds(results: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Returns incoming gradients twice, with the same values: contiguous, and with gaps."""
    counts = ((lamella.arange(1, r.numel() + 1).to(r.dtype).reshape(r.shape), r) for r in results)
    plain = [(n / max(r.numel(), 1)).to(r.device) for n, r in counts]
    return plain, [with_gaps(g) for g in plain]


def _against_differences(c: Case) -> None:
    def double(t: Tensor) -> Tensor:
        wide = t.detach().clone()
        if differentiates(t.dtype):
            wide = wide.to(lamella.complex128 if t.dtype.is_complex else lamella.float64)
        return wide.requires_grad_(t.requires_grad)

    args, kwargs = c.fresh(double)
    leaves = [t for _, t in c.inputs(args, kwargs) if t.requires_grad]

    written = {id(t) for _, t in c.written_inputs(args, kwargs)}

    def call(*new: Tensor) -> Any:
        replaced = dict(zip(map(id, leaves), new, strict=True))

        def swap(t: Tensor) -> Tensor:
            given = replaced.get(id(t), t)
            return given.clone() if id(t) in written else given

        return tuple(c.fresh_floats(c.call(mapped(swap, args), {k: mapped(swap, v) for k, v in kwargs.items()})))

    try:
        wide = all(r.dtype in (lamella.float64, lamella.complex128) for r in call(*leaves))
    except Exception:
        return  # no kernel for float64
    if not wide:
        return  # it computes with less precision than finite differences need
    try:
        atol, rtol = (max(least, c.how_close.get(k, 0)) for k, least in OF_DIFFERENCES.items())
        lamella.autograd.gradcheck(call, leaves, atol=atol, rtol=rtol)
    except RuntimeError as error:
        raise OpCheckError(f"its gradient is wrong: {error}") from error


def test_faketensor(c: Case) -> None:
    """Checks that results on device "meta" have the shapes, dtypes and strides of those on the arguments' device."""
    here, there = c.fresh(), c.fresh(lambda t: t.detach().to("meta"))
    real = c.results(c.call(*here))
    try:
        fake = c.results(c.call(*there))
    except NotImplementedError as error:
        raise OpCheckError(f"device 'meta' has no kernel; register_fake gives it one: {error}") from error
    if len(real) != len(fake):
        raise OpCheckError(f"it returns {len(real)} values, and {len(fake)} on device 'meta'")
    for (place, r), (_, f) in zip(real, fake, strict=True):
        if not isinstance(r, Tensor) or not isinstance(f, Tensor):
            if not c.same(r, f):
                raise OpCheckError(f"{place} is {shown(r)}, and {shown(f)} on device 'meta'")
            continue
        if f.device.type != "meta":
            raise OpCheckError(f"{place} is on device '{f.device}' where the arguments are on 'meta'")
        for what, a, b in (("shape", tuple(r.shape), tuple(f.shape)), ("dtype", r.dtype, f.dtype)):
            if a != b:
                raise OpCheckError(f"{place} has {what} {a}, and {b} on device 'meta'")
        if r.numel() and r.stride() != f.stride():
            raise OpCheckError(f"{place} has strides {r.stride()}, and {f.stride()} on device 'meta'")
        shares = [name for name, t in c.inputs(*there) if t.untyped_storage() is f.untyped_storage()]
        if r.numel() and shares and not any(overlap(t, r) for _, t in c.inputs(*here)):
            raise OpCheckError(
                f"{place} has memory of its own, and on device 'meta' that of argument '{shares[0]}': the fake "
                "must return a new tensor, such as new_empty() makes"
            )


def test_layers(c: Case) -> None:
    """Checks that an outermost and an innermost layer see the call, or a composite's parts, and change no result."""
    plain = c.outcome(*c.fresh())
    for band in ("modes", "backend"):  # the outermost and the innermost only, since a layer's bit is never freed
        for decompose in (False, True):
            seen, out = _under_layer(c, band, decompose)
            if c.name not in seen and not (len(seen) > 0 and _is_composite(c)):
                raise OpCheckError(
                    f"a layer of the band '{band}' does not see it: a kernel of a layer above computes by itself; "
                    "let that kernel call call(...)"
                )
            if place := c.difference(plain, out):
                raise OpCheckError(f"{place} differs under a layer of the band '{band}'")


def _is_composite(c: Case) -> bool:
    return any(key == "composite" for key, _ in c.about["kernels"])


def _under_layer(c: Case, band: str, decompose: bool) -> tuple[list[str], list[tuple[str, Any]]]:
    """Runs the call under a layer that passes every call on; returns the operators that the layer saw, and the
    outcome."""
    seen: list[str] = []

    def record(call: Any, *args: Any, **kwargs: Any) -> Any:
        seen.append(call.name + ("." + call.overload if call.overload else ""))
        return call(*args, **kwargs)

    lib = Library("opcheck", "FRAGMENT", owner="opcheck")
    try:
        with lib.register_layer(f"opcheck_{band}", record, at=band, decompose=decompose).on():
            args, kwargs = c.fresh()
            seen.clear()
            out = c.results(c.call(args, kwargs))
            calls = list(seen)
        return calls, out + c.written_inputs(args, kwargs)
    finally:
        lib.close()


def test_strides(c: Case) -> None:
    """Checks that equal values give an equal result, in a second call and with other strides."""
    first, again = (c.outcome(*c.fresh()) for _ in range(2))
    if place := c.difference(first, again):
        raise OpCheckError(f"a second call gives another {place}; does the operator keep state?")
    for name, _ in c.inputs(c.args, c.kwargs):
        args, kwargs = c.fresh()
        target = dict(c.inputs(args, kwargs))[name]
        swap = lambda t, target=target: alike(t, with_gaps(t)) if t is target else t  # noqa: E731
        strided = c.outcome(mapped(swap, args), {k: mapped(swap, v) for k, v in kwargs.items()})
        if place := c.difference(first, strided):
            raise OpCheckError(f"{place} differs when argument '{name}' has the same values but is not contiguous")


def test_waiting(c: Case) -> None:
    """Checks that no registration waits for the operator under a misspelled name, and that its formulas compile."""
    from lamella.plugins import waiting

    if found := [str(w) for w in waiting() if w.what.endswith(f" {c.name}")]:
        raise OpCheckError("; ".join(found))


def test_dims(c: Case) -> None:
    """Checks that results agree with what the operator says of its dimensions, if it does."""
    text = c.about["dims"]
    if text and (found := fault(c, text)):
        raise OpCheckError(f"its dims {text!r} are not true: the text {found}")


CHECKS = {
    f.__name__: f
    for f in (
        test_schema,
        test_mutation,
        test_autograd_registration,
        test_gradients,
        test_faketensor,
        test_layers,
        test_strides,
        test_waiting,
        test_dims,
    )
}


def opcheck(
    op: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    *,
    test_utils: str | Iterable[str] = tuple(CHECKS),
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, str]:
    """Calls an operator in many ways, and reports where it disagrees with its schema or its registrations.

    ======================================  =========================================================================
    ``"test_schema"``                       its kernels take and return the schema's types
    ``"test_mutation"``                     no write and no shared memory but those that the schema marks
    ``"test_autograd_registration"``        if an argument requires a gradient, the operator has a derivative
    ``"test_gradients"``                    gradients agree with finite differences, for any strides
    ``"test_faketensor"``                   on device "meta" it returns the same shapes, dtypes, strides and numbers
    ``"test_layers"``                       layers see the call; what the operator returns and writes stays the same
    ``"test_strides"``                      equal values give equal results, for any strides
    ``"test_waiting"``                      no registration waits for it, and formulas compile
    ``"test_dims"``                         what it says of its dimensions is true, for other indices along each
    ======================================  =========================================================================

    Args:
        op: the result of ``custom_op``, a packet, or a name with its overload
        args: arguments that show what it does: small ones, with gaps, and some that require a gradient
        kwargs: keyword arguments
        test_utils: the checks to make
        raise_exception: False returns the failures
        atol: the absolute tolerance of comparisons; by default as in :func:`lamella.allclose`
        rtol: the relative tolerance. For finite differences, gradcheck's tolerances are used where they are larger

    Returns:
        for each check "SUCCESS", or its error

    Raises:
        OpCheckError: a check failed; the message says which and why

    >>> @lamella.library.custom_op("mine::next", mutates_args=())
    ... def following(x: lamella.Tensor) -> lamella.Tensor:
    ...     return x.add_(1).clone()
    >>> found = lamella.library.opcheck(following, (lamella.ones(2),), raise_exception=False)
    >>> found["test_schema"]
    'SUCCESS'
    >>> found["test_mutation"][:46]
    "it writes to argument 'x', which its schema mi"
    >>> following.close()
    """
    if not isinstance(args, list | tuple):
        raise TypeError(f"opcheck: argument 'args': expected a tuple of arguments, got {type(args).__name__}")
    if kwargs is not None:
        check_type("opcheck", "kwargs", kwargs, Mapping, "a dict")
    how_close = {what: v for what, v in (("atol", atol), ("rtol", rtol)) if v is not None}
    for what, v in how_close.items():
        check_type("opcheck", what, v, numbers.Real, "a number")
    wanted = [test_utils] if isinstance(test_utils, str) else list(test_utils)
    if strange := [t for t in wanted if t not in CHECKS]:
        raise ValueError(f"opcheck: argument 'test_utils': there is no check {strange[0]!r}; there are {list(CHECKS)}")
    case = Case(op, args, kwargs or {}, **how_close)
    found = {}
    seed, state = lamella.initial_seed(), lamella.default_generator().get_state()
    try:
        for name in wanted:
            try:
                CHECKS[name](case)
                found[name] = "SUCCESS"
            except Exception as error:
                text = str(error) if isinstance(error, OpCheckError) else f"it fails: {type(error).__name__}: {error}"
                if raise_exception:
                    raise OpCheckError(f"opcheck: {case.name}: {name}: {text}") from error
                found[name] = text
    finally:
        lamella.manual_seed(seed).set_state(state)
    return found
