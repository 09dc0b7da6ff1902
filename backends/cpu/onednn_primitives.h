// oneDNN's primitives: its functions, owners of its objects, and a cache of primitives by shape.
#pragma once

#include <lamella/dispatcher.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "backends/cpu/onednn.h"

namespace lamella::cpu {
namespace {

struct Functions {
  bool complete = true;

  template <class F>
  F find(const char* name) {
    void* f = onednn_symbol(name);
    complete &= f != nullptr;
    return reinterpret_cast<F>(f);
  }

#define FUNCTION(name) decltype(&dnnl_##name) name = find<decltype(&dnnl_##name)>("dnnl_" #name)
  FUNCTION(engine_create);
  FUNCTION(stream_create);
  FUNCTION(stream_destroy);
  FUNCTION(memory_desc_create_with_tag);
  FUNCTION(memory_desc_create_with_strides);
  FUNCTION(memory_desc_clone);
  FUNCTION(memory_desc_destroy);
  FUNCTION(memory_desc_equal);
  FUNCTION(memory_desc_get_size);
  FUNCTION(primitive_attr_create);
  FUNCTION(primitive_attr_destroy);
  FUNCTION(primitive_attr_set_scratchpad_mode);
  FUNCTION(convolution_forward_primitive_desc_create);
  FUNCTION(matmul_primitive_desc_create);
  FUNCTION(reorder_primitive_desc_create);
  FUNCTION(primitive_desc_query);
  FUNCTION(primitive_desc_query_md);
  FUNCTION(primitive_desc_destroy);
  FUNCTION(primitive_create);
  FUNCTION(primitive_execute);
  FUNCTION(primitive_destroy);
  FUNCTION(memory_create);
  FUNCTION(memory_destroy);
#undef FUNCTION

  dnnl_engine_t engine = nullptr;

  Functions() { complete = complete && engine_create(&engine, dnnl_cpu, 0) == dnnl_success; }
};

const Functions& dnnl() {
  static const Functions f;
  return f;
}

template <class T, auto Destroy>
class Owned {
 public:
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (it_) (dnnl().*Destroy)(it_);
  }
  operator T() const { return it_; }
  T* place() { return &it_; }

 private:
  T it_ = nullptr;
};
using Layout = Owned<dnnl_memory_desc_t, &Functions::memory_desc_destroy>;
using Attributes = Owned<dnnl_primitive_attr_t, &Functions::primitive_attr_destroy>;
using Description = Owned<dnnl_primitive_desc_t, &Functions::primitive_desc_destroy>;
using Primitive = Owned<dnnl_primitive_t, &Functions::primitive_destroy>;
using Memory = Owned<dnnl_memory_t, &Functions::memory_destroy>;
using Stream = Owned<dnnl_stream_t, &Functions::stream_destroy>;

bool ok(dnnl_status_t st) { return st == dnnl_success; }

// Returns the thread's own stream: oneDNN's documentation does not allow two threads to share one.
dnnl_stream_t stream() {
  static thread_local Stream own;
  if (!own) dnnl().stream_create(own.place(), dnnl().engine, dnnl_stream_default_flags);
  return own;
}

int64_t rounded(size_t bytes) { return (static_cast<int64_t>(bytes) + 63) / 64 * 64; }

bool memory(Memory* m, const_dnnl_memory_desc_t layout, const void* data) {
  return ok(dnnl().memory_create(m->place(), layout, dnnl().engine, const_cast<void*>(data)));
}

// A cache of objects for the shapes used last, the latest first. It holds null for a shape that has no object.
template <class Shape, class Made>
class Cache {
 public:
  using Held = std::shared_ptr<const Made>;

  // A cache is the only one of its type. fork() waits until its lock is free, so that the child can use the cache.
  Cache() {
    only = this;
    const auto* dispatcher = static_cast<const lamella_dispatcher*>(api().find_interface("dispatcher", 1));
    if (dispatcher) dispatcher->around_fork([] { only->lock_.lock(); }, release, release);
  }

  // Returns the object for a shape; null if Made::build() has returned false for it, or if no memory is left.
  Held get(const Shape& s) try {
    if (Held held; find(s, &held)) return held;
    auto made = std::make_shared<Made>();  // without the lock: generating code takes a millisecond
    Held held;
    if (made->build(s)) held = std::move(made);
    std::lock_guard guard(lock_);
    entries_.emplace_front(s, held);
    if (entries_.size() > most) entries_.pop_back();
    return held;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }

 private:
  bool find(const Shape& s, Held* held) {
    std::lock_guard guard(lock_);
    auto it = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.first == s; });
    if (it == entries_.end()) return false;
    entries_.splice(entries_.begin(), entries_, it);
    *held = it->second;
    return true;
  }

  static void release() { only->lock_.unlock(); }

  static constexpr size_t most = 256;
  static inline Cache* only = nullptr;
  std::mutex lock_;
  std::list<std::pair<Shape, Held>> entries_;
};

}  // namespace
}  // namespace lamella::cpu
