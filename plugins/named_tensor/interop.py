"""Named tensors beside other libraries: xarray's arrays, einops' patterns, and the parameters of modules."""

from collections.abc import Hashable, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

import lamella
from lamella import Tensor
from lamella.nn.parameter import UninitializedParameter

if TYPE_CHECKING:
    from lamella.nn import Module

AXES: dict[str, dict[str, tuple[str, ...]]] = {
    "Linear": {"weight": ("out_features", "in_features"), "bias": ("out_features",)},
    "Bilinear": {"weight": ("out_features", "in1_features", "in2_features"), "bias": ("out_features",)},
    "Embedding": {"weight": ("num_embeddings", "embedding_dim")},
    "EmbeddingBag": {"weight": ("num_embeddings", "embedding_dim")},
    "_BatchNorm": {"weight": ("num_features",), "bias": ("num_features",)},
    "_InstanceNorm": {"weight": ("num_features",), "bias": ("num_features",)},
    "GroupNorm": {"weight": ("num_channels",), "bias": ("num_channels",)},
    "PReLU": {"weight": ("num_parameters",)},
    "MultiheadAttention": {
        "in_proj_weight": ("in_proj", "embed_dim"),
        "in_proj_bias": ("in_proj",),
        "q_proj_weight": ("query_dim", "embed_dim"),
        "k_proj_weight": ("key_dim", "kdim"),
        "v_proj_weight": ("value_dim", "vdim"),
    },
}
KERNEL = ("depth", "height", "width")
"""The dimensions of a kernel, of which a convolution has the last one, two or three."""


def imported(library: str, function: str) -> Any:
    try:
        return __import__(library)
    except ImportError as e:
        raise ImportError(f"{function}: it needs {library}, which is not installed: pip install {library}") from e


# ---- xarray ----------------------------------------------------------------------------------------------------------


def from_xarray(array: Any, coords: Literal["drop", "keep"] | None = None) -> Any:
    """Makes a tensor over the memory of an ``xarray.DataArray``; its dimensions are the tensor's names.

    Memory that is read-only, or that has a negative stride, is copied. A tensor has no coordinates: if the array has
    some, the caller says what becomes of them.

    Args:
        array: an array whose dimensions are identifiers, with a dtype that Lamella has
        coords: "drop" leaves the coordinates out, "keep" returns them beside the tensor; None is for arrays without

    Returns:
        the tensor; with ``coords="keep"`` a tuple of it and a dictionary of the coordinates, which ``to_xarray`` takes

    Raises:
        TypeError: ``array`` is no DataArray, or has a dtype that Lamella has not, such as datetime64
        ValueError: it has coordinates, and ``coords`` is None; or ``coords`` is something else
        RuntimeError: a dimension is no identifier, or stands twice

    >>> import xarray
    >>> day = xarray.DataArray([[1.0, 2.0], [3.0, 4.0]], dims=("hour", "place"), coords={"place": ["here", "there"]})
    >>> lamella.named.from_xarray(day, coords="drop").sum("hour").names
    ('place',)
    >>> x, coords = lamella.named.from_xarray(day, coords="keep")
    >>> lamella.named.to_xarray(x * 2, coords).sel(place="there").values
    array([4., 8.])
    """
    xarray = imported("xarray", "from_xarray")
    if not isinstance(array, xarray.DataArray):
        raise TypeError(f"from_xarray: argument 'array' must be xarray.DataArray, got {type(array).__name__}")
    if coords not in (None, "drop", "keep"):
        raise ValueError(f"from_xarray: argument 'coords' must be 'drop' or 'keep', got {coords!r}")
    if coords is None and len(array.coords):
        raise ValueError(
            f"from_xarray: the array has the coordinates {list(array.coords)}, which a tensor cannot have; "
            "say coords='drop', or coords='keep' to get them beside the tensor"
        )
    for dim in array.dims:
        if not isinstance(dim, str) or not dim.isidentifier():
            raise RuntimeError(f"from_xarray: the dimension {dim!r} cannot be a name, which is an identifier")
    if len(set(array.dims)) < len(array.dims):
        raise RuntimeError(f"from_xarray: a dimension stands twice in {list(array.dims)}; array.rename() changes it")
    try:
        made = lamella.as_tensor(array.values)
    except TypeError as e:
        raise TypeError(f"from_xarray: tensors have no dtype for an array of {array.dtype}") from e
    made = made.rename(*array.dims)
    return (made, dict(array.coords)) if coords == "keep" else made


def to_xarray(tensor: Tensor, coords: Mapping[Hashable, Any] | None = None, name: Hashable | None = None) -> Any:
    """Makes an ``xarray.DataArray`` over the memory of a tensor on the host; its names are the array's dimensions.

    Args:
        tensor: a tensor of which each dimension has a name, and which ``numpy()`` takes
        coords: the array's coordinates: a dictionary as ``from_xarray`` returns it, or of what DataArray takes. Those
            along a dimension that the tensor has no more are left out.
        name: the array's name

    Raises:
        RuntimeError: a dimension has no name
        ValueError: a coordinate has another length than its dimension

    >>> x = lamella.ones(2, 3, names=["n", "c"])
    >>> lamella.named.to_xarray(x).dims
    ('n', 'c')
    """
    xarray = imported("xarray", "to_xarray")
    if not isinstance(tensor, Tensor):
        raise TypeError(f"to_xarray: argument 'tensor' must be Tensor, got {type(tensor).__name__}")
    if None in tensor.names:
        raise RuntimeError(
            f"to_xarray: dimension {tensor.names.index(None)} has no name: {list(tensor.names)}; "
            "refine_names() gives it one"
        )
    kept = {key: value for key, value in (coords or {}).items() if dims_of(key, value) <= set(tensor.names)}
    return xarray.DataArray(tensor.numpy(), dims=tensor.names, coords=kept, name=name)


def dims_of(key: Hashable, coordinate: Any) -> set[Hashable]:
    """Returns the dimensions along which a coordinate lies, in each form that DataArray takes."""
    if isinstance(coordinate, tuple):  # (dims, values)
        return {coordinate[0]} if isinstance(coordinate[0], str) else set(coordinate[0])
    if isinstance(coordinate, str) or not hasattr(coordinate, "__len__"):
        return set(getattr(coordinate, "dims", ()))
    return set(getattr(coordinate, "dims", (key,)))


# ---- einops ----------------------------------------------------------------------------------------------------------


def rearrange(tensor: Tensor, pattern: str, /, **sizes: int) -> Tensor:
    """Does what ``einops.rearrange`` does, and reads and gives names by the words of the pattern.

    Args:
        tensor: a tensor whose names, where it has some, are the words on the left
        pattern: a pattern of einops. Without a left side, as in "-> batch (height width)", the tensor's names are it.
            einops refuses words with an underscore at an end.
        sizes: sizes of words within parentheses

    Returns:
        a tensor whose dimensions have the words on the right as names; one in parentheses has none

    Raises:
        RuntimeError: the tensor has other names, or none where the pattern has no left side
        einops.EinopsError: the pattern is wrong

    >>> x = lamella.ones(2, 3, 4, names=["batch", "height", "width"])
    >>> lamella.named.rearrange(x, "-> width (height batch)").names
    ('width', None)
    >>> lamella.named.rearrange(lamella.ones(6, 2), "(h w) c -> h w c", h=2).names
    ('h', 'w', 'c')
    """
    return by_pattern("rearrange", tensor, pattern, (), sizes)


def reduce(tensor: Tensor, pattern: str, /, reduction: str, **sizes: int) -> Tensor:
    """Does what ``einops.reduce`` does, and reads and gives names as ``rearrange`` does.

    Args:
        tensor: a tensor whose names, where it has some, are the words on the left
        pattern: a pattern of einops, perhaps without a left side
        reduction: "mean", "sum", "max", "min" or "prod", over the words that are missing on the right
        sizes: sizes of words within parentheses

    >>> x = lamella.ones(2, 3, 4, names=["batch", "height", "width"])
    >>> lamella.named.reduce(x, "-> batch width", "sum")
    tensor([[3., 3., 3., 3.],
            [3., 3., 3., 3.]], names=('batch', 'width'))
    """
    return by_pattern("reduce", tensor, pattern, (reduction,), sizes)


def repeat(tensor: Tensor, pattern: str, /, **sizes: int) -> Tensor:
    """Does what ``einops.repeat`` does, and reads and gives names as ``rearrange`` does.

    Args:
        tensor: a tensor whose names, where it has some, are the words on the left
        pattern: a pattern of einops, perhaps without a left side
        sizes: sizes of the words that are new on the right, and of words within parentheses

    >>> lamella.named.repeat(lamella.ones(2, names=["n"]), "-> step n", step=3).names
    ('step', 'n')
    """
    return by_pattern("repeat", tensor, pattern, (), sizes)


def words_of(side: str) -> list[str | None]:
    """Returns a word for each dimension of a pattern's side: None for a group and for 1, "..." for a run."""
    words: list[str | None] = []
    depth = 0
    for word in side.replace("(", " ( ").replace(")", " ) ").replace("…", "...").split():
        depth += (word == "(") - (word == ")")
        if word == ")" or (depth == 0 and not word.isidentifier() and word != "..."):
            words.append(None)
        elif depth == 0:
            words.append(None if word == "_" else word)
    return words


def by_pattern(function: str, tensor: Tensor, pattern: str, more: tuple[str, ...], sizes: dict[str, int]) -> Tensor:
    einops = imported("einops", function)
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{function}: argument 'tensor' must be Tensor, got {type(tensor).__name__}")
    if not isinstance(pattern, str):
        raise TypeError(f"{function}: argument 'pattern' must be str, got {type(pattern).__name__}")
    if pattern.count("->") != 1:
        raise einops.EinopsError(f"{function}: the pattern {pattern!r} must have one '->'")
    left, right = pattern.split("->")
    names = tensor.names
    if not left.strip() and tensor.ndim:
        if None in names:
            raise RuntimeError(
                f"{function}: {pattern!r} has no left side, and dimension {names.index(None)} of the tensor has no "
                f"name: {list(names)}"
            )
        left = " ".join(str(name) for name in names)
    words = words_of(left)  # of a wrong pattern, which einops refuses, there may be another number
    run: tuple[str | None, ...] = ()
    if words.count("...") == 1:
        at, length = words.index("..."), tensor.ndim - len(words) + 1
        if length >= 0:
            run = names[at : at + length]
            words[at : at + 1] = run
    for d, (name, word) in enumerate(zip(names, words, strict=True) if len(words) == tensor.ndim else ()):
        if name and word and name != word:
            raise RuntimeError(
                f"{function}: dimension {d} has the name {name!r}, and is {word!r} in the pattern {pattern!r}; "
                f"the names are {list(names)}"
            )
    call = getattr(einops, function)
    made = call(tensor.rename(None), f"{left} -> {right}", *more, **sizes)
    after = [name for word in words_of(right) for name in (run if word == "..." else (word,))]
    return made.rename(*after) if any(after) else made


# ---- parameters of modules -------------------------------------------------------------------------------------------


def parameters(module: "Module", axes: Mapping[str, Iterable[str | None]] | None = None) -> dict[str, Tensor]:
    """Returns the parameters of a module and of those in it, as views whose dimensions have names.

    The views share memory with the parameters, and gradients reach those. The names are those of the constructors'
    arguments: "out_features" and "in_features" of a linear layer. A parameter that has names already, or whose module
    is not one of ``lamella.nn``, is returned as it is, unless ``axes`` gives it names.

    Args:
        module: any module
        axes: names for the parameters whose full name fits a pattern of ``fnmatch``, such as ``{"*.scale": ["head"]}``;
            the first pattern that fits counts

    Returns:
        the views by the parameters' full names, in the order of ``named_parameters()``, which has shared ones once

    Raises:
        TypeError: the names for a pattern are one str
        ValueError: a pattern fits no parameter; or a parameter has no shape yet, as in a lazy module
        RuntimeError: ``axes`` has another number of names than a parameter has dimensions

    >>> net = lamella.nn.Sequential(lamella.nn.Linear(2, 3), lamella.nn.ReLU(), lamella.nn.Linear(3, 1, bias=False))
    >>> for name, parameter in lamella.named.parameters(net, {"2.*": ["score", "hidden"]}).items():
    ...     print(name, parameter.names)
    0.weight ('out_features', 'in_features')
    0.bias ('out_features',)
    2.weight ('score', 'hidden')
    """
    given: dict[str, tuple[str | None, ...]] = {}
    for pattern, wanted in (axes or {}).items():
        if isinstance(wanted, str):
            raise TypeError(f"parameters: argument 'axes': {pattern!r} has the str {wanted!r}; give a list of names")
        given[pattern] = tuple(wanted)
    owners, found = dict(module.named_modules()), dict(module.named_parameters())
    for pattern in given:
        if not any(fnmatchcase(full, pattern) for full in found):
            raise ValueError(f"parameters: argument 'axes': {pattern!r} fits none of {list(found)}")
    views = {}
    for full, parameter in found.items():
        if isinstance(parameter, UninitializedParameter):
            raise ValueError(f"parameters: {full!r} has no shape yet; call the module once")
        owner, _, own = full.rpartition(".")
        names: tuple[str | None, ...] | None
        names = next((n for pattern, n in given.items() if fnmatchcase(full, pattern)), None)
        if names is None and not parameter.has_names():
            names = axes_of(owners[owner], own, parameter.ndim) if owner in owners else None
        if names is not None and len(names) != parameter.ndim:
            raise RuntimeError(f"parameters: {full!r} has {parameter.ndim} dimensions, and 'axes' names {list(names)}")
        views[full] = parameter if names is None else parameter.rename(*names)
    return views


def axes_of(module: "Module", parameter: str, ndim: int) -> tuple[str, ...] | None:
    """Returns the names of a parameter of a module of ``lamella.nn``; None if they are not known."""
    kinds = [c.__name__ for c in type(module).__mro__ if c.__module__.split(".")[0] == "lamella"]
    if "_ConvNd" in kinds:
        weight = ("in_channels", "out_channels") if "_ConvTransposeNd" in kinds else ("out_channels", "in_channels")
        names = {"weight": (*weight, *KERNEL[5 - ndim :]), "bias": ("out_channels",)}.get(parameter)
    elif "RNNBase" in kinds or "RNNCellBase" in kinds:
        what = parameter.split("_")
        column = {"ih": "input", "hh": "hidden", "hr": "hidden"}.get(what[1]) if len(what) > 1 else None
        gated = any(kind.startswith(("LSTM", "GRU")) for kind in kinds)
        rows = "projection" if "hr" in what else "gates" if gated else "units"
        names = None if column is None else (rows,) if what[0] == "bias" else (rows, column)
    else:
        names = next((AXES[kind][parameter] for kind in kinds if parameter in AXES.get(kind, ())), None)
    return names if names is None or len(names) == ndim else None
