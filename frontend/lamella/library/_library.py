"""Library, which makes all registrations of one namespace."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

from lamella import _C
from lamella._devices.names import announce
from lamella._namespace import show_modules

from ._backend import Backend, described
from ._calls import forget_descriptions
from ._checks import check_callable, check_type, key_name, several, version_from_one
from ._layer import Layer, fallthrough_kernel
from ._objects import ObjectKind
from ._objects import forget as forget_kind
from ._objects import keep as keep_kind
from ._rules import Autocast, Derivative, Rule, find, named
from ._site import Registration, Site, earlier, supersede

DECOMPOSE, INSIDE, FOLLOWS_ALIAS, FALLTHROUGH, NEVER_ON_TENSORS, NOT_IN_BACKWARD = 1, 2, 4, 8, 16, 32
INPLACE, OUT, METHOD, FUNCTION = 1, 2, 4, 8
# Kinds of registrations of which a name may have several; of any other kind it has one.
STACK = ("kernel", "category", "rule", "switch")
KINDS = ("DEF", "IMPL", "FRAGMENT")
EFFECTS = {"": 0, "state": 1}  # the words of `define` and their bits, enum lamella_effects


class Library:
    """Registers under one namespace; ``close`` withdraws everything.

    Args:
        ns: the namespace, such as "mine" of "mine::twice"
        kind: "DEF" defines the namespace, which one library does at a time; "FRAGMENT" adds operators to a
            namespace without defining it; "IMPL" only registers kernels
        dispatch_key: the key of ``impl`` if a call names none, by default "composite"; see :meth:`impl`
        owner: the owner for messages and tables; by default file and line of the call
        version: the version of the namespace's operators, from 1 on; raise it when an operator gets an argument or
            computes something else, so that stored programs can say which version they need

    Raises:
        ValueError: ``kind`` is another word, or ``version`` is below 1
        RuntimeError: the namespace is defined already; the message names both owners. If the same place of a program
            runs again, such as a cell of a notebook, its earlier library is closed instead.

    >>> lib = lamella.library.Library("mine", "DEF")
    >>> _ = lib.define("twice(Tensor self) -> Tensor")
    >>> _ = lib.impl("twice", lambda x: x + x)
    >>> lamella.ops.mine.twice(lamella.tensor([1, 2]))
    tensor([2, 4])
    >>> lib.close()
    """

    def __init__(
        self,
        ns: str,
        kind: Literal["DEF", "IMPL", "FRAGMENT"],
        dispatch_key: str = "",
        *,
        owner: str | None = None,
        version: int = 1,
    ):
        site = Site()
        for what, text in (("ns", ns), ("dispatch_key", dispatch_key), ("owner", owner or "")):
            check_type("Library", what, text)
        if kind not in KINDS:
            raise ValueError(f"Library: argument 'kind': expected 'DEF', 'IMPL' or 'FRAGMENT', got {kind!r}")
        version_from_one("Library", "version", version)
        self.ns, self.kind, self.version = ns, kind, version
        self.dispatch_key = key_name("Library", dispatch_key, "dispatch_key") if dispatch_key else "composite"
        self.owner = owner or str(site)
        if kind == "DEF":
            supersede(("namespace", ns), site)
        self._library = _C._Library(ns, self.owner, kind, version)
        self._closed = False
        self._registered: dict[int, Registration] = {}  # by handle
        self._namespace = Registration(("namespace", ns), site, self.close) if kind == "DEF" else None

    def __repr__(self) -> str:
        return f"<Library {self.ns} ({self.kind}), {self.owner}>"

    def _register(self, key: tuple[str, ...], register: Callable[[str, int], int], what: Any = None) -> int:
        """Calls ``register(file, line)``, and withdraws the registration of ``key`` that the same site made before."""
        self._check_open()
        site = Site()
        before = earlier(key, site)
        if before and (key[0] not in STACK or before.followers):  # see Note [Nothing in between]
            before.withdraw()
            for follower in before.followers:
                follower.look_again()
            before = None
        handle = register(site.file, site.line)
        self._registered[handle] = Registration(key, site, lambda: self.withdraw(handle), what)
        if before:
            before.withdraw()
        return handle

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError(f"library '{self.ns}' of {self.owner} is closed; open another one to register")

    def qualified(self, who: str, op: Any, what: str = "op") -> Any:
        """Returns an operator's name with its namespace, by default this library's; returns packets unchanged."""
        op = named(who, op, what)
        return f"{self.ns}::{op}" if isinstance(op, str) and "::" not in op else op

    def define(
        self,
        schema: str,
        alias_analysis: str = "",
        *,
        tags: Any = (),
        category: str = "",
        doc: str = "",
        inplace: bool = False,
        out: bool = False,
        module: str = "",
        dims: str = "",
        effects: str = "",
        since: int = 1,
    ) -> int:
        """Defines an operator by its schema, in PyTorch's grammar; returns a handle for ``withdraw``.

        Args:
            alias_analysis: "FROM_SCHEMA" or nothing: the schema says what the operator aliases
            tags: accepted for torch's sake; has no effect
            category: the operator's category, for layers and backends that have kernels for one: "pointwise", …
            inplace: derives ``name_``, which writes into the first argument
            out: derives the keyword ``out=``, with a tensor for each result
            module: a module of Lamella that shows the operator too, as "linalg"; it is made if it does not exist
            dims: how the results' dimensions follow from the arguments': "broadcast", "keep", "reduce" or a pattern
            effects: "state" if a call reads or writes what none of its arguments shows, as a file, the clock, a global
                or a generator: no program may then drop, repeat or move it. Operators of the categories "random" and
                "host" have it in any case.
            since: the version of the namespace in which the operator got the arguments that it has now

        Raises:
            ValueError: the schema or ``dims`` does not parse; ``module`` is no module's name; ``effects`` is another
                word; or ``since`` is below 1 or above the version of the namespace
            RuntimeError: the operator is defined already; the message names both owners
        """
        texts = {"schema": schema, "category": category, "doc": doc, "module": module, "dims": dims, "effects": effects}
        for what, text in texts.items():
            check_type("define", what, text)
        if alias_analysis not in ("", "FROM_SCHEMA"):
            expected = "expected 'FROM_SCHEMA' or nothing: aliases are what the schema says"
            raise ValueError(f"define: argument 'alias_analysis': {expected}, got {alias_analysis!r}")
        if effects not in EFFECTS:
            raise ValueError(f"define: argument 'effects': expected 'state' or nothing, got {effects!r}")
        version_from_one("define", "since", since)
        name = schema.partition("(")[0].strip().rpartition("::")[2]
        _C._parse_schema(schema, self.ns)  # checked before an earlier definition is withdrawn
        forms = FUNCTION | (INPLACE if inplace else 0) | (OUT if out else 0)
        key = ("operator", f"{self.ns}::{name}")
        about = (schema, category, doc, forms, module, dims, EFFECTS[effects], since)
        handle = self._register(key, lambda *at: self._library.define(*about, *at))
        forget_descriptions()
        if module:
            show_modules()
        return handle

    def impl(self, op_name: Any, fn: Callable[..., Any], dispatch_key: str = "", *, all_forms: bool = False) -> int:
        """Registers a kernel for an operator under a key: the name of a device, of a layer or of a plugin's dtype,
        "backend" or "composite".

        A kernel for "backend" serves every device that has none of its own. So does a "composite", and layers such as
        autograd see the operators that it calls. A layer's kernel is called as ``fn(call, *args, **kwargs)``; with
        ``fallthrough_kernel`` the operator falls through the layer. A device's kernel that returns ``NotImplemented``
        declines the call: the composite serves it, else the host if the backend allows its fallback. A kernel stacks
        over one that is there; withdrawing the returned handle restores that.

        Args:
            op_name: a name, by default in this library's namespace, or an operator
            fn: the kernel
            dispatch_key: the key; by default the library's, which is "composite" unless another one was passed to it
            all_forms: a layer's kernel of a functional form also gets the in-place and out= calls that have none of
                their own; an out= form's outputs are among ``kwargs``

        Raises:
            RuntimeError: there is no such operator
            ValueError: ``all_forms`` for another key than a layer's, or for another form
        """
        check_callable("impl", "fn", fn)
        name, key = self.qualified("impl", op_name, "op_name"), self._key("impl", dispatch_key)
        if not isinstance(name, str):
            name = find(name)[0]
        function = None if fn is fallthrough_kernel else fn

        def register(*at: Any) -> int:
            return self._library.impl(name, key, function, all_forms, *at)

        return self._register(("kernel", name, key), register, function)

    def impl_category(self, category: str, fn: Callable[..., Any], dispatch_key: str = "") -> int:
        """Registers a kernel for every operator of a category that has none of its own under this key.

        It is called as ``fn(call, *args, **kwargs)``: ``call.name``, ``call.overload`` and ``call.schema`` say which
        operator it serves, and ``call.expressions`` what an element of a pointwise operator's result is, in C. For a
        device it may return ``NotImplemented``, as a kernel of :meth:`impl` may.

        Raises:
            ValueError: there is no such category

        >>> lib = lamella.library.Library("aten", "IMPL", "meta")
        >>> def kernel(call, x):
        ...     return print(call.name, call.expressions["floating"])
        >>> handle = lib.impl_category("pointwise", kernel)
        >>> lib.close()
        """
        check_type("impl_category", "category", category)
        check_callable("impl_category", "fn", fn)
        key = self._key("impl_category", dispatch_key)
        return self._register(("category", category, key), lambda *at: self._library.category(category, key, fn, *at))

    def disable_kernel(self, op: Any, dispatch_key: str = "") -> int:
        """Disables the kernels that an operator has under a key, until the handle is withdrawn.

        The kernel of the operator's category is disabled as well, so the dispatcher tries the composite, then the
        fallback. This holds for the operator's in-place and out= forms, too; these can also be disabled alone.

        Raises:
            RuntimeError: there is no such operator, device or layer

        >>> lib = lamella.library.Library("aten", "IMPL", "cpu")
        >>> handle = lib.disable_kernel("mm")
        >>> lamella.ones(1, 2) @ lamella.ones(2, 1)
        tensor([[2.]])
        >>> lib.withdraw(handle)
        >>> lib.close()
        """
        name, key = find(self.qualified("disable_kernel", op))[0], self._key("disable_kernel", dispatch_key)
        return self._register(("switch", name, key), lambda *at: self._library.disable(name, key))

    def _key(self, who: str, dispatch_key: str) -> str:
        return self.dispatch_key if dispatch_key == "" else key_name(who, dispatch_key, "dispatch_key")

    def register_layer(
        self,
        name: str,
        handler: Callable[..., Any] | None = None,
        *,
        at: str = "",
        outside: str | Iterable[str] = (),
        inside: str | Iterable[str] = (),
        decompose: bool = False,
        stays_inside: bool = False,
        follows_alias: bool = False,
        fallthrough: bool = False,
        never_on_tensors: bool = False,
        not_in_backward: bool = False,
    ) -> Layer:
        """Registers a layer: ``handler(call, *args, **kwargs)`` runs for operators without a kernel for the layer.

        Args:
            at: the anchor whose band the layer is in: modes, profiler, names, autocast, autograd or backend
            outside: layers and anchors that it must run before, one or several
            inside: layers and anchors that it must run after, one or several
            decompose: for an operator without a kernel for the layer, the composite runs at this layer
            stays_inside: it also runs for the calls that composites and Python kernels make
            follows_alias: a view turns the layer on if its base does
            fallthrough: operators without a kernel for the layer skip it, so that ``handler`` may be None
            never_on_tensors: says that the layer is an observer or a mode: no tensor can get its key
            not_in_backward: the layer is off while backward computes gradients, but not in hooks

        Raises:
            RuntimeError: the wishes contradict, or no bit is free; the message names the neighbours
        """
        if (key := key_name("register_layer", name, "name")) != name:
            raise ValueError(f"register_layer: argument 'name': a key {name!r} is read as {key!r}; take another name")
        if handler is not None:
            check_callable("register_layer", "handler", handler)
        check_type("register_layer", "at", at)
        before, after = several("register_layer", "outside", outside), several("register_layer", "inside", inside)
        flags = DECOMPOSE * decompose | INSIDE * stays_inside
        flags |= FOLLOWS_ALIAS * follows_alias | FALLTHROUGH * fallthrough | NEVER_ON_TENSORS * never_on_tensors
        flags |= NOT_IN_BACKWARD * not_in_backward
        bit = -1

        def register(file: str, line: int) -> int:
            nonlocal bit
            bit, handle = self._library.layer(name, handler, at, before, after, flags)
            return handle

        handle = self._register(("layer", name), register)
        return Layer(name, bit, handle, self)

    def register_backend(self, name: str, backend: Backend) -> int:
        """Registers a device whose memory, copies, streams and events are methods of Python.

        Its kernels are registered by ``impl`` under its name.

        Args:
            name: the device's name, an identifier
            backend: an object of a subclass of :class:`Backend`, which says what each method does

        Raises:
            RuntimeError: the name is taken
            TypeError: a method is missing that every device needs, or that another method needs; or a name is
                misspelled
            ValueError: the name is no identifier or another key (``"composite"``), or there is no device
        """
        given = described("register_backend", name, backend)
        self._check_open()
        handle = self._library.backend(*given)
        self._registered[handle] = Registration(("backend", name), Site(), lambda: self.withdraw(handle))
        announce()
        return handle

    def register_keyword(
        self, name: str, apply: Callable[[Any, Any], Any], *, layer: str = "", claims: bool = False
    ) -> int:
        """Contributes a keyword to all functions that make tensors: operators with ``dtype``, and ``lamella.tensor``.

        ``apply(tensor, value)`` is called with the new tensor; if it raises, so does the call. A tensor that it returns
        replaces the new one.

        Args:
            layer: among several keywords in a call, those without a layer are applied first, in the order of the call;
                then those of inner layers before those of outer ones
            claims: the keyword has precedence over an argument of that name, such as ``pin_memory``

        Raises:
            RuntimeError: the keyword is registered already; the message names both owners
            ValueError: the name is no identifier, or an argument of such operators, and not claimed

        >>> lib = lamella.library.Library("mine", "DEF")
        >>> _ = lib.register_keyword("filled", lambda tensor, value: tensor.fill_(value))
        >>> lamella.zeros(2, filled=7), lamella.tensor([1, 2], filled=3)
        (tensor([7., 7.]), tensor([3, 3]))
        >>> lib.close()
        """
        check_type("register_keyword", "name", name)
        if not name.isidentifier():
            raise ValueError(f"register_keyword: argument 'name': expected an identifier, got {name!r}")
        check_callable("register_keyword", "apply", apply)
        check_type("register_keyword", "layer", layer)
        check_type("register_keyword", "claims", claims, bool)
        if not claims and any(a["name"] == name for a in _C._describe("aten::zeros")["args"]):
            raise ValueError(f"register_keyword: argument 'name': {name!r} is an argument already; see 'claims'")
        return self._register(("keyword", name), lambda *at: self._library.keyword(name, apply, layer, int(claims)))

    def register_keywords(self, expand: Callable[[str, dict[str, Any]], dict[str, Any]]) -> int:
        """Takes the unknown keywords of all operators that make tensors, and puts others in their place.

        ``expand(operator, keywords)`` is called with the operator's name, such as "aten::randn", and the keywords that
        neither the operator has nor ``register_keyword`` has added. The entries of the dictionary that it returns are
        treated as if the caller had written them. A keyword that it cannot use it leaves in, for the function that was
        registered before it; one that all leave in is an unknown keyword.
        ``lamella.tensor`` and ``new_tensor``, whose sizes follow from their data, do not call it.

        >>> lib = lamella.library.Library("mine", "DEF")
        >>> _ = lib.register_keywords(lambda operator, keywords: {"size": list(keywords.values())})
        >>> lamella.zeros(batch=2, height=1, dtype=lamella.int64)
        tensor([[0],
                [0]])
        >>> lib.close()
        """
        check_callable("register_keywords", "expand", expand)
        return self._register(("keywords",), lambda *at: self._library.keywords(expand))

    def register_dim_resolver(self, function: Callable[[_C.Tensor, str], int]) -> int:
        """Gives dimensions names: every argument that counts dimensions, as ``dim``, then takes names as well.

        ``function(tensor, name)`` returns the dimension's number, from 0 on, or raises an error that lists the names
        there are. The tensor is the first one of the call. For a tensor to which the library gives no names it returns
        NotImplemented: the function that was registered before it is called then.

        >>> lib = lamella.library.Library("mine", "DEF")
        >>> _ = lib.register_dim_resolver(lambda tensor, name: ["row", "column"].index(name))
        >>> x = lamella.tensor([[1, 2], [3, 4]])
        >>> x.sum("row"), x.sum(["row", "column"]), x.size("column")
        (tensor([4, 6]), tensor(10), 2)
        >>> lib.close()
        """
        check_callable("register_dim_resolver", "function", function)
        return self._register(("dim_resolver",), lambda *at: self._library.dim_resolver(function))

    def register_object(self, kind: str, wrap: Callable[[_C.Object], Any]) -> ObjectKind:
        """Converts the objects of a kind to a class of Python. Schemas name it: ``wait(mine.Work work) -> Tensor``.

        An operator takes an ``Object`` of the kind, or any object whose ``__lamella_object__`` is one.

        Args:
            kind: the name of the objects' type, such as "mine.Work"
            wrap: called with each ``Object`` of the kind that is returned to Python; its result replaces the ``Object``

        Raises:
            RuntimeError: the kind is registered already; the message names both owners

        >>> class Work:
        ...     def __init__(self, object):
        ...         self.__lamella_object__ = object
        >>> lib = lamella.library.Library("mine", "DEF")
        >>> _ = lib.register_object("mine.Work", Work)
        >>> _ = lib.define("start(int steps) -> mine.Work")
        >>> _ = lib.impl("start", lambda steps: lamella.library.Object("mine.Work", steps))
        >>> _ = lib.define("steps(mine.Work work) -> int")
        >>> _ = lib.impl("steps", lambda work: work.__lamella_object__.payload)
        >>> work = lamella.ops.mine.start(3)
        >>> type(work).__name__, lamella.ops.mine.steps(work)
        ('Work', 3)
        >>> lib.close()
        """
        self._check_open()
        check_type("register_object", "kind", kind)
        check_callable("register_object", "wrap", wrap)
        if kind == "Generator":
            raise ValueError("register_object: argument 'kind': objects of kind 'Generator' are lamella.Generator")
        made = ObjectKind(kind, wrap, self.owner, library=self)

        def register(file: str, line: int) -> int:
            keep_kind(made)
            made.handle.append(self._library.own(lambda: forget_kind(made)))
            return made.handle[0]

        self._register(("object", kind), register)
        return made

    def rule(self, op: Any, layer: str, payload: Any) -> Rule:
        """Registers a rule of an operator for a layer, which may be loaded later; ``rules`` and ``on_rule`` find it.

        Several rules of one operator are stacked: the last one counts, and removing it restores the one before.

        Args:
            op: a packet such as ``lamella.ops.mine.twice``, or a name, by default in this library's namespace
            layer: the layer's name, such as "autograd"
            payload: an object whose meaning the layer's plugin defines

        Raises:
            RuntimeError: there is no such operator, or there are several overloads
        """
        check_type("rule", "layer", layer)
        name = find(self.qualified("rule", op))[0]
        made = Rule(name, layer, payload, self.owner, library=self)
        key = ("rule", name, layer, payload.device_type if isinstance(payload, Autocast) else "")
        made.handle = self._register(key, lambda *at: self._library.rule(name, layer, made))
        return made

    def register_autograd(
        self, op: Any, backward: Callable[..., Any], *, setup_context: Callable[..., Any] | None = None
    ) -> Rule:
        """Gives an operator its derivative; see :func:`register_autograd`."""
        check_callable("register_autograd", "backward", backward)
        if setup_context is not None:
            check_callable("register_autograd", "setup_context", setup_context)
        name, schema = find(self.qualified("register_autograd", op))
        about = _C._describe(name)
        if any(a["alias"] for a in about["args"]) or any(about["return_aliases"]):
            why = f"{name} writes to an argument or returns a view; give a functional operator the derivative"
            raise RuntimeError(f"register_autograd: argument 'op': {why}, not {schema}")
        args = about["args"]
        positional = {a["name"]: a["value"] for a in args if not a["keyword_only"]}
        keywords = {a["name"]: a["value"] for a in args if a["keyword_only"] and a["has_default"]}
        only = keywords if len(positional) < len(args) else None
        return self.rule(op, "autograd", Derivative(backward, setup_context, positional, only))

    def holds(self, made: int | Rule) -> bool:
        """Returns whether a registration or a rule of this library is still there."""
        return (made if isinstance(made, int) else made.handle) in self._registered

    def withdraw(self, handle: int) -> None:
        """Withdraws one registration.

        Raises:
            ValueError: the handle is not of this library, or was withdrawn before
        """
        check_type("withdraw", "handle", handle, int, "the number that a registration returned")
        if handle not in self._registered:
            raise ValueError(f"withdraw: argument 'handle': {handle} is no live registration of {self!r}")
        try:
            self._library.withdraw(handle, missing_ok=self._closed)  # while it closes, the order is the library's
        finally:
            self._registered.pop(handle).forget()
            show_modules()

    def close(self) -> None:
        """Withdraws all registrations, the last one first. A second call does nothing."""
        self._closed = True
        try:
            self._library.close()
        finally:
            for made in (*self._registered.values(), self._namespace):
                if made:
                    made.forget()
            self._registered.clear()
            show_modules()
