"""A plugin that names dimensions: a layer whose one handler reads the text `dims` of each operator that it follows.

Start at `register`. `follow` is the handler, `by_text` applies Note [Dimensions] of <lamella/c_api.h>, and RULES is for
operators for which no text can say it. names.cpp keeps the names.
"""

from collections import Counter
from pathlib import Path

import lamella
from lamella.library import describe
from lamella.plugins import hookimpl

SIZED = ("empty", "zeros", "ones", "full", "rand", "randn", "randint")
CARRIED = ("set_", "resize_", "resize_as_")  # the slot carries; other sizes have no names
reached = Counter()  # the calls that the layer has seen, by operator


@hookimpl
def register(ctx):
    library = ctx.library("tenant_names_rules")
    library.register_layer("tenant_names", follow, at="names", not_in_backward=True)
    ctx.load_library(Path(__file__).with_name("names.so"))
    library.register_dim_resolver(position)
    library.register_keyword("names", lambda tensor, names: setattr(tensor, "names", names))
    library.register_keywords(sizes_by_name)
    ctx.contribute("repr", {"names": lambda tensor: tensor.names and f"names={tensor.names}"})


def position(tensor, name):
    if name not in (tensor.names or ()):
        raise ValueError(f"there is no dimension {name!r}; the names are {tensor.names}")
    return tensor.names.index(name)


def sizes_by_name(operator, keywords):
    if operator.removeprefix("aten::") not in SIZED:
        return keywords
    return {"size": list(keywords.values()), "names": list(keywords)}


def tensors(value):
    """Returns the tensors of an argument or a result, which may be a list of them or None."""
    return [t for t in (value if isinstance(value, list | tuple) else [value]) if isinstance(t, lamella.Tensor)]


def follow(call, *args, **kwargs):
    """Goes on with a call, and gives its results the names that follow from those of its arguments."""
    reached[call.name] += 1
    op, who = describe(call), call.name.removeprefix("aten::")
    bound = op.bind(args, kwargs)
    places = [a for a in op.arguments if a.type.startswith("Tensor")]
    given = {a.name: tensors(bound[a.name]) for a in places}
    returned = [i for i, kind in enumerate(op.returns) if kind.startswith("Tensor")]
    if who in CARRIED or not returned or not any(t.names for of in given.values() for t in of):
        return call(*args, **kwargs)
    inputs = [given[a.name] for a in places if not (a.written and a.keyword_only)]
    groups = [[list(t.names or [None] * t.ndim) for t in of] for of in inputs]
    lists = [names for of in groups for names in of]
    if rule := RULES.get(op.functional.removeprefix("aten::").partition(".")[0].removesuffix("_")):
        after = [rule(who, bound, lists)] * len(returned)
    elif op.dims:
        after = by_text(op.dims, who, bound, groups, lists, len(returned))
    else:
        raise RuntimeError(f"no rule for names: {call.name} has no text about its dimensions; set names = None before")
    made = call(*args, **kwargs)
    only_read = {id(t) for a in places if not a.written for t in given[a.name]}
    for i, names in zip(returned, after, strict=True):
        for t in tensors(made if len(op.returns) == 1 else made[i]):
            if id(t) not in only_read:  # an argument that is returned keeps its names
                t.names = names
    return made


def by_text(text, who, bound, groups, lists, count):
    """Returns the names of `count` results. `groups` has the lists of names for each argument, `lists` all of them."""
    if text in ("broadcast", "keep", "reduce"):
        names = unify(who, lists) if text == "broadcast" else lists[0]
        return [reduced(names, bound) if text == "reduce" else names] * count
    for pattern in text.split("|"):
        before, after = ([side.split() for side in half.split(",")] for half in pattern.split("->"))
        pairs = [(tokens, names) for tokens, group in zip(before, groups, strict=True) for names in group]
        calls = [(tokens, names, len(names) - sum(token != "..." for token in tokens)) for tokens, names in pairs]
        if any(more < 0 or (more and "..." not in tokens) for tokens, _, more in calls):
            continue
        known = {}
        for tokens, names, more in calls:
            for label, name in zip(labels(tokens, more), names, strict=True):
                known[label] = same(who, known.get(label), name, lists)
        most = max(more for *_, more in calls)
        return [distinct(who, [known.get(label) for label in labels(tokens, most)], lists) for tokens in after]
    raise RuntimeError(f"no rule for names: {who} has no pattern for {lists} in {text!r}")


def labels(tokens, more):
    """Returns a label for each dimension of a tensor; `more` is the number of those that "..." stands for."""
    runs = ([("...", d) for d in range(-more, 0)] if token == "..." else [token.rstrip("~")] for token in tokens)
    return [label for run in runs for label in run]


def same(who, a, b, lists):
    if a and b and a != b:
        raise RuntimeError(f"{who}: dimension {a!r} meets {b!r}; the names are {lists}")
    return a or b


def distinct(who, names, lists):
    if twice := next((name for name in names if name and names.count(name) > 1), None):
        raise RuntimeError(f"{who}: the result would have {twice!r} twice; the names are {lists}")
    return names


def unify(who, lists):
    """Returns the names of tensors that are broadcast, aligned at the last dimension."""
    found = [None] * max(map(len, lists), default=0)
    for names in lists:
        for d in range(-len(names), 0):
            found[d] = same(who, found[d], names[d], lists)
    return distinct(who, found, lists)


# ---- rules: function(name of the operator, its bound arguments, the lists of names of its tensors) ------------------


def reduced(names, bound):
    dims = [bound["dim"]] if isinstance(bound.get("dim"), int) else bound.get("dim")
    gone = {d % len(names) for d in dims} if dims and names else range(len(names))
    return names if bound.get("keepdim") else [name for d, name in enumerate(names) if d not in gone]


def transpose(who, a, lists):
    names = list(lists[0])
    i, j = (a[x] if x in a else a[y] for x, y in (("dim0", "axis0"), ("dim1", "axis1")))
    if names:
        names[i], names[j] = names[j], names[i]
    return names


def unsqueeze(who, a, lists):  # also stack, whose tensors have the names of one
    names = unify(who, lists)
    names.insert(a["dim"] % (len(names) + 1), None)
    return names


def squeeze(who, a, lists):
    names, dims = lists[0], a.get("dim", range(len(lists[0])))
    gone = {d % len(names) for d in ([dims] if isinstance(dims, int) else dims)} if names else ()
    return [name for d, name in enumerate(names) if d not in gone or a["self"].shape[d] != 1]


def flatten(who, a, lists):
    names = lists[0] or [None]
    start, end = a["start_dim"] % len(names), a["end_dim"] % len(names)
    return [*names[:start], names[start] if start == end else None, *names[end + 1 :]]


RULES = {
    "t": lambda who, a, lists: lists[0][::-1],
    "permute": lambda who, a, lists: [lists[0][d] for d in a["dims"]],
    "slice": lambda who, a, lists: lists[0],
    "cat": lambda who, a, lists: unify(who, lists),
    "squeeze": squeeze,
    "flatten": flatten,
    "expand": lambda who, a, lists: [None] * (len(a["size"]) - len(lists[0])) + lists[0],
    **dict.fromkeys(("transpose", "swapaxes"), transpose),
    **dict.fromkeys(("select", "unbind"), lambda who, a, lists: reduced(lists[0], {"dim": a["dim"]})),
    **dict.fromkeys(("unsqueeze", "stack"), unsqueeze),
}
