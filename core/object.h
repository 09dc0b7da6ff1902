// Counting references: the one pair of functions behind every counted object. Read after <lamella/c_api.h>.
#pragma once

#include <lamella/c_api.h>

#include <cstdlib>
#include <new>

namespace lamella::core {

inline void retain(lamella_object* o) { __atomic_fetch_add(&o->refcount, 1, __ATOMIC_RELAXED); }

// Returns whether the dropped reference was the last one. A sole owner needs no locked instruction: no other thread
// holds a reference, so none can change the count.
inline bool drop_reference(int64_t* count) {
  if (__atomic_load_n(count, __ATOMIC_ACQUIRE) == 1) return true;
  return __atomic_sub_fetch(count, 1, __ATOMIC_ACQ_REL) == 0;
}

inline void release(lamella_object* o) {
  if (drop_reference(&o->refcount)) o->type->destroy(o);
}

// Returns `memory`, or throws std::bad_alloc if it is null.
inline void* checked(void* memory) {
  if (__builtin_expect(!memory, 0)) throw std::bad_alloc();
  return memory;
}

// Owns one reference to a T whose first member is a lamella_object.
template <class T>
class Ref {
 public:
  Ref() = default;
  static Ref steal(T* p) {
    Ref r;
    r.p_ = p;
    return r;
  }
  static Ref borrow(T* p) {
    if (p) retain(reinterpret_cast<lamella_object*>(p));
    return steal(p);
  }
  Ref(Ref&& o) noexcept : p_(o.p_) { o.p_ = nullptr; }
  Ref& operator=(Ref&& o) noexcept {
    T* old = p_;
    p_ = o.p_;
    o.p_ = nullptr;
    if (old && old != p_) lamella::core::release(reinterpret_cast<lamella_object*>(old));
    return *this;
  }
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;
  ~Ref() {
    if (p_) lamella::core::release(reinterpret_cast<lamella_object*>(p_));
  }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  explicit operator bool() const { return p_ != nullptr; }
  T* take() {
    T* p = p_;
    p_ = nullptr;
    return p;
  }

 private:
  T* p_ = nullptr;
};

}  // namespace lamella::core
