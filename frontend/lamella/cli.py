"""The command line: ``lamella info``, ``plugins``, ``ops list``, ``ops show NAME``, ``config`` and ``extensions``."""

from __future__ import annotations

import argparse
import platform
import sys


def info() -> str:
    """Everything a bug report needs."""
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


def plugins() -> str:
    """The table of plugins, with the reason for each that is set aside."""
    import lamella
    from lamella import _C

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
        f"  {device} {op}: {calls} calls, {bytes} bytes, {seconds:.3f} s; {reason}"
        for device, op, calls, bytes, seconds, reason in _C._fallbacks()
    ]
    if fallbacks:
        lines += ["", "served by the host in this process:", *fallbacks]
    return "\n".join(lines)


def list_operators() -> str:
    from lamella import _C

    lines = []
    for op in _C._operators():
        if op["form"] == "functional" and not op["private"]:
            kernels = ", ".join(key for key, _ in op["kernels"]) or ("shape rule" if op["shape_rule"] else "none")
            lines.append(f"{op['schema']}\n    {op['category'] or 'no category'}; {kernels}")
    return "\n".join(lines)


def support(device: str) -> str:
    """How a device serves every operator of the catalogue, and how many of each kind."""
    import lamella
    from lamella import _C

    lamella.empty(0, device=device)  # loads the backend, or says why not
    rows = [(op, kind) for op, kind in _C._support(device) if op.startswith("aten::")]
    kinds = [kind for _, kind in rows]
    total = ", ".join(f"{kinds.count(k)} {k}" for k in dict.fromkeys(kinds))
    return "\n".join([*(f"{kind:12} {op}" for op, kind in rows), "", f"{device}: {total}"])


def cached_extensions(clear: bool) -> str:
    """The contents of the user's cache of built extensions; ``clear`` empties it first."""
    from lamella.extensions import Cache, cache_folder

    cache = Cache(cache_folder())
    if clear:
        cache.clear()
    entries = cache.entries()
    libraries = sorted(p.name for _, _, path in entries for p in path.glob("*.so"))
    size = sum(size for _, size, _ in entries)
    return "\n".join([f"{cache.folder}: {size / 2**20:.1f} MB", *(f"  {name}" for name in libraries)])


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="lamella", description="Looks into an installed Lamella.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("info", help="version, compiler, threads, libraries, plugins: for a bug report")
    commands.add_parser("plugins", help="what is installed, what is loaded, and why something is not")
    ops = commands.add_parser("ops", help="operators").add_subparsers(dest="what", required=True)
    every = ops.add_parser("list", help="every operator with its schema and who has kernels")
    every.add_argument("--device", help="how this device serves each: native, shape rule, composite, fallback or none")
    show = ops.add_parser("show", help="one operator's table, with owners")
    show.add_argument("name", help="such as aten::add or add.Tensor")
    from lamella.extensions.config import add_arguments, config

    add_arguments(commands.add_parser("config", help="flags and folders for building an extension"))
    extensions = commands.add_parser("extensions", help="the cache of extensions that load and load_inline built")
    extensions.add_argument("action", nargs="?", choices=("list", "clear"), default="list")
    args = parser.parse_args(argv)
    if args.command == "info":
        print(info())
    elif args.command == "plugins":
        import lamella  # noqa: F401

        print(plugins())
    elif args.command == "config":
        try:
            print(config(args))
        except LookupError as error:
            print(f"lamella: {error}", file=sys.stderr)
            return 1
    elif args.command == "extensions":
        print(cached_extensions(args.action == "clear"))
    elif args.what == "list":
        print(support(args.device) if args.device else list_operators())
    else:
        from lamella import _C

        text = _C._show(args.name)
        if not text:
            print(f"lamella: there is no operator {args.name}", file=sys.stderr)
            return 1
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
