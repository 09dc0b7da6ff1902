"""Cases for the builtins of graphs: arguments by hypothesis, and CPython's own function for the same result."""

import cmath
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

BITS = 2**63
ints = st.one_of(st.integers(-9, 9), st.integers(-BITS, BITS - 1), st.sampled_from([BITS - 1, -BITS, 2**53 + 1]))
small = st.integers(-12, 12)
floats = st.one_of(st.floats(), st.floats(-9, 9), st.sampled_from([0.0, -0.0, 0.5, 2.5, -1.5, 2.0**53, 1e16, 1e-5]))
finite = st.floats(-1e3, 1e3)
bools = st.booleans()
complexes = st.one_of(st.complex_numbers(max_magnitude=1e3), st.complex_numbers(allow_nan=False, allow_infinity=False))
scalars = st.one_of(ints, floats, complexes, bools)
reals = st.one_of(ints, floats, bools)
# Letters of several scripts, cases that become two characters, digits, blanks, and marks of formats.
LETTERS = "abzABZ019_ -+.,:;'\"\\\t\n\r\x0b\x1c\x85ßéÉñÑµσΣςΩωжЖǅŉ日本٣²½\u2028\u0301😀"
text = st.one_of(st.text(st.sampled_from(LETTERS), max_size=12), st.text("ab ", max_size=12))
short = st.text(st.sampled_from("abA ß日"), max_size=2)
number_lists = st.one_of(st.lists(ints, max_size=6), st.lists(st.floats(allow_nan=False), max_size=6))
lists = st.one_of(number_lists, st.lists(text, max_size=5), st.lists(st.lists(small, max_size=3), max_size=4))
keys = st.one_of(small, st.sampled_from([0.0, 1.0, 2.5, True, False, 1j]), st.text("ab", max_size=2))
dicts = st.dictionaries(keys, st.one_of(small, text), max_size=6)
values = st.recursive(
    st.one_of(st.none(), ints, floats, bools, complexes, text),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.tuples(inner, inner), st.tuples(inner), st.dictionaries(keys, inner, max_size=3)
    ),
    max_leaves=6,
)
bounds = st.one_of(st.none(), st.integers(-9, 9), st.sampled_from([BITS - 1, -BITS]))


@dataclass
class Case:
    """``arguments`` are the strategies of a builtin's arguments, ``oracle`` computes its result from them.

    ``close``: the result may differ in its last digits, and by this number beside zero.
    ``written``: the oracle changes its first argument, which is compared with the builtin's afterwards.
    """

    arguments: tuple
    oracle: Callable[..., Any]
    close: float = False
    written: bool = False


CASES: dict[str, Case] = {}


def case(name: str, *arguments, close: float = False, written: bool = False):
    """Adds the decorated function as the oracle of a builtin."""

    def add(oracle):
        CASES["aten::" + name] = Case(arguments, oracle, close, written)
        return oracle

    return add


def add(name: str, oracle: Callable, *arguments, **keywords) -> None:
    case(name, *arguments, **keywords)(oracle)


KINDS = {"int": ints, "float": floats, "complex": complexes}


def two(overload: str) -> tuple:
    """Returns the strategies of an overload: int for both, or int_float for one each."""
    parts = overload.split("_")
    return tuple(KINDS[p] for p in (parts * 2)[:2])


def as_complex(function: Callable) -> Callable:
    return lambda a, b: function(complex(a), complex(b))


def as_floats(function: Callable) -> Callable:
    return lambda a, b: function(float(a), float(b))


REAL = ("int", "int_float", "float_int", "float")
COMPLEX = ("int_complex", "float_complex", "complex_int", "complex_float", "complex")


def by_kind(function: Callable) -> Callable:
    """Returns the function with a real operand beside a complex one made complex, as before Python 3.14."""
    return lambda a, b: as_complex(function)(a, b) if complex in (type(a), type(b)) else function(a, b)


for name, function in (("add", operator.add), ("sub", operator.sub), ("mul", operator.mul), ("div", operator.truediv)):
    for overload in REAL:
        add(f"{name}.{overload}", function, *two(overload))
    for overload in COMPLEX:
        add(f"{name}.{overload}", as_complex(function), *two(overload))
    add(f"{name}.Scalar_Scalar", by_kind(function), scalars, scalars)
for name, function in (("floordiv", operator.floordiv), ("remainder", operator.mod), ("divmod", divmod)):
    for overload in REAL:
        add(f"{name}.{overload}", function, *two(overload))
    if name != "divmod":
        add(f"{name}.Scalar_Scalar", function, st.one_of(reals, complexes), reals)


def real_power(a, b):
    """Returns the power of floats; a complex result has no place in a float."""
    if a < 0 and math.isfinite(a) and math.isfinite(b) and b % 1:
        raise ValueError("complex")
    return float(a) ** float(b)


def power_to_int(a: int, b: int) -> int:
    if b < 0:
        raise ValueError("a float")
    if abs(a) > 1 and b > 63:
        raise OverflowError
    return a**b


def scalar_power(a, b):
    if complex not in (type(a), type(b)) and float not in (type(a), type(b)) and abs(a) > 1 and b > 63:
        raise OverflowError
    return by_kind(operator.pow)(a, b)


moderate = st.complex_numbers(max_magnitude=99)
# CPython raises integers of all sizes to powers, so that large ones are left out.
add("pow.int", real_power, ints, small)
for overload in REAL[1:]:
    add(f"pow.{overload}", real_power, *two(overload))
for overload in COMPLEX:
    base, exponent = (small if k is ints else k for k in two(overload))
    exponent = {complexes: moderate, floats: finite}.get(exponent, exponent)
    base = st.complex_numbers(min_magnitude=1e-9, max_magnitude=1e9) if base is complexes else base
    add(f"pow.{overload}", as_complex(operator.pow), base, exponent, close=True)
add("pow.Scalar_Scalar", scalar_power, st.one_of(reals, moderate), st.one_of(small, finite, moderate), close=True)
add("pow.int_to_int", power_to_int, st.one_of(small, ints), st.integers(-3, 70))

for kind, strategy in [*KINDS.items(), ("Scalar", scalars)]:
    add(f"neg.{kind}", operator.neg, strategy)
    add(f"abs.{kind}", abs, strategy, close=True)
add("round.float", lambda a: float(round(a)) if math.isfinite(a) else a, floats, close=True)
add("round.float_int", round, floats, st.one_of(st.integers(-20, 20), st.integers(-400, 400)))
for name, function in (("min", min), ("max", max)):
    for overload in REAL:
        add(f"{name}.{overload}", function if overload == "int" else as_floats(function), *two(overload))
    add(f"{name}.Scalar_Scalar", function, reals, reals)
    add(f"{name}.list_t", function, lists)


def plain_sum(items):
    total = type(items[0])() if items else 0.0
    for x in items:
        total += x
    return total


add("sum.int", sum, st.lists(ints, max_size=5))
add("sum.bool", sum, st.lists(bools, max_size=5))
add("sum.float", plain_sum, st.lists(floats, max_size=5))
add("sum.complex", lambda items: plain_sum(items) if items else 0j, st.lists(complexes, max_size=5))
for name, function in (("all", all), ("any", any)):
    for kind, strategy in (("bool", bools), ("int", small), ("float", floats), ("str", short)):
        add(f"{name}.{kind}", function, st.lists(strategy, max_size=4))

# ---- bits ----

for name, function in (("__and__", operator.and_), ("__or__", operator.or_), ("__xor__", operator.xor)):
    add(f"{name}.int", function, ints, ints)
    add(f"{name}.bool", function, bools, bools)


@case("__lshift__.int", ints, st.integers(-2, 70))
def _(a, b):
    return a << b


@case("__rshift__.int", ints, st.one_of(st.integers(-2, 70), ints))
def _(a, b):
    return a >> b


add("bitwise_not.int", operator.invert, ints)
add("factorial.int", math.factorial, st.integers(-3, 30))
add("gcd.int", math.gcd, ints, ints)
add("isqrt.int", math.isqrt, st.one_of(ints, st.integers(0, 3037000499).map(lambda n: n * n)))
add("__range_length", lambda lo, hi, step: len_of(range(lo, hi, step)), ints, ints, st.one_of(small, ints))
add("__derive_index", lambda index, start, step: index * step + start, ints, ints, ints)


def len_of(r: range) -> int:
    """Returns len(r), also where that is too large for len()."""
    if r.step > 0:
        return max(0, (r.stop - r.start + r.step - 1) // r.step)
    return max(0, (r.start - r.stop - r.step - 1) // -r.step)


# ---- comparisons ----

ORDER = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}
near = st.one_of(st.sampled_from([2**53, 2**53 + 1, BITS - 1, -BITS, 0, 1]), ints)
near_floats = st.one_of(st.sampled_from([2.0**53, 2.0**63, -(2.0**63), 0.5]), floats)
for name, function in {"eq": operator.eq, "ne": operator.ne, **ORDER}.items():
    add(f"{name}.int", function, near, near)
    add(f"{name}.int_float", function, near, near_floats)
    add(f"{name}.float_int", function, near_floats, near)
    add(f"{name}.float", function, floats, floats)
    add(f"{name}.str", function, text, text)
    if name in ORDER:
        add(f"{name}.Scalar_Scalar", function, scalars, scalars)
        add(f"{name}.t", function, st.one_of(lists, st.tuples(small, small)), st.one_of(lists, st.tuples(small, small)))
        continue
    for overload in COMPLEX:
        kinds = [st.one_of(k, st.sampled_from([0, 2**53 + 1])) if k is ints else k for k in two(overload)]
        add(f"{name}.{overload}", function, *[st.one_of(k, st.just(0)) if k is not complexes else k for k in kinds])
    add(f"{name}.bool", function, bools, bools)
    add(f"{name}.Scalar_Scalar", function, scalars, scalars)
    add(f"{name}.t", function, st.one_of(lists, dicts, values), st.one_of(lists, dicts, values))
add("__is__", lambda a, b: type(a) is type(b) and a == b, *[st.one_of(st.none(), small, bools)] * 2)
add("__isnot__", lambda a, b: type(a) is not type(b) or a != b, *[st.one_of(st.none(), small, bools)] * 2)
add("__not__", operator.not_, bools)

# ---- conversions ----

numerals = st.one_of(
    st.text("0123456789+-_.eE ٣", max_size=8),
    ints.map(str),
    floats.map(repr),
    st.sampled_from(["inf", " -Infinity\n", "nan", "1e400", "1e-400", "-0.0", "1_000", "1__0", "0x1", "", "+5", "٣"]),
)
add("Int.bool", int, bools)
add("Int.float", int, floats)
add("Int.str", int, numerals)
add("Int.Scalar", int, scalars)
add("Float.bool", float, bools)
add("Float.int", float, ints)
add("Float.str", float, numerals)
add("Float.Scalar", float, scalars)
for kind, strategy in (("int", small), ("float", floats), ("complex", complexes), ("str", short), ("Scalar", scalars)):
    add(f"Bool.{kind}", bool, strategy)
add("Complex.Scalar", complex, scalars)
add("Complex.float_float", complex, finite, finite)
add("real.complex", lambda a: a.real, complexes)
add("imag.complex", lambda a: a.imag, complexes)
add("conjugate.complex", lambda a: a.conjugate(), complexes)
add("str", str, values)
add("repr", repr, values)
add("ord", ord, text)
add("chr", chr, st.one_of(st.integers(-2, 0xD7FF), st.integers(0xE000, 0x110001)))
for function in (bin, oct, hex):
    add(function.__name__, function, ints)
number_keys = st.one_of(scalars, st.tuples(small, floats), st.tuples(st.tuples(small)), st.tuples())
add("hash.t", lambda v: 0 if v != v else hash(v), st.one_of(number_keys.filter(lambda v: v == v), st.just([])))

# ---- math ----

EXACT = ("sqrt", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan")
EXACT += ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "gamma", "lgamma", "fabs", "degrees")
EXACT += ("radians",)
for name in EXACT:
    add(f"{name}.float", getattr(math, name), st.one_of(floats, finite), close=1e-14 if name == "lgamma" else True)
for name in ("atan2", "copysign", "fmod", "hypot"):
    add(f"{name}.float", getattr(math, name), floats, floats, close=True)
add("mathremainder.float", math.remainder, floats, floats)
add("mathpow.float", math.pow, floats, floats)
add("log.float_float", math.log, floats, floats, close=True)
for name in ("floor", "ceil", "trunc"):
    add(f"{name}.float", getattr(math, name), floats)
for name in ("isfinite", "isinf", "isnan"):
    add(f"{name}.float", getattr(math, name), floats)
    add(f"{name}.complex", getattr(cmath, name), st.complex_numbers())
positive = st.sampled_from([0.0, 1e-9, 0.5, -1.0, math.inf])
add("isclose.float", lambda a, b, r, t: math.isclose(a, b, rel_tol=r, abs_tol=t), floats, floats, positive, positive)
add("ldexp", math.ldexp, floats, st.one_of(st.integers(-1100, 1100), ints))
add("frexp", math.frexp, floats)
add("modf", math.modf, floats)

# ---- cmath; the last digits are the library's ----

arguments = st.one_of(
    st.complex_numbers(min_magnitude=1e-3, max_magnitude=30),
    st.sampled_from([0j, 1 + 0j, -1 + 0j, 1j, -1j, complex(800, 1), complex(0, math.inf), complex(math.inf, 1)]),
)
for name in ("sqrt", "exp", "log", "log10", "sin", "cos", "tan", "asin", "acos", "atan"):
    add(f"{name}.complex", getattr(cmath, name), arguments, close=True)
for name in ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"):
    add(f"{name}.complex", getattr(cmath, name), arguments, close=True)
add("angle.complex", lambda a: math.atan2(a.imag, a.real), complexes)
add("polar.float", cmath.rect, finite, finite, close=True)
