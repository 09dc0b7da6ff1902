// Writes a trace as a file in the trace-event format, which Perfetto and chrome://tracing read.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "observe/host_stacks.h"
#include "trace/launches.h"

namespace lamella::profiler {
namespace {

const char* const categories[] = {"cpu_op", "backward", "user_annotation", "kernel"};

class Json {
 public:
  explicit Json(std::FILE* f) : f_(f) {}
  void raw(const char* text) { std::fputs(text, f_); }
  void number(int64_t n) { std::fprintf(f_, "%" PRId64, n); }
  void number(uint64_t n) { std::fprintf(f_, "%" PRIu64, n); }
  // Writes nanoseconds as microseconds, the format's unit, without rounding.
  void time(int64_t ns) { std::fprintf(f_, "%" PRId64 ".%03d", ns / 1000, static_cast<int>(ns % 1000)); }
  void text(std::string_view s) {
    std::fputc('"', f_);
    for (const char c : s) {
      const auto u = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\')
        std::fputc('\\', f_), std::fputc(c, f_);
      else if (u < 0x20)
        std::fprintf(f_, "\\u%04x", u);
      else
        std::fputc(c, f_);
    }
    std::fputc('"', f_);
  }

 private:
  std::FILE* f_;
};

const char* dtype_text(int64_t number) {
  const lamella_dtype_def* d = api().dtype_info(static_cast<int32_t>(number));
  return d ? d->name : "";
}

// Writes the sizes, or the dtypes, of the arguments; see Note [Shapes].
class Arguments {
 public:
  Arguments(Json& j, const int64_t* words, bool types)
      : j_(j), at_(words + 1), end_(words + 1 + words[0]), types_(types) {
    j_.raw("[");
    for (bool first = true; at_ < end_; first = false) {
      if (!first) j_.raw(", ");
      one();
    }
    j_.raw("]");
  }

 private:
  void one() {
    const int64_t w = *at_++;
    const int64_t n = w >> 16;
    if ((w & 255) == LAMELLA_TENSOR) {
      if (types_) {
        j_.text(dtype_text(w >> 8 & 255));
        at_ += n;
      } else {
        j_.raw("[");
        for (int64_t i = 0; i < n && at_ < end_; i++, at_++) {
          if (i) j_.raw(", ");
          j_.number(*at_);
        }
        j_.raw("]");
      }
    } else if ((w & 255) == LAMELLA_TENSOR_LIST) {
      j_.raw("[");
      for (int64_t i = 0; i < n && at_ < end_; i++) {
        if (i) j_.raw(", ");
        one();
      }
      j_.raw("]");
    } else {
      j_.raw(types_ ? (w & 255) == LAMELLA_NONE ? "\"\"" : "\"Scalar\"" : "[]");
    }
  }
  Json& j_;
  const int64_t *at_, *end_;
  bool types_;
};

struct Place {
  uint64_t thread;
  int64_t begin;
};

class Writer {
 public:
  Writer(Trace& t, std::FILE* f) : t_(t), j_(f), pid_(getpid()) {}

  void write(const std::vector<const Buffer*>& buffers, const char* metadata) {
    j_.raw("{\"schemaVersion\": 1, \"displayTimeUnit\": \"ms\", \"baseTimeNanoseconds\": ");
    j_.number(static_cast<uint64_t>(t_.rate.began_ns()));
    j_.raw(", \"metadata\": ");
    j_.raw(metadata && *metadata ? metadata : "{}");
    j_.raw(", \"traceEvents\": [\n");
    head("M", "process_name", pid_, 0);
    j_.raw(", \"args\": {\"name\": \"lamella\"}}");
    find_calls(buffers);
    int64_t index = 0;
    for (const Buffer* b : buffers) {
      j_.raw(",\n");
      head("M", "thread_name", b->thread, 0);
      j_.raw(", \"args\": {\"name\": \"thread ");
      j_.number(b->thread);
      j_.raw("\"}}");
      walk(
          t_, *b, index, [&](const Open& o) { event(*b, o); }, [](const Open&) {});
    }
    memory(buffers);
    if (t_.devices) devices();
    j_.raw("\n]}\n");
  }

 private:
  void head(const char* phase, std::string_view name, uint64_t thread, int64_t ns) {
    head(phase, name, pid_, thread, ns);
  }
  void head(const char* phase, std::string_view name, uint64_t process, uint64_t thread, int64_t ns) {
    j_.raw("{\"ph\": \"");
    j_.raw(phase);
    j_.raw("\", \"name\": ");
    j_.text(name);
    j_.raw(", \"pid\": ");
    j_.number(process);
    j_.raw(", \"tid\": ");
    j_.number(thread);
    j_.raw(", \"ts\": ");
    j_.time(ns);
  }

  void event(const Buffer& b, const Open& o) {
    const Event& e = *o.event;
    j_.raw(",\n");
    head("X", name_of(e), b.thread, o.begin);
    j_.raw(", \"dur\": ");
    j_.time(o.until - o.begin);
    j_.raw(", \"cat\": \"");
    j_.raw(categories[e.scope]);
    j_.raw("\", \"args\": {\"External id\": ");
    j_.number(o.index + 1);
    if (e.sequence && e.sequence != UINT64_MAX) {
      j_.raw(", \"Sequence number\": ");
      j_.number(e.sequence);
    }
    if (e.forward_thread) {
      j_.raw(", \"Fwd thread id\": ");
      j_.number(static_cast<uint64_t>(e.forward_thread));
    }
    if (e.failed) j_.raw(", \"Failed\": true");
    if (e.shapes) {
      j_.raw(", \"Input Dims\": ");
      Arguments(j_, e.shapes, false);
      j_.raw(", \"Input type\": ");
      Arguments(j_, e.shapes, true);
    }
    if (e.stack) {
      j_.raw(", \"Call stack\": ");
      j_.text(stack_text(e.stack));
    }
    j_.raw("}}");
    if (e.scope == LAMELLA_SCOPE_BACKWARD_FUNCTION) flow(b, o);
  }

  // Writes an arrow from a call to its step of backward.
  void flow(const Buffer& b, const Open& o) {
    const auto call = calls_.find(o.event->sequence);
    if (call == calls_.end()) return;
    j_.raw(",\n");
    head("s", "fwdbwd", call->second.thread, call->second.begin);
    j_.raw(", \"cat\": \"fwdbwd\", \"id\": ");
    j_.number(o.event->sequence);
    j_.raw("},\n");
    head("f", "fwdbwd", b.thread, o.begin);
    j_.raw(", \"cat\": \"fwdbwd\", \"bp\": \"e\", \"id\": ");
    j_.number(o.event->sequence);
    j_.raw("}");
  }

  void find_calls(const std::vector<const Buffer*>& buffers) {
    for (const Buffer* b : buffers)
      b->events.each([&](const Event& e) {
        if (e.scope == LAMELLA_SCOPE_FUNCTION && e.sequence) calls_[e.sequence] = {b->thread, t_.rate.ns(e.begin)};
      });
  }

  // Writes, for each device, a curve of the bytes that were allocated less those released.
  void memory(const std::vector<const Buffer*>& buffers) {
    std::vector<const MemoryEvent*> all;
    for (const Buffer* b : buffers) b->memory.each([&](const MemoryEvent& m) { all.push_back(&m); });
    std::sort(all.begin(), all.end(), [](const MemoryEvent* a, const MemoryEvent* b) { return a->time < b->time; });
    std::unordered_map<int64_t, int64_t> bytes;
    for (const MemoryEvent* m : all) {
      const int64_t now = bytes[int64_t{m->device.backend} << 32 | m->device.index] += m->bytes;
      const char* backend = api().backend_name(m->device.backend);
      j_.raw(",\n");
      head("C", std::string("memory ") + (backend ? backend : "") + ":" + std::to_string(m->device.index), 0,
           t_.rate.ns(m->time));
      j_.raw(", \"args\": {\"bytes\": ");
      j_.number(now);
      j_.raw("}}");
    }
  }

  // Each device is a process of the file and each stream a thread of it; the numbers of these processes are above those
  // of the system's processes.
  struct Track {
    uint64_t process, thread;
    std::string device, stream;
    std::vector<std::pair<int64_t, int>> queue;  // times at which work was launched (1) and ended (-1)
  };
  Track& track(const lamella_trace_activity& a) {
    const uint64_t device = static_cast<uint64_t>(a.device.backend) << 32 | static_cast<uint32_t>(a.device.index);
    const auto [at, is_new] = tracks_.try_emplace({device, a.stream});
    Track& t = at->second;
    if (!is_new) return t;
    const auto [process, is_new_device] = processes_.try_emplace(device, (processes_.size() + 1) << 22 | pid_);
    t.process = process->second;
    t.thread = tracks_.size();
    t.device = std::string(api().backend_name(a.device.backend)) + ":" + std::to_string(a.device.index);
    t.stream = "stream " + std::to_string(a.stream);
    if (is_new_device) {
      j_.raw(",\n");
      head("M", "process_name", t.process, 0, 0);
      j_.raw(", \"args\": {\"name\": ");
      j_.text("device " + t.device);
      j_.raw("}}");
    }
    j_.raw(",\n");
    head("M", "thread_name", t.process, t.thread, 0);
    j_.raw(", \"args\": {\"name\": ");
    j_.text(t.stream);
    j_.raw("}}");
    return t;
  }

  void devices() {
    static const char* const kinds[] = {"kernel", "gpu_memcpy", "gpu_memset"};
    const std::vector<Launched> launches = find_launchers(t_);
    for (const lamella_trace_activity& a : read_activities(t_, launches)) {
      Track& on = track(a);
      j_.raw(",\n");
      head("X", a.name, on.process, on.thread, a.begin);
      j_.raw(", \"dur\": ");
      j_.time(a.end - a.begin);
      j_.raw(", \"cat\": \"");
      j_.raw(kinds[a.kind]);
      j_.raw("\", \"args\": {\"device\": ");
      j_.number(int64_t{a.device.index});
      j_.raw(", \"stream\": ");
      j_.number(a.stream);
      j_.raw(", \"correlation\": ");
      j_.number(a.launch);
      if (a.host >= 0) {
        j_.raw(", \"External id\": ");
        j_.number(a.host + 1);
      }
      if (a.launch) {
        j_.raw(", \"queued\": ");
        j_.time(std::max<int64_t>(a.begin - a.launched, 0));
      }
      if (a.kind != LAMELLA_ACTIVITY_KERNEL) {
        j_.raw(", \"bytes\": ");
        j_.number(a.bytes);
      }
      if (a.stack) {
        j_.raw(", \"Call stack\": ");
        j_.text(stack_text(a.stack));
      }
      j_.raw("}}");
      on.queue.push_back({std::min(a.launched, a.begin), 1});
      on.queue.push_back({a.end, -1});
      if (const Launched* l = find_launch(launches, a.launch); l && l->host >= 0) arrow(*l, a, on);
    }
    for (auto& [key, on] : tracks_) queue(on);
  }

  // Writes an arrow from the launching event to the work of the device.
  void arrow(const Launched& l, const lamella_trace_activity& a, const Track& on) {
    j_.raw(",\n");
    head("s", "ac2g", l.thread, l.begin);
    j_.raw(", \"cat\": \"ac2g\", \"id\": ");
    j_.number(a.launch);
    j_.raw("},\n");
    head("f", "ac2g", on.process, on.thread, a.begin);
    j_.raw(", \"cat\": \"ac2g\", \"bp\": \"e\", \"id\": ");
    j_.number(a.launch);
    j_.raw("}");
  }

  // Writes a curve of the work that is launched and not finished, for each stream.
  void queue(Track& on) {
    std::sort(on.queue.begin(), on.queue.end());
    int64_t now = 0;
    for (const auto& [time, change] : on.queue) {
      j_.raw(",\n");
      head("C", "queue of " + on.stream, on.process, on.thread, time);
      j_.raw(", \"args\": {\"launched\": ");
      j_.number(now += change);
      j_.raw("}}");
    }
  }

  const std::string& stack_text(const int64_t* stack) {
    const auto [at, is_new] = stacks_.try_emplace(stack);
    std::string& text = at->second;
    if (!is_new) return text;
    for (int64_t i = 1; i <= stack[0] && static_cast<int64_t>(text.size()) < 1 << 16; i++) {
      if (i > 1) text += ";";
      text += host_frame(stack[i]);
    }
    return text;
  }

  Trace& t_;
  Json j_;
  const uint64_t pid_;
  std::unordered_map<uint64_t, Place> calls_;
  std::map<std::pair<uint64_t, uint64_t>, Track> tracks_;  // by device and stream
  std::map<uint64_t, uint64_t> processes_;
  std::unordered_map<const int64_t*, std::string> stacks_;
};

}  // namespace

lamella_status trace_write(lamella_trace* handle, int32_t fd, const char* metadata) {
  Trace& t = trace_of(handle);
  std::FILE* file = nullptr;
  if (const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0); own >= 0 && !(file = fdopen(own, "wb"))) close(own);
  if (file) {
    std::setvbuf(file, nullptr, _IOFBF, 1 << 20);
    Writer(t, file).write(t.all(), metadata);
    const bool written = std::fflush(file) == 0 && !std::ferror(file);
    const int error = errno;
    if (!std::fclose(file) && written) return LAMELLA_OK;
    if (!written) errno = error;
  }
  return fail(LAMELLA_RUNTIME_ERROR, std::string("export_chrome_trace: ") + std::strerror(errno));
}

lamella_status trace_export(lamella_trace* handle, const char* path, const char* metadata) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0)
    return fail(LAMELLA_RUNTIME_ERROR, std::string("export_chrome_trace: '") + path + "': " + std::strerror(errno));
  const lamella_status st = trace_write(handle, fd, metadata);
  close(fd);
  return st;
}

}  // namespace lamella::profiler
