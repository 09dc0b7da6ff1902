"""Devices in Python over the heap: a minimal one, whose methods are synchronous, and one with all optional methods."""

import ctypes
import itertools
import queue
import threading
import time

import lamella


class Heap(lamella.library.Backend):
    """A device with the fewest methods that are possible."""

    def __init__(self):
        self.blocks = {}

    def alloc(self, nbytes, index, stream):
        block = ctypes.create_string_buffer(nbytes)
        self.blocks[ctypes.addressof(block)] = block
        return ctypes.addressof(block)

    def free(self, address, nbytes, index):
        del self.blocks[address]

    def copy_from_host(self, to, source, nbytes, index, non_blocking):
        ctypes.memmove(to, source, nbytes)

    copy_to_host = copy_from_host


class Line:
    """A stream: a thread that runs its work in order."""

    def __init__(self):
        self.work = queue.SimpleQueue()
        self.asked, self.done = 0, threading.Condition()
        self.passed = 0
        threading.Thread(target=self.go_on, daemon=True).start()

    def go_on(self):
        while True:
            f = self.work.get()
            f()
            with self.done:
                self.passed += 1
                self.done.notify_all()

    def push(self, f):
        self.work.put(f)
        self.asked += 1
        return self.asked

    def wait(self, ticket=None):
        with self.done:
            assert self.done.wait_for(lambda: self.passed >= (self.asked if ticket is None else ticket), timeout=60)


class Spool(Heap):
    """A backend of two devices with streams, events, pinned memory, statistics, properties and a current device."""

    device_count = 2
    dtypes = (lamella.float32, lamella.int64, lamella.uint32)
    fallback = True

    def __init__(self):
        super().__init__()
        self.calls = []
        self.numbers = itertools.count(1)
        self.things = {}  # streams and events by their handles
        self.usual = [self.new(Line()), self.new(Line())]
        self.thread = threading.local()
        self.counted = [dict(live_bytes=0, peak_bytes=0, allocations=0) for _ in range(2)]

    def new(self, thing):
        handle = next(self.numbers)
        self.things[handle] = thing
        return handle

    def line(self, index, stream):
        return self.things[stream or self.stream_current(index)]

    def alloc(self, nbytes, index, stream):
        if nbytes > 2**30:
            raise MemoryError("spool: it is full")
        counted = self.counted[index]
        counted["live_bytes"] += nbytes
        counted["allocations"] += 1
        counted["peak_bytes"] = max(counted["peak_bytes"], counted["live_bytes"])
        return super().alloc(nbytes, index, stream)

    def free(self, address, nbytes, index):
        for stream in [*self.things.values()]:
            if isinstance(stream, Line):
                stream.wait()
        self.counted[index]["live_bytes"] -= nbytes
        super().free(address, nbytes, index)

    def copy_from_host(self, to, source, nbytes, index, non_blocking):
        held = ctypes.string_at(source, nbytes)
        self.line(index, 0).push(lambda: ctypes.memmove(to, held, nbytes))

    def copy_to_host(self, to, source, nbytes, index, non_blocking):
        line = self.line(index, 0)
        line.wait(line.push(lambda: ctypes.memmove(to, source, nbytes)))

    def copy_between(self, to, source, nbytes, to_index, source_index):
        self.calls.append("copy_between")
        for index in (source_index, to_index):
            self.line(index, 0).wait()
        ctypes.memmove(to, source, nbytes)

    def record_stream(self, index, address, stream):
        self.calls.append("record_stream")

    def stats(self, index):
        return self.counted[index]

    def reset_stats(self, index, peaks, counts):
        counted = self.counted[index]
        if peaks:
            counted["peak_bytes"] = counted["live_bytes"]
        if counts:
            counted["allocations"] = 0

    def trim(self, index, cap):
        self.calls.append("trim")

    def host_alloc(self, nbytes):
        return Heap.alloc(self, nbytes, 0, 0)

    def host_free(self, address, nbytes):
        Heap.free(self, address, nbytes, 0)

    def property(self, index, name):
        return {"name": f"Spool {index}", "memory.total": 2**30, "memory.free": 2**29}.get(name)

    def synchronize(self, index):
        self.calls.append("synchronize")
        self.line(index, 0).wait()

    def stream_default(self, index):
        return self.usual[index]

    def stream_create(self, index, priority):
        return self.new(Line())

    def stream_destroy(self, index, stream):
        self.calls.append("stream_destroy")

    def stream_current(self, index):
        return getattr(self.thread, "streams", self.usual)[index]

    def stream_set_current(self, index, stream):
        streams = [*getattr(self.thread, "streams", self.usual)]
        streams[index] = stream or self.usual[index]
        self.thread.streams = streams

    def stream_synchronize(self, index, stream):
        self.line(index, stream).wait()

    def stream_query(self, index, stream):
        line = self.line(index, stream)
        return line.passed >= line.asked

    def event_create(self, index, timing):
        return self.new({})

    def event_destroy(self, index, event):
        self.calls.append("event_destroy")

    def event_record(self, index, event, stream):
        line, e = self.line(index, stream), self.things[event]
        e.update(line=line, ticket=line.push(lambda: e.update(at=time.perf_counter())))

    def event_wait(self, index, event, stream):
        e = dict(self.things[event])
        self.line(index, stream).push(lambda: e["line"].wait(e["ticket"]))

    def event_synchronize(self, index, event):
        e = self.things[event]
        e["line"].wait(e["ticket"])

    def event_query(self, index, event):
        e = self.things[event]
        return e["line"].passed >= e["ticket"]

    def event_elapsed(self, index, start, end):
        return (self.things[end]["at"] - self.things[start]["at"]) * 1000

    def device_current(self):
        return getattr(self.thread, "index", 0)

    def device_set_current(self, index):
        self.thread.index = index
