"""autograd.graph: hooks on several tensors, hooks that are disabled, writes to saved tensors, counted writes."""

import threading

import lamella
import pytest
from lamella.autograd import graph


def leaves(n):
    return [lamella.tensor([float(i + 1)], requires_grad=True) for i in range(n)]


class TestMultiGrad:
    def test_all_gradients_at_once(self):
        x, y, z = leaves(3)
        calls = []
        handle = graph.register_multi_grad_hook((x, lamella.ones(1), y, z), calls.append)
        (x * y).backward()  # z has no part
        assert [[None if g is None else g.item() for g in call] for call in calls] == [[2.0, None, 1.0, None]]
        (x * y * z).backward()
        assert [g and g.item() for g in calls[1]] == [6.0, None, 3.0, 2.0]
        handle.remove()
        handle.remove()
        (x * y).backward()
        assert len(calls) == 2

    def test_inputs_decide_which_are_computed(self):
        x, y = leaves(2)
        h = x * 3
        out = (h * y).sum()
        calls = []
        with graph.register_multi_grad_hook((x, h, y), calls.append):
            lamella.autograd.grad(out, h, retain_graph=True)
            assert [g is not None for g in calls.pop()] == [False, True, False]
            out.backward(retain_graph=True, inputs=[x])
            assert [g is not None for g in calls.pop()] == [True, True, False]
            out.backward(retain_graph=True)
            assert [g is not None for g in calls.pop()] == [True, True, True]
        out.backward()
        assert not calls

    def test_the_first_gradient(self):
        x, y = leaves(2)
        calls = []
        graph.register_multi_grad_hook((x, y), calls.append, mode="any")
        for n in (1, 2, 3):
            (x * y).backward()
            assert len(calls) == n

    def test_backwards_within_a_backward(self):
        x, y = leaves(2)
        calls = []
        graph.register_multi_grad_hook((x, y), lambda grads: calls.append([g is not None for g in grads]))
        h = x * 2

        def inner(grad):
            with lamella.enable_grad():
                (y * 5).backward()

        h.register_hook(inner)
        (h * y).backward()
        assert sorted(calls) == [[False, True], [True, True]]

    def test_a_backward_that_fails_leaves_nothing(self):
        x, y = leaves(2)
        calls = []
        graph.register_multi_grad_hook((x, y), lambda grads: calls.append([g is not None for g in grads]))

        def fail(grad):
            raise ValueError("bad")

        handle = y.register_hook(fail)
        for _ in range(2):
            with pytest.raises(ValueError, match="bad"):
                (x * y).backward()
        handle.remove()
        (x * y).backward()
        assert calls[-1] == [True, True]

    def test_threads(self):
        tensors = leaves(4)
        calls = []
        graph.register_multi_grad_hook(tensors, lambda grads: calls.append(sum(g is not None for g in grads)))

        def work(n):
            for _ in range(20):
                sum(tensors[:n]).backward()

        threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2, 3, 4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        assert set(calls) <= {1, 2, 3, 4} and len(calls) == 80

    def test_bad_calls(self):
        with pytest.raises(ValueError, match="'mode' must be 'all' or 'any', got 'some'"):
            graph.register_multi_grad_hook(leaves(1), print, mode="some")


class TestDisabledHooks:
    def test_opening_hooks_raises(self):
        with graph.disable_saved_tensors_hooks("not in here"):
            with pytest.raises(RuntimeError, match="not in here"), graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                pass
            with pytest.raises(RuntimeError, match="deeper"), graph.disable_saved_tensors_hooks("deeper"):
                with graph.save_on_cpu():
                    pass
            x = lamella.ones(2, requires_grad=True)
            x.exp().sum().backward()
        with graph.save_on_cpu():
            x.exp().sum().backward()
        assert x.grad.allclose(2 * x.exp())

    def test_hooks_that_are_open(self):
        with graph.save_on_cpu():
            with pytest.raises(RuntimeError, match="message"), graph.disable_saved_tensors_hooks("message"):
                pass

    def test_other_threads_may(self):
        errors = []

        def work():
            try:
                with graph.save_on_cpu():
                    pass
            except RuntimeError as error:
                errors.append(error)

        with graph.disable_saved_tensors_hooks("not in here"):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        assert not errors


class TestIncrementVersion:
    @pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
    def test_one_write_is_counted(self, shape):
        x = lamella.ones(shape)
        graph.increment_version(x)
        assert x._version == 1 and bool((x == 1).all())
        y = x.view(shape)
        graph.increment_version([x, y])
        assert x._version == y._version == 3

    def test_backward_sees_it(self):
        x = lamella.ones(2, requires_grad=True)
        y = x.exp()
        graph.increment_version(y)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()

    def test_bad_calls(self):
        with pytest.raises(TypeError, match="expected a Tensor, got int"):
            graph.increment_version([lamella.ones(1), 3])


class TestMutation:
    def test_without_it_backward_raises(self):
        y = lamella.ones(2, requires_grad=True).clone()
        z = (y * y).sum()
        y.detach().mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.backward()

    @pytest.mark.parametrize(
        "write",
        [
            lambda y: y.mul_(7),
            lambda y: y[0].zero_(),
            lambda y: y.view(-1)[1:].fill_(9),
            lambda y: lamella.add(y, 1, out=y),
            lambda y: y.copy_(lamella.zeros(3)),
            lambda y: lamella._foreach_add_([y], 1.0),
        ],
    )
    def test_gradients_are_those_before_the_write(self, write):
        x = lamella.tensor([1.0, 2.0, 3.0], requires_grad=True)
        (want,) = lamella.autograd.grad((x.exp() * x.sin()).sum(), x)
        with graph.allow_mutation_on_saved_tensors():
            e, s = x.exp(), x.sin()
            z = (e * s).sum()
            for saved in (e, s):
                write(saved.detach())
            z.backward()
        assert x.grad.allclose(want)

    def test_recorded_writes(self):
        x = lamella.tensor([0.5, 1.5], dtype=lamella.float64, requires_grad=True)

        def run(x):
            y = x.sin()
            z = y * y
            y.add_(1)
            return z + y

        with graph.allow_mutation_on_saved_tensors():
            run(x).sum().backward()
        assert x.grad.allclose(2 * x.sin() * x.cos() + x.cos())

    def test_only_what_is_written_is_copied(self):
        x = lamella.ones(3, requires_grad=True)
        with graph.allow_mutation_on_saved_tensors() as context:
            y, z = x.exp(), x.sigmoid()
            (y * z).sum()
            y.detach().add_(1)
            held = [s for s in context.all if s.tensor is not None]
            assert any(not s.original for s in held) and any(s.original for s in held)
            assert all(s.tensor._storage_id() != y._storage_id() for s in held)

    def test_after_clear_and_after_the_block(self):
        x = lamella.ones(2, requires_grad=True)
        with graph.allow_mutation_on_saved_tensors() as context:
            y = x.exp().sum()
            context.clear()
            with pytest.raises(RuntimeError, match="clear"):
                y.backward()
            z = x.exp().sum()
        with pytest.raises(RuntimeError, match="call backward within the block"):
            z.backward()
