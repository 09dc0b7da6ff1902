"""einops, safetensors, matplotlib and scikit-learn with tensors, in programs for torch and in others. Each result is
compared with what the library makes of numpy's arrays."""

import subprocess
import sys
import textwrap

import einops
import lamella
import numpy as np
import pytest
from children import clean_environment

SETTINGS = {"MPLBACKEND": "Agg"}


def run(folder, text, *command):
    (folder / "main.py").write_text(textwrap.dedent(text))
    words = [sys.executable, *command, "main.py"]
    return subprocess.run(
        words, cwd=folder, env=clean_environment(**SETTINGS), capture_output=True, text=True, timeout=200
    )


def output(folder, text):
    """Returns what a program for torch prints."""
    done = run(folder, text, "-m", "lamella", "run")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


EINOPS = [
    lambda e, x: e.rearrange(x, "a (b c) d -> (a d) c b", b=2),
    lambda e, x: e.rearrange([x, x], "n a b c -> a n b c"),
    lambda e, x: e.repeat(x, "a b c -> a k b c", k=2),
    lambda e, x: e.einsum(x, x, "a b c, a d c -> b d"),
    lambda e, x: e.pack([x, x[:, 0]], "a * c")[0],
    lambda e, x: e.unpack(x, [[1], [3]], "a * c")[1],
    *(lambda e, x, name=name: e.reduce(x, "a (b c) d -> a c", name, b=2) for name in ("min", "max", "sum", "mean")),
    lambda e, x: e.reduce(x, "a b c -> b", "prod"),
    *(lambda e, x, name=name: e.reduce(x > 20, "a b c -> c", name) for name in ("any", "all")),
]


@pytest.mark.parametrize("call", EINOPS)
def test_einops(call):
    array = np.arange(48, dtype=np.float32).reshape(2, 4, 6) / 7
    made = call(einops, lamella.from_numpy(array.copy()))
    expected = call(einops, array)
    assert type(made) is lamella.Tensor and made.shape == expected.shape
    np.testing.assert_allclose(made.numpy(), expected, rtol=1e-6)


@pytest.mark.needs("autograd")
def test_einops_has_gradients_and_its_other_functions():
    x = lamella.ones(2, 3, requires_grad=True)
    einops.reduce(x * 2, "a b -> a", "sum").sum().backward()
    assert x.grad.tolist() == [[2, 2, 2], [2, 2, 2]] and einops.parse_shape(x, "a _") == {"a": 2}
    assert type(einops.asnumpy(x)) is np.ndarray


def test_einops_is_adapted_in_either_order_and_not_imported(tmp_path):
    for first, second in (("einops", "lamella"), ("lamella", "einops")):
        done = run(tmp_path, f"""
            import {first}, sys
            assert {first!r} == "einops" or "einops" not in sys.modules
            import {second}
            assert einops.rearrange(lamella.ones(2, 3), "a b -> b a").shape == (3, 2) and "torch" not in sys.modules
        """)  # fmt: skip
        assert done.returncode == 0, done.stderr


def test_einops_in_a_program_for_torch(tmp_path):
    text = """
        import torch
        from einops import rearrange
        from einops.layers.torch import EinMix, Rearrange, Reduce

        x = torch.arange(24.0).reshape(2, 3, 4)
        net = torch.nn.Sequential(Rearrange("a b c -> a (b c)"), Reduce("a (b c) -> a b", "max", c=2))
        print(rearrange(x, "a b c -> c (a b)").shape, net(x).tolist())
        print(EinMix("a b c -> a b d", weight_shape="c d", bias_shape="d", c=4, d=5)(x).shape)
    """
    best = np.arange(24.0).reshape(2, 6, 2).max(-1).tolist()
    assert output(tmp_path, text) == f"lamella.Size([4, 6]) {best}\nlamella.Size([2, 3, 5])\n"


def test_safetensors_in_a_program_for_torch(tmp_path):
    import safetensors.numpy as numpy_face

    text = """
        import torch
        from safetensors import safe_open
        from safetensors.torch import load, load_file, load_model, save, save_file, save_model

        x = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.tensor([True, False]), "none": torch.zeros(0, 3),
             "half": torch.tensor([1.5], dtype=torch.bfloat16), "one": torch.tensor(7)}
        save_file(x, "x.safetensors", metadata={"by": "us"})
        for found in (load_file("x.safetensors"), load(save(x))):
            assert found.keys() == x.keys() and all(torch.equal(found[k], x[k]) for k in x)
            assert all(found[k].dtype == x[k].dtype and type(found[k]) is torch.Tensor for k in x)
        with safe_open("x.safetensors", framework="pt") as f:
            assert sorted(f.keys()) == sorted(x) and f.metadata() == {"by": "us"}
            assert f.get_tensor("a").tolist() == x["a"].tolist()
            assert f.get_slice("a")[:, 1:].tolist() == [[1, 2], [4, 5]]
        found["a"].zero_()
        assert load_file("x.safetensors")["a"].sum() == 15

        one, other = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
        save_model(one, "model.safetensors")
        assert load_model(other, "model.safetensors") == (set(), []) and torch.equal(one.weight, other.weight)
        try:
            save_file({"a": x["a"], "b": x["a"]}, "y.safetensors")
        except RuntimeError as error:
            assert "share memory" in str(error)
        print([round(v, 6) for v in one.bias.tolist()])
    """  # fmt: skip
    printed = output(tmp_path, text)
    bias = numpy_face.load_file(tmp_path / "model.safetensors")["bias"]
    assert printed == f"{[round(v, 6) for v in bias.tolist()]}\n"


PLOTS = """
    import {name} as torch
    import matplotlib.pyplot as plt
    import numpy as np

    torch.manual_seed(0)
    x = torch.linspace(0, 1, 5)
    y, image, points = x**2, torch.rand(4, 4, 3), torch.rand(10, 2)
    [line] = plt.plot(x, y)
    assert np.array_equal(line.get_xydata(), np.stack([x.numpy(), y.numpy()], 1))
    assert np.array_equal(plt.scatter(x, y, c=y, s=x * 10).get_offsets(), line.get_xydata())
    assert np.array_equal(plt.imshow(image).get_array(), image.numpy())
    assert np.array_equal(plt.imshow((image * 255).to(torch.uint8)).get_array(), (image * 255).to(torch.uint8).numpy())
    counts, edges, _ = plt.hist(points)  # a set of values for each column
    assert np.array_equal(counts, plt.hist(points.numpy())[0]) and np.array_equal(edges, plt.hist(points.numpy())[1])
    assert len(counts) == 2 == len(plt.boxplot(points)["boxes"])
    assert [bar.get_height() for bar in plt.bar(torch.arange(3), torch.tensor([1.0, 2.0, 3.0]))] == [1, 2, 3]
    plt.fill_between(x, y, y + 1), plt.errorbar(x, y, yerr=y / 10), plt.contourf(points[:4, :2])
    plt.pcolormesh(points), plt.axhline(x.mean()), plt.text(x[0], x[1], "here"), plt.stem(x, y), plt.quiver(x, y, x, y)
    assert plt.xlim(x[0], x[-1]) == (0, 1)
    assert plt.plot([x.mean(), x.max()])[0].get_ydata().tolist() == [0.5, 1.0]
    plt.savefig("figure.png")
"""


@pytest.mark.parametrize("name", ["lamella", "torch"])
def test_matplotlib(tmp_path, name):
    done = run(tmp_path, PLOTS.format(name=name), *(["-m", "lamella", "run"] if name == "torch" else []))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "figure.png").read_bytes()[1:4] == b"PNG"


LEARNING = """
    import {name} as torch
    import numpy as np
    from sklearn.cluster import KMeans
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.metrics import accuracy_score, confusion_matrix, roc_auc_score
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    torch.manual_seed(0)
    x = torch.randn(40, 3)
    y = (x[:, 0] + 0.1 * x[:, 1] > 0).long()
    X, Y = x.numpy(), y.numpy()
    fitted = [LogisticRegression().fit(x, y).predict_proba(x), LogisticRegression().fit(X, Y).predict_proba(X)]
    lines = [LinearRegression().fit(x, x[:, 0]).coef_, LinearRegression().fit(X, X[:, 0]).coef_]
    scaled = [StandardScaler().fit_transform(x), StandardScaler().fit_transform(X)]
    means = [KMeans(2, n_init=1, random_state=0).fit(data).cluster_centers_ for data in (x, X)]
    for ours, theirs in (fitted, lines, scaled, means):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)
    guess = x[:, 1] > 0
    assert accuracy_score(y, guess) == np.mean(Y == guess.numpy())
    assert np.array_equal(confusion_matrix(y, guess), confusion_matrix(Y, guess.numpy()))
    assert roc_auc_score(y, x[:, 0]) == roc_auc_score(Y, X[:, 0])
    parts = train_test_split(x, y, random_state=0)
    assert all(type(part) is torch.Tensor for part in parts)
    assert all(np.array_equal(a, b) for a, b in zip(parts, train_test_split(X, Y, random_state=0)))
"""


@pytest.mark.parametrize("name", ["lamella", "torch"])
@pytest.mark.long
def test_scikit_learn(tmp_path, name):
    done = run(tmp_path, LEARNING.format(name=name), *(["-m", "lamella", "run"] if name == "torch" else []))
    assert done.returncode == 0, done.stderr
