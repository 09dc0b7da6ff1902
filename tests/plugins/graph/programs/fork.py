"""Programs that run parts asynchronously by torch.jit.fork and wait for them."""

from typing import List, Tuple


def _slow(x: torch.Tensor, n: int) -> torch.Tensor:
    for i in range(n):
        x = x + i
    return x


@cases((torch.tensor([1.0, 2.0]),))
def one(x):
    future = torch.jit.fork(_slow, x, 3)
    y = x * 10
    return torch.jit.wait(future) + y


@cases((torch.tensor([1.0, 2.0]),))
def two(x):
    a = torch.jit.fork(_slow, x, 3)
    b = torch.jit.fork(_slow, x, 4)
    return torch.jit.wait(a) - torch.jit.wait(b)


@cases((torch.tensor([1.0]), 4), (torch.tensor([1.0]), 1))
def list_of_futures(x, n: int):
    futures = [torch.jit.fork(_slow, x, i) for i in range(n)]
    return torch.cat([torch.jit.wait(f) for f in futures])


@cases((torch.tensor([1.0]),))
def by_keyword(x):
    return torch.jit.wait(torch.jit.fork(_slow, x, n=2))


def _count(n: int) -> Tuple[int, str]:
    return n * n, str(n)


@cases((5,))
def plain_values(n: int) -> str:
    f = torch.jit.fork(_count, n)
    m, s = torch.jit.wait(f)
    return s + ":" + str(m)


@cases((5,))
def never_waited_for(n: int) -> int:
    torch.jit.fork(_count, n)
    return n


@cases((3,))
def waited_for_twice(n: int) -> int:
    f = torch.jit.fork(_count, n)
    a, _ = torch.jit.wait(f)
    b, _ = torch.jit.wait(f)
    return a + b


def _fails(n: int) -> int:
    if n > 0:
        raise ValueError("the fork failed")
    return n


@cases((1,), (0,))
def error_comes_with_wait(n: int) -> int:
    f = torch.jit.fork(_fails, n)
    return torch.jit.wait(f)


def _outer(x: torch.Tensor) -> torch.Tensor:
    f = torch.jit.fork(_slow, x, 2)
    return torch.jit.wait(f) * 2


@cases((torch.tensor([1.0]),))
def fork_in_a_fork(x):
    f = torch.jit.fork(_outer, x)
    return torch.jit.wait(f) + 1


def _appends(a: List[int], n: int) -> int:
    a.append(n)
    return len(a)


@cases(([1],))
def list_is_shared_with_the_fork(a: List[int]) -> Tuple[int, List[int]]:
    f = torch.jit.fork(_appends, a, 7)
    n = torch.jit.wait(f)
    return n, a


@cases((torch.tensor([1.0, 2.0]),))
class Branches(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 3.0

    def part(self, x, k: float):
        return x * self.scale + k

    def forward(self, x):
        f = torch.jit.fork(self.part, x, 1.0)
        g = self.part(x, 2.0)
        return torch.jit.wait(f) + g
