"""The arguments of export, names and trees, writes, numbers, files, translations of one's own, and errors."""

import io
import subprocess
import sys
from collections import namedtuple
from contextlib import closing

import lamella
import numpy as np
import onnx
import onnxruntime
import pytest
from exported import check, results, run, same, types
from lamella import nn
from lamella.library import Library
from lamella.nn import functional as F
from lamella.onnx import OnnxExporterError, TrainingMode, export, is_in_onnx_export
from lamella.onnx.errors import TracerWarning, UnsupportedOperatorError

x24 = lamella.arange(8.0).reshape(2, 4) - 3


class Tree(nn.Module):
    """Takes and returns trees; two layers share a weight."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
        self.b.weight = self.a.weight
        self.register_buffer("steps", lamella.arange(4.0))

    def forward(self, tree, flag=True, *, scale=None):
        u, v = self.a(tree["u"]) + self.steps, self.b(tree["v"][0])
        product = u * v if scale is None else u * v * scale
        return {"product": product if flag else u, "parts": [u, (v, None)]}


def names(values):
    return [v.name for v in values]


def shapes(values):
    dims = ([d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim] for v in values)
    return list(dims)


# ---- names, trees, parameters ----------------------------------------------------------------------------------------


def test_parameters_and_buffers_have_the_names_of_the_state_once():
    model = Tree()
    made = check(model, {"u": x24, "v": [x24 + 1]}, True)
    assert sorted(names(made.graph.initializer)) == ["a.bias", "a.weight", "b.bias", "steps"]
    held = {i.name: onnx.numpy_helper.to_array(i) for i in made.graph.initializer}
    for name, array in held.items():
        np.testing.assert_array_equal(array, model.state_dict()[name].numpy())
    assert names(made.graph.input) == ["tree_u", "tree_v_0"]
    assert names(made.graph.output) == ["output_0", "output_1", "output_2"]


def test_keyword_arguments_and_names():
    tree = {"u": x24, "v": [x24 + 1]}
    for args, kwargs in (((tree, {"scale": x24}), None), ((tree,), {"scale": x24})):
        made = export(Tree(), args, kwargs=kwargs, input_names=["a", "b"], output_names=["product"])
        assert names(made.graph.input) == ["a", "b", "scale"]
        assert names(made.graph.output) == ["product", "output_1", "output_2"]


def test_an_argument_that_is_no_tensor_is_a_constant():
    made = export(Tree(), ({"u": x24, "v": [x24]}, False), output_names=["first"])
    assert sorted(names(made.graph.initializer)) == ["a.bias", "a.weight", "b.bias", "steps"]
    assert types(made).count("Mul") == 0


def test_named_tuples_and_outputs_that_are_inputs_or_parameters():
    Pair = namedtuple("Pair", "first second")

    class Returns(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(lamella.ones(2))

        def forward(self, pair):
            total = pair.first + pair.second
            return total, pair.first, self.weight, total, lamella.tensor([1, 2])

    made = check(Returns(), Pair(x24, x24 * 2))
    assert names(made.graph.input) == ["pair_0", "pair_1"] and len(made.graph.output) == 5


def test_nodes_have_the_path_of_their_module():
    made = export(nn.Sequential(nn.Linear(4, 2), nn.Sequential(nn.ReLU())), x24)
    assert [n.name for n in made.graph.node] == ["/0/Gemm", "/1/0/Relu"]


def test_without_values_parameters_are_inputs():
    model = nn.Linear(4, 2)
    made = export(model, x24, export_params=False)
    assert names(made.graph.input) == ["input", "weight", "bias"] and not made.graph.initializer
    session = onnxruntime.InferenceSession(made.SerializeToString())
    given = {"input": x24.numpy(), **{n: p.detach().numpy() for n, p in model.named_parameters()}}
    same(session.run(None, given), results(model, (x24,)))
    both = export(model, x24, keep_initializers_as_inputs=True)
    assert names(both.graph.input) == ["input", "weight", "bias"] and len(both.graph.initializer) == 2


def test_a_module_on_meta_has_sizes_and_no_values():
    with lamella.device("meta"):
        model, x = nn.Sequential(nn.Linear(4, 3), nn.ReLU()), lamella.ones(2, 4)
    made = export(model, x, export_params=False, dynamic_axes={"input": {0: "n"}})
    assert types(made) == ["Gemm", "Relu"] and shapes(made.graph.output) == [["n", 3]]
    assert names(made.graph.input) == ["input", "0.weight", "0.bias"]
    with pytest.raises(OnnxExporterError, match="'0.weight' is on meta and has no values; pass export_params=False"):
        export(model, x)


def test_functions_and_constants():
    offset = lamella.tensor([1.0, 2.0, 3.0, 4.0])

    def f(x):
        return x * offset + lamella.eye(4)[1]

    folded, whole = check(f, x24), check(f, x24, do_constant_folding=False)
    assert types(folded) == ["Mul", "Add"] and len(types(whole)) > 2


# ---- the mode of the module ------------------------------------------------------------------------------------------


def test_the_mode_is_eval_and_comes_back():
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.BatchNorm1d(4))
    model[0].eval()
    before = [m.training for m in model.modules()]
    assert types(export(model, x24)) == ["Gemm", "BatchNormalization"]
    assert [m.training for m in model.modules()] == before
    with pytest.raises(OnnxExporterError, match=r"module '2' writes to '2.num_batches_tracked'.*eval mode"):
        export(nn.Sequential(nn.Linear(4, 4), nn.Identity(), nn.BatchNorm1d(4)), x24, training=TrainingMode.TRAINING)
    with pytest.raises(UnsupportedOperatorError, match="aten::dropout"):
        export(model, x24, training=TrainingMode.PRESERVE)
    assert [m.training for m in model.modules()] == before and model[2].num_batches_tracked == 0


def test_a_module_knows_that_it_is_exported():
    def f(x):
        return x + 1 if is_in_onnx_export() else x.sum()

    assert types(export(f, x24)) == ["Add"] and not is_in_onnx_export()


# ---- writes ----------------------------------------------------------------------------------------------------------


def through_views(x):
    y = x.clone()
    y[0] = 1
    y[:, 1] = x[:, 2] * 2
    y[y > 1] = 0
    z = y.view(-1)
    z[0] = 5
    y.t().mul_(2)
    y[:, [0, 1]] = 7
    a, _ = y.split(1)
    a.add_(3)
    y[0, 2] += 4
    y.diagonal().neg_()
    return y, z.sum(), a, y.t()


def in_place(x):
    y = x.add(1).clamp_(-1, 2)
    y.unsqueeze_(0)
    y.transpose_(1, 2)
    y[0, 1].fill_(9)
    y += 1
    return y, lamella.add(y, y, out=lamella.empty(1, 4, 2)), x.cumprod_(1), x


def into_new_memory(x):
    y = lamella.zeros(2, 6)
    y[:, 1:5] = x
    z = lamella.empty(4, 2)
    z.copy_(x.t())
    z.narrow(0, 1, 2).zero_()
    y.index_put_((lamella.tensor([0, 1]), lamella.tensor([5, 0])), lamella.tensor([1.5, 2.5]))
    return y, z, lamella.cat([y, y], out=lamella.empty(4, 6))


@pytest.mark.parametrize("program", [through_views, in_place, into_new_memory])
def test_writes_give_new_values(program):
    check(program, x24, others=[(x24.flip(0) * 1.5,)])


def test_writes_to_inputs_leave_the_example_as_it_is():
    x = x24.clone()
    check(lambda x: x.mul_(2) + x, x)
    assert lamella.equal(x, x24)


def test_writes_for_any_batch():
    def f(x):
        y = lamella.zeros(x.shape[0], 6)
        y[:, 1:5] = x
        y[0] += 1
        return y.t().mul_(2)

    check(f, x24, dynamic_axes={"x": [0]}, others=[(lamella.ones(5, 4),), (lamella.ones(1, 4),)])


def test_a_write_through_a_view_without_an_inverse():
    def f(x):
        x.clone().unfold(1, 2, 1).add_(1)
        return x

    with pytest.raises(UnsupportedOperatorError, match=r"writes through a view that aten::unfold made"):
        export(f, x24)


def test_an_alias_that_no_operator_made_is_not_taken_for_a_constant():
    with pytest.raises(OnnxExporterError, match="over the memory of another one"):
        export(lambda x: lamella.from_dlpack((x + 1).numpy()[:, 1:]) * 2, x24)


# ---- dynamic axes ----------------------------------------------------------------------------------------------------


def test_axes_by_lists_by_names_and_by_trees():
    by_list = export(nn.Linear(4, 2), x24, dynamic_axes={"input": [0]})
    assert shapes(by_list.graph.input) == [["input_dynamic_axes_1", 4]]
    assert shapes(by_list.graph.output) == [["input_dynamic_axes_1", 2]]
    named = export(nn.Linear(4, 2), x24, dynamic_axes={"input": {0: "n"}, "y": {0: "rows"}}, output_names=["y"])
    assert shapes(named.graph.input) == [["n", 4]] and shapes(named.graph.output) == [["rows", 2]]
    tree = ({"u": x24, "v": [x24]},)
    for given in (({"u": {0: "n"}, "v": [{0: "n"}]},), {"tree": {"u": {0: "n"}, "v": [{0: "n"}]}}):
        made = export(Tree(), tree, dynamic_shapes=given)
        assert shapes(made.graph.input) == [["n", 4], ["n", 4]]


def test_sizes_that_python_computes():
    def f(x):
        rows, columns = x.shape
        count = x.reshape(rows * columns).sum() / (rows * columns)
        return count + lamella.arange(rows).sum() * columns, x.expand(3, *x.shape), lamella.ones(rows + 1, 2 * columns)

    others = [(lamella.ones(5, 9),), (lamella.ones(1, 1),), (lamella.ones(7, 2),)]
    check(f, x24, dynamic_axes={"x": {0: "rows", 1: "columns"}}, others=others)


def places(x):
    rows, columns = (lamella.arange(n) for n in x.shape)
    return (
        lamella.stack(lamella.meshgrid(rows, columns, indexing="ij")) * x + lamella.outer(rows, columns).float().cos()
    )


def moments(x):
    return x.var((0, 1)), x.std(-1), x.var(), lamella.nn.functional.normalize(x)


@pytest.mark.parametrize("f", [places, moments, nn.EmbeddingBag(10, 3, mode="sum")])
def test_composites_at_other_sizes(f):
    """Composites compute with sizes; those of constants that follow an axis are taken apart, too."""
    whole = isinstance(f, nn.Module)
    x = lamella.randint(0, 10, (2, 4)) if whole else x24
    other = lamella.randint(0, 10, (5, 7)) if whole else lamella.randn(5, 7)
    check(f, x, input_names=["x"], dynamic_axes={"x": {0: "rows", 1: "columns"}}, others=[(other,)])


def test_a_size_of_a_tensor_that_is_read_for_nothing_else():
    def f(x):
        small = F.max_pool2d(x, 2, padding=1)
        return F.interpolate(x, size=small.shape[2:], mode="nearest")

    axes = {"x": {0: "n", 2: "h", 3: "w"}}
    check(f, lamella.randn(1, 2, 6, 8), dynamic_axes=axes, others=[(lamella.randn(3, 2, 9, 7),)])


@pytest.mark.parametrize(
    "f, words",
    [
        (
            lambda x: x * x.shape[0] ** 2,
            "aten::mul.Scalar.*argument 'other' is 4, 9, 16.*neither a constant, nor linear",
        ),
        (lambda x: x.sum() if x.shape[0] > 2 else x.mean(), "axis 'n' cannot be dynamic.*aten::sum.*aten::mean"),
        (lambda x: lamella.stack([row.exp() for row in x]), "axis 'n' cannot be dynamic.*aten::unbind"),
        (lambda x: x * lamella.tensor([float(x.shape[0])]), "constant tensor is another one at other sizes"),
        (lambda x: x.view(2, 4), "axis 'n' cannot be dynamic.*view"),
        (lambda x: x.diagonal(), "aten::diagonal.*the value of n"),
    ],
)
def test_what_does_not_follow_the_axis_is_refused(f, words):
    with pytest.raises(OnnxExporterError, match=f"(?s){words}"):
        export(f, x24, input_names=["x"], dynamic_axes={"x": {0: "n"}})


def test_axes_that_are_one():
    x = lamella.ones(3, 4)
    made = check(lambda a, b: a + b, x, x, dynamic_axes={"a": {0: "n"}, "b": {0: "n"}}, others=[(x24, x24)])
    assert shapes(made.graph.output) == [["n", 4]]
    with pytest.raises(ValueError, match="axis 'n' has sizes 3 and 2"):
        export(lambda a, b: a.sum() + b, (x, x24), dynamic_axes={"a": {0: "n"}, "b": {0: "n"}})
    with pytest.raises(OnnxExporterError, match="axis 'n' cannot be dynamic"):
        export(lambda a, b: a + b, (x, x), dynamic_axes={"a": {0: "n"}, "b": {0: "m"}})


# ---- numbers ---------------------------------------------------------------------------------------------------------


def test_a_number_of_a_tensor_warns_and_is_a_constant():
    def f(x):
        return x * x.sum().item() if x.max() > 0 else x

    with pytest.warns(TracerWarning, match="by aten::item; it is a constant"):
        made = export(f, x24)
    same(run(made, (x24,)), results(f, (x24,)))
    same(run(made, (x24 * 2,)), [(x24 * 2).numpy() * 4])


# ---- translations of one's own ---------------------------------------------------------------------------------------


@pytest.fixture
def mine():
    library = Library("onnx_mine", "DEF")
    library.define("twice(Tensor x, float by=2.0) -> Tensor")
    library.impl("twice", lambda x, by=2.0: x * by, "cpu")
    yield lamella.ops.onnx_mine.twice
    library.close()
    lamella.onnx.register("onnx_mine::twice", None)


def test_an_operator_of_a_third_party(mine):
    class Model(nn.Module):
        def forward(self, x):
            return mine(x) + mine(x, 3.0)

    words = r"onnx_mine::twice, which the module 'inner' calls.*lamella.onnx.register\('onnx_mine::twice', function\)"
    model = nn.Sequential()
    model.add_module("inner", Model())
    with pytest.raises(UnsupportedOperatorError, match=words):
        export(model, x24)
    lamella.onnx.register("onnx_mine::twice", lambda g, x, by=2.0: g.Mul(x, by))
    check(model, x24)
    table = {"onnx_mine::twice": lambda g, x, by=2.0: g.call("Twice", x, domain="mine", by=by)}
    made = export(model, x24, custom_translation_table=table, custom_opsets={"mine": 3})
    assert [(o.domain, o.version) for o in made.opset_import] == [("", 18), ("mine", 3)]
    assert [n.domain for n in made.graph.node if n.op_type == "Twice"] == ["mine", "mine"]


def test_a_third_partys_composite_needs_no_translation():
    with closing(Library("onnx_parts", "DEF")) as library:
        library.define("halved(Tensor x) -> Tensor")
        library.impl("halved", lambda x: (x / 2).relu(), "composite")
        assert types(check(lambda x: lamella.ops.onnx_parts.halved(x), x24)) == ["Div", "Relu"]


def test_a_translation_that_replaces_one_of_the_table():
    try:
        lamella.onnx.register("silu", lambda g, x: g.Relu(x))
        assert types(export(F.silu, x24)) == ["Relu"]
    finally:
        lamella.onnx.register("silu", None)
    assert types(export(F.silu, x24)) == ["Sigmoid", "Mul"]
    with pytest.raises(TypeError, match="name of an operator and a function"):
        lamella.onnx.register("silu", 3)


# ---- files and versions ----------------------------------------------------------------------------------------------


def test_files(tmp_path):
    model = nn.Linear(4, 2)
    made = export(model, x24, tmp_path / "m.onnx")
    file = io.BytesIO()
    export(model, x24, file)
    assert file.getvalue() == made.SerializeToString() == (tmp_path / "m.onnx").read_bytes()
    for _ in range(2):
        export(nn.Linear(40, 50), lamella.ones(1, 40), str(tmp_path / "large.onnx"), external_data=True)
        assert (tmp_path / "large.onnx.data").stat().st_size >= 40 * 50 * 4
    session = onnxruntime.InferenceSession(tmp_path / "large.onnx")
    assert session.run(None, {"input": np.ones((1, 40), "f")})[0].shape == (1, 50)
    with pytest.raises(OnnxExporterError, match="must be a path"):
        export(model, x24, io.BytesIO(), external_data=True)


def test_verbose_prints_the_graph(capsys):
    export(nn.ReLU(), x24, verbose=True)
    assert "Relu" in capsys.readouterr().out


def test_half_precision_types():
    for dtype, kind in ((lamella.float16, onnx.TensorProto.FLOAT16), (lamella.bfloat16, onnx.TensorProto.BFLOAT16)):
        model = nn.Linear(4, 2).to(dtype)
        made = export(model, x24.to(dtype))
        assert made.graph.initializer[0].data_type == kind == made.graph.output[0].type.tensor_type.elem_type
        held = onnx.numpy_helper.to_array(made.graph.initializer[0]).astype("f")
        np.testing.assert_array_equal(held, model.weight.detach().float().numpy())


# ---- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, error, words",
    [
        ({"opset_version": 9}, ValueError, "'opset_version' must be from 18 to 23, got 9"),
        ({"verify": True}, OnnxExporterError, "verify=True has no meaning here.*pass False"),
        ({"colour": 1}, TypeError, "no argument 'colour'"),
        ({"training": True}, TypeError, "'training' must be one of TrainingMode.EVAL"),
        ({"input_names": ["a", "b"]}, ValueError, "'input_names' has 2 names for 1 tensors"),
        ({"output_names": ["a", "b"]}, ValueError, "'output_names' has 2 names for 1 tensors"),
        ({"input_names": ["weight"]}, ValueError, "names of inputs must differ.*weight"),
        ({"output_names": ["input"]}, ValueError, "names of outputs must differ.*input"),
        ({"dynamic_axes": {"z": [0]}}, ValueError, "'dynamic_axes' names 'z'; the inputs are"),
        ({"dynamic_axes": {"input": [2]}}, ValueError, "names dimension 2 of 2"),
        ({"dynamic_axes": {"input": {0: 3}}}, ValueError, "maps dimensions to names, got 0: 3"),
        ({"dynamic_axes": {"input": [0]}, "dynamic_shapes": ({0: "n"},)}, ValueError, "not both"),
        ({"dynamic_shapes": ({0: "n"}, None)}, ValueError, "2 entries for 1 arguments"),
        ({"dynamic_shapes": {"x": None}}, ValueError, "names \\['x'\\]; the arguments are \\['input'\\]"),
    ],
)
def test_bad_arguments(options, error, words):
    with pytest.raises(error, match=words):
        export(nn.Linear(4, 2), x24, **options)


def test_bad_models_and_outputs():
    with pytest.raises(TypeError, match="'model' must be a module or a function, got int"):
        export(3, x24)
    with pytest.raises(TypeError, match="'args' must be a tensor or a tuple of arguments, got int"):
        export(nn.ReLU(), 3)
    with pytest.raises(OnnxExporterError, match="the output 0 is int"):
        export(lambda x: (x.ndim, x), x24)
    with pytest.raises(OnnxExporterError, match="returns no tensor"):
        export(lambda x: None, x24)
    with pytest.raises(OnnxExporterError, match="aten::to.*no dtype float8_e5m2 in ONNX|float8"):
        export(lambda x: x.to(lamella.float8_e5m2), x24)


def test_a_part_of_a_composite_names_both():
    with pytest.raises(
        UnsupportedOperatorError, match=r"aten::nonzero \(a part of aten::masked_select\).*masked_select'"
    ):
        export(lambda x: x.masked_select(x > 0), x24)


def test_nothing_is_imported_before_the_first_use():
    text = (
        "import sys, lamella; print([m for m in sys.modules if m.partition('.')[0] == 'onnx' or 'onnx.exporter' in m])"
    )
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert "onnx" not in found.stdout


def test_without_the_package_the_error_says_how_to_install_it():
    text = """
        import sys, lamella
        sys.modules["onnx"] = None
        try:
            lamella.onnx.export(lamella.nn.ReLU(), lamella.ones(1))
        except ImportError as error:
            print(error)
    """
    program = "\n".join(line[8:] for line in text.splitlines())
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == (
        "lamella.onnx.export needs the package onnx, which is not installed here; install it by: "
        'python -m pip install "lamella[onnx]"\n'
    )


def test_a_program_for_torch(tmp_path):
    (tmp_path / "main.py").write_text("""
import torch
import torch.onnx
from torch.onnx import errors

model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Softmax(dim=1))
torch.onnx.export(
    model, torch.randn(1, 4), "model.onnx", export_params=True, opset_version=18, do_constant_folding=True,
    input_names=["input"], output_names=["output"], dynamic_axes={"input": {0: "batch"}, "output": {0: "batch"}},
    training=torch.onnx.TrainingMode.EVAL, dynamo=False, verbose=False,
)
x = torch.arange(8.0).reshape(2, 4)
torch.save((x, model(x).detach()), "values.pt")
assert issubclass(errors.UnsupportedOperatorError, torch.onnx.OnnxExporterError)
""")
    subprocess.run([sys.executable, "-m", "lamella", "run", "main.py"], cwd=tmp_path, check=True)
    x, wanted = lamella.load(tmp_path / "values.pt")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    assert session.get_inputs()[0].shape == ["batch", 4]
    same(session.run(["output"], {"input": x.numpy()}), [wanted.numpy()])
