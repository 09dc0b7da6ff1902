"""Small tenants of the public door: layers that are written by ``lamella.library`` and the public headers alone, each
with its tests."""


def over(f, value):
    """Applies ``f`` to each value of an argument, also to those in lists and tuples."""
    if not isinstance(value, list | tuple):
        return f(value)
    return [over(f, v) for v in value] if isinstance(value, list) else tuple(over(f, v) for v in value)


def over_call(f, args, kwargs):
    """Applies ``f`` to each value among the arguments of a call."""
    return [over(f, a) for a in args], {name: over(f, a) for name, a in kwargs.items()}


def tensors(*values):
    """Yields the tensors among values, also those in lists and tuples."""
    import lamella

    for value in values:
        if isinstance(value, lamella.Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from tensors(*value)


def same(got, wanted, **limits):
    """Returns whether results are equal: in shape, dtype and device, and in values except on meta, up to limits."""
    import lamella

    if not isinstance(wanted, lamella.Tensor):
        if isinstance(wanted, list | tuple):
            return len(got) == len(wanted) and all(same(g, w, **limits) for g, w in zip(got, wanted, strict=True))
        return got == wanted
    if (got.shape, got.dtype, got.device) != (wanted.shape, wanted.dtype, wanted.device):
        return False
    got, wanted = got.detach(), wanted.detach()
    return got.is_meta or (lamella.allclose(got, wanted, **limits) if limits else lamella.equal(got, wanted))


def run(about, given):
    """Calls the operator of a description with arguments by name."""
    import lamella

    namespace, _, name = about.name.partition("::")
    operator = getattr(getattr(lamella.ops, namespace), name)
    args = [given[a.name] for a in about.arguments if not a.keyword_only]
    kwargs = {a.name: given[a.name] for a in about.arguments if a.keyword_only}
    if about.form != "out":
        return getattr(operator, about.overload or "default")(*args, **kwargs)
    outputs = tuple(kwargs.pop(a.name) for a in about.arguments if a.written)
    return operator(*args, **kwargs, out=outputs if len(outputs) > 1 else outputs[0])


def stacked(results):
    """Stacks the results of several calls, each of which has one or a tuple of them."""
    import lamella

    several = isinstance(results[0], tuple)
    return tuple(map(lamella.stack, zip(*results, strict=True))) if several else lamella.stack(results)


def loop(f, *args, in_dims=0):
    """Calls ``f`` for one example after the other, and stacks the results."""
    dims = in_dims if isinstance(in_dims, tuple) else (in_dims,) * len(args)
    size = next(a.shape[d] for a, d in zip(args, dims, strict=True) if d is not None)
    examples = ([a if d is None else a.select(d, i) for a, d in zip(args, dims, strict=True)] for i in range(size))
    return stacked([f(*example) for example in examples])
