"""The documentation of each module of ``lamella.nn`` says what the module does to names, and calls do so."""

import inspect
import re

import lamella
import pytest
from lamella import nn

LAZY = {name for name in dir(nn) if name.startswith("Lazy")}  # each has another class after the first call
CONTAINERS = {"Container", "DataParallel", "Module", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList"}
CONTAINERS |= {"RNNBase", "RNNCellBase", "Sequential"}
MODULES = sorted(
    name
    for name in set(dir(nn)) - LAZY - CONTAINERS
    if isinstance(getattr(nn, name), type) and issubclass(getattr(nn, name), nn.Module)
)
NAMES = {2: "nc", 3: "nct", 4: "nchw", 5: "ncdhw"}


def x(*shape, names=None):
    return lamella.rand(*shape, names=list(names or NAMES[len(shape)]))


def classes(count, *shape, names):
    return lamella.randint(0, count, shape, names=list(names))


def targets_of(name):
    """Returns the arguments of a loss, for one that takes more than an input and a target of its shape."""
    signs, lengths = lamella.ones(2, names=["n"]), lamella.tensor([[5, 5], [2, 2]])
    return {
        "NLLLoss": [(x(2, 3), classes(3, 2, names="n")), (x(2, 3, 4), classes(3, 2, 4, names="nt"))],
        "NLLLoss2d": [(x(2, 3, 4, 4), classes(3, 2, 4, 4, names="nhw"))],
        "CrossEntropyLoss": [(x(2, 3), classes(3, 2, names="n")), (x(2, 3, 4), x(2, 3, 4))],
        "LinearCrossEntropyLoss": [(x(2, 3), classes(4, 2, names="n"))],
        "MultiMarginLoss": [(x(2, 3), classes(3, 2, names="n"))],
        "MultiLabelMarginLoss": [(x(2, 3), classes(3, 2, 3, names="nc"))],
        "GaussianNLLLoss": [(x(2, 3), x(2, 3), x(2, 3))],
        "CosineEmbeddingLoss": [(x(2, 3), x(2, 3), signs)],
        "MarginRankingLoss": [(x(2, 3), x(2, 3), x(2, 3).sign())],
        "TripletMarginLoss": [(x(2, 3), x(2, 3), x(2, 3))],
        "TripletMarginWithDistanceLoss": [(x(2, 3), x(2, 3), x(2, 3))],
        "CTCLoss": [(x(5, 2, 4, names="tnc").log(), classes(3, 2, 2, names="ns") + 1, *lengths)],
    }.get(name, [(x(2, 3), x(2, 3))])


# The arguments of a module's constructor, if it takes any.
MADE_WITH = {
    "Linear": (3, 4), "Bilinear": (3, 3, 4), "Unflatten": ("c", (("a", 1), ("b", 3))), "Fold": ((4, 5), 2),
    "Unfold": (2,), "Threshold": (1, 2), "Softmin": (1,), "Softmax": (1,), "LogSoftmax": (1,), "GLU": (-1,),
    "LayerNorm": (4,), "RMSNorm": (4,), "GroupNorm": (1, 3), "SyncBatchNorm": (3,), "LocalResponseNorm": (3,),
    "CrossMapLRN2d": (3,), "AdaptiveLogSoftmaxWithLoss": (8, 20, [5, 10]), "Embedding": (5, 4), "EmbeddingBag": (5, 4),
    "PixelShuffle": (2,), "PixelUnshuffle": (2,), "ChannelShuffle": (3,), "LinearCrossEntropyLoss": (3, 4),
    "Upsample": (None, 2), "UpsamplingNearest2d": (None, 2), "UpsamplingBilinear2d": (None, 2),
    "MultiheadAttention": (8, 2), "TransformerEncoderLayer": (8, 2, 16), "TransformerDecoderLayer": (8, 2, 16),
    "Transformer": (8, 2, 1, 1, 16),
    **{f"{name}{k}d": (3, 5, 3) for k in (1, 2, 3) for name in ("Conv", "ConvTranspose")},
    **{f"{name}{k}d": (3,) for k in (1, 2, 3) for name in ("BatchNorm", "InstanceNorm")},
    **{f"{name}Pad{k}d": (1,) for k in (1, 2, 3) for name in ("Zero", "Reflection", "Replication", "Circular")},
    **{f"ConstantPad{k}d": (1, 0.0) for k in (1, 2, 3)},
    **{f"{name}Pool{k}d": (2,) for k in (1, 2, 3) for name in ("Max", "Avg", "AdaptiveMax", "AdaptiveAvg")},
    **{f"LPPool{k}d": (2, 2) for k in (1, 2, 3)}, **{f"MaxUnpool{k}d": (2,) for k in (1, 2, 3)},
    **{f"FractionalMaxPool{k}d": (2, 3) for k in (2, 3)},
    **{name: (3, 4) for name in ("RNN", "LSTM", "GRU", "RNNCell", "LSTMCell", "GRUCell")},
}  # fmt: skip


def made(name, **options):
    if name.startswith("TransformerEncoder"):
        layer = nn.TransformerEncoderLayer(8, 2, 16)
        return layer if name.endswith("Layer") else nn.TransformerEncoder(layer, 2)
    if name.startswith("InstanceNorm"):
        options["affine"] = True
    if name == "TransformerDecoder":
        return nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 2)
    return getattr(nn, name)(*MADE_WITH.get(name, ()), **options)


def inputs_of(name):
    """Returns several tuples of arguments for a call of a module."""
    if name.endswith("Loss") and not name.startswith("Adaptive") or name == "NLLLoss2d":
        return targets_of(name)
    if name.startswith("MaxUnpool"):
        pool = getattr(nn, name.replace("Un", "").replace("pool", "Pool"))(2, return_indices=True)
        return [pool(x(2, 3, *[8] * int(name[-2])))]
    state = x(2, 4, names="nu")
    layers = x(1, 2, 4, names="lnu")
    source, target = x(6, 2, 8, names="sne"), x(5, 2, 8, names="tne")
    special = {
        "Linear": [(x(2, 3),)],
        "Bilinear": [(x(2, 3, names="na"), x(2, 3, names="nb"))],
        "PairwiseDistance": [(x(2, 3), x(2, 3))],
        "CosineSimilarity": [(x(2, 3), x(2, 3))],
        "AdaptiveLogSoftmaxWithLoss": [(x(2, 8), classes(20, 2, names="n"))],
        "Embedding": [(classes(5, 2, 3, names="nt"),)],
        "EmbeddingBag": [(classes(5, 6, names="t"), lamella.tensor([0, 3], names=["n"]))],
        "Fold": [(x(2, 12, 12),)],
        "PixelShuffle": [(x(2, 4, 3, 3),)],
        "GLU": [(x(2, 4),)],
        "RNN": [(x(5, 2, 3, names="tni"), layers)],
        "GRU": [(x(5, 2, 3, names="tni"), layers)],
        "LSTM": [(x(5, 2, 3, names="tni"), (layers, layers))],
        "RNNCell": [(x(2, 3), state)],
        "GRUCell": [(x(2, 3), state)],
        "LSTMCell": [(x(2, 3), (state, state))],
        "MultiheadAttention": [(target, target, target), (target, source, source)],
        "TransformerEncoder": [(target,)],
        "TransformerEncoderLayer": [(target,)],
        "TransformerDecoder": [(target, source)],
        "TransformerDecoderLayer": [(target, source)],
        "Transformer": [(source, target)],
    }
    if name in special:
        return special[name]
    if name[-2:] in ("1d", "2d", "3d"):
        return [(x(2, 3, *[8] * int(name[-2])),)]
    return [(x(2, 3, 4, 4),)]


def names_of(result):
    return tuple(map(names_of, result)) if isinstance(result, tuple) else result.names


def weight(module, dim=0):
    """Returns the name of one dimension of the module's weight."""
    return module.weight.names[dim]


def without(names, *dims):
    return tuple(n for i, n in enumerate(names) if i not in dims)


def replaced(names, dim, name):
    return tuple(name if i == dim % len(names) else n for i, n in enumerate(names))


def reduced(names):
    """Returns a checker of a loss: `names` gives those of the result without a reduction."""
    return lambda module, *args: names(args[0].names) if module.reduction == "none" else ()


# Each sentence, and the names that it promises: a function of a module and its arguments.
SAYS = {
    "Names of dimensions stay.": lambda module, first, *_: first.names,
    "Names of dimensions stay; those of the parameters must agree.": lambda module, first: first.names,
    "Names of the target's dimensions stay.": lambda module, *args: args[isinstance(module, nn.Transformer)].names,
    "Names: the last dimension has that of the weight's first one, all others stay.": (
        lambda module, first, *_: replaced(first.names, -1, weight(module))
    ),
    "Names: channels have that of the weight's first dimension, all others stay.": (
        lambda module, first: replaced(first.names, 1, weight(module))
    ),
    "Names: channels have that of the bias, all others stay.": (
        lambda module, first: replaced(first.names, 1, module.bias.names[0])
    ),
    "Names: the new dimension has none, all others stay.": lambda module, first: (first.names[0], None),
    "Names: new dimensions have those of ``unflattened_size``, ``((name, size), ...)``, else none; all others stay.": (
        lambda module, first: (first.names[0], "a", "b", *first.names[2:])
    ),
    "Names: the batch keeps its own, all others are new dimensions without one.": (
        lambda module, first: (first.names[0], *[None] * (module(first).ndim - 1))
    ),
    'Names of the arguments must agree; with reduction="none" the result has them.': reduced(lambda names: names),
    'With reduction="none" the result has the names of the first two arguments without that of classes.': reduced(
        lambda names: without(names, 1)
    ),
    'With reduction="none" the result has the names of the first two arguments without the last one.': reduced(
        lambda names: names[:-1]
    ),
    "Names are dropped.": lambda module, *args: (None,) if module.reduction == "none" else (),
    "Names of the arguments must agree; the result has them without the last one.": (
        lambda module, first, second: first.names[:-1]
    ),
    "Names of the arguments must agree; the result has them without that of ``dim``.": (
        lambda module, first, second: without(first.names, module.dim)
    ),
    "Names of the arguments must agree; the log-probabilities have that of the batch.": (
        lambda module, first, second: (first.names[:1], ())
    ),
    "Names: those of the indices, and at the end that of the weight's last dimension.": (
        lambda module, first: (*first.names, weight(module, 1))
    ),
    "Names: bags have that of ``offsets``, the last dimension has that of the weight's last one.": (
        lambda module, first, offsets: (*offsets.names, weight(module, 1))
    ),
    "Names: steps and batch keep theirs, the last dimension has none; states keep all of theirs.": (
        lambda module, first, state: ((*first.names[:2], None), names_of(state))
    ),
    "Names: the batch keeps its own, and a given state all of its names.": lambda module, first, state: names_of(state),
    "Names: queries and batch keep theirs, the last dimension has that of the output's weight; keys have none in the "
    "returned weights.": lambda module, first, *_: (
        replaced(first.names, -1, module.out_proj.weight.names[0]),
        (first.names[1], first.names[0], None),
    ),
}
# The names of parameters in the second call, if a sentence is about them.
PARAMETERS = {
    "Linear": {"weight": ("unit", "c"), "bias": ("unit",)},
    "Bilinear": {"weight": ("unit", "a", "b")},
    "Embedding": {"weight": ("word", "feature")},
    "EmbeddingBag": {"weight": ("word", "feature")},
    "LayerNorm": {"weight": ("w",)},
    "RMSNorm": {"weight": ("w",)},
    "GroupNorm": {"weight": ("c",)},
    "PReLU": {"weight": ("c",)},
    **{f"Conv{k}d": {"weight": ("unit", "c", *"tuv"[:k])} for k in (1, 2, 3)},
    **{f"ConvTranspose{k}d": {"bias": ("unit",)} for k in (1, 2, 3)},
    **{f"{name}{k}d": {"weight": ("c",)} for k in (1, 2, 3) for name in ("BatchNorm", "InstanceNorm")},
    "MultiheadAttention": {"out_proj.weight": ("feature", None)},
    **{name: {"weight_ih_l0": ("unit", "i"), "weight_hh_l0": ("unit", "u")} for name in ("RNN", "LSTM", "GRU")},
    **{f"{name}Cell": {"weight_ih": ("unit", "c"), "weight_hh": ("unit", "u")} for name in ("RNN", "LSTM", "GRU")},
}


def sentence(module):
    """Returns the sentence on names in the documentation of a class."""
    text = re.sub(r"\s+", " ", inspect.getdoc(module) or "")
    found = [said for said in SAYS if said in text]
    assert len(found) == 1, f"{module.__name__}: its documentation says {found} about names:\n{inspect.getdoc(module)}"
    return found[0]


@pytest.mark.parametrize("name", MODULES)
def test_names_are_as_documented(name):
    said = sentence(getattr(nn, name))
    loss = "reduction" in inspect.signature(getattr(nn, name)).parameters
    for options in ({"reduction": "none"}, {"reduction": "mean"}) if loss else ({},):
        for arguments in inputs_of(name):
            module = made(name, **options)
            if name == "SyncBatchNorm":
                module.eval()
            for names in ({}, PARAMETERS.get(name, {})):
                for parameter, own in names.items():
                    module.get_parameter(parameter).names = own
                got = names_of(module(*arguments))
                assert got == SAYS[said](module, *arguments), f"{module} of {names_of(arguments)}"


AGREE = [n for n in MODULES if 'must agree; with reduction="none"' in re.sub(r"\s+", " ", getattr(nn, n).__doc__)]


@pytest.mark.parametrize("name", AGREE)
def test_arguments_of_a_loss_must_agree(name):
    first, second, *rest = inputs_of(name)[0]
    with pytest.raises(RuntimeError, match="meets one with the name"):
        made(name)(first, second.rename("n", "other"), *rest)


def test_each_lazy_module_names_the_module_that_it_becomes():
    for name in LAZY:
        becomes = getattr(nn, name).cls_to_become or getattr(nn, name).__mro__[-1]
        assert becomes.__name__ in re.sub(r"Lazy\w+", "", inspect.getdoc(getattr(nn, name))), name


def test_parameters_of_other_names_are_errors():
    for name, own in (("LayerNorm", "other"), ("GroupNorm", "other"), ("PReLU", "other"), ("BatchNorm1d", "other")):
        module = made(name)
        module.weight.names = (own,)
        with pytest.raises(RuntimeError, match="other"):
            module(*inputs_of(name)[0])
