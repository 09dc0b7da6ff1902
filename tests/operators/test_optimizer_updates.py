"""The optimizers' updates equal their formulas in numpy, with the cpu's kernels and with composites alone."""

import lamella
import numpy as np
import pytest
from oracles.updates import step

RATES = dict(lr=0.05, weight_decay=0.1)
BETAS = dict(beta1=0.8, beta2=0.95)


PLAIN = dict(momentum=0.9, dampening=0.2, nesterov=False, is_first_step=True)
ADAM = dict(**RATES, **BETAS, eps=1e-3, amsgrad=False)
MEAN = dict(**RATES, alpha=0.9, eps=1e-3, momentum=0.0, centered=False)
NADAM = dict(**RATES, **BETAS, momentum_decay=0.01, eps=1e-3, decoupled_weight_decay=False)
RADAM = dict(**RATES, **BETAS, eps=1e-3, decoupled_weight_decay=False)
# name: initial values of the lists of state, and of the lists of numbers, whether there are steps, options
CASES = {
    "sgd plain": ([None], [], False, dict(**RATES, **PLAIN, maximize=False) | dict(momentum=0.0)),
    "sgd": ([0], [], False, dict(**RATES, **PLAIN)),
    "sgd nesterov": ([0], [], False, dict(**RATES, **PLAIN) | dict(nesterov=True, dampening=0.0)),
    "adam": ([0, 0, None], [], True, ADAM),
    "adam amsgrad": ([0, 0, 0], [], True, ADAM | dict(amsgrad=True, weight_decay=0.0)),
    "adamw": ([0, 0, None], [], True, ADAM),
    "adagrad": ([0.1], [], True, dict(**RATES, lr_decay=0.1, eps=1e-3)),
    "adadelta": ([0, 0], [], False, dict(**RATES, rho=0.9, eps=1e-3)),
    "adamax": ([0, 0], [], True, dict(**RATES, **BETAS, eps=1e-3)),
    "nadam": ([0, 0], [1], True, NADAM),
    "nadam decoupled": ([0, 0], [1], True, NADAM | dict(decoupled_weight_decay=True)),
    "radam": ([0, 0], [], True, RADAM),
    "radam decoupled": ([0, 0], [], True, RADAM | dict(decoupled_weight_decay=True)),
    "asgd": ([0], [1, 0.05], True, dict(**RATES, lambd=0.01, t0=2.0, alpha=0.75)),
    "rprop": (
        [0, 0.1],
        [],
        False,
        dict(etaminus=0.5, etaplus=1.25, step_size_min=1e-3, step_size_max=0.2),
    ),
    "rmsprop": ([0, None, None], [], False, MEAN),
    "rmsprop centered": ([0, 0, 0], [], False, MEAN | dict(centered=True, momentum=0.5)),
}
SHAPES = [(3, 4), (), (0, 2), (37,), (2, 3, 2)]
STEPS = 7
LIMITS = {"float64": 1e-6, "float32": 2e-5, "bfloat16": 0.15, "float16": 0.02}


def laid(array, dtype, layout):
    """Returns the array as a tensor, in one of several layouts."""
    x = lamella.tensor(np.asarray(array)).to(getattr(lamella, dtype))
    if layout == "permuted" and x.dim() > 1:
        return x.permute(*reversed(range(x.dim()))).contiguous().permute(*reversed(range(x.dim())))
    if layout == "gaps" and x.dim() > 0:
        wide = lamella.zeros(*x.shape[:-1], 2 * x.shape[-1], dtype=x.dtype)
        wide[..., ::2].copy_(x)
        return wide[..., ::2]
    return x


def updated(case, dtype, layout="plain", maximize=False, scale=None, device="cpu"):
    """Returns parameters after some steps by the operator and by the formula, and the last step's gradients."""
    states, numbers, counts, options = CASES[case]
    options = options | dict(maximize=maximize)
    name, rng = case.split()[0], np.random.default_rng(5)
    dtypes = [dtype] * len(SHAPES) if dtype != "mixed" else ["float64", "float32", "bfloat16", "float32", "float64"]
    wanted = [rng.standard_normal(s) for s in SHAPES]
    own = [[np.full(s, k if k is not None else 0.0) for k in states] + list(map(float, numbers)) for s in SHAPES]

    def put(x, i):
        return laid(x, dtypes[i], layout).to(device)

    w = [put(x, i) for i, x in enumerate(wanted)]
    lists = [[] if k is None else [put(np.full(s, k), i) for i, s in enumerate(SHAPES)] for k in states]
    lists += [[lamella.tensor(float(k)) for _ in SHAPES] for k in numbers]
    for t in range(1, STEPS + 1):
        grads = [rng.standard_normal(s) for s in SHAPES]
        g = [put(x * (scale or 1), i) for i, x in enumerate(grads)]
        steps = [[lamella.tensor(float(t)) for _ in SHAPES]] if counts else []
        more = {} if scale is None else dict(grad_scale=lamella.tensor(float(scale)).to(device))
        if "is_first_step" in options:
            options["is_first_step"] = t == 1
        getattr(lamella, f"_fused_{name}_")(w, g, *lists, *steps, **options, **more)
        for i, x in enumerate(grads):
            wanted[i] = step(name, wanted[i], x, own[i], t, options)
    return w, wanted, g, grads


def check(case, dtype="float32", **how):
    w, wanted, g, grads = updated(case, dtype, **how)
    for got, want in zip(w + g, wanted + grads if how.get("scale") else wanted, strict=False):
        limit = LIMITS[str(got.dtype).rpartition(".")[2]]
        got = got.to("cpu").to(lamella.float64).numpy()
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=limit, atol=limit)


@pytest.fixture(params=["kernel", "composite"])
def way(request):
    if request.param == "kernel":
        yield
        return
    names = [n for n, kind in lamella._C._support("cpu") if n.startswith("aten::_fused_") and kind == "native"]
    names = [n for n in names if n.partition(".")[0].endswith("_")]
    assert len(names) == 24  # 11, 10 with a rate in a tensor, 3 with all their options
    with lamella.library.kernels_disabled(names, "cpu"):
        yield


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "mixed"])
def test_values(case, dtype, way):
    check(case, dtype)


@pytest.mark.parametrize("case", [c for c in CASES if not c.startswith("rprop")])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision(case, dtype):
    check(case, dtype)


@pytest.mark.parametrize("layout", ["permuted", "gaps"])
@pytest.mark.parametrize("case", ["sgd", "adam amsgrad", "rmsprop centered", "nadam"])
def test_what_does_not_lie_plainly(case, layout, way):
    check(case, layout=layout)


@pytest.mark.parametrize("case", CASES)
def test_uphill_with_scaled_gradients(case, way):
    check(case, maximize=True, scale=4)


ADAM_OPTIONS = dict(lr=0.1, beta1=0.9, beta2=0.99, weight_decay=0.0, eps=1e-8, amsgrad=False, maximize=False)


def adam_lists(n=2, **options):
    lists = [[fill(3) for _ in range(n)] for fill in (lamella.ones, lamella.ones, lamella.zeros, lamella.zeros)]
    return lists, [lamella.tensor(1.0) for _ in range(n)], ADAM_OPTIONS | options


def test_nothing_is_changed_where_infinities_were_found(way):
    lists, steps, options = adam_lists()
    lamella._fused_adam_(*lists, [], steps, **options, found_inf=lamella.tensor(1.0))
    assert [x.tolist() for x in lists[0] + lists[2]] == [[1] * 3] * 2 + [[0] * 3] * 2
    lamella._fused_adam_(*lists, [], steps, **options, found_inf=lamella.tensor(0.0))
    assert lists[0][0].tolist() != [1] * 3


def test_a_rate_in_a_tensor(way):
    (one, two), both = (adam_lists() for _ in range(2)), []
    for (lists, steps, options), rate in ((one, 0.1), (two, lamella.tensor(0.1, dtype=lamella.float64))):
        lamella._fused_adam_(*lists, [], steps, **options | dict(lr=rate))
        both.append(lists[0][1].tolist())
    assert both[0] == both[1]


def test_a_large_list_shared_among_threads():
    """The lists' sizes lie on both sides of one thread's share, with odd ends; the threads do not change the bits."""
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(n).astype("float32") for n in (1, 70001, 3, 0, 40000, 17)]
    made, before = [], lamella.get_num_threads()
    try:
        for threads in (1, 2):
            lamella.set_num_threads(threads)
            w, g, m, v = ([lamella.tensor(a) for a in arrays] for _ in range(4))
            v = [x.abs() for x in v]
            lamella._fused_adam_(w, g, m, v, [], [lamella.tensor(3.0) for _ in w], **ADAM_OPTIONS)
            made.append([x.numpy() for x in w])
    finally:
        lamella.set_num_threads(before)
    assert all((x == y).all() for x, y in zip(*made, strict=True))
    m, v = arrays[1], np.abs(arrays[1])
    m, v = m + 0.1 * (arrays[1] - m), 0.99 * v + 0.01 * arrays[1] ** 2
    wanted = arrays[1] - 0.1 * m / (1 - 0.9**3) / (np.sqrt(v / (1 - 0.99**3)) + 1e-8)
    np.testing.assert_allclose(made[0][1], wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n", [3, 70000])
def test_the_same_tensor_twice_takes_two_steps(n, way):
    w, g = lamella.ones(n), lamella.ones(n)
    options = dict(weight_decay=0.0, momentum=0.0, dampening=0.0, nesterov=False, maximize=False, is_first_step=True)
    lamella._fused_sgd_([w, w], [g, g], [], lr=0.25, **options)
    assert (w == 0.5).all()
    lamella._fused_sgd_([w[:-1], w[1:]], [g[1:], g[1:]], [], lr=0.25, **options)  # both overlap: one after the other
    assert w[0] == 0.25 and w[-1] == 0.25 and (w[1:-1] == 0).all()


def test_empty_lists():
    assert lamella._fused_adam_([], [], [], [], [], [], **ADAM_OPTIONS) is None


REFUSED = {
    "too few gradients": (lambda x: x[1].pop(), "argument 'grads': expected as many tensors .* 2, got 1"),
    "another shape": (lambda x: x[2].__setitem__(1, lamella.zeros(4)), r"'exp_avgs\[1\]': .*\(3,\), got \(4,\)"),
    "another dtype": (lambda x: x[3].__setitem__(1, lamella.zeros(3, dtype=lamella.float64)), r"'exp_avg_sqs\[1\]'"),
    "integers": (lambda x: x[0].__setitem__(1, lamella.ones(3, dtype=lamella.int64)), r"'self\[1\]'.*int64"),
    "expanded": (lambda x: x[0].__setitem__(1, lamella.ones(1).expand(3)), r"'self\[1\]': several elements"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused_and_nothing_changes(name, way):
    lists, steps, options = adam_lists()
    spoil, message = REFUSED[name]
    spoil(lists)
    with pytest.raises(RuntimeError, match="_fused_adam_: argument .*" + message.removeprefix("argument ")):
        lamella._fused_adam_(*lists, [], steps, **options)
    assert lists[0][0].tolist() == [1] * 3 and lists[2][0].tolist() == [0] * 3


def shared(i, j, shift):
    """Returns arguments of Adam; the second tensors of lists i and j lie in one buffer, `shift` elements apart."""
    lists, steps, options = adam_lists()
    buffer = lamella.ones(8)
    lists[i][1], lists[j][1] = buffer[:3], buffer[shift : shift + 3]
    return lists, steps, options


ADAM_LISTS = ["self", "grads", "exp_avgs", "exp_avg_sqs"]


@pytest.mark.parametrize("shift", [0, 1, 2, 3])
@pytest.mark.parametrize("i, j", [(i, j) for j in range(4) for i in range(j)])
def test_one_memory_in_two_lists_is_refused_before_anything_is_written(i, j, shift, way):
    lists, steps, options = shared(i, j, shift)
    before = [[x.tolist() for x in some] for some in lists]
    if shift == 3 or (shift == 0 and 1 in (i, j)):  # disjoint, or only read by the same element
        lamella._fused_adam_(*lists, [], steps, **options)
        assert lists[0][0].tolist() != before[0][0]
        return
    one, other = (rf"argument '{ADAM_LISTS[k]}\[1\]'" for k in (i, j))
    text = f"_fused_adam_: {other}: some of its elements and of {one} refer to a single memory location"
    with pytest.raises(RuntimeError, match=text):
        lamella._fused_adam_(*lists, [], steps, **options)
    assert [[x.tolist() for x in some] for some in lists] == before


def test_the_memory_of_two_lists_is_compared_exactly(way):
    """Columns of one matrix share no element; a row and a column share one."""
    options = dict(weight_decay=0.0, momentum=0.0, dampening=0.0, nesterov=False, maximize=False, is_first_step=True)
    b = lamella.arange(16.0).reshape(4, 4)
    lamella._fused_sgd_([b[:, 1]], [b[:, 2]], [], lr=1.0, **options)
    assert b[:, 1].tolist() == [-1, -1, -1, -1]
    with pytest.raises(RuntimeError, match="single memory"):
        lamella._fused_sgd_([b[:, 3]], [b[3]], [], lr=1.0, **options)
    with pytest.raises(RuntimeError, match="single memory"):  # the same elements in another order
        lamella._fused_sgd_([b], [b.t()], [], lr=1.0, **options)
    halves = b.view(-1).view(lamella.float32)
    with pytest.raises(RuntimeError, match=r"argument 'grads\[0\]'.*'self\[0\]'"):  # also writes the unscaled gradient
        lamella._fused_sgd_([halves], [halves], [], lr=1.0, **options, grad_scale=lamella.tensor(2.0))
    assert b[3].tolist() == [12, -1, 14, 15]


def test_options_that_need_more_lists_and_steps_that_are_no_numbers():
    lists, steps, options = adam_lists()
    with pytest.raises(RuntimeError, match="'max_exp_avg_sqs': expected as many tensors"):
        lamella._fused_adam_(*lists, [], steps, **options | dict(amsgrad=True))
    with pytest.raises(RuntimeError, match=r"'state_steps\[1\]': expected one floating-point number"):
        lamella._fused_adam_(*lists, [], [steps[0], lamella.ones(2)], **options)
    with pytest.raises(RuntimeError, match="'found_inf': expected one floating-point number"):
        lamella._fused_adam_(*lists, [], steps, **options, found_inf=lamella.ones(2))


def test_writes_are_counted_and_meta_checks_shapes():
    lists, steps, options = adam_lists()
    seen = lists[0][0], lists[2][1], steps[0]
    before = [x._version for x in seen]
    lamella._fused_adam_(*lists, [], steps, **options)
    assert [x._version - n for x, n in zip(seen, before, strict=True)] == [1, 1, 0]
    meta = [[x.to("meta") for x in each] for each in lists]
    assert lamella._fused_adam_(*meta, [], steps, **options) is None


@pytest.mark.needs("autograd")
def test_an_overwritten_parameter_is_noticed():
    w = lamella.ones(3, requires_grad=True)
    y = (w * w).sum()
    options = dict(weight_decay=0.0, momentum=0.0, lr=1.0, dampening=0.0, nesterov=False, maximize=False)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        lamella._fused_sgd_([w], [lamella.ones(3)], [], **options, is_first_step=True)
    assert w.tolist() == [1] * 3
    with lamella.no_grad():
        lamella._fused_sgd_([w], [lamella.ones(3)], [], **options, is_first_step=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
