"""Makes two headers with the catalogue's operators for C++ from the live registry, for ``make stubs``.

``<lamella/tensor_methods.h>`` declares the methods, ``<lamella/operators.h>`` has functions and the methods' bodies.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

HEAD = "/* {what} Made by `make stubs` from the live registry; a test compares. Do not edit. */\n"
END = ["", "}  // namespace lamella", "#pragma GCC visibility pop", "", "#endif", ""]

# Maps a type of schemas to the parameter's type in C++.
TYPES = {
    "Tensor": "const Tensor&",
    "Tensor?": "const Tensor&",
    "Tensor[]": "TensorList",
    "Tensor?[]": "TensorList",
    "Scalar": "const Scalar&",
    "Scalar?": "const std::optional<Scalar>&",
    "int": "int64_t",
    "int?": "std::optional<int64_t>",
    "float": "double",
    "float?": "std::optional<double>",
    "float[]?": "std::optional<ArrayRef<double>>",
    "bool": "bool",
    "bool?": "std::optional<bool>",
    "str": "const Text&",
    "str?": "const Text&",
    "ScalarType": "ScalarType",
    "ScalarType?": "std::optional<ScalarType>",
    "Layout?": "std::optional<Layout>",
    "Device?": "const std::optional<Device>&",
    "MemoryFormat": "MemoryFormat",
    "MemoryFormat?": "std::optional<MemoryFormat>",
    "Generator?": "const Generator&",
}
OPTIONS = {"dtype": "ScalarType?", "layout": "Layout?", "device": "Device?", "pin_memory": "bool?"}
FORMATS = {"contiguous_format": "Contiguous", "preserve_format": "Preserve", "channels_last": "ChannelsLast"}
OWNERS = ("detail::Repeated", "detail::Scalars")  # classes that own the memory of a list made for the call
RESERVED = set("and bool char default delete double float int long new not or register short this union xor".split())


@dataclass(frozen=True)
class Parameter:
    name: str
    type: str  # a type of C++
    default: str | None  # an expression of C++
    values: tuple[str, ...]  # its expressions in the array of values


@dataclass(frozen=True)
class Function:
    name: str
    operator: str
    overload: str
    parameters: tuple[Parameter, ...]  # in the order of the signature: outputs first
    values: tuple[str, ...]  # expressions in the order of the schema
    returned: str
    form: str
    method: bool
    function: bool

    @property
    def required(self) -> int:
        return sum(p.default is None for p in self.parameters)

    def at_least(self, count: int) -> Function:
        """Returns this function without the defaults of its first `count` parameters."""
        parameters = tuple(replace(p, default=None) if i < count else p for i, p in enumerate(self.parameters))
        return replace(self, parameters=parameters)


def cpp_type(schema_type: str) -> str:
    text = schema_type.replace("SymInt", "int")
    if re.fullmatch(r"int\[\d*\]", text):
        return "IntArrayRef"
    if re.fullmatch(r"int\[\d*\]\?", text):
        return "const OptionalIntArrayRef&"
    if text == "Scalar[]":
        return "ArrayRef<Scalar>"
    return "ArrayRef<bool>" if text.startswith("bool[") else TYPES[text]


def default(arg: dict) -> str | None:
    if not arg["has_default"]:
        return None
    text, kind = arg["default"], arg["type"]
    if text == "None":
        return {"Tensor?": "undefined()", "Generator?": "{}"}.get(kind, "{}")
    if text in FORMATS:
        return f"MemoryFormat::{FORMATS[text]}"
    if kind == "float":
        return {"inf": "__builtin_inf()", "-inf": "-__builtin_inf()"}.get(text, text)
    if text.startswith("["):
        return "{" + text[1:-1] + "}"
    return f'"{text[1:-1]}"' if text[0] in "'\"" else text.lower()


def value(arg: dict, name: str) -> str:
    repeated = re.fullmatch(r"(?:Sym)?[iI]nt\[(\d+)\]", arg["type"])
    if repeated and int(repeated[1]) > 1:
        return f"detail::Repeated<{repeated[1]}>({name})"
    if arg["type"] == "Scalar[]":
        return f"detail::Scalars({name})"
    return value_of(cpp_type(arg["type"]), name)


def value_of(type: str, expression: str) -> str:
    """Returns the expression of a value. It names the type, since overloads that are chosen for each of four thousand
    arguments were half of the time in which a compiler reads the header."""
    return f"detail::as<{type}>({expression})"


def parameters(op: dict) -> tuple[list[Parameter], list[Parameter]]:
    """Returns an operator's input and output parameters; dtype, layout, device and pin_memory become ``options``."""
    inputs: list[Parameter] = []
    outputs: list[Parameter] = []
    args = op["args"]
    i = 0
    while i < len(args):
        if {a["name"]: a["type"] for a in args[i : i + 4]} == OPTIONS:
            parts = ("options.dtype()", "options.layout()", "options.device()", "options.pinned_memory()")
            values = tuple(value_of(cpp_type(t), v) for t, v in zip(OPTIONS.values(), parts, strict=True))
            inputs.append(Parameter("options", "const TensorOptions&", "{}", values))
            i += 4
            continue
        name = args[i]["name"] + ("_" if args[i]["name"] in RESERVED else "")
        p = Parameter(name, cpp_type(args[i]["type"]), default(args[i]), (value(args[i], name),))
        (outputs if op["form"] == "out" and args[i]["written"] else inputs).append(p)
        i += 1
    return inputs, outputs


def returned(op: dict) -> str:
    types = {"Tensor": "Tensor", "Tensor[]": "std::vector<Tensor>", "Scalar": "Scalar", "bool": "bool"}
    kinds = [types[t] for t, _ in op["returns"]]
    if not kinds:
        return "void"
    if op["form"] == "inplace" or (op["form"] == "out" and len(kinds) == 1):
        return "const Tensor&"
    return kinds[0] if len(kinds) == 1 else f"std::tuple<{', '.join(kinds)}>"


def function(op: dict) -> Function:
    inputs, outputs = parameters(op)
    last = max((i for i, p in enumerate(inputs) if p.default is None), default=-1)
    inputs = [replace(p, default=None) if i <= last else p for i, p in enumerate(inputs)]
    values = tuple(v for p in inputs + outputs for v in p.values)
    name = op["name"].partition("::")[2] + ("_out" if op["form"] == "out" else "")
    written = op["form"] == "inplace" or bool(op["args"] and op["args"][0]["written"] and not outputs)
    shown = not name.startswith("_") and not name.endswith("_backward")  # every operator that users call is a method
    form = "out" if outputs else "inplace" if written else "functional"
    return Function(
        name + ("_" if name in RESERVED else ""),
        op["name"],
        op["overload"],
        tuple(outputs + inputs),
        values,
        "const Tensor&" if form == "inplace" and op["returns"] else returned(op),
        form,
        form != "out" and (op["method"] or shown and bool(inputs) and op["args"][0]["type"] == "Tensor"),
        # A private operator such as _nll_pick, which Python does not show, is a function here, since composites call
        # it; an in-place form is a method.
        not op["method"] if op["private"] else form != "inplace" or (op["function"] and not op["method"]),
    )


def variants(f: Function) -> list[Function]:
    """Returns a function; for a factory of random numbers, also an overload without generator: rand(sizes, options)."""
    names = [p.name for p in f.parameters]
    if "options" not in names or "generator" not in names:
        return [f]
    at = names.index("generator")
    drawn = f.parameters[at].values
    without = (*f.parameters[:at], *f.parameters[at + 1 :])
    values = tuple("lamella::none()" if v in drawn else v for v in f.values)
    return [replace(f, parameters=without, values=values), f.at_least(at + 1)]


def distinct(found: list[Function]) -> list[Function]:
    """Makes the overloads of a name unambiguous: removes defaults of the later one of two, or that overload itself."""
    kept: list[Function] = []
    for f in found:
        for other in kept:
            for count in range(len(f.parameters) + 1):
                both = [p.type for p in f.parameters[:count]] == [p.type for p in other.parameters[:count]]
                if both and f.required <= count and other.required <= count <= len(other.parameters):
                    f = f.at_least(count + 1)
                    if len(f.parameters) == count:
                        break
            else:
                continue
            break
        else:
            kept.append(f)
    return kept


def operators() -> list[dict]:
    """Returns every operator of the registry, once for each of its names."""
    from lamella import _C

    return [op | {"name": name} for op in _C._operators() for name in (op["name"], *op["aliases"])]


def functions() -> list[Function]:
    by_name: dict[str, list[Function]] = {}
    for op in operators():
        ours = op["owner"] == "lamella" and op["name"].startswith("aten::")  # not overloads that plugins add
        if ours and (op["private"] or op["method"] or op["function"]):
            for f in variants(function(op)):
                by_name.setdefault(f.name, []).append(f)
    return [f for name in sorted(by_name) for f in distinct(by_name[name])]


def signature(f: Function, *, method: bool, defaults: bool, scope: str = "") -> str:
    parts = [
        f"{p.type} {p.name}" + (f" = {p.default}" if defaults and p.default is not None else "")
        for p in f.parameters[int(method) :]
    ]
    return f"{f.returned} {scope}{f.name}({', '.join(parts)})" + (" const" if method else "")


def body(f: Function, first: str = "") -> list[str]:
    """Returns the statements of a function; ``first`` is the expression for the first parameter in a method."""
    values = list(f.values)
    if first:
        values[0] = values[0].replace(f.parameters[0].name + ")", first + ")")
    lines = [
        f'static detail::Callee op_{{"{f.operator}", "{f.overload}"}};',
        f"const lamella_value args_[] = {{{', '.join(values)}}};",
    ]
    if any(p.startswith(OWNERS) for p in values):
        lines = owned(lines, values)
    options = any(p.name == "options" for p in f.parameters)
    if f.returned == "void":
        return [*lines, "op_.nothing(args_);"]
    if f.form != "functional":
        outputs = [p.name for p in f.parameters[: f.returned.count("Tensor")]]
        result = first or outputs[0] if f.returned == "const Tensor&" else f"{{{', '.join(outputs)}}}"
        written = f"op_.written<{len(outputs)}>" if len(outputs) > 1 else "op_.written"
        return [*lines, f"{written}(args_);", f"return {result};"]
    if f.returned == "Tensor":
        result = "op_.tensor(args_)"
        return [*lines, f"return {f'detail::finished({result}, options)' if options else result};"]
    if f.returned in ("Scalar", "bool"):
        return [*lines, f"return op_.scalar(args_){'.toBool()' if f.returned == 'bool' else ''};"]
    if f.returned.startswith("std::vector"):
        return [*lines, "return op_.tensors(args_);"]
    if f.returned == "std::tuple<Tensor, std::vector<Tensor>>":
        return [*lines, "return op_.tensor_and_list(args_);"]
    count = f.returned.count("Tensor")
    return [*lines, f"return op_.several<{count}>(args_);"]


def owned(lines: list[str], values: list[str]) -> list[str]:
    """Turns temporaries that own the memory of a list into variables, so that they live as long as the call."""
    named, before = [], []
    for i, v in enumerate(values):
        if v.startswith(OWNERS):
            kind, _, name = v.partition("(")
            before.append(f"const {kind} list{i}_({name};")
            v = f"list{i}_"
        named.append(v)
    return [lines[0], *before, f"const lamella_value args_[] = {{{', '.join(named)}}};"]


def defined(text: str, statements: list[str]) -> list[str]:
    return [f"inline {text} {{", *(f"  {s}" for s in statements), "}"]


def methods_header() -> str:
    lines = [
        HEAD.format(what="The catalogue's operators as methods, declared."),
        "#ifndef LAMELLA_TENSOR_METHODS_H",
        "#define LAMELLA_TENSOR_METHODS_H",
        "",
        "#include <lamella/values.h>",
        "",
        "#include <tuple>",
        "",
        "#pragma GCC visibility push(hidden)",
        "namespace lamella {",
        "",
        "class Tensor;",
        "using TensorList = ArrayRef<Tensor>;",
        "",
        "#ifdef LAMELLA_NO_OPERATORS",
        "using TensorMethods = TensorRef;",
        "#else",
        "inline const Tensor& undefined();",
        "",
        "class TensorMethods : public TensorRef {",
        " public:",
    ]
    for f in functions():
        if f.method:
            lines.append(f"  {signature(f, method=True, defaults=True)};")
    lines += [" private:", "  const Tensor& self_() const;", "};", "#endif", *END]
    return "\n".join(lines)


def operators_header() -> str:
    lines = [
        HEAD.format(what="The operators: lamella::add(x, y), x.add(y), x.add_(y), lamella::add_out(out, x, y)."),
        "#ifndef LAMELLA_OPERATORS_H",
        "#define LAMELLA_OPERATORS_H",
        "",
        "#include <lamella/tensor.h>",
        "",
        "#pragma GCC visibility push(hidden)",
        "namespace lamella {",
        "",
        "inline const Tensor& TensorMethods::self_() const { return static_cast<const Tensor&>(*this); }",
    ]
    found = functions()
    for f in found:
        if f.function:
            lines += defined(signature(f, method=False, defaults=True), body(f))
    for f in found:
        if not f.method:
            continue
        text = signature(f, method=True, defaults=False, scope="TensorMethods::")
        if f.function:
            arguments = ["self_()", *(p.name for p in f.parameters[1:])]
            lines += [f"inline {text} {{ return lamella::{f.name}({', '.join(arguments)}); }}"]
        else:
            lines += defined(text, body(f, "self_()"))
    lines += END
    return "\n".join(lines)


def files() -> dict[str, str]:
    """Returns the text of every header by its file's name."""
    return {"tensor_methods.h": methods_header(), "operators.h": operators_header()}
