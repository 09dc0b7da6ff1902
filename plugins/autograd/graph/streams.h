// Streams in backward, for devices that have some.
//
// Note [Streams]  A node runs in backward on the stream that was current when its forward ran. A gradient that was made
//   on another stream is waited for by an event, and its memory is recorded for the stream that reads it. Nodes without
//   a stream, as those that accumulate, run on the stream that the caller of backward has, which therefore need not
//   wait for anything. On a host nothing of this is asked for: `stream_of` compares one byte.
#pragma once

#include <vector>

#include "graph/node.h"

namespace lamella::autograd {

constexpr unsigned known_backends = 64;
extern std::atomic<bool> without_streams[known_backends];  // hosts that have been met

void* ask_for_stream(lamella_device device);
// The current stream of the device; null: it has none.
inline void* current_stream(lamella_device d) {
  const auto i = static_cast<unsigned>(d.backend);
  if (__builtin_expect(i < known_backends && without_streams[i].load(std::memory_order_relaxed), 1)) return nullptr;
  return ask_for_stream(d);
}
// What a node remembers of its forward: the stream of its first result on a device with streams.
inline void note_stream(Node* n, const lamella_tensor* result) {
  void* s = current_stream(device_of(result));
  if (__builtin_expect(s == nullptr, 1) || n->stream) return;
  n->stream_device = device_of(result);
  n->stream = s;
}

// The streams of one backward.
class Streams {
 public:
  // Makes a stream current while this lives; null: none.
  class On {
   public:
    On(Streams& all, lamella_device d, void* stream) {
      if (__builtin_expect(stream != nullptr, 0)) enter(all, d, stream);
    }
    ~On() {
      if (__builtin_expect(before_ != nullptr, 0)) leave();
    }
    On(const On&) = delete;
    lamella_status status() const { return status_; }

   private:
    void enter(Streams& all, lamella_device d, void* stream);
    void leave();
    lamella_device device_{-1, 0};
    void* before_ = nullptr;
    lamella_status status_ = LAMELLA_OK;
  };

  // The stream on which the node will read the gradient; null: its device has none.
  void* reader(const lamella_tensor* g, const Node* to) {
    if (__builtin_expect(current_stream(device_of(g)) == nullptr, 1)) return nullptr;
    return to->stream && same(to->stream_device, device_of(g)) ? to->stream : callers(device_of(g));
  }
  // The caller's stream, for a gradient that a node with a stream leaves to the caller; else null.
  void* caller(const lamella_tensor* g, const Node* from) {
    return __builtin_expect(from->stream == nullptr, 1) ? nullptr : callers(device_of(g));
  }
  // The gradient, made on the current stream of its device, is going to be read on another.
  lamella_status hand_over(const lamella_tensor* g, void* to) {
    return __builtin_expect(to == nullptr, 1) ? LAMELLA_OK : follow(g, current_stream(device_of(g)), to);
  }
  // Whether something ran on another stream than the caller's: then what nothing refers to may still be read.
  bool switched() const { return switched_; }

 private:
  static bool same(lamella_device a, lamella_device b) { return a.backend == b.backend && a.index == b.index; }
  static lamella_status follow(const lamella_tensor* g, void* from, void* to);
  void* callers(lamella_device device);

  struct Base {
    lamella_device device;
    void* stream;
  };
  std::vector<Base> bases_;  // the caller's, of each device on which a node has run
  bool switched_ = false;
};

}  // namespace lamella::autograd
