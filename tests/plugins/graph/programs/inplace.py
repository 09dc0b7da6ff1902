"""Programs that write in place: operators with `_`, augmented assignment, views, aliases through containers."""

from typing import Dict, List


@cases((torch.tensor([1.0, 2.0]),))
def methods(x):
    x.add_(1)
    x.mul_(2).sub_(0.5)
    return x


@cases((torch.tensor([1.0, 2.0]),))
def augmented_is_in_place(x):
    y = x
    y += 1
    y *= 2
    return x, y


@cases((torch.tensor([1.0, 2.0]),))
def plain_assignment_is_not(x):
    y = x
    y = y + 1
    return x, y


@cases((torch.tensor([4.0, 9.0]),))
def all_augmented(x):
    x += 2
    x -= 1
    x *= 3
    x /= 2
    return x


@cases((torch.tensor([4, 9]),))
def augmented_of_ints(x):
    x += 2
    x -= 1
    x *= 3
    return x


@cases((torch.tensor([4, 9]),))
def augmented_float_into_int(x):
    x += 0.5
    return x


@cases((torch.tensor([6, 5]),))
def augmented_bits(x):
    x &= 12
    x |= 1
    x ^= 3
    x <<= 1
    return x


@cases((torch.tensor([7.0, -7.0]),))
def augmented_modulo(x):
    x %= 4
    return x


@cases((torch.arange(4.0),))
def through_a_view(x):
    y = x.view(2, 2)
    y[0].fill_(7)
    y.t().mul_(2)
    return x, y


@cases((torch.arange(4.0).view(2, 2),))
def through_a_transposed_view(x):
    t = x.t()
    t[0] += 10
    return x, t


@cases((torch.arange(4.0),))
def copy_is_apart(x):
    y = x.clone()
    y.zero_()
    return x, y


@cases((torch.zeros(2),))
def through_a_list(x):
    a = [x, x]
    a[0] += 1
    a[1].add_(1)
    return x, a


@cases(({"a": torch.zeros(2)},))
def through_a_dictionary(d: Dict[str, torch.Tensor]):
    y = d["a"]
    y += 1
    d["a"].mul_(5)
    return d, y


@cases((torch.zeros(2),))
def through_a_tuple(x):
    t = (x, 1)
    t[0].add_(3)
    return x


def _writes(x, value: float):
    x.add_(value)
    return x


@cases((torch.zeros(2),))
def through_a_call(x):
    y = _writes(x, 2.0)
    _writes(y[:1], 3.0)
    return x


@cases((torch.zeros(2), 3))
def in_a_loop(x, n: int):
    total = torch.zeros(2)
    for i in range(n):
        total += i
        x -= total
    return x, total


@cases((torch.zeros(2), True), (torch.zeros(2), False))
def in_a_branch(x, c: bool):
    y = x if c else x.clone()
    y += 1
    return x, y


@cases((torch.tensor([1.0, 2.0]),))
def order_of_reads_and_writes(x):
    a = x * 1
    x += 10
    b = x * 1
    x.zero_()
    return a, b, x


@cases((torch.tensor([1.0, -2.0]),))
def elementwise_in_place(x):
    x.abs_().sqrt_().clamp_(max=1.25)
    return x.neg_()


@cases((torch.zeros(3), torch.tensor([1, 2, 3])))
def copied_from_another_dtype(x, y):
    x.copy_(y)
    x[1:].copy_(y[:2])
    return x


@cases((torch.zeros(2, 2), torch.tensor([1.0, 2.0])))
def broadcast_into(x, row):
    x += row
    x[0] *= row
    return x


@cases((torch.zeros(2), torch.ones(2, 2)))
def broadcast_that_does_not_fit(x, y):
    x += y
    return x


@cases((torch.zeros(2),))
def result_out(x):
    torch.add(x, 1, out=x)
    return x


@cases((torch.arange(4.0),))
def overlapping_parts(x):
    y = x[1:]
    z = x[:-1]
    y += 1
    z += 10
    return x


@cases(([torch.zeros(1)],))
def appended_then_written(a: List[torch.Tensor]):
    y = torch.ones(1)
    a.append(y)
    y += 4
    return a


@cases((torch.tensor([3.0, 1.0, 2.0]),))
def masked_and_scattered(x):
    x.masked_fill_(x > 2, 0.0)
    x.index_fill_(0, torch.tensor([1]), 8.0)
    x.scatter_(0, torch.tensor([2]), torch.tensor([9.0]))
    return x


@cases((torch.arange(3.0),))
def input_returned_as_it_is(x):
    return x, x


@cases((torch.arange(3.0),))
def unsqueezed_in_place(x):
    x.unsqueeze_(0)
    return x.shape, x
