"""Programs over dictionaries: order, methods, keys of several types, aliases."""

from typing import Dict, List, Optional, Tuple


@cases()
def literals() -> Tuple[Dict[str, int], Dict[int, float]]:
    return {"b": 1, "a": 2}, {2: 0.5, 1: 1.5}


@cases()
def empty() -> Dict[str, int]:
    d: Dict[str, int] = {}
    return d


@cases()
def empty_without_annotation():
    """A dictionary without annotation maps texts to tensors."""
    d = {}
    d["x"] = torch.ones(1)
    return d


@cases(({"a": 1, "b": 2}, "a"), ({"a": 1}, "z"), ({}, "a"))
def element(d: Dict[str, int], key: str) -> int:
    return d[key]


@cases(({"a": 1}, "a"), ({"a": 1}, "z"))
def contains(d: Dict[str, int], key: str) -> Tuple[bool, bool]:
    return key in d, key not in d


@cases(({"a": 1}, "a"), ({"a": 1}, "z"))
def get(d: Dict[str, int], key: str) -> Optional[int]:
    return d.get(key)


@cases(({"a": 1}, "a"), ({"a": 1}, "z"))
def get_with_default(d: Dict[str, int], key: str) -> int:
    return d.get(key, -1)


@cases(({"b": 1, "a": 2, "c": 3},), ({},))
def keys_values_items(d: Dict[str, int]) -> Tuple[List[str], List[int], List[Tuple[str, int]]]:
    return list(d.keys()), list(d.values()), list(d.items())


@cases()
def order_is_of_insertion() -> List[str]:
    d: Dict[str, int] = {}
    for k in ["z", "a", "m", "a"]:
        d[k] = len(d)
    d["z"] = 100
    return list(d.keys())


@cases(({"a": 1, "b": 2},))
def deleted_and_added_again_goes_last(d: Dict[str, int]) -> List[str]:
    del d["a"]
    d["a"] = 9
    return list(d.keys())


@cases(({"a": 1},), ({"b": 1},))
def delete(d: Dict[str, int]) -> int:
    del d["a"]
    return len(d)


@cases(({"a": 1, "b": 2}, "a"), ({"a": 1}, "z"))
def pop(d: Dict[str, int], key: str) -> Tuple[int, Dict[str, int]]:
    x = d.pop(key)
    return x, d


@cases(({"a": 1}, "a"), ({"a": 1}, "z"))
def pop_with_default(d: Dict[str, int], key: str) -> Tuple[int, int]:
    return d.pop(key, -5), len(d)


@cases(({"a": 1}, "a"), ({"a": 1}, "z"))
def setdefault(d: Dict[str, int], key: str) -> Tuple[int, Dict[str, int]]:
    x = d.setdefault(key, 7)
    return x, d


@cases(({"a": 1, "b": 2}, {"b": 3, "c": 4}))
def update(d: Dict[str, int], e: Dict[str, int]) -> Dict[str, int]:
    d.update(e)
    return d


@cases(({"a": 1},))
def copy_is_apart(d: Dict[str, int]) -> Tuple[Dict[str, int], Dict[str, int]]:
    e = d.copy()
    e["b"] = 2
    return d, e


@cases(({"a": 1},))
def alias_through_two_names(d: Dict[str, int]) -> Tuple[Dict[str, int], int]:
    e = d
    e["b"] = 2
    return d, len(d)


@cases(({"a": 1, "b": 2},))
def clear(d: Dict[str, int]) -> Tuple[Dict[str, int], int]:
    n = len(d)
    d.clear()
    return d, n


@cases(("hello",), ("",))
def count_letters(s: str) -> Dict[str, int]:
    counts: Dict[str, int] = {}
    for c in s:
        if c in counts:
            counts[c] += 1
        else:
            counts[c] = 1
    return counts


@cases(({"b": 1, "a": 2},))
def loop_over_keys(d: Dict[str, int]) -> str:
    out = ""
    for k in d:
        out += k + str(d[k])
    return out


@cases(({"b": 1, "a": 2},), ({},))
def loop_over_items(d: Dict[str, int]) -> str:
    out = ""
    for k, v in d.items():
        out += k + str(v)
    return out


@cases(({"b": 1, "a": 2},))
def loop_over_values(d: Dict[str, int]) -> int:
    total = 0
    for v in d.values():
        total += v
    return total


@cases(({3: "c", 1: "a"},), ({-1: ""},))
def keys_are_ints(d: Dict[int, str]) -> List[str]:
    d[7] = "seven"
    return [d[k] + str(k) for k in d.keys()]


@cases(({0.5: 1, 1.0: 2},))
def keys_are_floats(d: Dict[float, int]) -> int:
    return d[0.5] + d[1.0]


@cases(({True: 1},))
def keys_are_bools(d: Dict[bool, int]) -> Dict[bool, int]:
    d[False] = 0
    return d


@cases(({"x": torch.tensor([1.0, 2.0])},))
def values_are_tensors(d: Dict[str, torch.Tensor]) -> Dict[str, torch.Tensor]:
    d["y"] = d["x"] * 2
    d["x"] += 1
    return d


@cases((torch.tensor([1.0, 2.0]),))
def of_one_tensor_twice(x) -> Dict[str, torch.Tensor]:
    d = {"a": x, "b": x}
    d["a"].add_(1)
    return d


@cases(({"a": [1], "b": []},))
def values_are_lists(d: Dict[str, List[int]]) -> Dict[str, List[int]]:
    d["a"].append(2)
    d["b"] = d["a"]
    d["b"].append(3)
    return d


@cases(({"p": {"q": 1}},))
def nested(d: Dict[str, Dict[str, int]]) -> int:
    d["p"]["r"] = 5
    return d["p"]["q"] + d["p"]["r"]


@cases(({"a": (1, "x")},))
def values_are_tuples(d: Dict[str, Tuple[int, str]]) -> Dict[str, Tuple[int, str]]:
    n, s = d["a"]
    d["b"] = (n + 1, s + "y")
    return d


@cases(({"a": 1, "b": 2},))
def popitem(d: Dict[str, int]) -> int:
    d.popitem()
    return len(d)


@cases(([("a", 1), ("b", 2), ("a", 3)],))
def from_pairs(pairs: List[Tuple[str, int]]) -> Dict[str, int]:
    return dict(pairs)


@cases()
def from_keywords() -> Dict[str, int]:
    return dict(a=1, b=2)


@cases(({"a": 4},))
def augmented_element(d: Dict[str, int]) -> Dict[str, int]:
    d["a"] += 1
    d["a"] *= 3
    d["a"] -= 2
    return d
