"""vmap as a layer: a function of one example runs once for a batch, over opaque boxes that stand for each example.

The layer is inside autograd, so that boxes have gradients of their own. It computes with the batches under
``as_called``, so that these are recorded as well, and boxes in boxes reach the layer again. The text ``dims`` of an
operator says where the batch dimension goes; else its composite runs, or the operator itself for each example.
"""

from contextlib import suppress
from types import SimpleNamespace

import lamella
from lamella.library import Library, Vmap, as_called, describe, get_kernel, rules

from . import over, run, stacked, tensors

NAME = "tenants_vmap"
# Operators without a text: "keep" is true of them if their argument `size`, the size of a result, gets the examples.
KEEP = [f"aten::{op}" for op in ("gather", "scatter.src", "scatter.value", "scatter_add")]
KEEP += [f"autograd::_{view}_backward" for view in ("select", "slice", "narrow")]


class Unfit(Exception):
    """Raised by a way to compute that does not fit a call; nothing is written by then."""


class SharedWrite(RuntimeError):
    """Raised by a call that would write the values of all examples to a tensor which they share."""


class Vmaps:
    """Registers the layer. ``library`` is boxes.cpp, compiled."""

    def __init__(self, library):
        self.depth = 0
        self.library = Library(NAME, "FRAGMENT")
        self.library.register_layer(NAME, self._handle, at="backend")
        self.boxes = lamella.ops.load_library(library)
        self.close = self.library.close

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
        level = max(t.box_level for t in tensors(*args, *kwargs.values()) if t.box_level is not None)
        if call.category == "host":
            why = "asks for one value, and each example has its own; use where(), or compute it outside of vmap"
            raise NotImplementedError(f"vmap: {call.name} {why}")
        if level > self.depth:
            raise RuntimeError(f"vmap: {call.name}: a tensor of a vmap that has ended; return it from the function")
        work = Work(self, call, args, kwargs, level)
        with as_called(call):
            for way in (work.by_rule, work.by_view, work.by_dims, work.by_composite):
                with suppress(Unfit):
                    return way()
        raise NotImplementedError(f"vmap: {call.name} has no rule; see lamella.library.register_vmap")


class Work:
    """One call of an operator at one level."""

    def __init__(self, vmaps, call, args, kwargs, level):
        self.vmaps, self.call, self.args, self.kwargs, self.level = vmaps, call, args, kwargs, level
        self.about = describe(call)
        self.given = given = self.about.bind(args, kwargs)
        outputs = [a.name for a in self.about.arguments if a.written and a.keyword_only]
        self.counted = [a.name for a in self.about.arguments if a.type.startswith("Tensor") and a.name not in outputs]
        self.inputs = {n: given[n] for n in self.counted if given[n] is not None}
        self.batches = {n: over(lambda t: t.box_batch if self.is_box(t) else t, v) for n, v in given.items()}
        everything = list(tensors(*given.values()))
        self.size = next(t for t in everything if self.is_box(t)).box_batch.shape[0]
        self.ndim = max(t.dim() for t in everything)
        self.full = f"{self.about.name}.{self.about.overload}".removesuffix(".")
        self.composite = None
        with suppress(NotImplementedError):
            self.composite = get_kernel(self.full, "composite")
        for a in self.about.arguments:
            if a.written and not all(self.is_box(t) for t in tensors(given[a.name])):
                what = f"would write the values of {self.size} examples to '{a.name}', which all of them share"
                raise SharedWrite(f"vmap: {call.name} {what}; write to a tensor that is computed from the examples")

    def is_box(self, t):
        return isinstance(t, lamella.Tensor) and t.box_level == self.level

    def boxed(self, result):
        return self.vmaps.boxed(result, self.level) if isinstance(result, lamella.Tensor) else result

    def of(self, f):
        """Returns ``f`` of the inputs, by name."""
        return {n: over(lambda t, n=n: f(n, t), v) for n, v in self.inputs.items()}

    def run(self, changed):
        """Calls the operator with the batches; returns boxes, and for what it writes the arguments themselves."""
        result = run(self.about, self.batches | changed)
        written = [self.given[a.name] for a in self.about.arguments if a.written]
        return over(self.boxed, result) if not written else written[0] if len(written) == 1 else tuple(written)

    def padded(self, t, ndim, whole=False):
        """Returns a box's batch, with ones between the examples and their dimensions if these are fewer."""
        if not self.is_box(t):
            return t.expand(self.size, *[1] * (ndim - t.dim()), *t.shape) if whole else t
        return t.box_batch if t.dim() == ndim else t.box_batch.reshape(self.size, *[1] * (ndim - t.dim()), *t.shape)

    def by_rule(self):
        functions = [rule.payload.func for rule in rules(self.full, "vmap") if isinstance(rule.payload, Vmap)]
        if not functions:
            raise Unfit
        dims = over(lambda t: 0 if self.is_box(t) else None, list(self.given.values()))
        result, out = functions[-1](SimpleNamespace(batch_size=self.size), dims, *self.batches.values())
        if isinstance(result, tuple):
            return tuple(self.boxed(r.movedim(d, 0)) for r, d in zip(result, out, strict=True))
        return self.boxed(result.movedim(out, 0))

    def by_view(self):
        """A view of a box is a box, whose batch is a view with the same sizes, strides and offset of each example."""
        if self.about.category != "view" or self.about.form == "out" or self.composite:
            raise Unfit
        box = self.inputs[self.counted[0]]
        batch, begin = box.box_batch, box.box_batch.storage_offset() - box.storage_offset()
        out = self.call(*self.args, **self.kwargs)
        for view in tensors(out):
            if view.dtype is not batch.dtype:
                raise NotImplementedError(f"vmap: {self.about.name} gives a view another dtype")
            size, stride = (self.size, *view.shape), (batch.stride(0), *view.stride())
            view.box_batch = batch.as_strided(size, stride, begin + view.storage_offset())
        return out

    def by_composite(self):
        if not self.composite or self.about.form != "functional":
            raise Unfit
        try:
            result = self.composite(*self.args, **self.kwargs)
        except SharedWrite:  # the composite makes a buffer for one example, and writes to it
            example = lambda i: self.of(lambda n, t: t.box_batch[i] if self.is_box(t) else t)  # noqa: E731
            return over(self.boxed, stacked([run(self.about, self.given | example(i)) for i in range(self.size)]))
        return over(lambda t: self.boxed(t.box_batch) if self.is_box(t) else t, result)

    def by_dims(self):
        text = "keep" if self.full in KEEP else self.about.dims
        if text == "broadcast":
            return self.run(self.of(lambda n, t: self.padded(t, self.ndim)))
        if text in ("keep", "reduce"):
            return self.along_dims(text)
        for pattern in text.split("|") if text and not any(a.dim for a in self.about.arguments) else ():
            before, after = ([group.split() for group in side.split(",")] for side in pattern.split("->"))
            words = dict(zip(self.counted, before, strict=True))
            each = [(t.dim(), words[n]) for n, v in self.inputs.items() for t in tensors(v)]
            if all(d >= len(w) - 1 if {"...", "...~"} & set(w) else d == len(w) for d, w in each):
                return self.by_pattern(words, after)
        raise Unfit

    def along_dims(self, text):
        """The dimensions that arguments name lie behind that of the examples. A number is computed with as a vector."""
        sized = self.full in KEEP and "size" in self.given
        changed = {"size": [self.size, *self.given["size"]]} if sized else {}
        ndim = self.ndim if sized else max(self.ndim, 1)
        for a in self.about.arguments:
            if a.dim:
                named = self.given[a.name]
                if named in (None, []):  # all of them
                    if text == "keep" or (ndim > 1 and "[" not in a.type):
                        raise Unfit
                    named = list(range(ndim)) if "[" in a.type else 0
                changed[a.name] = over(lambda d: d + 1 if d >= 0 else d, named)
        if not changed:
            raise Unfit
        result = self.run(self.of(lambda n, t: self.padded(t, ndim, whole=True)) | changed)
        return result if ndim == self.ndim else over(lambda r: r.reshape(()), result)

    def by_pattern(self, words, after):
        """The examples lie along the first dimension of "...", or along the first word of all boxes and results."""
        boxes = [words[n] for n, v in self.inputs.items() if any(map(self.is_box, tensors(v)))]
        [first, *others] = {group[0] if group else "" for group in boxes + after}
        if first == "..." and not others:
            wide = [n for n in self.inputs if "..." in words[n]]
            more = max(t.dim() - len(words[n]) + 1 for n in wide for t in tensors(self.inputs[n]))
            return self.run(self.of(lambda n, t: self.padded(t, more + len(words[n]) - 1)))
        long = [n for n in self.inputs if words[n][:1] == [first]]
        heads = {t.shape[:1] for n in long for t in tensors(self.inputs[n])}
        everywhere = [word.strip("~") for group in [*words.values(), *after] for word in group]
        free = not others and everywhere.count(first) == len(long) + len(after)  # only in front, and never with "~"
        sized = len(heads) > 1 or "input_size" in self.given  # sizes that have no place for the examples
        if not free or sized or self.about.form != "functional":
            raise Unfit
        [head] = heads
        whole = lambda n, t: self.padded(t, t.dim(), whole=True).flatten(0, 1) if n in long else t  # noqa: E731
        result = run(self.about, self.batches | self.of(whole))
        return over(lambda r: self.boxed(r.unflatten(0, (self.size, *head))), result)
