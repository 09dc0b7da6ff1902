"""Multi-head attention and transformers equal formulas over numpy, and each other."""

import lamella
import lamella.nn.functional as F
import numpy as np
import pytest
from arrays import numbers
from lamella import nn
from lamella.autograd import gradcheck
from lamella.nn.attention import SDPBackend, sdpa_kernel

F64 = lamella.float64
INF = float("inf")


def softmax(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def heads_apart(q, k, v, heads, mask=None):
    """Computes attention of projected (length, batch, features): the heads' results side by side, and weights."""
    n, batch, width = q.shape[0], q.shape[1], q.shape[2] // heads
    q, k, v = (x.reshape(len(x), batch, heads, width).transpose(1, 2, 0, 3) for x in (q, k, v))
    weights = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(width) + (0 if mask is None else mask))
    return (weights @ v).transpose(2, 0, 1, 3).reshape(n, batch, -1), weights


def close(got, want):
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-9, atol=1e-11)


def by_formula(m, q, k, v, mask=None):
    """Returns the module's results, and the weights of each head."""
    arrays = {name: p.detach().numpy() for name, p in m.named_parameters()}
    if "in_proj_weight" in arrays:
        w = np.split(arrays["in_proj_weight"], 3)
    else:
        w = [arrays[f"{c}_proj_weight"] for c in "qkv"]
    b = np.split(arrays["in_proj_bias"], 3) if "in_proj_bias" in arrays else [0, 0, 0]
    q, k, v = (x.numpy() @ u.T + c for x, u, c in zip((q, k, v), w, b, strict=True))
    if "bias_k" in arrays:
        k, v = (np.concatenate([x, np.repeat(arrays[n], x.shape[1], 1)]) for x, n in ((k, "bias_k"), (v, "bias_v")))
    if m.add_zero_attn:
        k, v = (np.concatenate([x, np.zeros_like(x[:1])]) for x in (k, v))
    out, weights = heads_apart(q, k, v, m.num_heads, mask)
    return out @ arrays["out_proj.weight"].T + arrays.get("out_proj.bias", 0), weights


def made(*args, **kwargs):
    lamella.manual_seed(0)
    m = nn.MultiheadAttention(*args, **kwargs, dtype=F64)
    for p in m.parameters():
        if p.ndim == 1:
            nn.init.normal_(p)
    return m


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize(
    "kwargs", [{}, {"bias": False}, {"add_bias_kv": True}, {"add_zero_attn": True}, {"kdim": 3, "vdim": 5}]
)
def test_multihead_attention(kwargs, need_weights):
    m = made(8, 2, **kwargs)
    q, k, v = numbers(4, 3, 8), numbers(6, 3, m.kdim, seed=1), numbers(6, 3, m.vdim, seed=2)
    out, weights = m(q, k, v, need_weights=need_weights, average_attn_weights=False)
    want, of_heads = by_formula(m, q, k, v)
    close(out, want)
    if need_weights:
        close(weights, of_heads)
        close(m(q, k, v)[1], of_heads.mean(1))
    else:
        assert weights is None


@pytest.mark.parametrize("need_weights", [False, True])
def test_one_tensor_in_several_places(need_weights):
    m, x, y = made(8, 2), numbers(4, 3, 8), numbers(5, 3, 8, seed=1)
    close(m(x, x, x, need_weights=need_weights)[0], by_formula(m, x, x, x)[0])
    close(m(x, y, y, need_weights=need_weights)[0], by_formula(m, x, y, y)[0])


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("bools", [False, True])
@pytest.mark.parametrize("add_zero_attn", [False, True])
def test_masks(need_weights, bools, add_zero_attn):
    m, x = made(8, 2, add_zero_attn=add_zero_attn), numbers(4, 3, 8)
    hides = np.triu(np.ones((4, 4), bool), 2)
    pads = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 1]], bool)
    each = np.random.default_rng(1).random((6, 4, 4)) > 0.8
    each[:, :, 0] = False
    for attn, padding in ((hides, None), (None, pads), (hides, pads), (each, pads), (each, None)):
        total = np.zeros((3, 2, 4, 4))
        if attn is not None:
            total = np.where(attn.reshape(-1, 2, 4, 4) if attn.ndim == 3 else attn, -INF, total)
        if padding is not None:
            total = np.where(padding[:, None, None], -INF, total)
        if add_zero_attn:
            total = np.pad(total, [(0, 0)] * 3 + [(0, 1)])
        given = [None if a is None else lamella.tensor(a if bools else np.where(a, -INF, 0.0)) for a in (attn, padding)]
        out, weights = m(x, x, x, given[1], need_weights, given[0], average_attn_weights=False)
        want, of_heads = by_formula(m, x, x, x, total)
        close(out, want)
        if need_weights:
            close(weights, of_heads)


@pytest.mark.parametrize("bools", [False, True])
@pytest.mark.parametrize("by_padding", [False, True])
def test_a_query_from_which_all_is_hidden(bools, by_padding):
    """Its weights are zeros, its result is the bias of the projection, and it gives no gradient; other rows are as they
    are without it."""
    m, given = made(8, 2), numbers(4, 3, 8)
    hides = np.zeros((6, 4, 4), bool)
    hides[2:4] = by_padding  # the second sequence is padding
    hides[:, 1] |= not by_padding  # nothing is visible from the second place
    none = hides.reshape(3, 2, 4, 4).all((1, 3))
    mask = lamella.tensor(hides if bools else np.where(hides, -INF, 0.0))
    padding = lamella.tensor(none if bools else np.where(none, -INF, 0.0)) if by_padding else None
    bias = m.out_proj.bias.detach().numpy()
    want, of_heads = by_formula(m, given, given, given)
    seen = []
    for need_weights in (False, True):
        x = given.clone().requires_grad_()
        m.zero_grad()
        out, weights = m(x, x, x, padding, need_weights, None if by_padding else mask, average_attn_weights=False)
        rows = lamella.tensor(~none.T).unsqueeze(-1)
        close(out, np.where(none.T[..., None], bias, want))
        if need_weights:
            close(weights, np.where(none[:, None, :, None], 0, of_heads))
        (out * out * rows).sum().backward()
        seen.append([x.grad, *(p.grad for p in m.parameters())])
        assert all(g.isfinite().all() for g in seen[-1])
        if by_padding:
            assert (x.grad[:, 1] == 0).all()
    for a, b in zip(*seen, strict=True):
        close(a, b.numpy())
    x = given.clone().requires_grad_()
    m(x, x, x, padding, True, None if by_padding else mask)[0].sum().backward()
    assert x.grad.isfinite().all()


def test_hidden_places_in_an_encoder_layer():
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, dtype=F64)
    x, padding = numbers(4, 3, 8).requires_grad_(), lamella.zeros(3, 4, dtype=lamella.bool)
    padding[1] = True
    for train in (False, True):
        layer.train(train)
        out = layer(x, src_key_padding_mask=padding)
        assert out.isfinite().all()
        close(out[:, [0, 2]], layer(x[:, [0, 2]]).detach().numpy())
        assert lamella.autograd.grad(out.square().sum(), x)[0].isfinite().all()


def test_batch_first_unbatched_and_causal():
    m, first, x = made(8, 2), made(8, 2, batch_first=True), numbers(4, 3, 8)
    first.load_state_dict(m.state_dict())
    out, weights = m(x, x, x)
    y = x.transpose(0, 1)
    close(first(y, y, y)[0].transpose(0, 1), out.detach().numpy())
    one = x[:, 1]
    alone, its_weights = m(one, one, one)
    close(alone, out[:, 1].detach().numpy())
    close(its_weights, weights[1].detach().numpy())
    mask = nn.Transformer.generate_square_subsequent_mask(4, dtype=F64)
    want = by_formula(m, x, x, x, mask.numpy())[0]
    for need_weights in (False, True):
        close(m(x, x, x, None, need_weights, mask, is_causal=True)[0], want)


def test_static_keys_and_values():
    m, x = made(8, 2), numbers(4, 3, 8)
    k, v = numbers(6, 5, 4, seed=1), numbers(6, 5, 4, seed=2)
    out, _ = F.multi_head_attention_forward(
        x, x, x, 8, 2, m.in_proj_weight, m.in_proj_bias, None, None, False, 0.0, m.out_proj.weight, m.out_proj.bias,
        static_k=k, static_v=v,
    )  # fmt: skip
    w, b = m.in_proj_weight[:8].detach().numpy(), m.in_proj_bias[:8].detach().numpy()
    flat = (t.numpy().reshape(3, 2, 5, 4).transpose(2, 0, 1, 3).reshape(5, 3, 8) for t in (k, v))
    want = heads_apart(x.numpy() @ w.T + b, *flat, 2)[0]
    close(out, want @ m.out_proj.weight.detach().numpy().T + m.out_proj.bias.detach().numpy())


def test_dropout_of_weights_in_training():
    m, x = made(8, 2, dropout=1.0), numbers(4, 3, 8)
    for need_weights in (False, True):
        out, _ = m(x, x, x, need_weights=need_weights)
        close(out, np.broadcast_to(m.out_proj.bias.detach().numpy(), (4, 3, 8)))
        close(m.eval()(x, x, x, need_weights=need_weights)[0], by_formula(m, x, x, x)[0])
        m.train()


def test_gradients():
    m = made(4, 2)
    x, y = numbers(3, 2, 4).requires_grad_(), numbers(2, 2, 4, seed=1).requires_grad_()
    parts = (m.in_proj_weight, m.in_proj_bias, m.out_proj.weight, numbers(1, 1, 4), numbers(1, 1, 4, seed=2))
    parts = tuple(t.detach().requires_grad_() for t in parts)
    for need_weights in (False, True):

        def run(x, y, w, b, out, k, v, need_weights=need_weights):
            made, weights = F.multi_head_attention_forward(
                x, y, y, 4, 2, w, b, k, v, False, 0.0, out, None, need_weights=need_weights
            )
            return (made, weights) if need_weights else made

        assert gradcheck(run, (x, y, *parts))
    assert gradcheck(lambda x: m(x, x, x, need_weights=False)[0], (x,))


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"query": lamella.ones(4)}, AssertionError, "query should be unbatched 2D or batched 3D"),
        ({"key": lamella.ones(4, 8)}, AssertionError, "expected `key` and `value` to be 3-D"),
        ({"key": lamella.ones(5, 3, 8)}, AssertionError, "does not match value shape"),
        ({"attn_mask": lamella.ones(4, 5)}, RuntimeError, "The shape of the 2D attn_mask"),
        ({"attn_mask": lamella.ones(3, 4, 4)}, RuntimeError, "The shape of the 3D attn_mask"),
        ({"attn_mask": lamella.ones(4, 4, dtype=lamella.int64)}, AssertionError, "only bool and floating types"),
        ({"key_padding_mask": lamella.ones(3, 5)}, AssertionError, "key_padding_mask"),
        ({"key_padding_mask": lamella.ones(3)}, AssertionError, "`key_padding_mask` to be `None` or 2-D"),
        ({"is_causal": True}, RuntimeError, "Need attn_mask"),
    ],
)
def test_errors_of_attention(change, error, words):
    x = lamella.ones(4, 3, 8)
    with pytest.raises(error, match=words):
        nn.MultiheadAttention(8, 2)(**{"query": x, "key": x, "value": x} | change)


def test_errors_of_sizes():
    with pytest.raises(ValueError, match="must be greater than 0"):
        nn.MultiheadAttention(0, 2)
    with pytest.raises(AssertionError, match="divisible"):
        nn.MultiheadAttention(8, 3)
    with pytest.raises(RuntimeError, match="relu/gelu, not sin"):
        nn.TransformerEncoderLayer(8, 2, activation="sin")
    model = nn.Transformer(8, 2, 1, 1, 16)
    with pytest.raises(RuntimeError, match="batch number"):
        model(lamella.ones(2, 3, 8), lamella.ones(2, 2, 8))
    with pytest.raises(RuntimeError, match="feature number"):
        model(lamella.ones(2, 3, 8), lamella.ones(2, 3, 4))


def test_mismatched_masks_warn():
    m, x = made(8, 2), numbers(4, 3, 8)
    with pytest.warns(UserWarning, match="mismatched key_padding_mask and attn_mask"):
        m(x, x, x, lamella.zeros(3, 4, dtype=lamella.bool), attn_mask=lamella.zeros(4, 4, dtype=F64))


# ---- transformers ----------------------------------------------------------------------------------------------------


def normed(m, x):
    x = x - x.mean(-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + m.eps)
    return x * m.weight.detach().numpy() + (0 if m.bias is None else m.bias.detach().numpy())


def linear(m, x):
    return x @ m.weight.detach().numpy().T + (0 if m.bias is None else m.bias.detach().numpy())


def layer_by_formula(m, x, memory=None, mask=None):
    def attend(part, x, y, mask=None):
        return by_formula(part, *(lamella.tensor(t) for t in (x, y, y)), mask)[0]

    parts = [lambda x: attend(m.self_attn, x, x, mask)]
    if memory is not None:
        parts.append(lambda x: attend(m.multihead_attn, x, memory))
    parts.append(lambda x: linear(m.linear2, np.maximum(linear(m.linear1, x), 0)))
    for i, part in enumerate(parts):
        norm = getattr(m, f"norm{i + 1}")
        x = x + part(normed(norm, x)) if m.norm_first else normed(norm, x + part(x))
    return x


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_layers(norm_first, bias):
    lamella.manual_seed(0)
    kwargs = {"norm_first": norm_first, "bias": bias, "dtype": F64}
    x, memory = numbers(4, 3, 8), numbers(5, 3, 8, seed=1)
    mask = nn.Transformer.generate_square_subsequent_mask(4, dtype=F64)
    encoder = nn.TransformerEncoderLayer(8, 2, 16, **kwargs).eval()
    close(encoder(x), layer_by_formula(encoder, x.numpy()))
    for causal in (False, True):
        close(encoder(x, mask, is_causal=causal), layer_by_formula(encoder, x.numpy(), mask=mask.numpy()))
    decoder = nn.TransformerDecoderLayer(8, 2, 16, **kwargs).eval()
    close(decoder(x, memory, mask), layer_by_formula(decoder, x.numpy(), memory.numpy(), mask.numpy()))


def test_stacks_and_the_whole():
    lamella.manual_seed(0)
    model = nn.Transformer(8, 2, 2, 2, 16, dtype=F64).eval()
    x, y = numbers(4, 3, 8), numbers(5, 3, 8, seed=1)
    mask = model.generate_square_subsequent_mask(5, dtype=F64)
    memory, want = x.numpy(), y.numpy()
    for layer in model.encoder.layers:
        memory = layer_by_formula(layer, memory)
    memory = normed(model.encoder.norm, memory)
    for layer in model.decoder.layers:
        want = layer_by_formula(layer, want, memory, mask.numpy())
    want = normed(model.decoder.norm, want)
    close(model(x, y, tgt_mask=mask), want)
    close(model(x, y, tgt_mask=mask, tgt_is_causal=True), want)
    first = nn.Transformer(8, 2, 2, 2, 16, batch_first=True, dtype=F64).eval()
    first.load_state_dict(model.state_dict())
    close(first(x.transpose(0, 1), y.transpose(0, 1), tgt_mask=mask).transpose(0, 1), want)
    close(model(x[:, 1], y[:, 1], tgt_mask=mask), want[:, 1])


def test_padding_does_not_change_the_rest():
    lamella.manual_seed(0)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dtype=F64), 2).eval()
    x = numbers(4, 1, 8)
    padding = lamella.tensor([[False, False, False, True]])
    close(encoder(x, src_key_padding_mask=padding)[:3], encoder(x[:3]).detach().numpy())


def test_padding_is_left_out_where_nothing_is_recorded():
    """Masked ends of sequences give 0, as with torch's nested tensors; each case breaks a condition for these."""
    lamella.manual_seed(0)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dtype=F64), 2).eval()
    assert encoder.use_nested_tensor
    x, hides = numbers(3, 4, 8), lamella.tensor([[0, 0, 0, 1], [0, 0, 0, 0], [1, 1, 1, 1]]).bool()
    with lamella.no_grad():
        whole = encoder(x)
        got = encoder(x, src_key_padding_mask=hides)
        close(got[1], whole[1].numpy())
        close(got[0, :3], encoder(x[:1, :3])[0].numpy())
        assert (got[hides] == 0).all() and (got[~hides] != 0).any(1).all()
        encoder.norm = nn.LayerNorm(8, dtype=F64)
        with lamella.no_grad():
            encoder.norm.bias.fill_(2)
        assert (encoder(x, src_key_padding_mask=hides)[hides] == 2).all()
        encoder.norm = None

        def stay(**others):
            return (encoder(x[:2], src_key_padding_mask=hides[:2], **others)[hides[:2]] != 0).all()

        assert stay(mask=lamella.zeros(4, 4, dtype=lamella.bool))
        beginning = encoder(x[:1], src_key_padding_mask=hides[:1].flip(1))
        assert (beginning != 0).all()
        encoder.train()
        assert stay()
        encoder.eval()
    assert stay()  # parameters require gradients
    encoder.requires_grad_(False)
    assert not stay()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"batch_first": False}, "batch_first was not True"),
        ({"norm_first": True}, "norm_first was True"),
        ({"bias": False}, "bias=False"),
        ({"activation": F.silu}, "activation_relu_or_gelu"),
        ({"nhead": 1}, "num_heads is odd"),
    ],
)
def test_a_layer_that_cannot_leave_padding_out(changes, words):
    layer = nn.TransformerEncoderLayer(
        **{"d_model": 8, "nhead": 2, "dim_feedforward": 16, "batch_first": True} | changes
    )
    with pytest.warns(UserWarning, match=words):
        assert not nn.TransformerEncoder(layer, 1).use_nested_tensor
    assert not nn.TransformerEncoder(layer, 1, enable_nested_tensor=False).use_nested_tensor


def test_activations_and_copies():
    layer = nn.TransformerEncoderLayer(8, 2, 16, activation="gelu")
    assert layer.activation is F.gelu
    assert layer.activation_relu_or_gelu == 2
    assert nn.TransformerEncoderLayer(8, 2, 16, activation=nn.ReLU()).activation_relu_or_gelu == 1
    assert nn.TransformerEncoderLayer(8, 2, 16, activation=F.silu).activation_relu_or_gelu == 0
    stack = nn.TransformerEncoder(layer, 2)
    assert stack.layers[0] is not layer
    assert len({id(p) for p in stack.parameters()}) == 2 * len(list(layer.parameters()))


def test_training_reaches_every_parameter():
    lamella.manual_seed(0)
    model = nn.Transformer(8, 2, 1, 1, 16)
    model(lamella.randn(4, 3, 8), lamella.randn(5, 3, 8)).square().sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def test_any_way_to_attend_is_taken():
    x = numbers(2, 3, 4)
    want = F.scaled_dot_product_attention(x, x, x).numpy()
    for ways in (SDPBackend.MATH, [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION]):
        with sdpa_kernel(ways, set_priority=True):
            close(F.scaled_dot_product_attention(x, x, x), want)
    with pytest.warns(FutureWarning, match="sdpa_kernel"), lamella.backends.cuda.sdp_kernel(enable_math=False):
        close(F.scaled_dot_product_attention(x, x, x), want)
    with pytest.raises(AssertionError, match="'backends'"), sdpa_kernel(3):
        pass
