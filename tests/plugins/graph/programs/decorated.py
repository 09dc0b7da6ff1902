"""Programs with parts that are scripted where they are defined: functions, classes, methods, saved types."""

from typing import List, NamedTuple, Tuple


@torch.jit.script
def _scaled(x: torch.Tensor, k: float = 2.0) -> torch.Tensor:
    return x * k


@torch.jit.script
class Meter:
    def __init__(self, start: float):
        self.total = start
        self.values: List[float] = []

    def add(self, x: float) -> None:
        self.total += x
        self.values.append(x)


@cases((torch.tensor([1.0, 2.0]),))
def calls_a_scripted_function(x):
    return _scaled(x) + _scaled(x, k=10.0)


@cases((3,))
def uses_a_scripted_class(n: int) -> Tuple[float, List[float]]:
    m = Meter(100.0)
    for i in range(n):
        m.add(i * 0.5)
    return m.total, m.values


@cases((torch.tensor([1.0, 2.0]),), (torch.tensor([3.0, 4.0]),))
class ModuleOfScriptMethods(torch.jit.ScriptModule):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([2.0, 3.0]))
        self.k = 5

    @torch.jit.script_method
    def helper(self, x):
        return x * self.weight

    @torch.jit.script_method
    def forward(self, x):
        if bool(x.sum() > 5):
            return self.helper(x) + self.k
        return self.helper(x)


@cases((torch.tensor([1.0, 2.0]),))
class ModuleThatHoldsAScriptedOne(torch.nn.Module):
    class Inner(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.k = 3.0

        def forward(self, x):
            return x * self.k if bool(x[0] > 0) else x

    def __init__(self):
        super().__init__()
        self.inner = torch.jit.script(self.Inner())

    def forward(self, x):
        return self.inner(x) + self.inner(-x)


@cases((torch.tensor([1.0, 2.0]),))
class ModuleThatHoldsATracedOne(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.jit.trace(torch.nn.ReLU(), torch.zeros(2))

    def forward(self, x):
        for i in range(3):
            x = self.inner(x - i) + 1
        return x


class Result(NamedTuple):
    values: torch.Tensor
    count: int


@cases((torch.tensor([3.0, -1.0]),))
class ModuleWithANamedResult(torch.nn.Module):
    def forward(self, x) -> Result:
        r = Result(x.relu(), x.numel())
        return Result(values=r.values + 1, count=r.count * 2)


@torch.jit.script_if_tracing
def _positive_part(x: torch.Tensor) -> torch.Tensor:
    if bool(x.sum() > 0):
        return x
    return x * 0


@cases((torch.tensor([3.0, -1.0]),), (torch.tensor([-3.0, 1.0]),))
def calls_a_function_that_tracing_scripts(x):
    return _positive_part(x) + 1
