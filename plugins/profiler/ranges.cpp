#include "ranges.h"

#include <dlfcn.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "observe/observers.h"
#include "observe/thread.h"

namespace lamella::profiler {
namespace {

// The library of a tool that shows ranges, which nest on each thread. It is never closed, because the tool may have
// hooks in it.
class Tool {
 public:
  virtual ~Tool() = default;
  virtual void push(const char* text) = 0;
  virtual void pop() = 0;
  virtual void mark(const char*) {}
};

template <class F>
bool find(void* library, const char* name, F*& function) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  return function != nullptr;
}

class Nvtx : public Tool {
 public:
  bool find_all(void* l) {
    return find(l, "nvtxRangePushA", push_) && find(l, "nvtxRangePop", pop_) && find(l, "nvtxMarkA", mark_);
  }
  void push(const char* text) override { push_(text); }
  void pop() override { pop_(); }
  void mark(const char* text) override { mark_(text); }

 private:
  int (*push_)(const char*);
  int (*pop_)();
  void (*mark_)(const char*);
};

// ITT's functions take ids by value; the null id is three words of zero.
class Itt : public Tool {
 public:
  bool find_all(void* l) {
    if (!find(l, "__itt_domain_create", domain_create_) || !find(l, "__itt_string_handle_create", name_create_) ||
        !find(l, "__itt_task_begin", begin_) || !find(l, "__itt_task_end", end_))
      return false;
    domain_ = domain_create_("lamella");
    return true;
  }
  void push(const char* text) override { begin_(domain_, Id{}, Id{}, name_create_(text)); }
  void pop() override { end_(domain_); }

 private:
  struct Id {
    unsigned long long words[3];
  };
  void* (*domain_create_)(const char*);
  void* (*name_create_)(const char*);
  void (*begin_)(void*, Id, Id, void*);
  void (*end_)(void*);
  void* domain_ = nullptr;
};

struct Ranges {
  std::unique_ptr<Tool> tool;
  bool shapes;
};

void write_sizes(std::string& text, const lamella_tensor* t) {
  text += "[";
  for (int i = 0; i < t->dl.ndim; i++) text += (i ? ", " : "") + std::to_string(t->dl.shape[i]);
  text += "]";
}

std::string text_of(const lamella_record* r, bool shapes) {
  std::string text = r->name;
  if (r->scope == LAMELLA_SCOPE_BACKWARD_FUNCTION && r->sequence != UINT64_MAX)
    text += ", seq = " + std::to_string(r->sequence);
  if (!shapes || !r->inputs) return text;
  text += ", sizes = [";
  for (uint32_t i = 0; i < r->num_inputs; i++) {
    const lamella_value& v = r->inputs[i];
    if (i) text += ", ";
    if (v.tag == LAMELLA_TENSOR) {
      write_sizes(text, v.as.tensor);
    } else {
      text += "[";
      for (uint32_t k = 0; v.tag == LAMELLA_TENSOR_LIST && k < v.length; k++) {
        if (k) text += ", ";
        if (v.as.tensors[k]) write_sizes(text, v.as.tensors[k]);
      }
      text += "]";
    }
  }
  return text + "]";
}

lamella_status enter(void* context, const lamella_record* r, void** state) {
  return guarded([&] {
    auto& ranges = *static_cast<Ranges*>(context);
    ranges.tool->push(text_of(r, ranges.shapes).c_str());
    *state = &this_thread();
    return LAMELLA_OK;
  });
}

// A call's sequence number is known only after the call, so a mark inside the range shows it. A block that ends on
// another thread than it began on leaves its range open, since the tools have one stack for each thread.
lamella_status leave(void* context, const lamella_record* r, void* state) {
  return guarded([&] {
    auto& ranges = *static_cast<Ranges*>(context);
    if (state != &this_thread()) return LAMELLA_OK;
    if (r->scope == LAMELLA_SCOPE_FUNCTION && r->sequence)
      ranges.tool->mark((std::string(r->name) + ", seq = " + std::to_string(r->sequence)).c_str());
    ranges.tool->pop();
    return LAMELLA_OK;
  });
}

template <class T>
std::unique_ptr<Tool> open(void* library) {
  auto tool = std::make_unique<T>();
  return tool->find_all(library) ? std::move(tool) : nullptr;
}

}  // namespace

lamella_status ranges_begin(const char* kind, const char* path, int32_t shapes, uint64_t* observer) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return fail(LAMELLA_RUNTIME_ERROR, dlerror());
  auto ranges = std::make_unique<Ranges>();
  ranges->tool = std::string_view(kind) == "nvtx" ? open<Nvtx>(library) : open<Itt>(library);
  ranges->shapes = shapes != 0;
  if (!ranges->tool) return fail(LAMELLA_RUNTIME_ERROR, std::string(path) + ": it lacks functions of " + kind);
  lamella_observer o{};
  o.size = sizeof o;
  o.flags = LAMELLA_OBSERVER_NEEDS_IDS | (shapes ? LAMELLA_OBSERVER_NEEDS_INPUTS : 0);
  o.scopes = 1u << LAMELLA_SCOPE_FUNCTION | 1u << LAMELLA_SCOPE_BACKWARD_FUNCTION | 1u << LAMELLA_SCOPE_USER_SCOPE;
  o.probability = 1;
  o.context = ranges.get();
  o.enter = enter;
  o.exit = leave;
  o.destroy = [](void* context) { delete static_cast<Ranges*>(context); };
  const lamella_status st = add_observer(&o, 1, observer);
  if (!st) ranges.release();
  return st;
}

}  // namespace lamella::profiler
