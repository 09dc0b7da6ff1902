"""Programs that call themselves or each other: torch.jit.script refuses them, so that Python's meaning holds."""

from typing import List


@cases((0,), (1,), (10,))
def factorial(n: int) -> int:
    return 1 if n <= 1 else n * factorial(n - 1)


@cases((7,))
def by_a_helper(n: int) -> int:
    return _fibonacci(n)


def _fibonacci(n: int) -> int:
    if n < 2:
        return n
    return _fibonacci(n - 1) + _fibonacci(n - 2)


@cases((5,))
def two_call_each_other(n: int) -> bool:
    return _is_even(n)


def _is_even(n: int) -> bool:
    return True if n == 0 else _is_odd(n - 1)


def _is_odd(n: int) -> bool:
    return False if n == 0 else _is_even(n - 1)


class Counter:
    def __init__(self, n: int):
        self.n = n

    def total(self, depth: int) -> int:
        if depth == 0:
            return self.n
        self.n += depth
        return self.total(depth - 1)


@cases((4,))
def method_calls_itself(n: int) -> int:
    return Counter(100).total(n)


@cases((4,))
class Recursive(torch.nn.Module):
    def helper(self, n: int) -> int:
        if n <= 0:
            return 1
        return n * self.helper(n - 1)

    def forward(self, n: int) -> int:
        return self.helper(n)


@cases((6,))
def loop_instead_of_recursion(n: int) -> List[int]:
    stack = [n]
    out: List[int] = []
    while len(stack) > 0:
        k = stack.pop()
        out.append(k)
        if k > 1:
            stack.append(k // 2)
            stack.append(k - 2)
    return out


@cases((2, 3), (0, 5))
def ackermann(m: int, n: int) -> int:
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@cases((3,))
def hanoi(n: int) -> List[str]:
    moves: List[str] = []
    _move(n, "a", "c", "b", moves)
    return moves


def _move(n: int, source: str, target: str, spare: str, moves: List[str]) -> None:
    if n == 0:
        return
    _move(n - 1, source, spare, target, moves)
    moves.append(source + target)
    _move(n - 1, spare, target, source, moves)


@cases(([3, 6, 1, 5, 2, 4],), ([],))
def quicksort(a: List[int]) -> List[int]:
    if len(a) <= 1:
        return a
    small: List[int] = []
    large: List[int] = []
    for x in a[1:]:
        if x < a[0]:
            small.append(x)
        else:
            large.append(x)
    return quicksort(small) + [a[0]] + quicksort(large)


@cases((torch.tensor([1.0, 2.0]), 3))
def of_tensors(x, n: int) -> torch.Tensor:
    if n == 0:
        return x
    return of_tensors(x * 2 + n, n - 1)


@cases((100000,))
def without_an_end(n: int) -> int:
    """The depth of calls is bounded: this is an error, not a crash."""
    return without_an_end(n + 1) + 1
