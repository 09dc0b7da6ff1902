"""Optimizers on the example backend: the updates run by its primitives, with the numbers of the cpu."""

STEPS = """
    import numpy as np
    import lamella

    lamella.set_fallback("error")
    OPTIONS = {
        "SGD": [{}, dict(momentum=0.9, nesterov=True, weight_decay=0.1), dict(momentum=0.5, maximize=True)],
        "Adam": [{}, dict(amsgrad=True, weight_decay=0.1)],
        "AdamW": [{}, dict(amsgrad=True, maximize=True)],
        "Adagrad": [dict(lr_decay=0.1, weight_decay=0.1)],
        "Adadelta": [dict(weight_decay=0.1)],
        "Adamax": [dict(weight_decay=0.1)],
        "NAdam": [dict(decoupled_weight_decay=True, weight_decay=0.1), {}],
        "RAdam": [dict(betas=(0.5, 0.6)), dict(weight_decay=0.1)],
        "ASGD": [dict(t0=1, lambd=0.1)],
        "Rprop": [{}],
        "RMSprop": [{}, dict(centered=True, momentum=0.5, weight_decay=0.1)],
        "Adafactor": [{}],
        "Muon": [{}],
        "LBFGS": [dict(max_iter=3), dict(max_iter=3, line_search_fn="strong_wolfe")],
    }
    KINDS = {"float32": (1e-5, 1e-6), "bfloat16": (0.02, 0.02)}

    def trained(name, options, device, dtype):
        rng = np.random.default_rng(0)
        shapes = [(3, 4), (2, 3)] if name == "Muon" else [(3, 4), (), (5,), (0,)]
        w = [lamella.tensor(rng.standard_normal(s)).to(device, getattr(lamella, dtype)) for s in shapes]
        target = [lamella.tensor(rng.standard_normal(s)).to(device, getattr(lamella, dtype)) for s in shapes]
        for p in w:
            p.requires_grad_()
        optimizer = getattr(lamella.optim, name)(w, lr=0.05, **options)

        def closure():
            optimizer.zero_grad()
            loss = sum(((p - t) ** 2).sum() for p, t in zip(w, target, strict=True))
            loss.backward()
            return loss

        for _ in range(3):
            if name == "LBFGS":
                optimizer.step(closure)
            else:
                closure()
                optimizer.step()
        state = [s[k] for p in w for s in [optimizer.state[p]] for k in sorted(s) if isinstance(s[k], lamella.Tensor)]
        if device != "cpu":
            assert all(p.device == lamella.device(device) for p in w)
            assert all(s.device == lamella.device(device) for s in state if s.dim())
        return [x.detach().to("cpu").to(lamella.float64).numpy() for x in w + state]

    def same(name, options, dtype="float32"):
        got, wanted = (trained(name, options, d, dtype) for d in ("bank:1", "cpu"))
        assert len(got) == len(wanted) and wanted
        for x, y in zip(got, wanted, strict=True):
            limits = KINDS["bfloat16" if name == "Muon" else dtype]  # Muon computes in bfloat16
            np.testing.assert_allclose(x, y, *limits, err_msg=f"{name} {options} {dtype}")
"""


def test_every_optimizer_steps_as_on_the_cpu(guest):
    guest.run(
        STEPS
        + """
    classes = {n for n in dir(lamella.optim) if isinstance(getattr(lamella.optim, n), type)}
    assert classes - {"Optimizer", "SparseAdam"} == set(OPTIONS)
    for name, all_options in OPTIONS.items():
        for options in all_options:
            for foreach in [None] if name in ("Muon", "LBFGS") else [None, True, False]:
                same(name, options if foreach is None else options | dict(foreach=foreach))
    assert not lamella.fallback_counts()
    """
    )


def test_updates_of_half_precision_and_with_fused_options(guest):
    guest.run(
        STEPS
        + """
    for name in ("SGD", "Adam", "RMSprop"):
        same(name, OPTIONS[name][-1], "bfloat16")
    for name in ("SGD", "Adam", "AdamW", "Adagrad"):
        same(name, OPTIONS[name][0] | dict(fused=True))
    assert not lamella.fallback_counts()
    """
    )


def test_gradients_are_scaled_and_clipped_there(guest):
    guest.run(
        STEPS
        + """
    def run(device):
        w = lamella.tensor([1.0, -2.0, 3.0]).to(device).requires_grad_()
        optimizer = lamella.optim.Adam([w], lr=0.1, fused=True)
        scaler = lamella.amp.GradScaler(device.partition(":")[0], init_scale=4.0, growth_interval=1)
        for factor in (1.0, float("inf"), 1.0):
            optimizer.zero_grad()
            scaler.scale((w * w * factor).sum()).backward()
            scaler.unscale_(optimizer)
            if factor == 1:
                norm = lamella.nn.utils.clip_grad_norm_([w], 1.0)
            scaler.step(optimizer)
            scaler.update()
        return [*w.tolist(), optimizer.state[w]["step"].item(), scaler.get_scale(), norm.item()]

    got, wanted = run("bank:1"), run("cpu")
    assert got[3] == wanted[3] == 2
    np.testing.assert_allclose(got, wanted, rtol=1e-5)
    assert not lamella.fallback_counts()
    """
    )


def test_memory_that_two_lists_share_is_refused_there_too(guest):
    guest.run("""
        import lamella

        b = lamella.arange(10.0, device="bank:1")
        options = dict(weight_decay=0.0, momentum=0.0, dampening=0.0, nesterov=False, maximize=False)
        for call in (
            lambda: lamella._fused_sgd_([b[1:]], [b[:-1]], [], lr=0.1, **options, is_first_step=True),
            lambda: lamella._foreach_add_([b[1:]], [b[:-1]]),
        ):
            with fails(RuntimeError, "single memory location"):
                call()
        assert b.tolist() == list(range(10))
    """)
