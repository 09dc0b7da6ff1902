"""Generated texts of graphs: types, literals and nodes of every form that the grammar has. No graph of these is run."""

import math

from hypothesis import strategies as st

WORDS = ("Float", "Double", "Half", "BFloat16", "Byte", "Char", "Short", "Int", "Long", "Bool", "ComplexFloat")
SIMPLE = ("Tensor", "int", "float", "complex", "bool", "str", "NoneType", "Scalar", "Device", "ScalarType", "Layout")
MORE = ("MemoryFormat", "Generator", "Any", "Function", "__torch__.Net", "Net")
LETTERS = "abcxyzAZ_09"

names = st.text(LETTERS, min_size=1, max_size=5).map(lambda s: "n" + s).filter(lambda s: s not in ("nan", "inf"))
dims = st.one_of(
    st.integers(-3, 2**40).map(str),
    st.just("*"),
    names,
    st.builds(lambda a, n, b: f"{a}*{n}{b:+d}" if b else f"{a}*{n}", st.integers(2, 99), names, st.integers(-9, 9)),
)


@st.composite
def tensor_types(draw):
    """A tensor's type with some of its properties."""
    parts = draw(st.lists(dims, max_size=4))
    if draw(st.booleans()):
        parts = ["..."]
    if draw(st.booleans()):
        parts.append(f"strides=[{', '.join(draw(st.lists(dims, max_size=3)))}]")
    if draw(st.booleans()):
        parts.append(f"requires_grad={draw(st.integers(0, 1))}")
    if draw(st.booleans()):
        parts.append("device=" + draw(st.sampled_from(("cpu", "cuda:1"))))
    word = draw(st.sampled_from((*WORDS, "Tensor")))
    return word if parts == ["..."] else f"{word}({', '.join(parts)})"


def containers(inner):
    """Types with parts."""
    parts = st.lists(inner, max_size=3)
    return st.one_of(
        inner.map("{}[]".format),
        inner.map("{}?".format),
        inner.map("Future({})".format),
        st.builds("Dict({}, {})".format, st.sampled_from(("int", "str")), inner),
        parts.map(lambda p: f"({', '.join(p)})"),
        st.builds(lambda n, p: f"NamedTuple[{n}]({', '.join(f'f{i} : {t}' for i, t in enumerate(p))})", names, parts),
    )


types = st.recursive(st.one_of(st.sampled_from(SIMPLE + MORE), tensor_types()), containers, max_leaves=5)


def quoted(text):
    """The text in quotes, with an escape for each character that is no letter, so that all escapes are read."""
    return '"' + "".join(chr(b) if chr(b) in LETTERS else f"\\x{b:02x}" for b in text.encode()) + '"'


floats = st.floats(allow_subnormal=True)
# Pairs of a Python value and its text; repr() of a float is the shortest text that reads back to it.
literals = st.one_of(
    st.booleans().map(lambda x: (x, str(x))),
    st.integers(-(2**63), 2**63 - 1).map(lambda x: (x, str(x))),
    floats.map(lambda x: (x, repr(x))),
    st.complex_numbers(allow_nan=False).map(lambda x: (x, f"complex({x.real!r}, {x.imag!r})")),
    st.text().map(lambda x: (x, quoted(x))),
    st.sampled_from(("cpu", "cuda:0")).map(lambda x: (x, f'Device("{x}")')),
    st.sampled_from(("float32", "int8")).map(lambda x: (x, f'ScalarType("{x}")')),
    st.just(("channels_last", "channels_last")),
    st.integers(0, 9).map(lambda x: (x, f"<data/{x}>")),
    st.just((None, "None")),
)


def listed(inner):
    return st.lists(inner, max_size=3).map(lambda a: ([x for x, _ in a], f"[{', '.join(t for _, t in a)}]"))


any_literals = st.recursive(literals, listed, max_leaves=6)


def alike(a, b):
    """Whether two literals are the same, bit for bit."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, complex) and isinstance(b, complex):
        return alike(a.real, b.real) and alike(a.imag, b.imag)
    if isinstance(a, float) and isinstance(b, float):
        return math.isnan(a) and math.isnan(b) or a == b and math.copysign(1, a) == math.copysign(1, b)
    return type(a) is type(b) and a == b


class Writer:
    """Writes a graph as it draws it. `attributes` has the value of each attribute in the order of the text."""

    def __init__(self, draw):
        self.draw = draw
        self.count = 0
        self.attributes = []

    def fresh(self):
        self.count += 1
        return f"%{self.draw(st.sampled_from(('', 'x', 'out.', 'a$')))}{self.count}"

    def params(self, most):
        some = [f"{self.fresh()} : {self.draw(types)}" for _ in range(self.draw(st.integers(0, most)))]
        return ", ".join(some), [p.split(" ")[0] for p in some]

    def some(self, seen):
        return ", ".join(self.draw(st.lists(st.sampled_from(seen), max_size=3))) if seen else ""

    def body(self, seen, depth, indent):
        lines, seen = [], list(seen)
        for _ in range(self.draw(st.integers(0, 3))):
            op = self.draw(st.sampled_from(("aten::add.int", "prim::Constant", "mine::op", "prim::If", "prim::Loop")))
            attributes = []
            for k in range(self.draw(st.integers(0, 2))):
                value, text = self.draw(any_literals)
                self.attributes.append(value)
                attributes.append(f"k{k}={text}")
            listed = f"[{', '.join(attributes)}]" if attributes else ""
            line = f"{op}{listed}({self.some(seen)})"
            if self.draw(st.booleans()):
                place = f"{self.draw(st.integers(1, 9999))}:{self.draw(st.integers(1, 99))}"
                line += f"  # dir/file {self.draw(names)}.py:{place}"
            blocks, own = [], seen
            if depth and op in ("prim::If", "prim::Loop"):
                for b in range(2 if op == "prim::If" else 1):
                    params, new = self.params(2)
                    inner, all_seen = self.body(seen + new, depth - 1, indent + "    ")
                    blocks += [f"{indent}  block{b}({params}) {{", *inner]
                    blocks += [f"{indent}    -> ({self.some(all_seen)})", f"{indent}  }}"]
            params, new = self.params(2)
            lines += [f"{indent}{params} = {line}" if params else indent + line, *blocks]
            seen = own + new
        return lines, seen

    def graph(self):
        params, seen = self.params(3)
        lines, seen = self.body(seen, 2, "  ")
        return "\n".join([f"graph({params}) {{", *lines, f"  return ({self.some(seen)})", "}", ""])


@st.composite
def programs(draw):
    """The text of a program, and the values of its attributes."""
    writer, text = Writer(draw), ""
    for name in sorted(draw(st.sets(names, max_size=2))):
        attributes = [f"  {a} : {draw(types)}\n" for a in draw(st.lists(names, unique=True, max_size=3))]
        text += f"class {name} {{\n{''.join(attributes)}}}\n"
    text += writer.graph()
    for name in sorted(draw(st.sets(names, max_size=2))):
        text += f"with {name} = {writer.graph()}"
    return text, writer.attributes
