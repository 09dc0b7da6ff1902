/* The slim half of the C++ over <lattis/c_api.h>, for plugins whose kernels are written against the C table: an owning
 * TensorRef, values, a Library to register through, and LATTIS_LIBRARY, which needs no static initializer. Who writes
 * operators includes <lattis/extension.h>, which has this and more. Start with LATTIS_LIBRARY at the end of the file.
 *
 *   static lattis_status twice(lattis_frame* f, const lattis_value* args, lattis_value* rets) { ... }
 *   LATTIS_LIBRARY(mine, m) {
 *     m.define("twice(Tensor self) -> Tensor");
 *     m.impl("twice", "cpu", twice);
 *   }
 */
#ifndef LATTIS_LIBRARY_H
#define LATTIS_LIBRARY_H

#include <lattis/autograd.h>
#include <lattis/c_api.h>
#include <lattis/error.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace lattis {

/* ---- tensors ---------------------------------------------------------------------------------------------- */

LATTIS_HIDDEN inline int64_t itemsize(const lattis_tensor* t) { return t->dl.dtype.bits / 8; }
LATTIS_HIDDEN inline bool is_contiguous(const lattis_tensor* t) { return (t->flags & LATTIS_CONTIGUOUS) != 0; }
LATTIS_HIDDEN inline lattis_device device_of(const lattis_tensor* t) { return {t->backend, t->dl.device.device_id}; }

/* Owns one reference. */
class LATTIS_HIDDEN TensorRef {
 public:
  TensorRef() = default;
  static TensorRef steal(lattis_tensor* t) {
    TensorRef r;
    r.t_ = t;
    return r;
  }
  static TensorRef borrow(lattis_tensor* t) {
    if (t) api().retain(t);
    return steal(t);
  }
  TensorRef(const TensorRef& o) : t_(o.t_) {
    if (t_) api().retain(t_);
  }
  TensorRef(TensorRef&& o) noexcept : t_(std::exchange(o.t_, nullptr)) {}
  TensorRef& operator=(TensorRef o) noexcept {
    std::swap(t_, o.t_);
    return *this;
  }
  ~TensorRef() {
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
LATTIS_HIDDEN inline lattis_value none() { return {LATTIS_NONE, 0, {0}}; }
LATTIS_HIDDEN inline lattis_value value(const TensorRef& t) { return t ? value(t.get()) : none(); }
LATTIS_HIDDEN inline lattis_value value(int64_t i) { return {LATTIS_INT, 0, {i}}; }
LATTIS_HIDDEN inline lattis_value value(int i) { return value(static_cast<int64_t>(i)); }
LATTIS_HIDDEN inline lattis_value value(bool b) { return {LATTIS_BOOLEAN, 0, {b}}; }
template <class T>
lattis_value value(T*) = delete; /* no bool */
LATTIS_HIDDEN inline lattis_value value(double d) {
  lattis_value v{LATTIS_FLOAT, 0, {0}};
  v.as.d = d;
  return v;
}
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
template <class Body,
          class = std::enable_if_t<!std::is_void<decltype(std::declval<Body&>()(int64_t(), int64_t()))>::value>>
[[nodiscard]] LATTIS_HIDDEN inline lattis_status parallel_for(int64_t begin, int64_t end, int64_t grain, Body&& body) {
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

/* A function: no name of a key, and not null, by which an operator falls through a layer. */
template <class F>
using IsFunction =
    std::enable_if_t<!std::is_convertible<F, const char*>::value && !std::is_same<F, std::nullptr_t>::value>;
/* One with types of its own, as opposed to a kernel against the C table. */
template <class F>
using IsTyped = std::enable_if_t<!std::is_convertible<F, lattis_kernel>::value>;

/* Where somebody loaded this library under another name than its source says: its namespace there, and the one it has.
 */
struct LATTIS_HIDDEN OwnNamespace {
  std::string written, chosen;
};
LATTIS_HIDDEN inline OwnNamespace& own_namespace() {
  static OwnNamespace n;
  return n;
}

/* Registers under one owner. The first failure stops all that follows; the init function returns it. */
class LATTIS_HIDDEN Library {
 public:
  /* `key`: where `impl` without one of its own registers; null for a whole library. */
  Library(const char* ns, const char* owner, const char* key = nullptr, uint32_t kind = LATTIS_EXTENDS)
      : ns_(ns), key_(key), exact_(kind == LATTIS_DEFINES) {
    const lattis_library_def d = {sizeof d, LATTIS_TARGET_VERSION, ns, owner, kind, 0};
    status_ = api().library_open(&d, &lib_);
    if (status_) return;
    ns_ = api().library_namespace(lib_);
    if (std::strcmp(ns, ns_) || own_namespace().written == ns) own_namespace() = {ns, ns_};
  }

  lattis_status status() const { return status_; }
  lattis_library* handle() const { return lib_; }
  const char* ns() const { return ns_; } /* the namespace, by the name that it has in this process */

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
    return kernel(op, key, {sizeof(lattis_kernel_def), flags, fn, const_cast<void*>(context), file, line, 0});
  }
  /* One that says for how many arguments it was written. */
  Library& kernel(const char* op, const char* key, const lattis_kernel_def& def) {
    if (!status_) status_ = api().kernel(lib_, op, key, &def, nullptr);
    return *this;
  }
  Library& category(const char* name, const char* key, lattis_kernel fn, const void* context = nullptr,
                    uint32_t flags = 0, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    const lattis_kernel_def d = {sizeof d, flags, fn, const_cast<void*>(context), file, line, 0};
    if (!status_) status_ = api().category_kernel(lib_, name, key, &d, nullptr);
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
  /* Its derivative, in the notation of <lattis/autograd.h>: m.derivative("twice", "self: grad * 2"). num_args: how many
   * arguments the operator had when it was written, for operators of somebody else that may grow. */
  Library& derivative(const char* op, const char* formulas, int32_t num_args = 0) {
    const OwnNamespace& own = own_namespace();
    auto* d = new lattis_derivative{}; /* kept for ever, like the text */
    d->size = sizeof *d;
    d->formulas = formulas;
    d->num_args = num_args;
    if (own.written != own.chosen) { /* operators of its own are called by the name that they have here */
      auto* text = new std::string(formulas);
      for (size_t at = 0; (at = text->find(own.written + "::", at)) != std::string::npos; at += own.chosen.size() + 2)
        if (at == 0 || !(std::isalnum(static_cast<unsigned char>((*text)[at - 1])) || (*text)[at - 1] == '_'))
          text->replace(at, own.written.size(), own.chosen);
      d->formulas = text->c_str();
    }
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

  /* Operators and kernels that are C++ functions: <lattis/kernel.h>, which <lattis/extension.h> includes. */
  Library& def(const char* schema, const char* file = __builtin_FILE(), int line = __builtin_LINE());
  template <class F, class = IsFunction<F>>
  Library& def(const char* schema, F fn, const char* file = __builtin_FILE(), int line = __builtin_LINE());
  template <class F, class = IsFunction<F>>
  Library& impl(const char* op, F fn, const char* file = __builtin_FILE(), int line = __builtin_LINE());
  template <class F, class = IsTyped<F>>
  Library& impl(const char* op, const char* key, F fn, const char* file = __builtin_FILE(),
                int line = __builtin_LINE());
  template <class F>
  Library& infer(const char* op, F fn);
  Library& impl_category(const char* category, lattis_kernel fn, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE());
  Library& fallback(lattis_kernel fn, const char* file = __builtin_FILE(), int line = __builtin_LINE());
  Library& fail(int kind, const std::string& message) {
    if (!status_) status_ = api().raise(kind, message.c_str());
    return *this;
  }

 private:
  template <class F>
  Library& register_typed(const char* op, const char* key, F fn, const char* file, int line);

  const char *ns_, *key_;
  bool exact_; /* the schemas are its own: a function that leaves out an argument is a mistake, not an older one */
  lattis_library* lib_ = nullptr;
  lattis_status status_ = LATTIS_OK;
};

/* Runs a block of registrations; what it throws becomes the status. */
template <class Body>
LATTIS_HIDDEN lattis_status run_block(const char* ns, const char* owner, const char* key, uint32_t kind, Body body) {
  return guarded([&] {
    Library m(ns, owner, key, kind);
    if (!m.status()) body(m);
    return m.status();
  });
}

}  // namespace lattis

/* Note [No static initializers]  Each LATTIS_LIBRARY block leaves a pointer to itself in the section lattis_init; one
 * weak lattis_plugin_init for the whole library walks the section when the loader calls it and returns the first bad
 * status. Several blocks in several files work: those that define run first, those of a key last, and the blocks of one
 * file in their order, which the section does not keep. */
extern "C" {
typedef struct {
  lattis_status (*run)(void);
  uint32_t order; /* its kind, then its place in the file */
} lattis_block;
extern const lattis_block* const __start_lattis_init[] __attribute__((weak, visibility("hidden")));
extern const lattis_block* const __stop_lattis_init[] __attribute__((weak, visibility("hidden")));

/* Called by the loader alone, which knows whether this library is loaded: again after it was unloaded. */
__attribute__((weak, visibility("default"))) lattis_status lattis_plugin_init(const lattis_api* api) {
  lattis::Api::table() = api;
  std::vector<const lattis_block*> blocks(__start_lattis_init, __stop_lattis_init);
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const lattis_block* a, const lattis_block* b) { return a->order < b->order; });
  for (const lattis_block* b : blocks)
    if (lattis_status st = b->run()) return st;
  return LATTIS_OK;
}
}

#ifndef LATTIS_PLUGIN_NAME
#define LATTIS_PLUGIN_NAME __FILE__
#endif

#define LATTIS_CAT_(a, b) a##b
#define LATTIS_CAT(a, b) LATTIS_CAT_(a, b)

/* A namespace of one's own, with its operators; a second one that defines it is an error that names both. */
#define LATTIS_LIBRARY(ns, m) LATTIS_BLOCK_(ns, nullptr, LATTIS_DEFINES, m, __COUNTER__)
/* More of one that somebody else defines: aten's are the catalogue's. */
#define LATTIS_LIBRARY_FRAGMENT(ns, m) LATTIS_BLOCK_(ns, nullptr, LATTIS_EXTENDS, m, __COUNTER__)
/* Kernels of one key: a device, a layer, or composite. */
#define LATTIS_LIBRARY_IMPL(ns, key, m) LATTIS_BLOCK_(ns, #key, LATTIS_IMPLEMENTS, m, __COUNTER__)
#define LATTIS_BLOCK_(ns, key, kind, m, id) LATTIS_BLOCK_NUMBERED_(ns, key, kind, m, id)
#define LATTIS_BLOCK_NUMBERED_(ns, key, kind, m, id)                                                                  \
  static void LATTIS_CAT(lattis_body_, id)(lattis::Library & m);                                                      \
  static lattis_status LATTIS_CAT(lattis_run_, id)(void) {                                                            \
    return lattis::run_block(#ns, LATTIS_PLUGIN_NAME, key, kind, LATTIS_CAT(lattis_body_, id));                       \
  }                                                                                                                   \
  static const lattis_block LATTIS_CAT(lattis_block_, id) = {LATTIS_CAT(lattis_run_, id), uint32_t{kind} << 30 | id}; \
  __attribute__((used, retain, section("lattis_init"))) static const lattis_block* const LATTIS_CAT(                  \
      lattis_entry_, id) = &LATTIS_CAT(lattis_block_, id);                                                            \
  static void LATTIS_CAT(lattis_body_, id)(lattis::Library & m)

#endif
