"""The main process's side of the workers: starts them, hands tasks out, waits for replies, and ends them."""

from __future__ import annotations

import collections
import contextlib
import os
import pickle
import select
import signal
import time
from collections.abc import Sequence
from multiprocessing import connection
from typing import Any

import lamella
import lamella.utils.data._utils as _utils
import lamella.utils.data._utils.arena as arena
import lamella.utils.data._utils.channel as channel
import lamella.utils.data._utils.fetch as fetch
import lamella.utils.data._utils.interrupts as interrupts
import lamella.utils.data._utils.worker as worker

TRACE_SECONDS = 1.0  # the time in which a hanging worker must begin to write its traceback
PAUSE_SECONDS = 0.05  # the longest pause while it writes


class Worker:
    """The main process's side of one worker process."""

    def __init__(self, number: int, job: worker.Job, context: Any, base_seed: int):
        self.number = number
        self.tenant = arena.Tenant()
        self.replies: collections.deque[tuple[Any, ...]] = collections.deque()
        # The batches that it has to make: indices by number.
        self.tasks: collections.OrderedDict[int, Any] = collections.OrderedDict()
        self.ended = False  # its stream has ended
        self.late = False  # it has exceeded the timeout, and has not replied since
        with contextlib.ExitStack() as if_it_fails, contextlib.ExitStack() as handed_over:
            self.channel, theirs = channel.Channel.pair()
            if_it_fails.callback(self.channel.close)
            handed_over.callback(theirs.close)
            self.trace, trace = os.pipe()
            if_it_fails.callback(os.close, self.trace)
            handed_over.callback(os.close, trace)
            os.set_blocking(self.trace, False)
            link = worker.Link(theirs, lamella._C._shared_empty(worker.PLACE_BYTES), trace)
            self.place = link.numbers()
            self.place[0] = -1
            self.process = context.Process(target=worker._worker_loop, args=(job, link, number, base_seed), daemon=True)
            # SIGINT is blocked during a fork, because Python's fork first reorganizes its threads, while no handler for
            # SIGINT is in place yet. A fork server would pass the mask on to other processes.
            forked = context.get_start_method() == "fork"
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT} if forked else ())
            handed_over.callback(signal.pthread_sigmask, signal.SIG_SETMASK, mask)
            self.process.start()
            if_it_fails.pop_all()
        self.pid = self.process.pid

    def begin(self, epoch: worker.Epoch) -> None:
        """Begins an epoch; replies of an earlier one are dropped."""
        self.ended = False
        self.tasks.clear()
        while self.replies:
            self.read(self.replies.popleft())
        self.channel.send(pickle.dumps((epoch, None, self.tenant.watcher.take())))

    def give(self, epoch: int, index: int, where: Any) -> None:
        """Sends a task to the worker, and the tickets of the windows that this process has released."""
        self.tasks[index] = where
        self.channel.send(pickle.dumps((None, (epoch, index, where), self.tenant.watcher.take()), 5))

    def receive(self, epoch: int) -> bool:
        """Receives the replies that have arrived; returns whether there was one of this epoch."""
        got = False
        with interrupts.Deferred():
            for frame in self.channel.receive():
                reply = pickle.loads(frame)
                if reply[3]:
                    fds = [self.channel.descriptors.popleft() for _ in reply[3]]
                    self.tenant.add(reply[3], fds)
                if reply[0] == epoch:
                    self.replies.append(reply)
                    got, self.late = True, False
                else:
                    self.read(reply)  # read and dropped, so that its windows are released
        return got

    def read(self, reply: tuple[Any, ...]) -> Any:
        """Returns the content of a reply."""
        return self.tenant.loads(reply[6], reply[5])

    def where(self) -> str:
        """Describes the worker's position for an error."""
        if not self.place[worker.READY]:
            return "still starting"
        batch, k = self.place[0], self.place[1]
        done = batch >= 0 and batch not in self.tasks
        return f"after batch {batch}" if done else fetch.describe((batch, k), self.tasks.get(batch))

    def traceback(self, wait: float = 0.0) -> str:
        """Returns the traceback that the worker has written; waits up to ``wait`` seconds for its beginning."""
        poll = select.poll()
        poll.register(self.trace, select.POLLIN)
        text = b""
        while poll.poll(wait * 1000) and (part := os.read(self.trace, channel.CHUNK)):
            text += part
            wait = min(wait, PAUSE_SECONDS)  # it is written in many small pieces
        return "\n" + text.decode(errors="replace").rstrip() if text else ""

    def has_died(self, seconds: float = 0.0) -> bool:
        """Returns whether the process ends within a time. The system reports its end once, so an interrupt must not
        come then."""
        ending = bool(seconds and connection.wait([self.process.sentinel], seconds))
        with interrupts.Deferred():
            if ending:  # its descriptors have been closed already
                self.process.join(1.0)
            return not self.process.is_alive()

    def died(self) -> RuntimeError:
        """Returns the error that says how the worker ended."""
        self.has_died(_utils.MP_STATUS_CHECK_INTERVAL)
        code = self.process.exitcode
        if code is None:
            how = "closed its channel"
        elif code == worker.INTERRUPTED:
            how = "was interrupted by SIGINT"
        elif code < 0:
            name = signal.Signals(-code).name if -code in list(signal.Signals) else f"signal {-code}"
            how = f"was killed by {name}"
            if -code == signal.SIGKILL:
                how += ", as the system does when memory is short,"
        else:
            how = f"ended with exit code {code}"
        return RuntimeError(
            f"DataLoader worker (pid(s) {self.pid}) exited unexpectedly: worker {self.number} {how} {self.where()}"
            f"{self.traceback()}"
        )

    def hangs(self, seconds: float) -> RuntimeError:
        """Returns the error that says what a worker that exceeded the timeout was doing."""
        self.late = True
        trace = ""
        if self.place[worker.READY]:  # before it is ready, the signal would end it
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGUSR2)
            trace = self.traceback(TRACE_SECONDS)
        error = RuntimeError(
            f"DataLoader timed out after {seconds} seconds: worker {self.number} (pid {self.pid}) is {self.where()}"
            f"{trace}"
        )
        error._timed_out = True  # type: ignore[attr-defined]
        return error

    def wait(self, deadline: float) -> None:
        """Waits for the process to end, and ends it after the deadline; its channel has been closed."""
        died = self.has_died(0.0 if self.late else max(0.0, deadline - time.monotonic()))
        for end in (self.process.terminate, self.process.kill):
            if not died:
                end()
                died = self.has_died(1.0)

    def close(self) -> None:
        """Frees the process's resources."""
        if self.has_died():
            self.process.close()
        os.close(self.trace)


class Pool:
    """The workers of one iterator."""

    def __init__(self, count: int, job: worker.Job, context: Any, base_seed: int, timeout: float):
        self.owner = os.getpid()
        self.timeout = timeout
        self.wake: int | None = None  # a descriptor by which another thread ends a wait
        self.workers: list[Worker] = []
        try:
            for number in range(count):
                with interrupts.Deferred():
                    self.workers.append(Worker(number, job, context, base_seed))
        except BaseException:
            self.close()
            raise

    def listen(self, workers: Sequence[Worker], epoch: int) -> None:
        """Waits until one of the workers has replied.

        Raises:
            RuntimeError: a worker is dead, or there was no reply in time
            Stopped: another thread has ended the wait by ``wake``
        """
        deadline = time.monotonic() + self.timeout if self.timeout else None
        while True:
            if sum([w.receive(epoch) for w in workers]):
                return
            for w in workers:
                if w.channel.ended or w.has_died():
                    if w.receive(epoch):  # it replied before it died
                        return
                    raise w.died()
            if deadline is not None and time.monotonic() >= deadline:
                raise workers[0].hangs(self.timeout)
            self._poll(workers, deadline)

    def _poll(self, workers: Sequence[Worker], deadline: float | None) -> None:
        poll = select.poll()
        for w in self.workers:
            if w in workers:
                poll.register(w.process.sentinel, select.POLLIN)
                poll.register(w.channel.socket, select.POLLIN | (select.POLLOUT if w.channel.leaving else 0))
            elif w.channel.leaving and not w.channel.ended:
                poll.register(w.channel.socket, select.POLLOUT)
        if self.wake is not None:
            poll.register(self.wake, select.POLLIN)
        ready = poll.poll(None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000)
        for w in self.workers:
            if w.channel.leaving:
                w.channel.flush()
        if self.wake is not None and any(fd == self.wake for fd, _ in ready):
            raise interrupts.Stopped

    def close(self) -> None:
        """Ends the workers, by closing their channels. Those that take too long are stopped.

        An interrupt during the wait stops them at once; it is raised when they have ended.
        """
        if self.owner != os.getpid():  # a copy in another process, which is not their parent
            return
        with interrupts.Deferred():
            for w in self.workers:
                w.channel.close()
        try:
            self._wait(time.monotonic() + _utils.MP_STATUS_CHECK_INTERVAL)
        except BaseException:
            with interrupts.Deferred():
                self._wait(0.0)
            raise

    def _wait(self, deadline: float) -> None:
        while self.workers:
            self.workers[-1].wait(deadline)
            with interrupts.Deferred():
                self.workers.pop().close()

    def __del__(self) -> None:
        if self.workers:  # an interrupt came before the constructor had returned
            self.close()
