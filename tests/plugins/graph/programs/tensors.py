"""Programs over tensors: creation, operators, broadcasting, dtypes, devices, reductions, metadata."""

from typing import List, Optional, Tuple


@cases((torch.tensor([1.0, -2.0]), torch.tensor([3.0, 0.5])))
def operators(x, y):
    return x + y, x - y, x * y, x / y, x // y, x % y, -x, x**2


@cases((torch.tensor([7, -7]), torch.tensor([2, 2])))
def int_operators(x, y):
    return x + y, x - y, x * y, x / y, x // y, x % y, -x, x**2


@cases((torch.tensor([6, 5]), torch.tensor([3, 4])))
def bit_operators(x, y):
    return x & y, x | y, x ^ y, ~x, x << 1, x >> 1


@cases((torch.tensor([1.0, 2.0, 3.0]), torch.tensor([2.0, 2.0, 2.0])))
def comparisons(x, y):
    return x < y, x <= y, x > y, x >= y, x == y, x != y


@cases((torch.tensor([1.5, -2.0]),))
def with_numbers(x):
    return x + 1, 1 + x, x - 0.5, 0.5 - x, x * 2, 2 / x, x // 2, x % 2, 2**x


@cases((torch.tensor([1, 2]),))
def int_tensor_with_numbers(x):
    return x + 1, x * 0.5, 1 - x, 3 / x, x // 2, x % 2, x > 1


@cases((torch.tensor([True, False]), torch.tensor([True, True])))
def logic(x, y):
    return x & y, x | y, x ^ y, ~x, torch.logical_and(x, y), torch.logical_not(x)


@cases((torch.ones(3, 1), torch.arange(2.0)), (torch.ones(2, 3), torch.ones(3)), (torch.ones(2), torch.ones(3)))
def broadcasting(x, y):
    return x + y, x * y


@cases((torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[0.0, 1.0], [1.0, 0.0]])))
def matrix_product(a, b):
    return a @ b, torch.mm(a, b), a.matmul(b[0]), torch.bmm(a.unsqueeze(0), b.unsqueeze(0))


@cases((3,), (0,))
def creation(n: int):
    return torch.zeros(n), torch.ones([n, 2]), torch.full([n], 2.5), torch.arange(n), torch.eye(2)


@cases((2,))
def creation_with_dtype(n: int):
    return (
        torch.zeros(n, dtype=torch.int64),
        torch.ones(n, dtype=torch.bool),
        torch.tensor([1, 2], dtype=torch.float64),
        torch.arange(n, dtype=torch.float32),
        torch.full([n], 1, dtype=torch.int32),
    )


@cases()
def arange_forms():
    return torch.arange(5), torch.arange(1, 4), torch.arange(0, 10, 3), torch.arange(1.0, 2.0, 0.25), torch.arange(3.0)


@cases()
def linspace_and_others():
    return torch.linspace(0, 1, 5), torch.empty(0), torch.zeros([]), torch.tensor([[1, 2], [3, 4]])


@cases((torch.tensor([1.0, 2.0], dtype=torch.float64),))
def like_another(x):
    return torch.zeros_like(x), torch.ones_like(x, dtype=torch.int64), torch.full_like(x, 7), x.new_zeros(2)


@cases((torch.tensor([1.5, -1.5]),))
def conversion(x):
    return x.to(torch.int64), x.int(), x.double(), x.to(dtype=torch.float16).float(), x.long().float()


@cases((torch.tensor([1.0]), torch.tensor([2], dtype=torch.int32)))
def conversion_to_another(x, y):
    return x.to(y), y.type_as(x), (x + y).dtype == torch.float32


@cases((torch.tensor([1.0]),))
def device_argument(x):
    y = torch.ones(2, device=x.device)
    return y.to(x.device) + x, x.device == y.device


@cases((torch.tensor([1.0]),))
def device_by_name(x):
    d = torch.device("cpu")
    return torch.zeros(1, device=d) + x, torch.ones(1, device="cpu"), x.to("cpu"), x.device.type


@cases((torch.ones(2, 3),))
def metadata(x):
    return x.dim(), x.size(), x.size(0), x.size(-1), x.numel(), x.shape[1], len(x), x.ndim


@cases((torch.ones(2, 3),))
def shape_unpacked(x) -> Tuple[int, int, List[int]]:
    a, b = x.shape
    return a, b, x.shape[:1]


@cases((torch.ones(2, 3),), (torch.ones(3),))
def strides(x):
    return x.stride(), x.t().is_contiguous(), x.is_contiguous(), x.stride(0)


@cases((torch.ones(2),), (torch.ones(2, dtype=torch.int64),))
def questions(x) -> List[bool]:
    return [x.is_floating_point(), x.dtype == torch.float32, x.requires_grad, x.is_complex()]


@cases((torch.arange(6.0),))
def views(x):
    y = x.view(2, 3)
    return y, y.t(), y.reshape(-1), y.view(3, -1), y.unsqueeze(0).size(), y.flatten(), y.permute(1, 0)


@cases((torch.arange(6.0).view(2, 3),))
def reductions(x):
    return x.sum(), x.mean(), x.max(), x.min(), x.prod(), x.sum(0), x.mean(dim=1), x.sum(dim=[0, 1])


@cases((torch.arange(6.0).view(2, 3),))
def reductions_with_keepdim(x):
    return x.sum(dim=1, keepdim=True), x.mean(0, True), torch.amax(x, dim=0), x.std(dim=0)


@cases((torch.tensor([[3.0, 1.0], [2.0, 4.0]]),))
def maximum_with_index(x):
    values, indices = x.max(dim=1)
    low = x.min(0)
    return values, indices, low[0], low.indices


@cases((torch.tensor([[3.0, 1.0], [2.0, 4.0]]),))
def positions(x):
    return x.argmax(), x.argmin(dim=0), torch.argsort(x, dim=1)


@cases((torch.tensor([3.0, 1.0, 2.0]),))
def sorting(x):
    values, order = torch.sort(x)
    top, where = torch.topk(x, 2)
    return values, order, top, where


@cases((torch.ones(2), torch.zeros(3)))
def joining(x, y):
    return torch.cat([x, y]), torch.cat((x, x), dim=0), torch.stack([x, x], dim=1)


@cases((torch.arange(6.0),))
def splitting(x):
    a, b = x.chunk(2)
    parts = x.split(4)
    return a, b, len(parts), parts[1], torch.split(x, [1, 5])[0]


@cases((torch.arange(6).view(2, 3),))
def unbound(x):
    rows = torch.unbind(x)
    total = torch.zeros(3, dtype=torch.int64)
    for row in rows:
        total += row
    return total, len(rows)


@cases((torch.tensor([-1.0, 0.5, 2.0]),))
def elementwise(x):
    return torch.relu(x), x.abs(), x.clamp(0.0, 1.0), torch.sign(x), x.floor(), x.ceil(), x.round(), x.square()


@cases((torch.tensor([-1.0, 0.5, 2.0]),))
def clamp_on_one_side(x):
    return x.clamp(min=0.0), x.clamp(max=1.0), torch.clamp(x, -0.5)


@cases((torch.tensor([1.0, 4.0]), torch.tensor([True, False])))
def where_and_masks(x, mask):
    return torch.where(mask, x, -x), torch.where(x > 2, x, torch.zeros_like(x)), x.masked_fill(mask, 9.0)


@cases((torch.tensor([1.0, 2.0]),))
def truth(x) -> Tuple[bool, bool, bool]:
    return bool((x > 0).all()), bool(x[0] > 1), bool(torch.any(x > 1.5))


@cases((torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0])), (torch.tensor([1.0]), torch.tensor([1.0, 2.0])))
def equal(x, y) -> bool:
    return torch.equal(x, y)


@cases((torch.tensor([[1, 2], [3, 4]]),))
def as_list(x) -> List[List[int]]:
    a: List[List[int]] = x.tolist()
    a[0][0] = 100
    return a


@cases((torch.tensor([1.5, 2.5]),))
def values_as_numbers(x) -> float:
    return float(x[0]) + x[1].item()


@cases((torch.tensor(2.0), 3))
def number_and_tensor(x, n: int):
    return x * n + n, n - x, x**n, torch.tensor(n) + x


@cases((torch.tensor([1.0, 2.0]),))
def methods_in_a_chain(x):
    return x.add(1).mul(2).sub(0.5).view(1, -1).sum(dim=1)


@cases((torch.tensor([1.0, 2.0]), torch.tensor([0.5, 0.5])))
def keyword_alpha(x, y):
    return torch.add(x, y, alpha=2), x.sub(y, alpha=3), torch.addmm(x, y.view(1, 2).t(), x.view(1, 2), beta=0.5)


@cases((torch.tensor([1.0, 2.0]), None), (torch.tensor([1.0, 2.0]), torch.tensor([5.0, 5.0])))
def optional_bias(x, bias: Optional[torch.Tensor]):
    w = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    return torch.nn.functional.linear(x, w, bias)


@cases((torch.arange(16.0).view(1, 1, 4, 4), 1), (torch.arange(16.0).view(1, 1, 4, 4), 2))
def convolution(x, stride: int):
    w = torch.ones(1, 1, 2, 2)
    return torch.nn.functional.conv2d(x, w, stride=stride, padding=[1, 0])


@cases((torch.arange(16.0).view(1, 1, 4, 4),))
def pooling(x):
    return torch.nn.functional.max_pool2d(x, 2), torch.nn.functional.avg_pool2d(x, [2, 2])


@cases((torch.arange(4.0),))
def softmax(x):
    return torch.softmax(x * 0, dim=0), torch.log_softmax(x * 0, -1).exp()


@cases((torch.tensor([1.0, 2.0]),))
def gradient_is_off(x):
    with torch.no_grad():
        y = x * 2
    return y, y.requires_grad


@cases((torch.tensor([1.0, 2.0]),))
def detached(x):
    y = x.clone().detach()
    y += 1
    return x, y, y.contiguous()


@cases((torch.tensor([1 + 2j, 3 - 1j]),))
def of_complex(x):
    return x * 2, x.real, x.imag, x.conj().resolve_conj(), x.abs() ** 2


@cases(([torch.ones(1), torch.ones(2)],))
def of_lists(a: List[torch.Tensor]):
    total = a[0].sum()
    for t in a[1:]:
        total += t.sum()
    return total, torch.cat(a)


@cases((torch.tensor([[1.0, 2.0], [3.0, 4.0]]),))
def transposed_attributes(x):
    return x.T, x.mT, x.T.shape


@cases((torch.tensor(5),), (torch.tensor(2.5),))
def of_no_dimension(x):
    return x + 1, x.dim(), x.shape, x.view(1)


@cases((torch.zeros(0, 3),))
def empty(x):
    return x.sum(), x.shape, x + 1, torch.cat([x, torch.ones(1, 3)]), x.numel() == 0


@cases((torch.arange(6.0).view(2, 3),))
def einsum(x):
    return torch.einsum("ij,kj->ik", [x, x]), torch.einsum("ij->j", x)


@cases((torch.tensor([1.0]), 0.5), (torch.tensor([1.0]), -2.0))
def lerp_by_hand(x, weight: float):
    return x + weight * (2 * x - x), torch.lerp(x, 2 * x, weight)
