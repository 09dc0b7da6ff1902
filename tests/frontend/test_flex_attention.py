"""nn.attention.flex_attention and nn.attention.bias against numpy: values, masks of blocks, gradients, bad input."""

import math

import lamella
import numpy as np
import pytest
from lamella.nn.attention import bias as biases
from lamella.nn.attention import flex_attention as flex

F = lamella.nn.functional


def attention(q, k, v, score=None, mask=None, scale=None):
    """Returns attention by loops over batches and heads, and the logarithms of the sums of exponentials, with numpy."""
    b, h, n, width = q.shape
    k, v = (np.broadcast_to(np.repeat(t, h // t.shape[1], axis=1), (b, h, *t.shape[2:])) for t in (k, v))
    out, lse = np.zeros((b, h, n, v.shape[-1])), np.full((b, h, n), -np.inf)
    scale = 1 / math.sqrt(width) if scale is None else scale
    for i in range(b):
        for j in range(h):
            for x in range(n):
                seen = [y for y in range(k.shape[2]) if mask is None or mask(i, j, x, y)]
                scores = [scale * (q[i, j, x] @ k[i, j, y]) for y in seen]
                if score is not None:
                    scores = [score(s, i, j, x, y) for s, y in zip(scores, seen, strict=True)]
                if seen:
                    top = max(scores)
                    weights = np.exp(np.array(scores) - top)
                    lse[i, j, x] = top + math.log(weights.sum())
                    out[i, j, x] = (weights / weights.sum()) @ v[i, j, seen]
    return out, lse


def drawn(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


Q, K, V = drawn(0, 2, 4, 7, 6), drawn(1, 2, 4, 9, 6), drawn(2, 2, 4, 9, 5)
TABLE = drawn(3, 4, 20)
SCORES = {
    "none": (None, None),
    "distance": (
        lambda s, b, h, q, k: s - 0.25 * (q - k).abs() * (h + 1),
        lambda s, b, h, q, k: s - 0.25 * abs(q - k) * (h + 1),
    ),
    "table": (
        lambda s, b, h, q, k: s + lamella.tensor(TABLE)[h, q - k + 9],
        lambda s, b, h, q, k: s + TABLE[h, q - k + 9],
    ),
    "cap": (lambda s, b, h, q, k: 2 * lamella.tanh(s / 2), lambda s, b, h, q, k: 2 * math.tanh(s / 2)),
    "batch": (lambda s, b, h, q, k: lamella.where(b == 0, s, -s), lambda s, b, h, q, k: s if b == 0 else -s),
}  # fmt: skip
MASKS = {
    "none": None,
    "causal": lambda b, h, q, k: q >= k,
    "window": lambda b, h, q, k: (q - k < 3) & (k - q < 2),
    "heads": lambda b, h, q, k: (q + h) % 2 == k % 2,
    "nothing for some": lambda b, h, q, k: q > k + 2,
}


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("mask", MASKS)
def test_values(score, mask):
    ours, theirs = SCORES[score]
    made = MASKS[mask] and flex.create_block_mask(MASKS[mask], 2, 4, 7, 9, BLOCK_SIZE=(2, 4))
    q, k, v = map(lamella.tensor, (Q, K, V))
    want, lse = attention(Q, K, V, theirs, MASKS[mask], 0.4)
    np.testing.assert_allclose(flex.flex_attention(q, k, v, ours, made, 0.4).numpy(), want, atol=1e-12)
    aux = flex.AuxRequest(lse=True, max_scores=True)
    out, more = flex.flex_attention(q, k, v, ours, made, 0.4, return_aux=aux)
    np.testing.assert_allclose(out.numpy(), want, atol=1e-12)
    np.testing.assert_allclose(more.lse.numpy(), lse, atol=1e-12)
    assert (more.max_scores <= more.lse + 1e-12).all()


@pytest.mark.parametrize("dtype, places", [(lamella.float32, 1e-5), (lamella.bfloat16, 2e-2), (lamella.float16, 3e-3)])
def test_dtypes(dtype, places):
    q, k, v = (lamella.tensor(x).to(dtype) for x in (Q, K, V))
    out = flex.flex_attention(q, k, v, SCORES["distance"][0])
    assert out.dtype is dtype
    want = attention(*(x.to(lamella.float64).numpy() for x in (q, k, v)), SCORES["distance"][1])[0]
    np.testing.assert_allclose(out.to(lamella.float64).numpy(), want, atol=places)


def test_shared_heads_and_one_batch_of_keys():
    q, k, v = lamella.tensor(Q), lamella.tensor(K[:1, :2]), lamella.tensor(V[:1, :2])
    want, lse = attention(Q, K[:1, :2], V[:1, :2], mask=MASKS["causal"])
    mask = flex.create_block_mask(MASKS["causal"], None, None, 7, 9)
    np.testing.assert_allclose(flex.flex_attention(q, k, v, block_mask=mask, enable_gqa=True).numpy(), want, atol=1e-12)
    with pytest.warns(FutureWarning, match="return_lse is deprecated"):
        out, got = flex.flex_attention(q, k, v, block_mask=mask, enable_gqa=True, return_lse=True)
    np.testing.assert_allclose(out.numpy(), want, atol=1e-12)
    np.testing.assert_allclose(got.numpy(), lse, atol=1e-12)


@pytest.mark.needs("autograd")
@pytest.mark.parametrize("mask", ["none", "window", "nothing for some"])
def test_gradients(mask):
    """Finite differences, for the arguments and for a tensor that the function of scores reads, of both orders."""
    made = MASKS[mask] and flex.create_block_mask(MASKS[mask], None, None, 3, 4, BLOCK_SIZE=2)
    q, k, v = (lamella.tensor(drawn(i, 1, 2, n, 3), requires_grad=True) for i, n in enumerate((3, 4, 4)))
    table = lamella.tensor(drawn(5, 2, 9), requires_grad=True)

    def run(q, k, v, table):
        aux = flex.AuxRequest(lse=True)
        out, more = flex.flex_attention(
            q, k, v, lambda s, b, h, i, j: s * 2 + table[h, i - j + 4], made, return_aux=aux
        )
        return out, more.lse[more.lse > -math.inf]

    assert lamella.autograd.gradcheck(run, (q, k, v, table))
    assert lamella.autograd.gradgradcheck(lambda *a: run(*a)[0], (q, k, v, table))
    assert lamella.autograd.gradcheck(lambda *a: flex.flex_attention(*a, block_mask=made), (q, k, v))


@pytest.mark.parametrize("lengths, block", [((7, 9), (2, 4)), ((256, 256), 128), ((5, 5), 1), ((3, 8), 16)])
@pytest.mark.parametrize("mask", [m for m in MASKS if m != "none"])
def test_lists_of_blocks(lengths, block, mask):
    made = flex.create_block_mask(MASKS[mask], 2, 3, *lengths, BLOCK_SIZE=block)
    high, wide = made.BLOCK_SIZE
    at = np.indices((2, 3, *lengths))
    elements = np.broadcast_to(MASKS[mask](*at), (2, 3, *lengths))
    rows, columns = -(-lengths[0] // high), -(-lengths[1] // wide)
    padded = np.zeros((2, 3, rows * high, columns * wide), dtype=bool)
    padded[..., : lengths[0], : lengths[1]] = elements
    counts = padded.reshape(2, 3, rows, high, columns, wide).sum(axis=(3, 5))
    assert made.to_dense().tolist() == (counts > 0).astype(int).tolist() and made.shape == (2, 3, *lengths)
    for numbers, indices, chosen in [
        (made.kv_num_blocks, made.kv_indices, (counts > 0) & (counts < high * wide)),
        (made.full_kv_num_blocks, made.full_kv_indices, counts == high * wide),
        (made.q_num_blocks, made.q_indices, ((counts > 0) & (counts < high * wide)).swapaxes(2, 3)),
        (made.full_q_num_blocks, made.full_q_indices, (counts == high * wide).swapaxes(2, 3)),
    ]:
        assert numbers.tolist() == chosen.sum(axis=-1).tolist()
        for place in np.ndindex(*chosen.shape[:3]):
            used = indices[place][: int(numbers[place])].tolist()
            assert used == np.flatnonzero(chosen[place]).tolist()
    np.testing.assert_array_equal(made.elements(2, 3, *lengths).numpy(), elements)
    whole = flex.create_block_mask(MASKS[mask], 2, 3, *lengths, BLOCK_SIZE=block, separate_full_blocks=False)
    assert whole.full_kv_indices is None and whole.to_dense().tolist() == made.to_dense().tolist()


def test_a_mask_of_lists_alone():
    numbers = lamella.tensor([[[1, 2, 0]]], dtype=lamella.int32)
    indices = lamella.tensor([[[[1, 0], [0, 1], [0, 1]]]], dtype=lamella.int32)
    mask = flex.BlockMask.from_kv_blocks(numbers, indices, BLOCK_SIZE=(2, 3))
    assert mask.shape == (1, 1, 6, 6) and mask.to_dense()[0, 0].tolist() == [[0, 1], [1, 1], [0, 0]]
    assert (
        mask.sparsity() == 50 and mask.numel() == 36 and len(mask.as_tuple()) == 13 and len(mask.as_tuple(False)) == 11
    )
    x = drawn(0, 1, 1, 6, 4)
    dense = np.kron([[0, 1], [1, 1], [0, 0]], np.ones((2, 3))).astype(bool)
    want = attention(x, x, x, mask=lambda b, h, q, k: dense[q, k])[0]
    np.testing.assert_allclose(flex.flex_attention(*[lamella.tensor(x)] * 3, block_mask=mask).numpy(), want, atol=1e-12)


def test_parts_and_pictures():
    mask = flex.create_block_mask(MASKS["heads"], 2, 3, 4, 4, BLOCK_SIZE=2)
    assert mask[0].shape == (1, 3, 4, 4) and mask[:, 1:].shape == (2, 2, 4, 4) and mask[-1, -1].shape == (1, 1, 4, 4)
    assert mask.to("meta").kv_indices.is_meta and "mask_mod=<lambda>" in repr(mask)
    causal = flex.create_block_mask(MASKS["causal"], None, None, 6, 6, BLOCK_SIZE=2)
    assert causal.to_string() == "(0, 0)\n██    \n████  \n██████" and "sparsity=33.33%" in str(causal)
    assert len(causal.to_string(2).splitlines()) == 3


def test_masks_together():
    both = flex.and_masks(MASKS["causal"], MASKS["window"])
    either = flex.or_masks(MASKS["causal"], MASKS["window"])
    q, k = np.indices((6, 6))
    for made, want in [
        (both, (q >= k) & (q - k < 3)),
        (either, (q >= k) | (k - q < 2)),
        (flex.noop_mask, np.ones((6, 6), bool)),
        (flex.and_masks(), np.ones((6, 6), bool)),
        (flex.or_masks(), np.zeros((6, 6), bool)),
    ]:
        assert flex.create_mask(made, 2, None, 6, 6)[1, 0].tolist() == want.tolist()
    with pytest.raises(RuntimeError, match="and_masks: expected functions of batch"):
        flex.and_masks(3)
    scores = flex.create_mask(lambda s, b, h, q, k: s + q - k, None, None, 2, 3)
    assert scores.tolist() == [[[[0, -1, -2], [1, 0, -1]]]]


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda q: flex.flex_attention(q[0], q, q), NotImplementedError, "four dimensions"),
        (lambda q: flex.flex_attention(q, q.double(), q), ValueError, "dtypes must be equal"),
        (lambda q: flex.flex_attention(q.long(), q.long(), q.long()), ValueError, "must be a floating one"),
        (lambda q: flex.flex_attention(q, q[..., :2], q), ValueError, "one width"),
        (lambda q: flex.flex_attention(q, q, q[:, :, :2]), ValueError, "key and value equal other sizes"),
        (lambda q: flex.flex_attention(q, q[:, :1], q[:, :1]), ValueError, "pass enable_gqa=True"),
        (lambda q: flex.flex_attention(q[:, :3], q[:, :2], q[:, :2], enable_gqa=True), ValueError, "a multiple of"),
        (lambda q: flex.flex_attention(q.repeat(3, 1, 1, 1), q.repeat(2, 1, 1, 1), q.repeat(2, 1, 1, 1)), ValueError,
         "batches, or one"),
        (lambda q: flex.flex_attention(q, q, q, block_mask=flex.create_block_mask(MASKS["causal"], 1, 1, 4, 4)),
         ValueError, "make one for these lengths"),
        (lambda q: flex.flex_attention(q, q, q, block_mask=flex.create_block_mask(MASKS["causal"], 1, 3, 5, 5)),
         ValueError, "batches and heads must be 1"),
        (lambda q: flex.flex_attention(q, q, q, lambda s, b, h, i, j: s[..., :2]), ValueError, "does not broadcast"),
        (lambda q: flex.flex_attention(q, q, q, lambda s, b, h, i, j: s + lamella.ones(9, 9)[i][..., j]), ValueError,
         r"as table\[b, q\]"),
        (lambda q: flex.flex_attention(q, q, q, return_lse=True, return_aux=flex.AuxRequest()), ValueError, "exclude"),
        (lambda q: flex.create_mask(lambda b: b, 1, 1, 3, 3), AssertionError, "takes 1 arguments"),
        (lambda q: flex.create_block_mask(MASKS["causal"], 1, 1, 4, 4, BLOCK_SIZE=0), ValueError, "'BLOCK_SIZE'"),
    ],
)  # fmt: skip
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call(lamella.ones(1, 4, 5, 3))


def test_no_keys_and_no_queries():
    empty = lamella.ones(1, 1, 0, 4)
    some = lamella.ones(1, 1, 3, 4)
    assert flex.flex_attention(empty, some, some).shape == (1, 1, 0, 4)
    out, aux = flex.flex_attention(some, empty, empty, return_aux=flex.AuxRequest(lse=True))
    assert not out.any() and aux.lse.tolist() == [[[-math.inf] * 3]]


class TestCausalBias:
    @pytest.mark.parametrize("sizes", [(3, 5), (5, 3), (4, 4)])
    @pytest.mark.parametrize("make, shift", [(biases.causal_upper_left, 0), (biases.causal_lower_right, 1)])
    def test_values(self, sizes, make, shift):
        n, m = sizes
        q, k = drawn(0, 1, 2, n, 4), drawn(1, 1, 2, m, 4)
        mask = make(n, m)
        want = attention(q, k, k, mask=lambda b, h, x, y: y <= x + shift * (m - n))[0]
        out = F.scaled_dot_product_attention(lamella.tensor(q), lamella.tensor(k), lamella.tensor(k), attn_mask=mask)
        np.testing.assert_allclose(out.numpy(), want, atol=1e-12)
        assert mask._materialize().tolist() == np.tri(n, m, shift * (m - n), dtype=bool).tolist()

    @pytest.mark.needs("autograd")
    def test_gradients(self):
        q, k = (lamella.tensor(drawn(i, 1, 1, n, 2), requires_grad=True) for i, n in enumerate((2, 3)))
        mask = biases.causal_lower_right(2, 3)
        assert lamella.autograd.gradcheck(lambda q, k: F.scaled_dot_product_attention(q, k, k, mask, 0.0), (q, k))

    def test_bad_calls(self):
        q, mask = lamella.ones(1, 1, 3, 2), biases.causal_lower_right(3, 5)
        with pytest.raises(ValueError, match="of 3 queries and 5 keys, and query and key have 3 and 3"):
            F.scaled_dot_product_attention(q, q, q, attn_mask=mask)
        with pytest.raises(ValueError, match="is_causal must be False"):
            F.scaled_dot_product_attention(q, q, q, attn_mask=mask, is_causal=True)
        with pytest.raises(NotImplementedError, match="a mask of scaled_dot_product_attention"):
            mask + 1
        with pytest.raises(AssertionError, match="expected two sizes"):
            biases.causal_upper_left(3)
        with pytest.raises(AssertionError, match="must be a CausalVariant"):
            biases.CausalBias(1, 2, 3)
        assert repr(mask) == "CausalBias(LOWER_RIGHT, seq_len_q=3, seq_len_kv=5)" and isinstance(mask, lamella.Tensor)
