"""Names that are not here yet: ``Tensor.x`` and ``import lamella.x`` say whether they are planned."""

from __future__ import annotations

import sys
from typing import Any

PACKAGE = "the package around the operators"
# Names of torch that are planned, by the step that brings them.
PLANNED = {
    "the catalogue": "gcd lcm nextafter frexp ldexp igamma i0 histogram poisson binomial lu",
    PACKAGE: "linalg fft special onnx export cholesky det eig inverse lobpcg logdet lstsq matrix_exp pinverse qr "
    "slogdet svd stft istft vmap",
    "a plugin of its own": "quantization names rename align_to refine_names sparse sparse_coo_tensor "
    "sparse_csr_tensor to_sparse to_dense coalesce",
}
STEPS = {name: step for step, names in PLANNED.items() for name in names.split()}


def nearest(name: str, among) -> str:
    import difflib

    close = difflib.get_close_matches(name, [n for n in among if not n.startswith("_")], 1, 0.6)
    return f"; did you mean '{close[0]}'?" if close else ""


def explain(what: str, name: str, among=()) -> str:
    """The one answer: planned or not, and the nearest existing name."""
    if name in STEPS:
        return f"{what} is not here yet; it is planned with {STEPS[name]}{nearest(name, among)}"
    return f"{what} does not exist and is not planned{nearest(name, among)}"


def absent_plugin(kind: str, name: str):
    """The installed plugin whose manifest promises a name of this kind, but that is not loaded; or None."""
    found = sys.modules.get("lamella.plugins.manager")  # lamella itself may be half imported
    for plugin in found.manager.plugins if found else ():
        if plugin.state not in ("loaded", "loading") and name in plugin.manifest.get(kind, ()):
            return plugin
    return None


def brought(what: str, plugin) -> str:
    """Which plugin would bring it, and why it does not."""
    who = f"plugin '{plugin.name}' ({plugin.distribution} {plugin.version})"
    return f"{what} is brought by {who}, which is {why_absent(plugin)}"


def namespace_note(namespace: str) -> str:
    """The end of a message about an operator that is not there: the plugin of that name, and why it is not loaded."""
    found = sys.modules.get("lamella.plugins.manager")
    for plugin in found.manager.named(namespace) if found else ():
        if plugin.state != "loaded":
            who = f"plugin '{plugin.name}' ({plugin.distribution} {plugin.version})"
            return f"; {who} is {why_absent(plugin)}"
    return ""


def why_absent(plugin) -> str:
    state = {"found": "not loaded yet", "loading": "being loaded, and its hook has not run"}.get(
        plugin.state, plugin.state
    )
    return f"{state}: {plugin.reason}" if plugin.reason else state


def missing_name(what: str, name: str, among=()) -> str:
    """The answer for a name of the namespace: a plugin's, planned, or neither."""
    plugin = absent_plugin("names", name)
    return brought(what, plugin) if plugin else explain(what, name, among)


def keywords_note(names: tuple[str, ...]) -> str:
    """The end of a message about unknown keywords: which plugin would bring them, or which are planned."""
    notes = []
    for name in names:
        if plugin := absent_plugin("keywords", name):
            notes.append("; " + brought(f"'{name}'", plugin))
        elif name == "names":
            notes.append(f"; '{name}' is planned with {STEPS[name]}")
    return "".join(notes)


def unknown_keyword(who: str, name: str) -> Exception:
    """The error for an unknown keyword of a function that is no operator."""
    note = keywords_note((name,))
    if "is planned" in note:
        return RuntimeError(explain(f"{who}: argument '{name}'", name))
    return TypeError(f"{who}: has no argument '{name}'{note}")


class Planned:
    """Stands on Tensor for a planned name; reading or setting it explains."""

    placeholder = True  # a plugin may take the name

    def __init__(self, name: str):
        self.name = name

    def __get__(self, obj, owner=None):
        raise AttributeError(self.words())

    def __set__(self, obj, value):
        raise AttributeError(self.words())

    def words(self) -> str:
        return explain(f"Tensor.{self.name}", self.name)


class Absent(Planned):
    """Stands on Tensor for an attribute that an installed plugin would bring, if it were loaded."""

    def __init__(self, name: str, plugin):
        super().__init__(name)
        self.plugin = plugin

    def words(self) -> str:
        return brought(f"Tensor.{self.name}", self.plugin)


def mark_absent(tensor_type: type, plugins) -> None:
    """Puts the attributes and methods that manifests promise on Tensor, for plugins that are not loaded."""
    for plugin in plugins:
        promised = [*plugin.manifest.get("attributes", ()), *plugin.manifest.get("methods", ())]
        for name in promised if plugin.state != "loaded" else []:
            if isinstance(vars(tensor_type).get(name, None), (Planned, type(None))):
                setattr(tensor_type, name, Absent(name, plugin))


def forget(tensor_type: type, plugin) -> None:
    """Takes the explanations for a plugin's attributes off Tensor: it has been loaded since."""
    for name, held in list(vars(tensor_type).items()):
        if isinstance(held, Absent) and held.plugin is plugin:
            delattr(tensor_type, name)


class PlannedModules:
    """Last on ``sys.meta_path``: explains ``import lamella.nn``."""

    def find_spec(self, fullname: str, path=None, target=None):
        parent, _, name = fullname.rpartition(".")
        if parent == "lamella" and not name.startswith("_"):
            import lamella

            raise ModuleNotFoundError(missing_name(fullname, name, dir(lamella)), name=fullname)
        return None


def install(namespace: dict[str, Any], tensor_type: type) -> None:
    """Makes missing names of Tensor and missing submodules explain themselves."""
    also = "__version__"
    namespace["__dir__"] = lambda: sorted({n for n in namespace if n[0] != "_"} | {also, *namespace["__all__"]})
    for name in STEPS:
        if name not in dir(tensor_type):
            setattr(tensor_type, name, Planned(name))
    sys.meta_path.append(PlannedModules())


def explain_absent(namespace: dict[str, Any], plugins) -> None:
    """Gives the namespace a ``__getattr__`` if an installed plugin that would bring names is not loaded.

    Otherwise there is none: CPython finds the attributes of a module with one more slowly.
    """
    if not any(p.state != "loaded" and p.manifest.get("names") for p in plugins):
        return

    def __getattr__(name: str):
        if plugin := absent_plugin("names", name):
            raise AttributeError(brought(f"lamella.{name}", plugin))
        raise AttributeError(f"module 'lamella' has no attribute '{name}'")

    namespace["__getattr__"] = __getattr__
