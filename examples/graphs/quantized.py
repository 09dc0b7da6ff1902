"""A quantized model as a script: its graph, the way of each call, and its file beside that of the floating model."""

import io

import lamella
from lamella import jit, nn, quantization


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(256, 512), nn.Linear(512, 10)

    def forward(self, x):
        return self.last(self.first(x).relu())


def model():
    lamella.manual_seed(0)
    return Net().eval()


def saved(program):
    file = io.BytesIO()
    program.save(file)
    return file


def main():
    x = lamella.randn(32, 256, generator=lamella.Generator().manual_seed(1))
    floating, codes = model(), quantization.quantize_(model(), quantization.Int8Dynamic())
    program = jit.script(codes)
    print("scripted:", program.inlined_graph, "", sep="\n")

    with quantization.trace() as calls:
        result = program(x)
    print("calls:", *(f"{call.operator}: {call.way}" for call in calls), sep="\n  ")
    print("the script gives the model's bits:", lamella.equal(result, codes(x)))
    error = (result - floating(x)).abs().max() / floating(x).abs().max()
    print("within 5% of the floating model:", bool(error < 0.05))

    file = saved(program)
    ratio = len(saved(jit.script(floating)).getvalue()) / len(file.getvalue())
    print(f"the floating model's file is {ratio:.0f} times as long")
    file.seek(0)
    print("the loaded program gives the same bits:", lamella.equal(jit.load(file)(x), result))


if __name__ == "__main__":
    main()
