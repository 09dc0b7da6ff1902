"""Programs that index tensors: numbers, slices, None, Ellipsis, masks, lists, tensors; and write by index."""

from typing import List, Optional


@cases((torch.arange(6).view(2, 3), 1, -1), (torch.arange(6).view(2, 3), 2, 0))
def by_numbers(x, i: int, j: int):
    return x[i], x[i, j], x[i][j], x[-1]


@cases((torch.arange(6),))
def by_slices(x):
    return x[1:3], x[:2], x[3:], x[-2:], x[:-1], x[:], x[::2], x[1:5:3], x[4:1], x[2:100]


@cases((torch.arange(6).view(2, 3),))
def by_several_slices(x):
    return x[:, 1], x[0, :], x[:, 1:], x[:, ::2], x[1:, :2], x[:, -1:]


@cases((torch.arange(24).view(2, 3, 4),))
def by_ellipsis(x):
    return x[..., 0], x[0, ...], x[..., 1, 2], x[0, ..., 1]


@cases((torch.arange(6).view(2, 3),))
def by_none(x):
    return x[None], x[:, None], x[None, :, None, 0], x[..., None], x[0, None, 1:]


@cases((torch.arange(6).view(2, 3), torch.tensor([1, 0, 1])))
def by_tensor(x, i):
    return x[i], x[:, i], x[i, i], x[0, i], x[i, 1]


@cases((torch.arange(6).view(2, 3),))
def by_lists(x):
    return x[[1, 0]], x[:, [0, 2]], x[[0, 1], [2, 0]]


@cases((torch.arange(6).view(2, 3),))
def by_mask(x):
    return x[x > 2], x[x[:, 0] > 0], x[x < 0]


@cases((torch.arange(4), torch.tensor([True, False, True, False])))
def by_bool_tensor(x, mask):
    return x[mask], x[~mask], x[mask].sum()


@cases((torch.arange(24).view(2, 3, 4), torch.tensor([0, 1])))
def by_mixture(x, i):
    return x[i, :, 1], x[:, i, 1:3], x[0, i, None], x[i, i, i], x[i, 1:, 0]


@cases((torch.arange(6).view(2, 3), torch.tensor(1)))
def by_tensor_without_dimension(x, i):
    return x[i], x[0, i], x[int(i)]


@cases((torch.arange(6).view(2, 3), torch.tensor([[0, 1], [1, 0]])))
def by_matrix(x, i):
    return x[i], x[:, i]


@cases((torch.arange(6), 1, 4), (torch.arange(6), 4, 1), (torch.arange(6), -3, 100))
def by_computed_slice(x, a: int, b: int):
    return x[a:b], x[a : b + 1], x[: b - a]


@cases((torch.arange(6), None), (torch.arange(6), 2))
def by_optional_bound(x, end: Optional[int]):
    return x[:end], x[1:end]


@cases((torch.arange(6),))
def negative_step(x):
    return x[::-1]


@cases((torch.arange(6).view(2, 3),))
def too_many_indices(x):
    return x[0, 0, 0]


@cases((torch.zeros(2, 3),))
def write_number(x):
    x[0, 1] = 5
    x[1] = 2.5
    return x


@cases((torch.zeros(2, 3), torch.tensor([1.0, 2.0, 3.0])))
def write_row(x, row):
    x[0] = row
    x[:, 1] = row[:2] * 10
    return x


@cases((torch.zeros(6),))
def write_slice(x):
    x[1:3] = 1
    x[::2] = torch.tensor([7.0, 8.0, 9.0])
    x[4:] = torch.tensor([0.5])
    return x


@cases((torch.arange(6.0).view(2, 3),))
def write_by_mask(x):
    x[x > 3] = -1
    x[x == 0] = 0.5
    return x


@cases((torch.zeros(4), torch.tensor([3, 1])))
def write_by_tensor(x, i):
    x[i] = torch.tensor([30.0, 10.0])
    x[i[0]] += 0.5
    return x


@cases((torch.zeros(2, 3, 2),))
def write_by_ellipsis(x):
    x[..., 0] = 1
    x[0, ..., 1] = torch.tensor([5.0, 6.0, 7.0])
    return x


@cases((torch.zeros(4),))
def write_by_list(x):
    x[[0, 2]] = 3
    return x


@cases((torch.zeros(3, 3),))
def augmented_write(x):
    x[0] += 1
    x[:, 1] -= 2
    x[1, 1] *= 4
    x[2] /= 2
    return x


@cases((torch.zeros(3, 3),))
def write_through_a_chain(x):
    x[0][1] = 5
    x[1:][0, 2] = 6
    return x


@cases((torch.arange(3.0),))
def read_is_a_view(x):
    y = x[1:]
    y += 10
    return x, y


@cases((torch.arange(3.0),))
def read_by_tensor_is_a_copy(x):
    y = x[torch.tensor([0, 1])]
    y += 10
    return x, y


@cases((torch.zeros(3), 4), (torch.zeros(3), 3))
def write_in_a_loop(x, n: int):
    for i in range(n):
        x[i] = i * i
    return x


@cases(([torch.zeros(2), torch.ones(2)],))
def element_of_a_list_then_tensor(a: List[torch.Tensor]):
    a[0][1] = 5
    a[1][:1] += a[0][1]
    return a


@cases((torch.arange(6).view(2, 3), [1, 0]))
def by_list_argument(x, i: List[int]):
    return x[i], x[:, i]


@cases((torch.arange(12).view(3, 4),))
def functions_that_index(x):
    i = torch.tensor([2, 0])
    return x.index_select(0, i), x.select(1, -1), x.narrow(0, 1, 2), torch.gather(x, 1, x % 4), x.take(i)


@cases((torch.zeros(2, 2),))
def write_int_into_float_and_back(x):
    y = torch.zeros(2, dtype=torch.int64)
    x[0, 0] = 3
    y[0] = int(x[0, 0])
    y[1] = 7
    return x, y
