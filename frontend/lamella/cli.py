"""The command line: ``lamella info``, ``plugins``, ``ops``, ``config``, ``extensions``, ``flight``,
``launch``, ``new``, ``profile``, ``run`` and ``show``."""

from __future__ import annotations

import argparse
import platform
import sys


def info() -> str:
    """Returns the text of ``lamella info``: the facts that a bug report needs."""
    import lamella
    from lamella import _C

    rows = [
        ("lamella", lamella.__version__),
        ("python", platform.python_version()),
        ("platform", platform.platform()),
        ("compiler", _C._compiler),
        ("instruction set", _C._interface_text("cpu.info") or "no cpu backend"),
        ("threads", lamella.get_num_threads()),
    ]
    from importlib.metadata import PackageNotFoundError, version

    for name in ("numpy", "pluggy"):
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            rows.append((name, "not installed"))
    onednn = lamella.plugins.manager and (_native() / "backends/cpu/libdnnl.so.3").exists()
    rows.append(("oneDNN", "beside the cpu backend" if onednn else "not built in: products use plain loops"))
    width = max(len(r[0]) for r in rows)
    return "\n".join(f"{k:{width}}  {v}" for k, v in rows) + "\n\n" + plugins()


def _native():
    from lamella.plugins.manager import native_folder

    return native_folder()


def plugins(load: bool = False) -> str:
    """Returns the text of ``lamella plugins``: the plugins, with the reason for each that is set aside, the layers, the
    registrations that wait for something, and the operators that the host has run for devices. ``load`` loads all
    plugins first."""
    import lamella
    from lamella import _C

    for plugin in lamella.plugins.status() if load else ():
        lamella.plugins.manager.load(plugin)
    head = ("name", "kind", "distribution", "state", "seconds", "reason")
    rows = [
        (p.name, p.kind, f"{p.distribution} {p.version}", p.state, f"{p.seconds:.3f}" if p.seconds else "", reason)
        for p in lamella.plugins.status()
        for reason in [" ".join(p.reason.split())]
    ]
    widths = [max(len(r[i]) for r in [head, *rows]) for i in range(5)]
    lines = ["  ".join([*(c.ljust(w) for c, w in zip(r, widths, strict=False)), r[5]]).rstrip() for r in [head, *rows]]
    layers = [f"  {bit:2} {name} ({owner})" for bit, name, owner in _C._layers()]
    if layers:
        lines += ["", "layers, outermost first:", *layers]
    fallbacks = [
        f"  {f.device} {f.operator}: {f.calls} calls, {f.bytes} bytes, {f.seconds:.3f} s; {f.reason}"
        for f in lamella.fallback_counts()
    ]
    if waiting := [f"  {w}" for w in lamella.plugins.waiting()]:
        lines += ["", "registered, and of no use yet:", *waiting]
    if fallbacks:
        lines += ["", "served by the host in this process:", *fallbacks]
    return "\n".join(lines)


def list_operators() -> str:
    from lamella import _C

    lines = []
    for op in _C._operators():
        if op["form"] == "functional" and not op["private"]:
            kernels = ", ".join(key for key, _ in op["kernels"]) or ("shape rule" if op["shape_rule"] else "none")
            lines.append(f"{op['schema']}\n    {op['category'] or 'no category'}; {op['dims'] or 'no dims'}; {kernels}")
    return "\n".join(lines)


def support(device: str) -> str:
    """Returns a list of how a device serves each operator of the catalogue, with a count for each way."""
    import lamella
    from lamella import _C

    lamella.empty(0, device=device)  # loads the backend; an error says why that fails
    rows = [(op, kind) for op, kind in _C._support(device) if op.startswith("aten::")]
    kinds = [kind for _, kind in rows]
    total = ", ".join(f"{kinds.count(k)} {k}" for k in dict.fromkeys(kinds))
    return "\n".join([*(f"{kind:12} {op}" for op, kind in rows), "", f"{device}: {total}"])


def show_operator(name: str, device: str | None) -> str:
    """Returns one operator's table, after loading the backend of ``device``."""
    import lamella
    from lamella import _C

    if device:
        lamella.empty(0, device=device)
    text = _C._show(name)
    if not text:
        raise LookupError(f"there is no operator {name}")
    lines: list[str] = []
    for line in text.rstrip("\n").split("\n"):
        if line and not line[0].isspace() and lines:
            lines += notes(lines)
        lines.append(line)
    return "\n".join(lines + notes(lines))


def notes(lines: list[str]) -> list[str]:
    """Returns what plugins say of the operator whose schema is the last of the lines that is not indented."""
    from lamella.plugins import contributions

    schema = next(line for line in reversed(lines) if line and not line[0].isspace())
    found = contributions.place("operator").used.values()
    said = [(c.name, c.object(schema.partition("(")[0])) for c in found]
    return [f"  rule      {name:13} {text}" for name, text in said if text]


def cached_extensions(clear: bool) -> str:
    """Returns a list of the user's cache of built extensions, after emptying the cache if ``clear``."""
    from lamella.extensions import Cache, cache_folder

    cache = Cache(cache_folder())
    if clear:
        cache.clear()
    entries = cache.entries()
    libraries = sorted(p.name for _, _, path in entries for p in path.glob("*.so"))
    size = sum(size for _, size, _ in entries)
    return "\n".join([f"{cache.folder}: {size / 2**20:.1f} MB", *(f"  {name}" for name in libraries)])


def duration(text: str) -> float:
    """Converts a text such as "2s", "500ms" or "1.5" to seconds."""
    number, scale = (text[:-2], 1e-3) if text.endswith("ms") else (text.removesuffix("s"), 1.0)
    try:
        return float(number) * scale
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected seconds, such as 2s, 500ms or 1.5, got {text!r}") from None


def profile(args: argparse.Namespace) -> str:
    """Profiles a running process into a file."""
    import lamella

    options = {name: getattr(args, name) for name in ("record_shapes", "profile_memory", "with_stack")}
    written = lamella.profiler.profile_process(args.pid, args.duration, args.output, **options)
    return f"{args.output}: {written} bytes; open it at https://ui.perfetto.dev"


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    if words[:1] == ["run"]:  # the other words belong to the program
        from lamella._torch.run import main as run

        return run(words[1:])
    if words[:1] == ["launch"]:
        import lamella

        return lamella.distributed.launch.main(words[1:])
    parser = argparse.ArgumentParser(prog="lamella", description="Looks into an installed Lamella.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("info", help="version, compiler, threads, libraries, plugins: for a bug report")
    listed = commands.add_parser("plugins", help="what is installed, what is loaded, and why something is not")
    listed.add_argument("--load", action="store_true", help="load every plugin first, also those of devices")
    ops = commands.add_parser("ops", help="operators").add_subparsers(dest="what", required=True)
    every = ops.add_parser("list", help="every operator with its schema and who has kernels")
    every.add_argument("--device", help="how this device serves each: native, shape rule, composite, fallback or none")
    show = ops.add_parser("show", help="one operator's table, with owners")
    show.add_argument("name", help="such as aten::add or add.Tensor")
    show.add_argument("--device", help="load the plugin of this device first")
    from lamella.extensions.config import add_arguments

    add_arguments(commands.add_parser("config", help="flags and folders for building an extension"))
    extensions = commands.add_parser("extensions", help="the cache of extensions that load and load_inline built")
    extensions.add_argument("action", nargs="?", choices=("list", "clear"), default="list")
    flight = commands.add_parser("flight", help="which rank of a job has not joined which collective")
    flight.add_argument("folder", help="where `lamella launch`, or LAMELLA_FLIGHT_DIR, has the records")
    flight.add_argument("--json", action="store_true", help="every call, with torch's names")
    commands.add_parser("launch", help="start the processes of a job, as torchrun does: launch --help")
    commands.add_parser("run", help="run a program that says `import torch`, or list what it would miss: run --help")
    made = commands.add_parser("new", help="write a small complete project: a backend, an operator or a layer")
    made.add_argument("kind", choices=("backend", "op", "layer"))
    made.add_argument("name", help="of the device, the operators' namespace or the layer; the package is lamella-NAME")
    made.add_argument("--folder", help="where to, instead of a new folder lamella-NAME")
    profiled = commands.add_parser("profile", help="profile a process that was started with LAMELLA_PROFILE_SOCKET=1")
    profiled.add_argument("--pid", type=int, required=True, help="the process's number")
    profiled.add_argument("--duration", type=duration, default=1.0, help="how long: 2s, 500ms, 1.5; 1s without it")
    profiled.add_argument("-o", "--output", default="trace.json", help="the file, for ui.perfetto.dev")
    for option in ("record-shapes", "profile-memory", "with-stack"):
        profiled.add_argument(f"--{option}", action="store_true")
    shown = commands.add_parser("show", help="what is in a file of jit.save: classes, methods, operators, sizes")
    shown.add_argument("file")
    shown.add_argument("--code", action="store_true", help="print the graphs, too")
    args = parser.parse_args(words)
    try:
        print(answer(args))
    except (LookupError, OSError, RuntimeError, ValueError) as error:
        print(f"lamella: {error.args[0] if len(error.args) == 1 else error}", file=sys.stderr)
        return 1
    return 0


def answer(args: argparse.Namespace) -> str:
    """Runs a command and returns its output. A failure is a LookupError, OSError, RuntimeError or ValueError."""
    if args.command == "info":
        return info()
    if args.command == "plugins":
        return plugins(load=args.load)
    if args.command == "profile":
        return profile(args)
    if args.command == "config":
        from lamella.extensions.config import config

        return config(args)
    if args.command == "show":
        import lamella

        return lamella.graph.show(args.file, args.code)
    if args.command == "flight":
        import lamella

        return lamella.distributed.flight.report(args.folder, args.json)
    if args.command == "new":
        from lamella.projects import new, next_steps

        files = new(args.kind, args.name, args.folder)
        steps = next_steps(args.kind, args.folder or f"lamella-{args.name}")
        return "\n".join([*map(str, files), "", "Next:", *(f"  {step}" for step in steps)])
    if args.command == "extensions":
        return cached_extensions(args.action == "clear")
    if args.what == "list":
        return support(args.device) if args.device else list_operators()
    return show_operator(args.name, args.device)


if __name__ == "__main__":
    sys.exit(main())
