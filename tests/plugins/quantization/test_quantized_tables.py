"""Embeddings and bags of quantized tables, beside integer references."""

import lamella
import lamella.nn.functional as F
import numpy as np
import pytest
from lamella import nn
from references import plain, refused
from test_quantized_tensors import DEVICE, here, pair

pytestmark = pytest.mark.needs("autograd", "quantization")
quantization = lamella.quantization
TABLES = [("int8", "tensor", None), ("int8", "channel", None), ("uint4", "group", 4), ("int4", "group", 4)]


@pytest.mark.parametrize("type", ["int8", "int4", "uint4"])
def test_embeddings(type):
    at = np.array([[3, 0], [9, 3]])
    for scheme, group in (("tensor", None), ("channel", None), ("group", 4)):
        axis = 1 if group else 0
        q, a = pair((10, 12), type, scheme, axis, group)
        with quantization.strict():
            plain(F.embedding(here(at), q), a.values()[at])
            plain(F.embedding(here(at[:0]), q), a.values()[at[:0]])
    with refused("embedding", "'weight'", "layout", error=NotImplementedError):
        F.embedding(here(at), q.t())


def bags_of(rows, at, starts, ends, mode, padding):
    """Returns the bags by numpy."""
    made = np.zeros((len(starts), rows.shape[1]), np.float32)
    for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
        some = [rows[k] for k in at[start:end] if k != padding]
        if some:
            made[i] = getattr(np, mode)(np.array(some, np.float64), 0)
    return made


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("type, scheme, group", TABLES)
def test_bags(type, scheme, group, mode):
    """Sums, means and largest elements, with empty bags, rows that are not counted, and an end of the last bag."""
    q, a = pair((10, 12), type, scheme, 1 if group else 0, group)
    at, starts = np.array([3, 0, 9, 3, 5, 5, 2]), np.array([0, 3, 3, 5])
    whole = [*starts[1:], len(at)]
    with quantization.strict(), quantization.trace() as calls:
        for padding in (None, 3, -1):
            wanted = bags_of(a.values(), at, starts, whole, mode, None if padding is None else padding % 10)
            made = F.embedding_bag(here(at), q, here(starts), mode=mode, padding_idx=padding)
            np.testing.assert_allclose(made.cpu().numpy(), wanted, 1e-6, 1e-6)
        made = F.embedding_bag(here(at), q, here(np.append(starts, 7)), mode=mode, include_last_offset=True)
        np.testing.assert_allclose(made.cpu().numpy(), bags_of(a.values(), at, starts, whole, mode, None), 1e-6, 1e-6)
        assert F.embedding_bag(here(at[:0]), q, here(at[:0]), mode=mode).shape == (0, 12)
    assert {c.operator for c in calls} == {"aten::embedding_bag"}


def test_tables_of_a_numeric_type_of_a_package():
    """Rows and bags of codes that a package decodes, with scales by row and by groups."""
    tens = quantization.register_type(
        "tens", bits=4, largest=1.0, encode=lambda x: (x > 0).to(lamella.uint8), decode=lambda codes: codes.float() * 10
    )
    try:
        x = lamella.randn(10, 8)
        for q in (quantization.quantize(x, "tens", axis=0), quantization.quantize(x, "tens", group_size=4)):
            at, starts = lamella.tensor([3, 0, 9, 3]), lamella.tensor([0, 1])
            assert F.embedding(at, q).equal(q.dequantize()[at])
            assert F.embedding_bag(at, q, starts, mode="sum").equal(
                F.embedding_bag(at, q.dequantize(), starts, mode="sum")
            )
    finally:
        tens.close()


def test_the_parts_of_bags_are_those_of_plain_tables():
    q, _ = pair((10, 12), "int8", "channel", 0)
    at, starts = here(np.array([3, 0, 9, 3, 5])), here(np.array([0, 2, 2]))
    for mode in range(3):
        for more in ((), (None,), (3,)):
            arguments = (at, starts, False, mode, False, None, False, *more)
            plain_parts = lamella.embedding_bag(q.dequantize(), *arguments)
            for x, y in zip(lamella.embedding_bag(q, *arguments), plain_parts, strict=True):
                assert x.equal(y) and x.dtype is y.dtype


def test_weights_of_samples_get_gradients():
    q, a = pair((10, 12), "int8", "channel", 0)
    at, by = here(np.array([3, 0, 9])), here(np.ones(3, np.float32)).requires_grad_()
    F.embedding_bag(at, q, here(np.array([0, 2])), mode="sum", per_sample_weights=by).sum().backward()
    np.testing.assert_allclose(by.grad.cpu().numpy(), a.values()[[3, 0, 9]].sum(1), 1e-5, 1e-5)


def test_page_locked_memory():
    q = pair((10, 12), "int8", "channel", 0)[0].cpu()
    if DEVICE == "cpu":
        with refused("pin_memory", "no loaded device pins"):
            q.pin_memory()
        return
    for t in (q, q[2:, ::3]):
        pinned = t.pin_memory()
        assert pinned.is_pinned() and pinned.pin_memory() is pinned
        assert pinned.is_quantized and pinned.dequantize().equal(t.dequantize())


def test_wrong_arguments_of_bags():
    q, _ = pair((10, 12), "int8", "channel", 0)
    at, starts = here(np.array([3, 0, 9])), here(np.array([0, 2]))
    with refused("padding_idx", "10 is out of range for 10 rows"):
        lamella.embedding_bag(q, at, starts, False, 0, False, None, False, 10)
    with refused("embedding_bag", "'indices'", "a vector"):
        lamella.embedding_bag(q, at[None], starts)
    with refused("embedding_bag", "'per_sample_weights' is quantized", error=NotImplementedError):
        lamella.embedding_bag(q.dequantize(), at, starts, per_sample_weights=q[0, :3])


def test_a_module_of_bags(tmp_path):
    bags = nn.EmbeddingBag(10, 64, mode="sum", padding_idx=2)
    at, starts = lamella.tensor([3, 0, 2, 9]), lamella.tensor([0, 2])
    for config in (quantization.Int8WeightOnly(), quantization.Int4WeightOnly()):
        model = nn.Sequential(nn.EmbeddingBag(10, 64, mode="sum", padding_idx=2))
        model[0].load_state_dict(bags.state_dict())
        made = quantization.quantize_(model, config)[0]
        wanted = F.embedding_bag(at, made.weight.dequantize(), starts, mode="sum", padding_idx=2)
        np.testing.assert_allclose(made(at, starts).numpy(), wanted.numpy(), 1e-6, 1e-6)
        assert "mode='sum'" in repr(made) and "QuantizedEmbeddingBag(10, 64, weight=int" in repr(made)
        lamella.save(made.state_dict(), tmp_path / "bags")
        made.load_state_dict(lamella.load(tmp_path / "bags"))
    for kind in (nn.Embedding, nn.EmbeddingBag):
        model = nn.Sequential(kind(10, 64, max_norm=1.0))
        with refused("layer '0'", "max_norm=1.0", error=ValueError):
            quantization.quantize_(model, quantization.Int8WeightOnly())
        assert type(model[0]) is kind
