"""vmap as a layer: a function of one example runs once for a batch, over opaque boxes that stand for each example.

The layer is inside autograd, so that boxes have gradients of their own. It computes with the batches under
``as_called``, so that these are recorded as well, and boxes in boxes reach the layer again. The text ``dims`` of an
operator says where the batch dimension goes; else its composite runs.
"""

from collections import namedtuple

import lamella
from lamella.library import Library, Vmap, as_called, describe, get_kernel, on_rule

from . import over, packet, run, split, tensors

NAME = "tenants_vmap"
# Operators without a text: their tensors have the same dimensions, which `dim` counts, and `size` is that of a result.
ALONG = (
    "aten::gather aten::scatter.src aten::scatter.value aten::scatter_add "
    "autograd::_select_backward autograd::_slice_backward autograd::_narrow_backward"
)


class Unfit(Exception):
    """Raised by a way to compute that does not fit a call; nothing is written by then."""


Info = namedtuple("Info", "batch_size")  # the first argument of functions that register_vmap registers


class Vmaps:
    """Registers the layer. ``library`` is boxes.cpp, compiled."""

    def __init__(self, library):
        self.depth, self.rules = 0, {}
        self.library = Library(NAME, "FRAGMENT")
        self.library.register_layer(NAME, self._handle, at="backend")
        self.boxes = lamella.ops.load_library(library)
        self.subscription = on_rule("vmap", self._take)

    def close(self):
        self.subscription.remove()
        self.library.close()

    def _take(self, rule):
        if isinstance(rule.payload, Vmap):
            self.rules.setdefault(rule.op, []).append(rule)
            return lambda: self.rules[rule.op].remove(rule)

    def boxed(self, batch, level):
        """Returns a box for the examples along dimension 0."""
        box = self.boxes.make(batch.shape[1:], batch.stride()[1:], batch.dtype, batch.device, level)
        box.box_batch = batch
        return box

    def vmap(self, f, in_dims=0, out_dims=0):
        """Returns the function that calls ``f`` for each example along ``in_dims`` of the arguments; None: for all."""

        def batched(*args):
            dims = in_dims if isinstance(in_dims, tuple) else (in_dims,) * len(args)
            sizes = {a.shape[d] for a, d in zip(args, dims, strict=True) if d is not None}
            if len(sizes) != 1:
                raise ValueError(f"vmap: the arguments have {sorted(sizes)} examples, expected one number of them")
            self.depth += 1
            level = self.depth
            try:
                boxed = lambda a, d: a if d is None else self.boxed(a.movedim(d, 0), level)  # noqa: E731
                out = f(*map(boxed, args, dims))
            finally:
                self.depth -= 1
            batch = lambda t: t.box_batch if t.box_level == level else t.expand(*sizes, *t.shape)  # noqa: E731
            return over(lambda t: batch(t).movedim(0, out_dims), out)

        return batched

    def _handle(self, call, *args, **kwargs):
        given = describe(call).bind(args, kwargs)
        level = max(t.box_level for t in tensors(list(given.values())) if t.box_level is not None)
        if call.category == "host":
            why = "asks for one value, and each example has its own; use where(), or compute it outside of vmap"
            raise NotImplementedError(f"vmap: {call.name} {why}")
        if level > self.depth:
            raise RuntimeError(f"vmap: {call.name}: a tensor of a vmap that has ended; return it from the function")
        work = Work(self, call, given, level)
        if work.about.category == "view" and work.about.form != "out" and not work.composite:
            return work.view(lambda: call(*args, **kwargs))
        with as_called(call):
            for way in (work.by_rule, work.by_dims, work.along_dim, work.by_composite):
                try:
                    return way()
                except Unfit:
                    pass
        raise NotImplementedError(f"vmap: {call.name} has no rule; see lamella.library.register_vmap")


class Work:
    """One call of an operator at one level."""

    def __init__(self, vmaps, call, given, level):
        self.vmaps, self.call, self.about, self.given, self.level = vmaps, call, describe(call), given, level
        self.kinds = {a.name: a for a in self.about.arguments}
        named = [(a.name, a.written and a.keyword_only) for a in self.about.arguments if a.type.startswith("Tensor")]
        self.counted = [n for n, is_output in named if not is_output]
        self.outputs = {n: given[n] for n, is_output in named if is_output}
        self.inputs = {n: given[n] for n in self.counted if given[n] is not None}
        everything = list(tensors(list(given.values())))
        self.size = next(t for t in everything if self.is_box(t)).box_batch.shape[0]
        self.ndim = max(t.dim() for t in everything)
        self.full = f"{self.about.name}.{self.about.overload}".removesuffix(".")
        try:
            self.composite = get_kernel(self.full, "composite")
        except NotImplementedError:
            self.composite = None
        for a in self.about.arguments:
            if a.written and not all(self.is_box(t) for t in tensors([given[a.name]])):
                what = f"would write the values of {self.size} examples to '{a.name}', which all of them share"
                raise RuntimeError(f"vmap: {call.name} {what}; write to a tensor that is computed from the examples")

    def is_box(self, t):
        return isinstance(t, lamella.Tensor) and t.box_level == self.level

    def boxed(self, result):
        return self.vmaps.boxed(result, self.level) if isinstance(result, lamella.Tensor) else result

    def of(self, f, inputs=None):
        """Returns ``f`` of the inputs, by name."""
        return {n: over(lambda t, n=n: f(n, t), v) for n, v in (inputs or self.inputs).items() if v is not None}

    def run(self, changed):
        """Calls the operator with the batches; returns boxes, and for what it writes the arguments themselves."""
        result = run(self.about, self.given | self.of(lambda n, t: t.box_batch, self.outputs) | changed)
        written = [self.given[a.name] for a in self.about.arguments if a.written]
        return over(self.boxed, result) if not written else written[0] if len(written) == 1 else tuple(written)

    def padded(self, t, ndim, whole=False):
        """Returns a box's batch, with ones between the examples and their dimensions if these are fewer."""
        if not self.is_box(t):
            return t.expand(self.size, *[1] * (ndim - t.dim()), *t.shape) if whole else t
        return t.box_batch if t.dim() == ndim else t.box_batch.reshape(self.size, *[1] * (ndim - t.dim()), *t.shape)

    def view(self, go_on):
        """A view of a box is a box, whose batch is a view with the same sizes, strides and offset of each example."""
        box = self.inputs[self.counted[0]]
        batch, offset = box.box_batch, box.storage_offset()
        begin = batch.storage_offset() - offset
        out = go_on()
        with as_called(self.call):
            for view in tensors([out]):
                if view.dtype is not batch.dtype:
                    raise NotImplementedError(f"vmap: {self.about.name} gives a view another dtype")
                size, stride = (self.size, *view.shape), (batch.stride(0), *view.stride())
                view.box_batch = batch.as_strided(size, stride, begin + view.storage_offset())
        return out

    def by_rule(self):
        if not self.vmaps.rules.get(self.full):
            raise Unfit
        function = self.vmaps.rules[self.full][-1].payload.func
        given = list(self.given.values())
        dims = over(lambda t: 0 if self.is_box(t) else None, given)
        result, out = function(Info(self.size), dims, *over(lambda t: t.box_batch if self.is_box(t) else t, given))
        if isinstance(result, tuple):
            return tuple(self.boxed(r.movedim(d, 0)) for r, d in zip(result, out, strict=True))
        return self.boxed(result.movedim(out, 0))

    def by_composite(self):
        if self.composite is None or self.about.form != "functional":
            raise Unfit
        args, kwargs = split(self.about, self.given)
        return over(lambda t: self.boxed(t.box_batch) if self.is_box(t) else t, self.composite(*args, **kwargs))

    def by_dims(self):
        text, ndim = self.about.dims, self.ndim
        if text == "broadcast":
            return self.run(self.of(lambda n, t: self.padded(t, ndim)))
        if text in ("keep", "reduce"):
            dims = {n: self.given[n] for n, a in self.kinds.items() if a.dim}
            if ndim and any(v not in (None, []) for v in dims.values()):
                behind = {n: over(lambda d: d + 1 if d >= 0 else d, v) for n, v in dims.items() if v is not None}
                return self.run(self.of(lambda n, t: self.padded(t, ndim, True)) | behind)
            return self.along_all(text, dims)
        for pattern in text.split("|") if text and not any(a.dim for a in self.about.arguments) else ():
            before, after = ([group.split() for group in side.split(",")] for side in pattern.split("->"))
            words = dict(zip(self.counted, before, strict=True))
            more = lambda t, w: t.dim() - len(w) + ("..." in w or "...~" in w)  # noqa: E731
            spare = [(more(t, words[n]), words[n]) for n, v in self.inputs.items() for t in tensors([v])]
            if all(m == 0 or (m > 0 and any("..." in x for x in w)) for m, w in spare):
                return self.by_pattern(words, after)
        raise Unfit

    def along_dim(self):
        if self.full not in ALONG.split():
            raise Unfit
        dim, size = self.given["dim"], self.given.get("size")
        changed = {"dim": dim + 1 if dim >= 0 else dim} | ({} if size is None else {"size": [self.size, *size]})
        return self.run(self.of(lambda n, t: self.padded(t, t.dim(), True)) | changed)

    def along_all(self, text, dims):
        """Computes along all dimensions of one tensor, as along one."""
        if len(self.inputs) != 1 or self.about.form != "functional" or self.given.get("keepdim"):
            raise Unfit
        [(name, box)] = self.inputs.items()
        rest = {n: v for n, v in self.given.items() if n not in (name, *dims) and v != self.kinds[n].default}
        result = packet(self.about)(
            box.box_batch.reshape(self.size, -1), **rest, **dict.fromkeys(dims or ["dim"], 1)
        )  # perhaps another overload
        if not isinstance(result, lamella.Tensor):  # max(x, 1) has two results, and max(x) has one
            raise Unfit
        return self.boxed(result.reshape(self.size) if text == "keep" else result)

    def by_pattern(self, words, after):
        """The examples lie along the first of the dimensions of "...", or along a word of all boxes and results."""
        boxes = {n for n, v in self.inputs.items() if any(map(self.is_box, tensors([v])))}
        groups = [words[n] for n in boxes] + after
        bound = {w.strip("~") for g in [*words.values(), *after] for w in g if w.endswith("~")}
        free = [w for w in groups[0] if all(w in g for g in groups) and w.strip("~.") not in bound | {""}]
        if all(g[:1] == ["..."] for g in groups):
            wide = [n for n in self.inputs if "..." in words[n]]
            more = max(t.dim() - len(words[n]) + 1 for n in wide for t in tensors([self.inputs[n]]))
            return self.run(self.of(lambda n, t: self.padded(t, more + len(words[n]) - 1)))
        if free and self.about.form == "functional" and len(self.about.returns) == 1:
            return self.merged(words, after[0], free[0])
        if self.about.category == "matmul" and len(self.given) == 2 and "..." not in sum(words.values(), []):
            letters = {w: chr(ord("a") + i) for i, w in enumerate(dict.fromkeys(sum(words.values(), [])))}
            term = lambda g, batched: "Z" * batched + "".join(letters[w] for w in g)  # noqa: E731
            formula = ",".join(term(words[n], n in boxes) for n in self.inputs) + "->" + term(after[0], True)
            return self.boxed(lamella.einsum(formula, *(self.padded(t, t.dim()) for t in self.inputs.values())))
        raise Unfit

    def merged(self, words, after, word):
        """Computes with one long dimension, of all examples."""

        def place(group, ndim):
            at = group.index(word)
            return at if "..." not in group[:at] else at - len(group) + ndim

        def put(n, t):
            if word not in words[n]:
                return t
            at = place(words[n], t.dim())
            sizes.add(t.shape[at])
            return self.padded(t, t.dim(), True).movedim(0, at).flatten(at, at + 1)

        sizes = set()
        changed = self.of(put)
        if len(sizes) > 1:  # a size of 1 would broadcast
            raise Unfit
        result = run(self.about, self.given | changed)
        at = place(after, result.dim())
        return self.boxed(result.unflatten(at, (self.size, result.shape[at] // self.size)).movedim(at, 0))
