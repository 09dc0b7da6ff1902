// Streams in backward: orders gradients that were computed on several streams of one device.
//
// Note [Streams]  Backward runs a node on the stream on which its forward ran. If a gradient was computed on another
//   stream, the node's stream waits for it by an event, and the gradient's memory is recorded for the reading stream.
//   Nodes without a stream, such as those that accumulate, run on the stream of the caller of backward, so the caller
//   need not wait. A host device pays one comparison for this, in current_stream().
#pragma once

#include <vector>

#include "graph/node.h"

namespace lamella::autograd {

constexpr unsigned known_backends = 64;
extern std::atomic<bool> without_streams[known_backends];  // true for a host backend after its first ask_for_stream()

void* ask_for_stream(lamella_device device);
// Returns the device's current stream, or null if the device has none.
inline void* current_stream(lamella_device d) {
  const auto i = static_cast<unsigned>(d.backend);
  if (__builtin_expect(i < known_backends && without_streams[i].load(std::memory_order_relaxed), 1)) return nullptr;
  return ask_for_stream(d);
}
// Stores the current stream of the result's device in the node, if that device has streams and the node has none yet.
inline void note_stream(Node* n, const lamella_tensor* result) {
  void* s = current_stream(device_of(result));
  if (__builtin_expect(s == nullptr, 1) || n->stream) return;
  n->stream_device = device_of(result);
  n->stream = s;
}

// The streams of one backward.
class Streams {
 public:
  // Makes `stream` current until the end of the scope; does nothing for null.
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

  // Returns the stream on which node `to` will read the gradient; null if the device has none.
  void* reader(const lamella_tensor* g, const Node* to) {
    if (__builtin_expect(current_stream(device_of(g)) == nullptr, 1)) return nullptr;
    return to->stream && same(to->stream_device, device_of(g)) ? to->stream : callers(device_of(g));
  }
  // Returns the caller's stream if node `from` has a stream of its own, for a gradient that the caller will read; else
  // null.
  void* caller(const lamella_tensor* g, const Node* from) {
    return __builtin_expect(from->stream == nullptr, 1) ? nullptr : callers(device_of(g));
  }
  // Makes stream `to` wait for the gradient, which the current stream of its device computes.
  lamella_status hand_over(const lamella_tensor* g, void* to) {
    return __builtin_expect(to == nullptr, 1) ? LAMELLA_OK : follow(g, current_stream(device_of(g)), to);
  }
  // Returns whether a node ran on another stream than the caller's. Then memory to which nothing refers may still be
  // read by that stream.
  bool switched() const { return switched_; }

 private:
  static bool same(lamella_device a, lamella_device b) { return a.backend == b.backend && a.index == b.index; }
  static lamella_status follow(const lamella_tensor* g, void* from, void* to);
  void* callers(lamella_device device);

  struct Base {
    lamella_device device;
    void* stream;
  };
  std::vector<Base> bases_;  // the caller's stream on each device for which callers() was called
  bool switched_ = false;
};

}  // namespace lamella::autograd
