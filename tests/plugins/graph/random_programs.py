"""Random programs that run: texts of typed graphs, and an interpreter of them by CPython and by eager calls."""

import lamella
from hypothesis import strategies as st

SIGNATURE = "%self : C, %n : int, %f : float, %b : bool, %x : Tensor, %y : Tensor, %l : int[]"
KINDS = ("int", "float", "bool", "Tensor", "int[]", "(int, Tensor)")


class Writer:
    """Draws a program of functions, a class with a method, and a main graph. Ints stay small: none overflows."""

    def __init__(self, draw):
        self.draw = draw
        self.count = 0
        self.callable = []  # names of the functions written so far

    def pick(self, values):
        return self.draw(st.sampled_from(values))

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def line(self):
        return f"  # lines.py:{self.count + 1}:0"

    def emit(self, lines, type_, call):
        name = self.name()
        lines.append(f"{name} : {type_} = {call}{self.line()}")
        return name

    def constant(self, lines, type_):
        value = {"int": st.integers(-5, 9), "float": st.floats(-4, 4, width=16), "bool": st.booleans()}[type_]
        return self.emit(lines, type_, f"prim::Constant[value={self.draw(value)!r}]()")

    def value(self, scope, lines, type_):
        """A value of the type that the scope has, or a new one."""
        known = [v for v, t in scope if t == type_]
        if known and (type_ not in ("int", "float", "bool") or self.draw(st.integers(0, 4))):
            return self.pick(known)
        if type_ in ("int", "float", "bool"):
            return self.constant(lines, type_)
        if type_ == "int[]":
            return self.emit(lines, type_, f"prim::ListConstruct({self.value(scope, lines, 'int')})")
        if type_ == "(int, Tensor)":
            parts = ", ".join(self.value(scope, lines, t) for t in ("int", "Tensor"))
            return self.emit(lines, type_, f"prim::TupleConstruct({parts})")
        raise AssertionError(type_)

    # ---- nodes; each returns the new values with their types ----

    def number(self, scope, lines):
        kind = self.pick(("int", "float"))
        a, b = (self.value(scope, lines, kind) for _ in range(2))
        op = self.pick(("add", "sub", "mul", "neg", "min", "max"))
        call = f"aten::{op}.{kind}({a})" if op == "neg" else f"aten::{op}.{kind}({a}, {b})"
        made = self.emit(lines, kind, call)
        if kind == "int":  # stays small, also in a loop
            bound = self.emit(lines, kind, "prim::Constant[value=10007]()")
            made = self.emit(lines, kind, f"aten::remainder.int({made}, {bound})")
        return [(made, kind)]

    def test(self, scope, lines):
        op = self.pick(("lt.int", "eq.int", "ge.float", "__and__.bool", "__or__.bool", "__not__"))
        kind = op.split(".")[-1] if "." in op else "bool"
        inputs = ", ".join(self.value(scope, lines, kind) for _ in range(1 if op == "__not__" else 2))
        return [(self.emit(lines, "bool", f"aten::{op}({inputs})"), "bool")]

    def convert(self, scope, lines):
        if self.draw(st.booleans()):
            return [(self.emit(lines, "float", f"aten::Float.int({self.value(scope, lines, 'int')})"), "float")]
        total = self.emit(lines, "Tensor", f"aten::sum({self.value(scope, lines, 'Tensor')}, dtype=None)")
        return [(self.emit(lines, "float", f"aten::Float.Tensor({total})"), "float")]

    def tensor(self, scope, lines):
        x, y = (self.value(scope, lines, "Tensor") for _ in range(2))
        op = self.pick(("add", "mul", "abs", "relu", "t", "scale", "clone", "twice", "add_", "neg_", "mul_", "select_"))
        if op == "add":
            return [(self.emit(lines, "Tensor", f"aten::add.Tensor({x}, {y}, alpha=1)"), "Tensor")]
        if op == "mul":
            return [(self.emit(lines, "Tensor", f"aten::mul.Tensor({x}, {y})"), "Tensor")]
        if op == "scale":
            n = self.value(scope, lines, self.pick(("int", "float")))
            return [(self.emit(lines, "Tensor", f"aten::mul.Scalar({x}, {n})"), "Tensor")]
        if op == "twice":  # the same computation, for the sharing of nodes
            calls = [self.emit(lines, "Tensor", f"aten::add.Tensor({x}, {y}, alpha=1)") for _ in range(2)]
            return [(c, "Tensor") for c in calls]
        if op == "add_":
            return [(self.emit(lines, "Tensor", f"aten::add_.Tensor({x}, {y}, alpha=1)"), "Tensor")]
        if op == "mul_":
            return [(self.emit(lines, "Tensor", f"aten::mul_.Tensor({x}, {y})"), "Tensor")]
        if op == "select_":  # writes through a view
            view = self.emit(lines, "Tensor", f"aten::select.int({x}, 0, 0)")
            self.emit(lines, "Tensor", f"aten::neg_({view})")
            return []
        first = self.emit(lines, "Tensor", f"aten::{op}({x})")
        if op == "t":
            first = self.emit(lines, "Tensor", f"aten::t({first})")
        if op == "relu":
            first = self.emit(lines, "Tensor", f"aten::relu({first})")
        return [(first, "Tensor")]

    def container(self, scope, lines):
        op = self.pick(("list", "append", "get", "len", "tuple", "index", "unpack"))
        if op == "list":
            values = ", ".join(self.value(scope, lines, "int") for _ in range(self.draw(st.integers(1, 3))))
            return [(self.emit(lines, "int[]", f"prim::ListConstruct({values})"), "int[]")]
        if op == "tuple":
            parts = [s for s in scope if s[1] != "(int, Tensor)"]
            return [(self.value(parts, lines, "(int, Tensor)"), "(int, Tensor)")]
        if op in ("index", "unpack"):
            t = self.value(scope, lines, "(int, Tensor)")
            if op == "index":
                return [(self.emit(lines, "int", f"prim::TupleIndex[index=0]({t})"), "int")]
            a, b = self.name(), self.name()
            lines.append(f"{a} : int, {b} : Tensor = prim::TupleUnpack({t}){self.line()}")
            return [(a, "int"), (b, "Tensor")]
        some = self.value(scope, lines, "int[]")
        if op == "append":
            n = self.value(scope, lines, "int")
            return [(self.emit(lines, "int[]", f"aten::append.t({some}, {n})"), "int[]")]
        if op == "len":
            return [(self.emit(lines, "int", f"aten::len.t({some})"), "int")]
        return [(self.emit(lines, "int", f"aten::__getitem__.t({some}, {self.pick((0, -1))})"), "int")]

    def state(self, scope, lines):
        attribute, kind = self.pick((("n", "int"), ("w", "Tensor")))
        if self.draw(st.booleans()):
            return [(self.emit(lines, kind, f'prim::GetAttr[name="{attribute}"](%self)'), kind)]
        lines.append(f'prim::SetAttr[name="{attribute}"](%self, {self.value(scope, lines, kind)}){self.line()}')
        return []

    def call(self, scope, lines):
        if not self.callable:
            return []
        n, x = self.value(scope, lines, "int"), self.value(scope, lines, "Tensor")
        a, b = self.name(), self.name()
        kind, name = self.pick(self.callable)
        lines.append(f'{a} : int, {b} : Tensor = prim::{kind}[name="{name}"](%self, {n}, {x}){self.line()}')
        return [(a, "int"), (b, "Tensor")]

    def branch(self, scope, lines, depth):
        condition = self.value(scope, lines, "bool")
        kinds = self.draw(st.lists(st.sampled_from(KINDS), max_size=2))
        blocks = []
        for k in range(2):
            inner, seen = self.body(scope, depth - 1)
            results = ", ".join(self.value(seen, inner, t) for t in kinds)
            blocks += [f"  block{k}() {{", *("    " + line for line in inner), f"    -> ({results})", "  }"]
        return self.with_blocks(lines, kinds, f"prim::If({condition})", blocks)

    def loop(self, scope, lines, depth):
        true = self.emit(lines, "bool", "prim::Constant[value=True]()")
        five = self.emit(lines, "int", "prim::Constant[value=5]()")
        if self.draw(st.booleans()):
            trips = self.emit(lines, "int", f"prim::Constant[value={self.draw(st.integers(-1, 10))}]()")
        else:
            trips = self.emit(lines, "int", f"aten::remainder.int({self.value(scope, lines, 'int')}, {five})")
        kinds = self.draw(st.lists(st.sampled_from(KINDS), max_size=2))
        begin = [self.value(scope, lines, t) for t in kinds]
        start = self.value(scope, lines, "bool") if not self.draw(st.integers(0, 3)) else true
        trip, own = self.name(), [self.name() for _ in kinds]
        inner, seen = self.body([*scope, (trip, "int"), *zip(own, kinds, strict=True)], depth - 1)
        go_on = true if self.draw(st.booleans()) else self.value(seen, inner, "bool")
        results = ", ".join([go_on, *(self.value(seen, inner, t) for t in kinds)])
        params = ", ".join(f"{v} : {t}" for v, t in [(trip, "int"), *zip(own, kinds, strict=True)])
        blocks = [f"  block0({params}) {{", *("    " + line for line in inner), f"    -> ({results})", "  }"]
        return self.with_blocks(lines, kinds, f"prim::Loop({', '.join([trips, start, *begin])})", blocks)

    def with_blocks(self, lines, kinds, call, blocks):
        made = [(self.name(), t) for t in kinds]
        outputs = ", ".join(f"{v} : {t}" for v, t in made)
        lines += [f"{outputs} = {call}{self.line()}" if made else call + self.line(), *blocks]
        return made

    def body(self, scope, depth):
        lines, scope = [], list(scope)
        for _ in range(self.draw(st.integers(1, 5))):
            kinds = [self.number, self.test, self.convert, self.tensor, self.tensor, self.container]
            kinds += [self.state, self.call]
            if depth:
                kinds += [self.branch, self.loop]
            make = self.pick(kinds)
            scope += make(scope, lines, depth) if make in (self.branch, self.loop) else make(scope, lines)
        return lines, scope

    def graph(self, name, params, results, depth):
        scope = [tuple(p.split(" : ")) for p in params.split(", %")]
        scope = [("%" + v.lstrip("%"), t) for v, t in scope]
        lines, seen = self.body(scope, depth)
        values = ", ".join(self.value(seen, lines, t) for t in results)
        body = "".join(f"  {line}\n" for line in lines)
        return f"{f'with {name} = ' if name else ''}graph({params}) {{\n{body}  return ({values})\n}}\n"


@st.composite
def programs(draw):
    w = Writer(draw)
    small = "%self : C, %n : int, %x : Tensor"
    parts = []
    for kind, name in (("CallFunction", "f"), ("CallMethod", "m"), ("CallFunction", "g")):
        parts.append(w.graph(name if kind == "CallFunction" else f"C.{name}", small, ("int", "Tensor"), 1))
        w.callable.append((kind, name))
    main = w.graph("", SIGNATURE, ("int", "float", "bool", "Tensor", "Tensor", "int[]", "(int, Tensor)"), 2)
    return "class C {\n  n : int\n  w : Tensor\n}\n" + main + "".join(parts)


def arguments(program):
    """New arguments for the main graph: an instance, numbers, two tensors and a list."""
    x = lamella.tensor([[1.5, -2.0, 0.1], [3.0, -0.0, 7.25]])
    self = program.new_object("C", {"n": 3, "w": x * 0.5})
    return self, 4, -1.25, True, x, x.t().contiguous().t() + 1, [2, 3]


def state(result, args):
    """The results and what the run wrote, as bits and numbers."""
    return [frozen(v) for v in (*result, args[0].n, args[0].w, args[4], args[5])]


def frozen(v):
    if isinstance(v, lamella.Tensor):
        return v.shape, v.contiguous().numpy().tobytes()
    if isinstance(v, (list, tuple)):
        return type(v), [frozen(x) for x in v]
    return type(v), v.hex() if isinstance(v, float) else v


# ---- the interpreter ----

PLAIN = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "min": min,
    "max": max,
    "remainder": lambda a, b: a % b,
    "lt": lambda a, b: a < b,
    "eq": lambda a, b: a == b,
    "ge": lambda a, b: a >= b,
    "__and__": lambda a, b: a & b,
    "__or__": lambda a, b: a | b,
    "__not__": lambda a: not a,
    "Float": float,
    "len": len,
    "__getitem__": lambda some, i: some[i],
    "append": lambda some, x: (some.append(x), some)[1],
}
EAGER = {
    "add.Tensor": lambda x, y, alpha: x.add(y, alpha=alpha),
    "mul.Tensor": lambda x, y: x.mul(y),
    "mul.Scalar": lambda x, n: x.mul(n),
    "abs": lambda x: x.abs(),
    "relu": lambda x: x.relu(),
    "t": lambda x: x.t(),
    "clone": lambda x: x.clone(),
    "add_.Tensor": lambda x, y, alpha: x.add_(y, alpha=alpha),
    "mul_.Tensor": lambda x, y: x.mul_(y),
    "neg_": lambda x: x.neg_(),
    "select.int": lambda x, d, i: x.select(d, i),
    "sum": lambda x, dtype: x.sum(),
}


def interpret(program, name, args):
    """Runs a graph by Python alone: numbers and lists are CPython's, tensors are called eagerly."""
    env = {}

    def block(b, given):
        env.update({v.name: x for v, x in zip(b.inputs(), given, strict=True)})
        for n in b.nodes():
            out = node(n, [env[v.name] for v in n.inputs()])
            names = [v.name for v in n.outputs()]
            env.update(zip(names, out if len(names) > 1 or n.op in ("prim::If", "prim::Loop") else [out], strict=False))
        return [env[v.name] for v in b.outputs()]

    def node(n, values):
        kind, _, op = n.op.partition("::")
        if kind == "aten":
            return EAGER.get(f"{op}.{n.overload}".rstrip("."), PLAIN.get(op))(*values)
        attribute = n.attributes
        match op:
            case "Constant":
                return attribute.get("value")
            case "If":
                return block(n.blocks()[0 if values[0] else 1], [])
            case "Loop":
                trips, go_on, *carried = values
                trip = 0
                while trip < trips and go_on:
                    go_on, *carried = block(n.blocks()[0], [trip, *carried])
                    trip += 1
                return carried
            case "ListConstruct":
                return list(values)
            case "TupleConstruct":
                return tuple(values)
            case "TupleUnpack":
                return values[0]
            case "TupleIndex":
                return values[0][attribute["index"]]
            case "GetAttr":
                return getattr(values[0], attribute["name"])
            case "SetAttr":
                return setattr(values[0], attribute["name"], values[1])
            case "CallFunction":
                return interpret(program, attribute["name"], values)
            case "CallMethod":
                return interpret(program, f"C.{attribute['name']}", values)
        raise AssertionError(op)

    results = block(program.graph(name).block(), args)
    return results[0] if len(results) == 1 else tuple(results)
