"""Names in programs: the catalogue, networks, gradients, optimizers, files, processes, other devices."""

import copy
import io
import os
import pickle
import subprocess
import sys
from pathlib import Path

import lamella
import lamella.nn.functional as F
import numpy as np
import pytest
from children import OWN_PLUGINS, Guest, clean_environment, run
from compiled import FOLDER
from lamella import nn
from lamella.utils.checkpoint import checkpoint

pytestmark = pytest.mark.needs("autograd", "named_tensor")
HERE = Path(__file__).resolve().parent
OTHERS = ",".join(name for name in OWN_PLUGINS.split(",") if name != "named_tensor")
X = ("batch", "feature")


def numbers(*size, names=None, **more):
    lamella.manual_seed(0)
    return lamella.randn(*size, **more).rename(*names) if names else lamella.randn(*size, **more)


def test_every_operator_has_a_rule():
    """Each operator of the catalogue, in each form, has a rule, or makes no tensor of tensors."""
    ours = [o for o in lamella._C._operators() if o["owner"] == "lamella"]
    titles = {o["schema"].partition("(")[0] for o in ours if o["form"] != "out"}
    assert len(titles) > 900
    assert [t for t in titles if lamella.named.find_rule(t) is None] == []


# Operators that drop all names: see the page.
def test_what_drops_names_is_on_the_page():
    page = (HERE.parents[2] / "docs" / "named_tensors.md").read_text()
    for name in ("as_strided", "block_diag", "kron", "cartesian_prod", "combinations", "unique"):
        assert f"`{name}`" in page
    assert lamella.named.find_rule("kron") == "none"


@pytest.mark.parametrize(
    "module, size, names, after",
    [
        (nn.Linear(3, 4), (2, 3), X, ("batch", None)),
        (nn.ReLU(), (2, 3), X, X),
        (nn.Dropout(0.5), (2, 3), X, X),
        (nn.Softmax(-1), (2, 3), X, X),
        (nn.LayerNorm(3), (2, 3), X, X),
        (nn.BatchNorm1d(3), (2, 3), X, X),
        (nn.GroupNorm(1, 3), (2, 3), X, X),
        (nn.Conv1d(3, 5, 3), (2, 3, 8), ("n", "c", "t"), ("n", None, "t")),
        (nn.Conv2d(3, 5, 3), (2, 3, 8, 8), ("n", "c", "h", "w"), ("n", None, "h", "w")),
        (nn.ConvTranspose2d(3, 5, 3), (2, 3, 8, 8), ("n", "c", "h", "w"), ("n", None, "h", "w")),
        (nn.MaxPool2d(2), (2, 3, 8, 8), ("n", "c", "h", "w"), ("n", "c", "h", "w")),
        (nn.AdaptiveAvgPool2d(1), (2, 3, 8, 8), ("n", "c", "h", "w"), ("n", "c", "h", "w")),
        (nn.Flatten(), (2, 3, 8), ("n", "c", "t"), ("n", None)),
        (nn.Upsample(scale_factor=2), (2, 3, 8, 8), ("n", "c", "h", "w"), ("n", "c", "h", "w")),
        (nn.ZeroPad2d(1), (2, 3, 8, 8), ("n", "c", "h", "w"), ("n", "c", "h", "w")),
    ],
    ids=lambda v: type(v).__name__ if isinstance(v, nn.Module) else "",
)
def test_modules(module, size, names, after):
    """Each module has the names of the page, the values that it has without, and gradients with the input's names."""
    x = numbers(*size, requires_grad=True)
    y = x.detach().rename(*names).requires_grad_()
    lamella.manual_seed(1)
    plain = module(x)
    lamella.manual_seed(1)
    named = module(y)
    assert named.names == after and lamella.equal(named.rename(None), plain)
    plain.square().sum().backward(), named.square().sum().backward()
    assert y.grad.names == names and lamella.equal(y.grad.rename(None), x.grad)
    assert not any(p.has_names() or p.grad.has_names() for p in module.parameters())


def test_recurrent_layers():
    for layer in (nn.LSTM(3, 5), nn.GRU(3, 5), nn.RNN(3, 5)):
        out, state = layer(numbers(4, 2, 3, names=("time", "batch", "feature")))
        states = state if isinstance(state, tuple) else (state,)
        assert out.names == ("time", "batch", None) and not any(s.has_names() for s in states)
        assert layer(numbers(4, 3, names=("time", "feature")))[0].names == ("time", None)


def test_embedding_and_losses():
    words = lamella.tensor([[1, 2, 3], [0, 1, 2]], names=("batch", "word"))
    assert nn.Embedding(4, 5)(words).names == ("batch", "word", None)
    scores, target = numbers(2, 4, 3, names=("batch", "class", "word")), words
    assert F.cross_entropy(scores, target, reduction="none").names == ("batch", "word")
    assert F.cross_entropy(scores, target).names == ()
    with pytest.raises(
        RuntimeError, match="cross_entropy: a dimension with the name 'word' meets one with the name 'step'"
    ):
        F.cross_entropy(scores, target.rename(word="step"))
    for loss in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss):
        assert loss(numbers(2, 3, names=X), numbers(2, 3, names=X), reduction="none").names == X
        with pytest.raises(RuntimeError, match="'feature' meets"):
            loss(numbers(2, 3, names=X), numbers(2, 3, names=("batch", "other")))


def test_attention():
    q, k, v = (numbers(2, 4, 3, names=("head", n, "e")) for n in ("query", "key", "key"))
    out = F.scaled_dot_product_attention(q, k, v)
    assert out.names == ("head", "query", "e")
    assert lamella.equal(out.rename(None), F.scaled_dot_product_attention(*(t.rename(None) for t in (q, k, v))))


# ---- gradients ------------------------------------------------------------------------------------------------------


def test_double_backward():
    x = numbers(2, 3, names=X).requires_grad_()
    (first,) = lamella.autograd.grad((x**3).sum("feature").sum(), x, create_graph=True)
    (second,) = lamella.autograd.grad(first.sum(), x)
    assert first.shape == second.shape == (2, 3)
    assert lamella.allclose(second.rename(None), 6 * x.detach().rename(None))


def test_functions_and_checkpoints():
    class Double(lamella.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            assert x.names == X
            return grad * 2

    x = numbers(2, 3, names=X).requires_grad_()
    made = Double.apply(x)
    made.sum().backward()
    assert made.names == X and x.grad.names == X and x.grad.eq(2).all()
    y = checkpoint(lambda t: t.exp().sum("feature"), x, use_reentrant=False)
    assert y.names == ("batch",)
    x.grad = None
    y.sum().backward()
    assert lamella.allclose(x.grad.rename(None), x.detach().exp().rename(None))


def test_hooks_and_the_threads_way():
    x, seen = numbers(2, 3, names=X).requires_grad_(), []
    y = x.exp()
    y.register_hook(lambda g: seen.append(g.shape))
    with lamella.named.matching("by_name"):
        (y + lamella.ones(2, names=["batch"])).sum().backward()
        assert lamella.named.get_matching() == "by_name"
    assert seen == [(2, 3)] and x.grad.names == X and lamella.named.get_matching() == "positional"


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
def test_optimizers(name):
    """A parameter with names is trained as one without; it keeps its names, and its state has its sizes."""
    after = []
    for names in (None, X):
        weight = nn.Parameter(numbers(2, 3, names=names))
        optimizer = getattr(lamella.optim, name)([weight], lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            (weight**2).sum().backward()
            optimizer.step()
        assert weight.names == (names or (None, None))
        saved = io.BytesIO()
        lamella.save(optimizer.state_dict(), saved)
        after.append(weight.detach().rename(None))
    assert lamella.equal(*after)


# ---- by name --------------------------------------------------------------------------------------------------------


def test_matching_by_name():
    rng = np.random.default_rng(0)
    sizes = {"a": 2, "b": 3, "c": 4, "d": 5}
    with lamella.named.matching("by_name"):
        for _ in range(60):
            p, q = (list(rng.permutation(list("abcd"))[: rng.integers(0, 5)]) for _ in range(2))
            x, y = (lamella.tensor(rng.standard_normal([sizes[n] for n in names]), names=names) for names in (p, q))
            made = x * y
            union = list(dict.fromkeys([*p, *q]))
            want = np.einsum(x.numpy(), ["abcd".index(n) for n in p], y.numpy(), ["abcd".index(n) for n in q],
                             ["abcd".index(n) for n in union])  # fmt: skip
            assert made.names == tuple(union)
            np.testing.assert_allclose(made.numpy(), want)


def test_matching_by_name_in_place_and_gradients():
    x, y = lamella.zeros(2, 3, names=X), numbers(3, 2, names=X[::-1]).requires_grad_()
    with lamella.named.matching("by_name"):
        x += y
        assert lamella.equal(x.rename(None), y.rename(None).t())
        with pytest.raises(
            RuntimeError, match=r"add_: the result would have the dimensions \['batch', 'feature', 'step'\]"
        ):
            x.add_(lamella.ones(4, names=["step"]))
        with pytest.raises(RuntimeError, match="matched by name, and one has none"):
            x + lamella.ones(3)
    assert (x + 1).names == X and x.shape == (2, 3)
    x.sum().backward()
    assert y.grad.names == X[::-1] and y.grad.eq(1).all()


def test_matching_of_threads():
    from concurrent.futures import ThreadPoolExecutor

    with lamella.named.matching("checked"), ThreadPoolExecutor(1) as pool:
        assert pool.submit(lamella.named.get_matching).result() == "positional"
        with pytest.raises(RuntimeError, match="a tensor without names meets one with names"):
            numbers(2, 3, names=X) + lamella.ones(2, 3)
        assert (numbers(2, 3, names=X) + lamella.ones(())).names == X
    with pytest.raises(ValueError, match="expected 'positional', 'checked' or 'by_name', got 'loose'"):
        with lamella.named.matching("loose"):
            pass


# ---- methods --------------------------------------------------------------------------------------------------------

BAD = {
    "an old name that is not there": (lambda x: x.rename(batc="n"), RuntimeError, "rename: .*'batc'.*batch"),
    "names by place and by name": (lambda x: x.rename("n", feature="c"), ValueError, "rename: .*not both"),
    "a number of names": (lambda x: x.rename("n"), RuntimeError, "got 1 names"),
    "a name twice": (lambda x: x.rename(batch="feature"), RuntimeError, "both have the name 'feature'"),
    "no identifier": (lambda x: x.rename("n", "2c"), RuntimeError, "'2c', which is no identifier"),
    "two ellipses": (lambda x: x.rename(..., ...), ValueError, "rename: '...' may stand once"),
    "another name": (lambda x: x.refine_names("n", ...), RuntimeError, "refine_names: .*'batch' and would get 'n'"),
    "not mentioned": (lambda x: x.align_to("batch"), RuntimeError, "align_to: .*'feature' is missing"),
    "aligned twice": (lambda x: x.align_to("batch", "feature", "batch"), RuntimeError, "stands twice"),
    "align_as": (lambda x: x.align_as(3), TypeError, "align_as: argument 'other' must be a Tensor"),
    "no dims": (lambda x: x.flatten([], "f"), (ValueError, TypeError), "flatten"),
    "no neighbours": (lambda x: x.flatten(["feature", "batch"], "f"), RuntimeError, "flatten: .*no neighbours"),
    "flatten a name": (lambda x: x.flatten(["batch", "other"], "f"), RuntimeError, "no dimension 'other'; the names"),
    "unflatten sizes": (lambda x: x.unflatten("feature", (("h", 2), ("w", 3))), RuntimeError, "unflatten"),
    "unsqueeze a name": (lambda x: x.unsqueeze(0, "batch"), RuntimeError, "unsqueeze: .*both have the name 'batch'"),
    "unsqueeze a place": (lambda x: x.unsqueeze(5, "n"), IndexError, "unsqueeze: dimension 5 is out of range"),
    "an index twice": (lambda x: x[{"batch": 0, 0: 1}], IndexError, "is given twice"),
    "an index of two": (lambda x: x[{"batch": None}], IndexError, "does not stand for one dimension"),
    "an index that is a bool": (lambda x: x[{"batch": True}], IndexError, "the index bool, which does not stand"),
    "an index out of range": (lambda x: x[{5: 0}], IndexError, "dimension 5 is out of range"),
    "dot": (lambda x: lamella.named.dot(x, x, "other"), RuntimeError, "argument 'a': there is no dimension 'other'"),
    "einsum": (lambda x: lamella.named.einsum("a b -> a", x, x), ValueError, "has 1 operands, and 2 tensors"),
    "a rule without such a verb": (
        lambda x: lamella.named.register_rule("aten::abs", "turn"), ValueError, "there is no verb 'turn'"),
    "a rule without such an argument": (
        lambda x: lamella.named.register_rule("aten::abs", "remove(dim)"), ValueError, "no argument 'dim'"),
    "a rule with another number": (
        lambda x: lamella.named.register_rule("aten::abs", "swap(self)"), ValueError, "another number of arguments"),
    "a pattern": (
        lambda x: lamella.named.register_rule("aten::abs", "a, b -> a"), ValueError, "another number of tensors"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    call, error, words = BAD[case]
    x = numbers(2, 3, names=X)
    before = x.clone()
    with pytest.raises(error, match=words):
        call(x)
    assert x.names == X and lamella.equal(x, before)


def test_index_by_dimension():
    x = lamella.arange(24).reshape(2, 3, 4).rename("n", "c", "w")
    plain = x.rename(None)
    assert lamella.equal(x[{"c": 1}].rename(None), plain[:, 1]) and x[{"c": 1}].names == ("n", "w")
    assert lamella.equal(x[{"w": slice(1, None, 2), "n": -1}].rename(None), plain[-1, :, 1::2])
    assert x[{"w": [0, 2]}].names == ("n", "c", "w") and x[{}].names == x.names
    assert lamella.equal(plain[{1: 0, -1: 2}], plain[:, 0, 2])  # also by number, without names
    x[{"n": 0, "c": 2}] = 7
    assert plain[0, 2].eq(7).all() and plain.eq(7).sum() == 5


# ---- files, processes, devices --------------------------------------------------------------------------------------


def test_the_example(tmp_path):
    """Attention with names trains to the bits of attention without, and the program fails where it does not learn."""
    example = HERE.parents[2] / "examples" / "named_attention.py"
    text = run(sys.executable, example, cwd=tmp_path)
    assert "the same bits" in text and "gradient: feature, head, size" in text
    done = subprocess.run([sys.executable, example, "--steps", "1"], cwd=tmp_path, env=clean_environment(),
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 1 and "the same bits" in done.stdout


def test_torchs_files_drop_names():
    """torch's format has no place for names: the file has the values, as torch reads them."""
    file = io.BytesIO()
    with pytest.warns(UserWarning, match="on a tensor: named_tensor; it is dropped"):
        lamella.save({"x": numbers(2, 3, names=X)}, file, format="torch")
    file.seek(0)
    read = lamella.load(file)["x"]
    assert read.names == (None, None) and lamella.equal(read, numbers(2, 3, names=X).rename(None))


def test_modules_and_copies():
    net = nn.Linear(3, 4)
    net.weight.names = ("unit", "feature")
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert other.weight.names == ("unit", "feature")
    other = nn.Linear(3, 4)
    other.load_state_dict(net.state_dict())
    assert lamella.equal(other.weight, net.weight)
    assert net(numbers(2, 3, names=X)).names == ("batch", "unit")
    assert net.double().weight.names == net.to("meta").weight.names == ("unit", "feature")


def test_observers_and_profiles_see_shapes():
    with lamella.profiler.profile(record_shapes=True) as p:
        numbers(2, 3, names=X).sum("feature")
    assert any(e.key == "aten::sum" for e in p.key_averages())


def test_without_the_plugin(tmp_path):
    """The names are errors that say which plugin is missing; a file with names is read without them, with a warning."""
    path = tmp_path / "named.lamella"
    lamella.save({"x": numbers(2, 3, names=X)}, path)
    Guest(sys.executable, tmp_path, {"LAMELLA_PLUGINS": OTHERS}).run(f"""
        import warnings
        import lamella
        for call in (lambda: lamella.ones(2, names=["n"]), lambda: lamella.tensor([1], names=["n"])):
            with fails(TypeError, "names", "named_tensor"):
                call()
        for name in ("names", "rename", "align_to"):
            with fails(AttributeError, name, "named_tensor"):
                getattr(lamella.ones(2), name)
        with fails(AttributeError, "named", "named_tensor"):
            lamella.named
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            x = lamella.load({str(path)!r})["x"]
        assert x.shape == (2, 3) and len(caught) == 1 and "named_tensor" in str(caught[0].message), caught
    """)


@pytest.mark.parametrize("file", ["test_named_tensors.py"])
def test_on_bank(guest, file):
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist")
    run(
        guest.python, "-m", "pytest", *options, HERE / file, cwd=HERE.parents[1],
        NAMED_ON="bank", LAMELLA_PLUGINS=f"{OWN_PLUGINS},bank", **{FOLDER: os.environ[FOLDER]},
    )  # fmt: skip


def test_indices_have_the_names_of_what_they_index():
    s = lamella.tensor([[0.0, 1.0], [2.0, 3.0]], names=["n", "c"])
    turned = s.transpose("n", "c")
    for way in ("positional", "checked", "by_name"):
        with lamella.named.matching(way):
            for call in (
                lambda: s[turned > 1.5],
                lambda: s.masked_select(turned > 1.5),
                lambda: s[:, (turned > 1.5)[0]],
                lambda: s.take_along_dim(lamella.tensor([[0, 1], [0, 0]], names=["c", "n"]), "c"),
            ):
                with pytest.raises(RuntimeError, match="meets one with the name"):
                    call()
            assert s[s > 1.5].tolist() == s.masked_select(s > 1.5).tolist() == [2.0, 3.0]
            assert s.take_along_dim(lamella.tensor([[0], [1]], names=["n", "c"]), "c").names == ("n", "c")
    assert s.take_along_dim(lamella.tensor([3])).names == (None,)


def test_numpys_functions_compare_names():
    s = lamella.ones(2, 2, names=["n", "c"])
    with pytest.raises(RuntimeError, match="meets one with the name"):
        np.add(s, s.transpose("n", "c"))
    assert np.add(s, s).names == ("n", "c")
    assert np.hypot(lamella.tensor([3], names=["n"]), 4).item() == 5  # lamella's takes no ints, numpy's does
    with lamella.named.matching("checked"), pytest.raises(RuntimeError, match="without names"):
        s + np.ones((2, 2), dtype=np.float32)


def test_gradients_that_grad_returns_have_the_names_of_their_inputs():
    leaf = lamella.ones(2, 3, names=X, requires_grad=True)
    other = lamella.ones(2, 3, names=X, requires_grad=True)
    (first,) = lamella.autograd.grad(leaf.exp().sum(), leaf, create_graph=True)
    assert first.names == X
    (second,) = lamella.autograd.grad(first.norm(dim="feature").sum(), leaf)
    assert second.names == X
    plain, _ = lamella.autograd.grad((leaf.rename(None) * other.rename(None)).sum(), (leaf, other))
    assert plain.names == X
    given = lamella.ones(2, 3)
    a, b = lamella.autograd.grad(leaf.rename(None) + other.rename(None), (leaf, other), given)
    assert a.names == b.names == X and given.names == (None, None)
    for graph in (False, True):
        (own,) = lamella.autograd.grad((leaf**3).sum(), leaf, create_graph=graph)
        assert own.detach_().names == X


OPTIMIZERS = [n for n in lamella.optim.__all__ if n[0].isupper() and n not in ("Optimizer", "SparseAdam")]


@pytest.mark.parametrize("way", ["positional", "checked", "by_name"])
@pytest.mark.parametrize("name", [*OPTIMIZERS, "SGD foreach", "Adam foreach", "LBFGS search"])
def test_each_optimizer_steps_over_named_parameters(name, way):
    name, _, option = name.partition(" ")
    options = {"foreach": {"foreach": True}, "search": {"line_search_fn": "strong_wolfe"}}.get(option, {})

    def trained(names):
        p = nn.Parameter(lamella.arange(6.0).view(2, 3) + 1)
        p.names = names
        step = getattr(lamella.optim, name)([p], **options)

        def closure():
            step.zero_grad()
            loss = p.square().sum()
            loss.backward()
            return loss

        for _ in range(3):
            step.step(closure)
        return p

    with lamella.named.matching(way):
        plain = trained((None, None))
        for names in (X, ("batch", None)):
            named = trained(names)
            assert named.names == names and named.grad.names == names
            assert lamella.equal(named.rename(None), plain)


def test_a_state_dict_gives_names_to_parameters_without_any():
    a, b = nn.Linear(3, 4), nn.Linear(3, 4)
    a.weight.names = ("unit", "feature")
    b.load_state_dict(a.state_dict())
    assert b.weight.names == ("unit", "feature") and b.bias.names == (None,)
    b.load_state_dict(nn.Linear(3, 4).state_dict())
    assert b.weight.names == ("unit", "feature")


def test_by_name_a_dimension_without_a_name_meets_those_at_its_place():
    x = lamella.ones(2, 3, names=["n", "c"])
    with lamella.named.matching("by_name"):
        assert (x + lamella.ones(2, 3, names=["n", None])).names == ("n", "c")
        layer = nn.TransformerEncoderLayer(4, 2, dropout=0.0)
        assert layer(lamella.ones(5, 2, 4, names=["t", "n", "f"])).names == ("t", "n", "f")
        for other in (lamella.ones(3, 2, names=[None, "n"]), lamella.ones(2, 3), lamella.ones(3, names=[None])):
            with pytest.raises(RuntimeError, match="one has none"):
                x + other


def test_rename_takes_a_dictionary():
    x = lamella.ones(2, 3, names=["height", "width"])
    assert x.rename({"width": "w"}).names == ("height", "w")
    assert x.rename({"width": "w"}, height="h").names == ("h", "w")
    with pytest.raises(RuntimeError, match="did you mean 'height'"):
        x.rename(heigth="h")


def test_products_take_dimensions_of_size_one():
    x = lamella.ones(2, 3, names=["n", "c"])
    y = lamella.ones(3, names=["c"]).align_to("n", "c")
    assert lamella.named.dot(x, y, {"c"}).tolist() == lamella.named.einsum("n c, n c -> n", x, y).tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda x: lamella.named.einsum("n c, n c", x, x), ValueError, "has no '->'"),
        (lambda x: lamella.named.einsum(x, x, "n c, n c -> n"), TypeError, "argument 'pattern', the first one"),
        (lambda x: lamella.named.einsum("n c, n k -> n", x, x), RuntimeError, r"\['n', 'k'\] for operand 1"),
        (lambda x: lamella.named.einsum("n c, k c -> n", x, lamella.ones(4, 5)), RuntimeError, "'c' has size 5 in"),
        (lambda x: lamella.named.einsum("n c -> n", 2.0), TypeError, "operand 0 must be a Tensor"),
        (lambda x: lamella.named.dot(x, lamella.ones(4, 5, names=["k", "c"]), "c"), RuntimeError, "'c' has size 3 in"),
        (lambda x: lamella.named.dot(x, x, 1), TypeError, "argument 'dims' must be"),
        (lambda x: lamella.named.dot(x, 2.0, "c"), TypeError, "argument 'b' must be a Tensor"),
    ],
)
def test_errors_of_products_speak_of_the_callers_words(call, kind, message):
    with pytest.raises(kind, match=message):
        call(lamella.ones(2, 3, names=["n", "c"]))


def test_a_custom_op_says_how_its_dimensions_map():
    @lamella.library.custom_op("named_programs::scaled", mutates_args=(), dims="broadcast")
    def scaled(x: lamella.Tensor, by: float) -> lamella.Tensor:
        return x * by

    assert scaled(lamella.ones(2, names=["n"]), 2.0).names == ("n",)
    scaled.close()
    with pytest.raises(ValueError, match="dims"):
        lamella.library.custom_op("named_programs::other", mutates_args=(), dims="no such")(scaled.__wrapped__)
