"""Cases for the builtins of graphs on lists, dictionaries, texts and formats; see ``builtin_cases``."""

import copy

from builtin_cases import (
    add,
    bounds,
    case,
    complexes,
    dicts,
    floats,
    ints,
    keys,
    lists,
    reals,
    scalars,
    short,
    small,
    text,
    values,
)
from hypothesis import strategies as st

steps = st.one_of(st.sampled_from([1, -1, 2, -3, 0]), st.integers(-4, 4))
item = st.one_of(small, text)

# ---- lists ----

add("len.t", len, lists)
add("list.t", list, lists)
add("copy.t", copy.copy, lists)
add("__getitem__.t", lambda items, i: items[i], lists, small)
add("__contains__.t", lambda items, x: x in items, lists, item)
add("slice.t", lambda items, start, end, step: items[start:end:step], lists, bounds, bounds, steps)
add("add.t", lambda a, b: a + b, lists, lists)
add("mul.left_t", lambda items, n: items * n, lists, st.integers(-2, 4))
add("mul.right_t", lambda n, items: n * items, st.integers(-2, 4), lists)
add("index.t", lambda items, x: items.index(x), lists, item)
add("count.t", lambda items, x: items.count(x), lists, item)
add("sorted.t", lambda items, reverse: sorted(items, reverse=reverse), st.one_of(lists, st.lists(reals)), st.booleans())
add("reversed.t", lambda items: items[::-1], lists)


def written(name: str, *arguments):
    return case(name, *arguments, written=True)


@written("_set_item.t", lists, small, item)
def _(items, i, x):
    items[i] = x
    return items


@written("Delete.t", lists, small)
def _(items, i):
    del items[i]


@written("_set_slice.t", lists, bounds, bounds, steps, lists)
def _(items, start, end, step, by):
    items[start:end:step] = by
    return items


@written("Delete.slice", lists, bounds, bounds, steps)
def _(items, start, end, step):
    del items[start:end:step]


@written("add_.t", lists, lists)
def _(items, more):
    items += more
    return items


@written("mul_.t", lists, st.integers(-2, 4))
def _(items, n):
    items *= n
    return items


@written("append.t", lists, values)
def _(items, x):
    items.append(x)
    return items


@written("sort.t", st.one_of(lists, st.lists(scalars, max_size=3), st.lists(st.tuples(small, short))), st.booleans())
def _(items, reverse):
    items.sort(reverse=reverse)


written("extend.t", lists, lists)(lambda items, more: items.extend(more))
written("insert.t", lists, st.one_of(small, ints), item)(lambda items, i, x: items.insert(i, x))
written("pop.t", lists, small)(lambda items, i: items.pop(i))
written("remove.t", lists, item)(lambda items, x: items.remove(x))
written("clear.t", lists)(lambda items: items.clear())
written("reverse.t", lists)(lambda items: items.reverse())

# ---- dictionaries ----

any_key = st.one_of(keys, st.just([]))
pairs = st.lists(st.one_of(st.tuples(keys, small), st.tuples(small)), max_size=4)
add("len.Dict", len, dicts)
add("dict.Dict", dict, dicts)
add("dict.list", dict, pairs)
add("copy.Dict", dict, dicts)
add("__getitem__.Dict", lambda d, k: d[k], dicts, any_key)
add("__contains__.Dict", lambda d, k: k in d, dicts, any_key)
add("get.Dict", lambda d, k: d.get(k), dicts, any_key)
add("get.Dict_default", lambda d, k, x: d.get(k, x), dicts, any_key, item)
add("keys.Dict", list, dicts)
add("values.Dict", lambda d: list(d.values()), dicts)
add("items.Dict", lambda d: list(d.items()), dicts)


@written("_set_item.Dict", dicts, any_key, item)
def _(d, key, x):
    d[key] = x


@written("Delete.Dict", dicts, any_key)
def _(d, key):
    del d[key]


written("setdefault.Dict", dicts, any_key, item)(lambda d, key, x: d.setdefault(key, x))
written("pop.Dict", dicts, keys)(lambda d, key: d.pop(key))
written("pop.Dict_default", dicts, keys, item)(lambda d, key, x: d.pop(key, x))
written("popitem.Dict", dicts)(lambda d: d.popitem())
written("clear.Dict", dicts)(lambda d: d.clear())
written("update.Dict", dicts, dicts)(lambda d, more: d.update(more))

# ---- texts ----

optional = st.one_of(st.none(), short)
widths = st.integers(-2, 18)
fills = st.sampled_from(["*", "0", "日", " ", "", "ab"])
cuts = st.integers(-1, 3)
add("len.str", len, text)
add("__getitem__.str", lambda s, i: s[i], text, small)
add("slice.str", lambda s, start, end, step: s[start:end:step], text, bounds, bounds, steps)
add("list.str", list, text)
add("__contains__.str", lambda s, part: part in s, text, short)
add("add.str", lambda a, b: a + b, text, text)
add("mul.str_int", lambda s, n: s * n, text, st.integers(-2, 4))
add("mul.int_str", lambda n, s: n * s, st.integers(-2, 4), text)
add("join", str.join, short, st.lists(text, max_size=4))
add("split.str", str.split, text, optional, cuts)
add("rsplit.str", str.rsplit, text, optional, cuts)
add("splitlines", str.splitlines, text, st.booleans())
add("partition", str.partition, text, short)
add("rpartition", str.rpartition, text, short)
add("replace.str", str.replace, text, short, short, cuts)
for name in ("strip", "lstrip", "rstrip"):
    add(f"{name}.str", getattr(str, name), text, optional)
for name in ("upper", "lower", "capitalize", "title", "swapcase"):
    add(f"{name}.str", getattr(str, name), st.one_of(text, st.text("aΣσ' ßǅǆDz")))
TESTS = ("alnum", "alpha", "decimal", "digit", "identifier", "lower", "numeric", "printable", "space", "title", "upper")
for name in TESTS:
    add(f"is{name}.str", getattr(str, "is" + name), st.one_of(text, st.text("aAß1²٣½ ǅ_"), short))
for name in ("startswith", "endswith", "find", "rfind", "index", "rindex", "count"):
    add(f"{name}.str", getattr(str, name), text, st.one_of(short, st.sampled_from(["a", "ß"])), bounds, bounds)
for name in ("center", "ljust", "rjust"):
    add(f"{name}.str", getattr(str, name), text, widths, fills)
add("zfill.str", str.zfill, text, widths)
add("expandtabs.str", str.expandtabs, st.text("a\t\n日"), st.integers(-1, 9))
add("removeprefix.str", str.removeprefix, text, short)
add("removesuffix.str", str.removesuffix, text, short)

# ---- formats ----

specs = st.one_of(
    st.builds(
        "{}{}{}{}{}{}{}{}".format,
        st.sampled_from(["", "<", ">", "^", "=", "*<", "0=", "日^"]),
        st.sampled_from(["", "+", "-", " "]),
        st.sampled_from(["", "#"]),
        st.sampled_from(["", "0"]),
        st.sampled_from(["", "1", "5", "12"]),
        st.sampled_from(["", "", ",", "_"]),
        st.sampled_from(["", "", ".0", ".1", ".3", ".17"]),
        st.sampled_from(["", *"bcdeEfFgGoxX%s"]),
    ),
    st.text("<>=^+- #0,_.15dfgexs%", max_size=5),
)

add("__format__", format, st.one_of(scalars, text, st.just([1]), st.none()), specs)
template_parts = st.one_of(
    st.sampled_from(
        ["{}", "{0}", "{1}", "{!r}", "{!s:>6}", "{0:>{1}}", "{:.2f}", "{{", "}}", "{", "}", "{2}", "{:{}}"]
    ),
    st.text("ab日", max_size=2),
)
templates = st.lists(template_parts, max_size=4).map("".join)
percent_parts = st.one_of(
    st.builds(
        "%{}{}{}{}".format,
        st.sampled_from(["", "-", "+", " ", "0", "#", "-0", "+0"]),
        st.sampled_from(["", "1", "7", "*"]),
        st.sampled_from(["", ".0", ".2", ".*"]),
        st.sampled_from([*"diouxXeEfFgGcrsa%q", "ld"]),
    ),
    st.text("ab日", max_size=2),
)
percents = st.lists(percent_parts, max_size=3).map("".join)
operands = st.one_of(st.integers(-99, 99), floats, text, complexes, st.booleans(), st.just([1, "a"]))
add("format", lambda template, a, b: template.format(a, b), templates, operands, st.one_of(operands, st.just(7)))
add("percentFormat", lambda template, a, b: template % (a, b), percents, operands, operands)
