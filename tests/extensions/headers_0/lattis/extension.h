/* Header-only C++17 over <lattis/c_api.h>: an owning Tensor, a Library to register through, and LATTIS_LIBRARY,
 * which needs no static initializer. Start with LATTIS_LIBRARY at the end of the file.
 *
 *   static lattis_status twice(lattis_frame* f, const lattis_value* args, lattis_value* rets) { ... }
 *   LATTIS_LIBRARY(mine, m) {
 *     m.define("twice(Tensor self) -> Tensor");
 *     m.impl("twice", "cpu", twice);
 *   }
 */
#ifndef LATTIS_EXTENSION_H
#define LATTIS_EXTENSION_H

#include <lattis/autograd.h>
#include <lattis/c_api.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#define LATTIS_HIDDEN __attribute__((visibility("hidden")))

namespace lattis {

/* The table that the loader handed to this library. */
struct LATTIS_HIDDEN Api {
  static const lattis_api*& table() {
    static const lattis_api* t = nullptr;
    return t;
  }
};
LATTIS_HIDDEN inline const lattis_api& api() { return *Api::table(); }

LATTIS_HIDDEN inline lattis_status fail(int kind, const std::string& message) {
  return api().raise(kind, message.c_str());
}

/* ---- tensors ---------------------------------------------------------------------------------------------- */

LATTIS_HIDDEN inline int64_t itemsize(const lattis_tensor* t) { return t->dl.dtype.bits / 8; }
LATTIS_HIDDEN inline bool is_contiguous(const lattis_tensor* t) { return (t->flags & LATTIS_CONTIGUOUS) != 0; }
LATTIS_HIDDEN inline lattis_device device_of(const lattis_tensor* t) { return {t->backend, t->dl.device.device_id}; }

/* Owns one reference. */
class LATTIS_HIDDEN Tensor {
 public:
  Tensor() = default;
  static Tensor steal(lattis_tensor* t) {
    Tensor r;
    r.t_ = t;
    return r;
  }
  static Tensor borrow(lattis_tensor* t) {
    if (t) api().retain(t);
    return steal(t);
  }
  Tensor(const Tensor& o) : t_(o.t_) {
    if (t_) api().retain(t_);
  }
  Tensor(Tensor&& o) noexcept : t_(std::exchange(o.t_, nullptr)) {}
  Tensor& operator=(Tensor o) noexcept {
    std::swap(t_, o.t_);
    return *this;
  }
  ~Tensor() {
    if (t_) api().release(t_);
  }

  explicit operator bool() const { return t_ != nullptr; }
  lattis_tensor* get() const { return t_; }
  lattis_tensor* take() { return std::exchange(t_, nullptr); }
  int dim() const { return t_->dl.ndim; }
  int64_t numel() const { return t_->numel; }
  int64_t size(int i) const { return t_->dl.shape[i < 0 ? i + dim() : i]; }
  const int64_t* sizes() const { return t_->dl.shape; }
  const int64_t* strides() const { return t_->dl.strides; }
  int dtype() const { return t_->dtype; }
  lattis_device device() const { return device_of(t_); }
  bool contiguous() const { return is_contiguous(t_); }
  template <class T>
  T* data() const {
    return static_cast<T*>(t_->dl.data);
  }

 private:
  lattis_tensor* t_ = nullptr;
};

/* ---- values --------------------------------------------------------------------------------------------------- */

LATTIS_HIDDEN inline lattis_value value(lattis_tensor* t) {
  lattis_value v{LATTIS_TENSOR, 0, {0}};
  v.as.tensor = t;
  return v;
}
LATTIS_HIDDEN inline lattis_value value(const Tensor& t) { return value(t.get()); }
LATTIS_HIDDEN inline lattis_value value(int64_t i) { return {LATTIS_INT, 0, {i}}; }
LATTIS_HIDDEN inline lattis_value value(int i) { return value(static_cast<int64_t>(i)); }
LATTIS_HIDDEN inline lattis_value value(bool b) { return {LATTIS_BOOLEAN, 0, {b}}; }
LATTIS_HIDDEN inline lattis_value value(double d) {
  lattis_value v{LATTIS_FLOAT, 0, {0}};
  v.as.d = d;
  return v;
}
LATTIS_HIDDEN inline lattis_value none() { return {LATTIS_NONE, 0, {0}}; }
/* Borrows the memory for as long as the value is used. */
LATTIS_HIDDEN inline lattis_value value(const std::vector<int64_t>& list) {
  lattis_value v{LATTIS_INT_LIST, static_cast<uint32_t>(list.size()), {0}};
  v.as.ints = list.data();
  return v;
}

LATTIS_HIDDEN inline double as_double(const lattis_value& v) {
  return v.tag == LATTIS_FLOAT ? v.as.d : v.tag == LATTIS_COMPLEX ? v.as.doubles[0] : static_cast<double>(v.as.i);
}
LATTIS_HIDDEN inline int64_t as_int(const lattis_value& v) {
  return v.tag == LATTIS_FLOAT     ? static_cast<int64_t>(v.as.d)
         : v.tag == LATTIS_COMPLEX ? static_cast<int64_t>(v.as.doubles[0])
                                   : v.as.i;
}

/* ---- work ----------------------------------------------------------------------------------------------------- */

/* body(begin, end) returns a lattis_status. */
template <class Body>
LATTIS_HIDDEN inline lattis_status parallel_for(int64_t begin, int64_t end, int64_t grain, Body&& body) {
  return api().parallel_for(
      begin, end, grain,
      [](void* c, int64_t b, int64_t e) -> lattis_status {
        return (*static_cast<std::remove_reference_t<Body>*>(c))(b, e);
      },
      &body);
}

/* Switches layers off for this thread while a kernel calls other operators. */
class LATTIS_HIDDEN ExcludeGuard {
 public:
  explicit ExcludeGuard(uint64_t bits) : thread_(api().thread()), saved_(thread_->exclude) { thread_->exclude |= bits; }
  ~ExcludeGuard() { thread_->exclude = saved_; }
  ExcludeGuard(const ExcludeGuard&) = delete;

 private:
  lattis_thread* thread_;
  uint64_t saved_;
};

/* ---- registration ------------------------------------------------------------------------------------------------ */

/* Registers under one owner. The first failure stops all that follows; the init function returns it. */
class LATTIS_HIDDEN Library {
 public:
  Library(const char* ns, const char* owner) { status_ = api().library_open(ns, owner, &lib_); }

  lattis_status status() const { return status_; }
  lattis_library* handle() const { return lib_; }

  Library& define(const lattis_operator_def& def) {
    if (!status_) status_ = api().define(lib_, &def, nullptr);
    return *this;
  }
  Library& define(const char* schema, const char* category = nullptr, lattis_infer infer = nullptr,
                  const char* doc = nullptr, uint32_t forms = LATTIS_FORM_FUNCTION, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
    lattis_operator_def d{};
    d.size = sizeof d;
    d.schema = schema;
    d.category = category;
    d.doc = doc;
    d.forms = forms;
    d.infer = infer;
    d.file = file;
    d.line = line;
    return define(d);
  }
  Library& impl(const char* op, const char* key, lattis_kernel fn, const void* context = nullptr, uint32_t flags = 0,
                const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (!status_) status_ = api().kernel(lib_, op, key, fn, const_cast<void*>(context), flags, file, line, nullptr);
    return *this;
  }
  Library& category(const char* name, const char* key, lattis_kernel fn, const void* context = nullptr,
                    uint32_t flags = 0, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (!status_)
      status_ = api().category_kernel(lib_, name, key, fn, const_cast<void*>(context), flags, file, line, nullptr);
    return *this;
  }
  Library& backend(const lattis_backend& b, int32_t* id) {
    if (!status_) status_ = api().backend(lib_, &b, id, nullptr);
    return *this;
  }
  Library& layer(const lattis_layer& l, int32_t* bit) {
    if (!status_) status_ = api().layer(lib_, &l, bit, nullptr);
    return *this;
  }
  /* What a layer wants to know of an operator; kept until that layer comes. */
  Library& rule(const char* op, const char* layer, const void* payload) {
    if (!status_) status_ = api().rule(lib_, op, layer, const_cast<void*>(payload), nullptr, nullptr);
    return *this;
  }
  /* Its derivative, in the notation of <lattis/autograd.h>: m.derivative("twice", "self: grad * 2"). */
  Library& derivative(const char* op, const char* formulas) {
    auto* d = new lattis_derivative{}; /* kept for ever, like the text */
    d->size = sizeof *d;
    d->formulas = formulas;
    return rule(op, "autograd", d);
  }
  Library& tensor_slot(const lattis_slot_type& t, int32_t* index) {
    if (!status_) status_ = api().tensor_slot(lib_, &t, index);
    return *this;
  }
  Library& attribute(const char* name, lattis_get_attribute get, lattis_set_attribute set = nullptr) {
    if (!status_) status_ = api().attribute(lib_, name, get, set, nullptr, nullptr);
    return *this;
  }
  Library& keyword(const char* name, lattis_apply_keyword apply) {
    if (!status_) status_ = api().keyword(lib_, name, apply, nullptr, nullptr);
    return *this;
  }
  Library& interface(const char* name, uint32_t version, const void* table) {
    if (!status_) status_ = api().publish_interface(lib_, name, version, table, nullptr);
    return *this;
  }

 private:
  lattis_library* lib_ = nullptr;
  lattis_status status_ = LATTIS_OK;
};

}  // namespace lattis

/* Note [No static initializers]  Each LATTIS_LIBRARY block leaves a pointer to its body in the section
 * lattis_init; one weak lattis_plugin_init for the whole library walks the section when the loader calls it and
 * returns the first bad status. Several blocks in several files work. */
extern "C" {
typedef lattis_status (*lattis_block)(void);
extern const lattis_block __start_lattis_init[] __attribute__((weak, visibility("hidden")));
extern const lattis_block __stop_lattis_init[] __attribute__((weak, visibility("hidden")));

__attribute__((weak, visibility("default"))) lattis_status lattis_plugin_init(const lattis_api* api) {
  lattis::Api::table() = api;
  for (const lattis_block* b = __start_lattis_init; b != __stop_lattis_init; ++b)
    if (lattis_status st = (*b)()) return st;
  return LATTIS_OK;
}
}

#ifndef LATTIS_PLUGIN_NAME
#define LATTIS_PLUGIN_NAME __FILE__
#endif

#define LATTIS_CAT_(a, b) a##b
#define LATTIS_CAT(a, b) LATTIS_CAT_(a, b)

#define LATTIS_LIBRARY(ns, m) LATTIS_LIBRARY_(ns, m, __COUNTER__)
#define LATTIS_LIBRARY_(ns, m, id)                                                                                \
  static void LATTIS_CAT(lattis_body_, id)(lattis::Library & m);                                                  \
  static lattis_status LATTIS_CAT(lattis_run_, id)(void) {                                                        \
    lattis::Library m(#ns, LATTIS_PLUGIN_NAME);                                                                   \
    if (!m.status()) LATTIS_CAT(lattis_body_, id)(m);                                                             \
    return m.status();                                                                                            \
  }                                                                                                               \
  __attribute__((used, retain, section("lattis_init"))) static const lattis_block LATTIS_CAT(lattis_entry_, id) = \
      LATTIS_CAT(lattis_run_, id);                                                                                \
  static void LATTIS_CAT(lattis_body_, id)(lattis::Library & m)

#endif
