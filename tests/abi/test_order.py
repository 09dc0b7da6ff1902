"""Device ``bank`` keeps the promises of Note [Order] in ``<lamella/backend.h>``; each planted defect is noticed."""

import pytest
from on_bank import AUTOGRAD, CPU, run, unnoticed

# Each defect breaks one promise: its file, the text to replace, the replacement, and the check that reports it.
PLANTED = {
    "null is the default stream": (
        "streams.cpp",
        "      Stream& s = stream_of(device, stream);\n      e.place",
        "      Stream& s = stream ? stream_of(device, stream) : *streams().usual[device];\n      e.place",
        "!passed(e)",
    ),
    "a thread's stream stays behind": (
        "streams.cpp",
        "  type.copy = ",
        "  [[maybe_unused]] lamella_status (*unused)(void*, void**) = ",
        "current() == s",
    ),
    "a copy to the host does not wait": (
        "device.cpp",
        "move(current(c->from.index), c, c->dst",
        "move(*new Stream(c->from.index, 99), c, c->dst",
        "holds(x, 2)",
    ),
    "a copy from the host does not wait": (
        "device.cpp",
        "Stream& s = current(c->to.index);",
        "Stream& s = *new Stream(c->to.index, 99);",
        "holds(sum, 6)",
    ),
    "a copy does not wait for its source": ("device.cpp", "  follow(to, from.last());\n", "", "holds(to, 2)"),
    "the source does not wait for a copy": (
        "device.cpp",
        "  follow(from, move(to, c, open(c->dst), open(c->src)));",
        "  move(to, c, open(c->dst), open(c->src));",
        "holds(to, 2) && holds(from, 3)",
    ),
    "freed memory is given out at once": (
        "device.cpp",
        "    return (ends.size() == 1",
        "    return true || (ends.size() == 1",
        "holds(kept, 2)",
    ),
    "recorded streams are forgotten": ("device.cpp", "used.push_back(s);", "(void)s;", "holds(kept, 2)"),
    "a blocking copy returns too early": (
        "device.cpp",
        "held = std::vector<char>(bytes, bytes + c->bytes)] {\n"
        "          return std::memcpy(to, held.data(), held.size())",
        "bytes, n = c->bytes] {\n          return std::memcpy(to, bytes, n)",
        "holds(x, 1)",
    ),
    "a late error is raised again": (
        "streams.cpp",
        "return std::exchange(fault, {});",
        "return fault;",
        "stream_synchronize",
    ),
    "a late error is lost": ("streams.cpp", "return std::exchange(fault, {});", "return {};", "division by zero"),
}


def order(folder, library):
    return run(folder / "order", CPU, library, "bank", *AUTOGRAD, timeout=120)


def test_the_device_keeps_its_promises(built):
    done = order(built, built / "bank.so")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok  order: ") == 8 + len(AUTOGRAD)


@pytest.mark.long
def test_each_broken_promise_is_noticed(built, tmp_path):
    assert not unnoticed(built, tmp_path, PLANTED, lambda library: order(built, library))
