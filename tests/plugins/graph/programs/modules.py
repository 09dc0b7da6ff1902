"""Programs that are modules: parameters, buffers, submodules, constants, containers, methods, state between calls."""

from typing import Dict, Final, List, Optional, Tuple


def _filled(module: torch.nn.Module) -> torch.nn.Module:
    """Gives exact values to all parameters, since the ones of a new module are random."""
    with torch.no_grad():
        for i, p in enumerate(module.parameters()):
            p.copy_((torch.arange(p.numel()) % 7 - 3).reshape(p.shape) / 4 + i)
    return module


@cases((torch.tensor([1.0, 2.0]),))
class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([2.0, 3.0]))

    def forward(self, x):
        return x * self.weight


@cases((torch.tensor([1.0, 2.0]),), (torch.tensor([10.0, 20.0]),), (torch.tensor([0.0, 0.0]),))
class CountsInABuffer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(2))

    def forward(self, x):
        self.total += x
        return self.total.clone()


@cases((2,), (3,))
class CountsInAnAttribute(torch.nn.Module):
    log: List[int]

    def __init__(self):
        super().__init__()
        self.calls = 0
        self.log = []

    def forward(self, n: int) -> Tuple[int, List[int]]:
        self.calls += n
        self.log.append(self.calls)
        return self.calls, self.log


@cases((torch.tensor([[1.0, -2.0]]),))
class TwoLayers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(2, 3)
        self.second = torch.nn.Linear(3, 1, bias=False)
        _filled(self)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


@cases((torch.tensor([[1.0, -2.0]]),))
class InSequence(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
        _filled(self)

    def forward(self, x):
        return self.net(x)


@cases((torch.tensor([[1.0, -2.0]]),))
class LoopsOverASequential(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
        _filled(self)

    def forward(self, x):
        for layer in self.net:
            x = layer(x) + 1
        return x, len(self.net)


@cases((torch.tensor([[1.0, -2.0]]),))
class LoopsOverAModuleList(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(2, 2), torch.nn.Linear(2, 3)])
        _filled(self)

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x) * (i + 1)
        return x


@cases((torch.tensor([[1.0, -2.0]]),))
class IndexesAModuleList(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.Tanh(), torch.nn.Identity()])

    def forward(self, x):
        return self.layers[0](x) + self.layers[-1](x), self.layers[1](x * 0)


@cases((torch.tensor([1.0, -2.0]),))
class LoopsOverAModuleDict(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = torch.nn.ModuleDict({"relu": torch.nn.ReLU(), "same": torch.nn.Identity()})

    def forward(self, x):
        names: List[str] = []
        for name, part in self.parts.items():
            names.append(name)
            x = part(x) + 1
        return names, x, self.parts["relu"](-x)


@cases((torch.tensor([1.0]), 2))
class CallsMethods(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 3

    def scaled(self, x, n: int):
        return x * n * self.k

    def shifted(self, x, by: float = 0.5):
        return self.scaled(x, 1) + by

    def forward(self, x, n: int):
        return self.scaled(x, n=n), self.shifted(x), self.shifted(x, by=10.0)


@cases((torch.tensor([1.0]),), method="inverse")
class ExportsAMethod(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 4.0

    def forward(self, x):
        return x * self.k

    @torch.jit.export
    def inverse(self, x):
        return x / self.k


@cases((torch.tensor([1.0, 2.0]),), init=(2,))
class HasFinals(torch.nn.Module):
    n: Final[int]
    sizes: Final[List[int]]

    def __init__(self, n: int):
        super().__init__()
        self.n = n
        self.sizes = [1, 2, 3]

    def forward(self, x):
        for _ in range(self.n):
            x = x + len(self.sizes)
        return x * self.sizes[2]


@cases((torch.tensor([1.0]),), init=(True,))
class FinalDecidesABranch(torch.nn.Module):
    """The branch of the constant is compiled, the other one, which would not type, is not."""

    simple: Final[bool]

    def __init__(self, simple: bool):
        super().__init__()
        self.simple = simple

    def forward(self, x):
        if self.simple:
            return x + 1
        else:
            return self.missing(x)


@cases((torch.tensor([1.0, -1.0]),))
class TrainingFlag(torch.nn.Module):
    def forward(self, x):
        if self.training:
            return x * 2
        return x


@cases((torch.tensor([1.0, -1.0]),))
class DropoutInEvaluation(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = torch.nn.Dropout(0.5)
        self.eval()

    def forward(self, x):
        return self.drop(x), self.training, self.drop.training


@cases((torch.tensor([1.0]),), init=(True,))
class OptionalSubmoduleThere(torch.nn.Module):
    def __init__(self, has: bool):
        super().__init__()
        self.extra = torch.nn.ReLU() if has else None

    def forward(self, x):
        if self.extra is not None:
            x = self.extra(-x)
        return x


@cases((torch.tensor([1.0]),), init=(False,))
class OptionalSubmoduleMissing(torch.nn.Module):
    def __init__(self, has: bool):
        super().__init__()
        self.extra = torch.nn.ReLU() if has else None

    def forward(self, x):
        if self.extra is not None:
            x = self.extra(-x)
        return x


@cases((torch.tensor([1.0]),))
class AttributesOfManyTypes(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = 2
        self.b = 0.5
        self.c = "text"
        self.d = [1, 2]
        self.e = {"k": 3.0}
        self.f = (1, "t")
        self.g = True

    def forward(self, x):
        return x * self.a * self.b + self.e["k"], self.c + self.f[1], self.d, self.g


@cases((5,), (6,))
class AttributeAnnotations(torch.nn.Module):
    seen: Dict[str, int]
    last: Optional[int]

    def __init__(self):
        super().__init__()
        self.seen = {}
        self.last = None

    def forward(self, n: int) -> Tuple[Dict[str, int], int]:
        before = self.last
        self.last = n
        self.seen[str(n)] = n
        return self.seen, -1 if before is None else before


@cases((torch.tensor([1.0]),))
class NestedModules(torch.nn.Module):
    class Inner(torch.nn.Module):
        def __init__(self, k: float):
            super().__init__()
            self.k = k

        def forward(self, x):
            return x + self.k

    def __init__(self):
        super().__init__()
        self.a = self.Inner(1.0)
        self.b = torch.nn.Sequential(self.Inner(10.0), self.Inner(100.0))

    def forward(self, x):
        return self.a(x), self.b(x), self.a.k + x


class Child(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0
        self.weight = torch.nn.Parameter(torch.ones(1))

    def forward(self, x):
        self.count += 1
        return x + self.weight


@cases((torch.tensor([1.0]),), (torch.tensor([2.0]),))
class SharedSubmodule(torch.nn.Module):
    """Two attributes are one module, so that both see its state."""

    def __init__(self):
        super().__init__()
        self.first = Child()
        self.second = self.first

    def forward(self, x):
        y = self.second(self.first(x))
        return y, self.first.count, self.second.count


@cases((torch.tensor([1.0]),))
class WritesASubmodulesAttribute(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()

    def forward(self, x):
        self.child.count = 10
        y = self.child(x)
        return y, self.child.count


class WithHelper(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 2.0

    def helper(self, x):
        return x * self.k

    def forward(self, x):
        return self.helper(x) + 1


@cases((torch.tensor([1.0]),))
class Inherits(WithHelper):
    def helper(self, x):
        return x * self.k * 100


@cases((torch.tensor([3.0]),))
class InheritsForward(WithHelper):
    pass


@cases((torch.tensor([[1.0, 3.0], [2.0, 4.0]]),), (torch.tensor([[5.0, 1.0], [3.0, 3.0]]),))
class NormalizesInTraining(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(2, momentum=0.5)

    def forward(self, x):
        return self.norm(x).sum() < 1e-3, self.norm.running_mean.clone(), self.norm.num_batches_tracked.clone()


@cases((torch.arange(9.0).view(1, 1, 3, 3),))
class Convolves(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 2, 2, padding=1)
        self.pool = torch.nn.MaxPool2d(2)
        _filled(self)

    def forward(self, x):
        return self.pool(torch.relu(self.conv(x))).flatten(1)


@cases((torch.tensor([[1, 2], [0, 1]]),))
class Embeds(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(3, 2)
        _filled(self)

    def forward(self, i):
        return self.table(i).sum(1)


@cases((torch.tensor([1.0]), {"a": torch.tensor([2.0])}))
class DictionaryArgument(torch.nn.Module):
    def forward(self, x, d: Dict[str, torch.Tensor]) -> Dict[str, torch.Tensor]:
        d["b"] = x + d["a"]
        return d


@cases((torch.tensor([1.0]),), (torch.tensor([1.0]), torch.tensor([5.0])))
class OptionalArgument(torch.nn.Module):
    def forward(self, x, y: Optional[torch.Tensor] = None):
        if y is None:
            y = torch.zeros_like(x)
        return x + y


@cases((torch.tensor([1.0]),))
class IgnoresAMethod(torch.nn.Module):
    @torch.jit.ignore
    def plain(self, x: torch.Tensor) -> torch.Tensor:
        return x + len({k for k in "abc"})

    @torch.jit.unused
    def not_used(self, x):
        return [i for i in (x, x) if i is not None]

    def forward(self, x):
        return self.plain(x) * 2


@cases((torch.tensor([1.0]),))
class HasattrDecides(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.there = 3.0

    def forward(self, x):
        if hasattr(self, "there"):
            x = x + self.there
        if hasattr(self, "missing"):
            x = x * self.missing
        return x


@torch.jit.interface
class Layer:
    def apply(self, x: torch.Tensor) -> torch.Tensor:
        pass


class Doubles(torch.nn.Module):
    def apply(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.apply(x)


@torch.jit.interface
class ModuleLayer(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pass


@cases((torch.tensor([1.0]),))
class CallsThroughAnInterface(torch.nn.Module):
    layer: ModuleLayer

    def __init__(self):
        super().__init__()
        self.layer = Doubles()

    def forward(self, x):
        return self.layer.forward(x) + 1


@cases((torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([[1.0, -1.0, 0.5]])))
class RecurrentCell(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.arange(24.0).view(8, 3) / 16 - 0.5)
        self.u = torch.nn.Parameter(torch.arange(16.0).view(8, 2) / 16 - 0.5)

    def forward(self, h, c, x):
        gates = x @ self.w.t() + h @ self.u.t()
        i, f, g, o = gates.chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c) > 0, c > 0


@cases((torch.tensor([2.0]),), (torch.tensor([-2.0]),))
class ControlFlow(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.positive = torch.nn.Identity()
        self.negative = torch.nn.ReLU()

    def forward(self, x):
        for _ in range(3):
            if bool(x.sum() > 0):
                x = self.positive(x) * 2
            else:
                x = self.negative(x) - 1
        return x


@cases((torch.tensor([2.0]),))
class WithAProperty(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 2.0

    @property
    def twice(self) -> float:
        return self.k * 2

    def forward(self, x):
        return x * self.twice
