"""The expressions of pointwise operators, compiled by a C compiler, give the same bits as the operators' loops, except
for functions that each library rounds in its own way."""

import ctypes
import re
import subprocess
from pathlib import Path

import lamella
import numpy as np
import pytest
from arrays import class_of, np_dtype, to_lamella, to_numpy
from catalogue import LIVE, title
from compiled import INCLUDE

CLASSES = ("bool", "integral", "floating", "complex")
DTYPES = "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float32 float64 complex64 complex128".split()
# Functions whose last bits differ between vector, scalar and other libraries' versions.
ROUNDED = set(
    "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc lgamma "
    "erfinv normal_cdf atan2 hypot modulus arg gamma_draw gamma_gradient beta_gradient scaled_by".split()
)
SPECIAL = Path(INCLUDE, "lamella/pointwise/special/words.h").read_text()
ROUNDED |= set(re.findall(r"\bX\((\w+)\)", SPECIAL)) - {"name"}
FLAGS = ("-std=c99", "-O1", "-fwrapv", "-ffp-contract=off", "-fno-math-errno", "-shared", "-fPIC", "-I", INCLUDE)
# Names in an expression that are not functions.
OPERANDS = {"x", "y", "z", "p", "q", "r", "T", "R", "re", "im"}


def operators():
    """Yields one overload of each pointwise operator, whose operands are all tensors."""
    for o in LIVE:
        meaning = o["pointwise"]
        if meaning and o["form"] == "functional":
            if all(a["type"] == "Tensor" for a in o["args"][: meaning["inputs"]]):
                yield o


OPERATORS = {title(o): o for o in operators()}


def words(text):
    return set(re.findall(r"[A-Za-z_]\w*", text)) - OPERANDS


def text_of(o, dtype):
    return o["pointwise"]["expressions"].get(CLASSES[class_of(dtype)])


def c_type(dtype):
    kind = {"bool": "bool", "float32": "float", "float64": "double", "complex64": "float", "complex128": "double"}
    return kind.get(dtype, f"{dtype}_t")


FUNCTION = """void {name}(long n, const {first}* xs, const T* ys, const T* zs, const T* s, {result}* o) {{
  const T p = s[0], q = s[1], r = s[2];
  (void)p, (void)q, (void)r;
  for (long i = 0; i < n; i++) {{
    const {first} x = xs[i];
    const T y = ys[i], z = zs[i];
    (void)x, (void)y, (void)z;
    o[i] = {value};
  }}
}}"""


def program(dtype, texts, faults):
    """Returns C source: for each expression e_NUMBER computes the values, f_NUMBER whether the fault occurs."""
    name = CLASSES[class_of(dtype)].upper()
    lines = [f"#define LAMELLA_T_{name} {c_type(dtype)}", "#include <lamella/pointwise/prelude.h>"]
    results = ("T", "bool", "R")
    for i, (text, meaning) in enumerate(texts):
        first = "bool" if meaning["condition"] else "T"
        for letter, result, value in (("e", results[meaning["result"]], text), ("f", "bool", faults[i])):
            if value:
                cast = "" if result == "T" and name == "COMPLEX" else f"({result})"
                lines.append(FUNCTION.format(name=f"{letter}_{i}", first=first, result=result, value=cast + value))
    return "\n".join(lines) + "\n"


def compiled(dtype, source, folder):
    file = folder / f"{dtype}.c"
    file.write_text(source)
    command = ("gcc", *FLAGS, "-Werror=implicit-function-declaration", file, "-o", file.with_suffix(".so"), "-lm")
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(file.with_suffix(".so")))


def edges(dtype, few=False):
    """Returns values at which a wrong expression shows."""
    t = np_dtype(dtype)
    if t.kind == "b":
        return np.array([False, True])
    if t.kind in "iu":
        limits, bits = np.iinfo(t), 8 * t.itemsize
        some = [0, 1, 2, 3, 5, limits.max, limits.max - 1, limits.min, limits.min + 1]
        more = [-1, -2, -3, -7, 7, 10, 100, bits - 1, bits, bits + 1]
        return np.array([v for v in (some if few else some + more) if limits.min <= v <= limits.max], t)
    real = np.float32 if t.itemsize in (4, 8) and t != np.float64 else np.float64
    limits = np.finfo(real)
    some = [0.0, -0.0, 1.0, -1.0, 0.3, 2.5, -3.0, np.inf, -np.inf, np.nan]
    more = [0.5, -0.5, 1.5, -2.5, 3.0, 7.0, -7.0, 0.1, -0.3, 20.0, -20.0, 6.0, 100.5, limits.max, limits.tiny, -1e-30]
    if t.kind == "f":
        return np.array(some if few else some + more, t)
    parts = np.array(some[:8] if few else [*some, 0.5, -7.0, 20.0], real)
    return np.array([complex(a, b) for a in parts for b in parts], t)


def operands(dtype, o):
    meaning = o["pointwise"]
    n, names = meaning["inputs"], [a["name"] for a in o["args"]]
    values = [edges(dtype, few=n == 3 or (n == 2 and class_of(dtype) == 3)) for _ in range(n)]
    if meaning["condition"]:
        values[0] = np.array([False, True])
    if "mask" in names:
        values[names.index("mask")] = np.array([0, 1], np_dtype(dtype))
    return [np.ascontiguousarray(a.ravel()) for a in np.meshgrid(*values, indexing="ij")]


def parameters(o, dtype):
    """Returns a number for each parameter, by name, and as elements of type T."""
    inputs, params = o["pointwise"]["inputs"], o["pointwise"]["params"]
    whole = class_of(dtype) < 2
    numbers = (True, True, True) if dtype == "bool" else (2, 3, 1) if whole else (0.75, 1.25, 2.0)
    named = {a["name"]: a for a in o["args"][inputs : inputs + params]}
    given = {n: bool(v) if a["type"] == "bool" else v for (n, a), v in zip(named.items(), numbers, strict=False)}
    return given, np.array([*given.values(), 0, 0, 0][:3], np_dtype(dtype))


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def evaluate(function, inputs, numbers, result):
    filled = [*inputs, inputs[-1], inputs[-1]][:3]
    out = np.empty(inputs[0].shape, result)
    function(ctypes.c_long(len(out)), *map(pointer, filled), pointer(numbers), pointer(out))
    return out


def call(o, inputs, given):
    name, _, overload = title(o).partition(".")
    op = getattr(getattr(lamella.ops.aten, name), overload or "default")
    inputs = [a.astype(bool) if arg["name"] == "mask" else a for a, arg in zip(inputs, o["args"], strict=False)]
    return to_numpy(op(*map(to_lamella, inputs), **given))


def differences(o, dtype, function, fault, text):
    """Returns up to three operands at which the compiled expression and the operator differ, with both values."""
    inputs = operands(dtype, o)
    given, numbers = parameters(o, dtype)
    if fault is not None:
        met = evaluate(fault, inputs, numbers, bool)
        if met.any():
            with pytest.raises(RuntimeError, match=re.escape(o["pointwise"]["fault"])):
                call(o, [a[met] for a in inputs], given)
        inputs = [np.ascontiguousarray(a[~met]) for a in inputs]
    with np.errstate(all="ignore"):
        wanted = call(o, inputs, given)
        results = (np_dtype(dtype), np.dtype(bool), np.empty(0, np_dtype(dtype)).real.dtype)
        got = evaluate(function, inputs, numbers, results[o["pointwise"]["result"]])
        if o["pointwise"]["result"] == 0 and wanted.dtype != got.dtype:  # the square of a bool is an integer
            got = got.astype(wanted.dtype)
        rounded = words(text) & ROUNDED or (class_of(dtype) >= 2 and "pow" in words(text))
        bad = ~agree(got, wanted, rounded)
    return [(*(a[i] for a in inputs), got[i], wanted[i]) for i in np.flatnonzero(bad)[:3]]


def agree(got, wanted, rounded):
    if got.dtype.kind == "c":
        return agree(got.real, wanted.real, rounded) & agree(got.imag, wanted.imag, rounded)
    if got.dtype.kind != "f":
        return got == wanted
    if not rounded:
        return ((got == wanted) & (np.signbit(got) == np.signbit(wanted))) | (np.isnan(got) & np.isnan(wanted))
    eps = np.finfo(got.dtype).eps
    return np.isclose(got, wanted, rtol=256 * eps, atol=256 * eps, equal_nan=True)


@pytest.fixture(scope="module")
def libraries(tmp_path_factory):
    """Returns for a dtype the operators that take it, by number, and the library of their expressions."""
    made = {}

    def of(dtype):
        if dtype not in made:
            takers = {t: o for t, o in OPERATORS.items() if text_of(o, dtype)}
            texts = [(text_of(o, dtype), o["pointwise"]) for o in takers.values()]
            faults = [o["pointwise"]["fault_condition"] if class_of(dtype) == 1 else None for o in takers.values()]
            folder = tmp_path_factory.mktemp("expressions")
            made[dtype] = list(takers), compiled(dtype, program(dtype, texts, faults), folder)
        return made[dtype]

    return of


@pytest.mark.parametrize("dtype", DTYPES)
def test_expressions_compute_what_the_operators_compute(libraries, dtype):
    titles, library = libraries(dtype)
    assert len(titles) > 20
    wrong = {}
    for i, name in enumerate(titles):
        o = OPERATORS[name]
        fault = getattr(library, f"f_{i}", None)
        found = differences(o, dtype, getattr(library, f"e_{i}"), fault, text_of(o, dtype))
        if found:
            wrong[name] = text_of(o, dtype), found
    assert not wrong


def test_a_wrong_expression_is_found(tmp_path):
    """Wrong expressions are planted: bitwise `not` of bools, a quotient rounded toward zero, an unchecked shift."""
    planted = {
        ("bitwise_not", "bool"): "(~x)",
        ("floor_divide", "int32"): "quotient(x, y)",
        ("bitwise_left_shift.Tensor", "int32"): "(x << (y & 31))",
        ("mul.Tensor", "complex64"): "make(((x.re * y.re) - (x.im * y.im)), ((x.re * y.im) - (x.im * y.re)))",
    }
    for (name, dtype), text in planted.items():
        o = OPERATORS[name]
        assert text != text_of(o, dtype)
        fault = o["pointwise"]["fault_condition"]
        library = compiled(dtype, program(dtype, [(text, o["pointwise"])], [fault]), tmp_path)
        assert differences(o, dtype, library.e_0, library.f_0 if fault else None, text), name


def test_expressions_are_of_the_published_words():
    page = (INCLUDE / "lamella/pointwise/prelude.h").read_text()
    special = (INCLUDE / "lamella/pointwise/special/words.h").read_text()
    published = set(re.findall(r"(?m)^(?:#define|static inline \w+) (\w+)\(", page)) | {"INFINITY", "NAN"}
    published |= set(re.findall(r"\bX\((\w+)\)", special))
    used = {w for o in OPERATORS.values() for t in o["pointwise"]["expressions"].values() for w in words(t)}
    assert used <= published
    assert len(used) > 40


def test_classes_without_a_loop_have_no_expression():
    for name, o in OPERATORS.items():
        for dtype in DTYPES:
            values = [np.ones(1, bool if k == 0 and o["pointwise"]["condition"] else np_dtype(dtype)) for k in range(3)]
            if text_of(o, dtype) is None and class_of(dtype) > 1:
                with pytest.raises(RuntimeError):
                    call(o, values[: o["pointwise"]["inputs"]], parameters(o, dtype)[0])
            elif text_of(o, dtype):
                call(o, values[: o["pointwise"]["inputs"]], parameters(o, dtype)[0])
        assert (o["pointwise"]["fault"] is None) == (o["pointwise"]["fault_condition"] is None), name
