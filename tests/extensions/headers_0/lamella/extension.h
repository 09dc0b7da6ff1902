/* Header-only C++17 over <lamella/c_api.h>: an owning Tensor, a Library to register through, and LAMELLA_LIBRARY,
 * which needs no static initializer. Start with LAMELLA_LIBRARY at the end of the file.
 *
 *   static lamella_status twice(lamella_frame* f, const lamella_value* args, lamella_value* rets) { ... }
 *   LAMELLA_LIBRARY(mine, m) {
 *     m.define("twice(Tensor self) -> Tensor");
 *     m.impl("twice", "cpu", twice);
 *   }
 */
#ifndef LAMELLA_EXTENSION_H
#define LAMELLA_EXTENSION_H

#include <lamella/autograd.h>
#include <lamella/c_api.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#define LAMELLA_HIDDEN __attribute__((visibility("hidden")))

namespace lamella {

/* The table that the loader handed to this library. */
struct LAMELLA_HIDDEN Api {
  static const lamella_api*& table() {
    static const lamella_api* t = nullptr;
    return t;
  }
};
LAMELLA_HIDDEN inline const lamella_api& api() { return *Api::table(); }

LAMELLA_HIDDEN inline lamella_status fail(int kind, const std::string& message) {
  return api().raise(kind, message.c_str());
}

/* ---- tensors ---------------------------------------------------------------------------------------------- */

LAMELLA_HIDDEN inline int64_t itemsize(const lamella_tensor* t) { return t->dl.dtype.bits / 8; }
LAMELLA_HIDDEN inline bool is_contiguous(const lamella_tensor* t) { return (t->flags & LAMELLA_CONTIGUOUS) != 0; }
LAMELLA_HIDDEN inline lamella_device device_of(const lamella_tensor* t) { return {t->backend, t->dl.device.device_id}; }

/* Owns one reference. */
class LAMELLA_HIDDEN Tensor {
 public:
  Tensor() = default;
  static Tensor steal(lamella_tensor* t) {
    Tensor r;
    r.t_ = t;
    return r;
  }
  static Tensor borrow(lamella_tensor* t) {
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
  lamella_tensor* get() const { return t_; }
  lamella_tensor* take() { return std::exchange(t_, nullptr); }
  int dim() const { return t_->dl.ndim; }
  int64_t numel() const { return t_->numel; }
  int64_t size(int i) const { return t_->dl.shape[i < 0 ? i + dim() : i]; }
  const int64_t* sizes() const { return t_->dl.shape; }
  const int64_t* strides() const { return t_->dl.strides; }
  int dtype() const { return t_->dtype; }
  lamella_device device() const { return device_of(t_); }
  bool contiguous() const { return is_contiguous(t_); }
  template <class T>
  T* data() const {
    return static_cast<T*>(t_->dl.data);
  }

 private:
  lamella_tensor* t_ = nullptr;
};

/* ---- values --------------------------------------------------------------------------------------------------- */

LAMELLA_HIDDEN inline lamella_value value(lamella_tensor* t) {
  lamella_value v{LAMELLA_TENSOR, 0, {0}};
  v.as.tensor = t;
  return v;
}
LAMELLA_HIDDEN inline lamella_value value(const Tensor& t) { return value(t.get()); }
LAMELLA_HIDDEN inline lamella_value value(int64_t i) { return {LAMELLA_INT, 0, {i}}; }
LAMELLA_HIDDEN inline lamella_value value(int i) { return value(static_cast<int64_t>(i)); }
LAMELLA_HIDDEN inline lamella_value value(bool b) { return {LAMELLA_BOOLEAN, 0, {b}}; }
LAMELLA_HIDDEN inline lamella_value value(double d) {
  lamella_value v{LAMELLA_FLOAT, 0, {0}};
  v.as.d = d;
  return v;
}
LAMELLA_HIDDEN inline lamella_value none() { return {LAMELLA_NONE, 0, {0}}; }
/* Borrows the memory for as long as the value is used. */
LAMELLA_HIDDEN inline lamella_value value(const std::vector<int64_t>& list) {
  lamella_value v{LAMELLA_INT_LIST, static_cast<uint32_t>(list.size()), {0}};
  v.as.ints = list.data();
  return v;
}

LAMELLA_HIDDEN inline double as_double(const lamella_value& v) {
  return v.tag == LAMELLA_FLOAT ? v.as.d : v.tag == LAMELLA_COMPLEX ? v.as.doubles[0] : static_cast<double>(v.as.i);
}
LAMELLA_HIDDEN inline int64_t as_int(const lamella_value& v) {
  return v.tag == LAMELLA_FLOAT     ? static_cast<int64_t>(v.as.d)
         : v.tag == LAMELLA_COMPLEX ? static_cast<int64_t>(v.as.doubles[0])
                                    : v.as.i;
}

/* ---- work ----------------------------------------------------------------------------------------------------- */

/* body(begin, end) returns a lamella_status. */
template <class Body>
LAMELLA_HIDDEN inline lamella_status parallel_for(int64_t begin, int64_t end, int64_t grain, Body&& body) {
  return api().parallel_for(
      begin, end, grain,
      [](void* c, int64_t b, int64_t e) -> lamella_status {
        return (*static_cast<std::remove_reference_t<Body>*>(c))(b, e);
      },
      &body);
}

/* Switches layers off for this thread while a kernel calls other operators. */
class LAMELLA_HIDDEN ExcludeGuard {
 public:
  explicit ExcludeGuard(uint64_t bits) : thread_(api().thread()), saved_(thread_->exclude) { thread_->exclude |= bits; }
  ~ExcludeGuard() { thread_->exclude = saved_; }
  ExcludeGuard(const ExcludeGuard&) = delete;

 private:
  lamella_thread* thread_;
  uint64_t saved_;
};

/* ---- registration ------------------------------------------------------------------------------------------------ */

/* Registers under one owner. The first failure stops all that follows; the init function returns it. */
class LAMELLA_HIDDEN Library {
 public:
  Library(const char* ns, const char* owner) { status_ = api().library_open(ns, owner, &lib_); }

  lamella_status status() const { return status_; }
  lamella_library* handle() const { return lib_; }

  Library& define(const lamella_operator_def& def) {
    if (!status_) status_ = api().define(lib_, &def, nullptr);
    return *this;
  }
  Library& define(const char* schema, const char* category = nullptr, lamella_infer infer = nullptr,
                  const char* doc = nullptr, uint32_t forms = LAMELLA_FORM_FUNCTION,
                  const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    lamella_operator_def d{};
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
  Library& impl(const char* op, const char* key, lamella_kernel fn, const void* context = nullptr, uint32_t flags = 0,
                const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (!status_) status_ = api().kernel(lib_, op, key, fn, const_cast<void*>(context), flags, file, line, nullptr);
    return *this;
  }
  Library& category(const char* name, const char* key, lamella_kernel fn, const void* context = nullptr,
                    uint32_t flags = 0, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (!status_)
      status_ = api().category_kernel(lib_, name, key, fn, const_cast<void*>(context), flags, file, line, nullptr);
    return *this;
  }
  Library& backend(const lamella_backend& b, int32_t* id) {
    if (!status_) status_ = api().backend(lib_, &b, id, nullptr);
    return *this;
  }
  Library& layer(const lamella_layer& l, int32_t* bit) {
    if (!status_) status_ = api().layer(lib_, &l, bit, nullptr);
    return *this;
  }
  /* What a layer wants to know of an operator; kept until that layer comes. */
  Library& rule(const char* op, const char* layer, const void* payload) {
    if (!status_) status_ = api().rule(lib_, op, layer, const_cast<void*>(payload), nullptr, nullptr);
    return *this;
  }
  /* Its derivative, in the notation of <lamella/autograd.h>: m.derivative("twice", "self: grad * 2"). */
  Library& derivative(const char* op, const char* formulas) {
    auto* d = new lamella_derivative{}; /* kept for ever, like the text */
    d->size = sizeof *d;
    d->formulas = formulas;
    return rule(op, "autograd", d);
  }
  Library& tensor_slot(const lamella_slot_type& t, int32_t* index) {
    if (!status_) status_ = api().tensor_slot(lib_, &t, index);
    return *this;
  }
  Library& attribute(const char* name, lamella_get_attribute get, lamella_set_attribute set = nullptr) {
    if (!status_) status_ = api().attribute(lib_, name, get, set, nullptr, nullptr);
    return *this;
  }
  Library& keyword(const char* name, lamella_apply_keyword apply) {
    if (!status_) status_ = api().keyword(lib_, name, apply, nullptr, nullptr);
    return *this;
  }
  Library& interface(const char* name, uint32_t version, const void* table) {
    if (!status_) status_ = api().publish_interface(lib_, name, version, table, nullptr);
    return *this;
  }

 private:
  lamella_library* lib_ = nullptr;
  lamella_status status_ = LAMELLA_OK;
};

}  // namespace lamella

/* Note [No static initializers]  Each LAMELLA_LIBRARY block leaves a pointer to its body in the section
 * lamella_init; one weak lamella_plugin_init for the whole library walks the section when the loader calls it and
 * returns the first bad status. Several blocks in several files work. */
extern "C" {
typedef lamella_status (*lamella_block)(void);
extern const lamella_block __start_lamella_init[] __attribute__((weak, visibility("hidden")));
extern const lamella_block __stop_lamella_init[] __attribute__((weak, visibility("hidden")));

__attribute__((weak, visibility("default"))) lamella_status lamella_plugin_init(const lamella_api* api) {
  lamella::Api::table() = api;
  for (const lamella_block* b = __start_lamella_init; b != __stop_lamella_init; ++b)
    if (lamella_status st = (*b)()) return st;
  return LAMELLA_OK;
}
}

#ifndef LAMELLA_PLUGIN_NAME
#define LAMELLA_PLUGIN_NAME __FILE__
#endif

#define LAMELLA_CAT_(a, b) a##b
#define LAMELLA_CAT(a, b) LAMELLA_CAT_(a, b)

#define LAMELLA_LIBRARY(ns, m) LAMELLA_LIBRARY_(ns, m, __COUNTER__)
#define LAMELLA_LIBRARY_(ns, m, id)                                                                                   \
  static void LAMELLA_CAT(lamella_body_, id)(lamella::Library & m);                                                   \
  static lamella_status LAMELLA_CAT(lamella_run_, id)(void) {                                                         \
    lamella::Library m(#ns, LAMELLA_PLUGIN_NAME);                                                                     \
    if (!m.status()) LAMELLA_CAT(lamella_body_, id)(m);                                                               \
    return m.status();                                                                                                \
  }                                                                                                                   \
  __attribute__((used, retain, section("lamella_init"))) static const lamella_block LAMELLA_CAT(lamella_entry_, id) = \
      LAMELLA_CAT(lamella_run_, id);                                                                                  \
  static void LAMELLA_CAT(lamella_body_, id)(lamella::Library & m)

#endif
