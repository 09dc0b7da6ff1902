/* The slim half of the C++ over <lamella/c_api.h>, for plugins whose kernels are written against the C table: an owning
 * TensorRef, values, a Library to register through, and LAMELLA_LIBRARY, which needs no static initializer. To write
 * operators, include <lamella/extension.h>, which has this and more. Start with LAMELLA_LIBRARY at the end of the file.
 *
 *   static lamella_status twice(lamella_frame* f, const lamella_value* args, lamella_value* rets) { ... }
 *   LAMELLA_LIBRARY(mine, m) {
 *     m.define("twice(Tensor self) -> Tensor");
 *     m.impl("twice", "cpu", twice);
 *   }
 */
#ifndef LAMELLA_LIBRARY_H
#define LAMELLA_LIBRARY_H

#include <lamella/autograd.h>
#include <lamella/c_api.h>
#include <lamella/error.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace lamella {

/* ---- tensors ---------------------------------------------------------------------------------------------- */

LAMELLA_HIDDEN inline int64_t itemsize(const lamella_tensor* t) {
  return static_cast<uint32_t>(t->dl.dtype.bits) * t->dl.dtype.lanes / 8;
}
LAMELLA_HIDDEN inline bool is_contiguous(const lamella_tensor* t) { return (t->flags & LAMELLA_CONTIGUOUS) != 0; }
LAMELLA_HIDDEN inline lamella_device device_of(const lamella_tensor* t) { return {t->backend, t->dl.device.device_id}; }

/* Owns one reference. */
class LAMELLA_HIDDEN TensorRef {
 public:
  TensorRef() = default;
  static TensorRef steal(lamella_tensor* t) {
    TensorRef r;
    r.t_ = t;
    return r;
  }
  static TensorRef borrow(lamella_tensor* t) {
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

/* ---- operators ------------------------------------------------------------------------------------------------ */

/* Returns an operator's name for messages: "add", or "mine::twice" if the namespace is not the catalogue's. */
LAMELLA_HIDDEN inline std::string title(const lamella_operator* op) {
  const std::string name = api().operator_name(op);
  constexpr char catalogue[] = "aten::";
  return name.rfind(catalogue, 0) == 0 ? name.substr(sizeof catalogue - 1) : name;
}
LAMELLA_HIDDEN inline std::string title(const lamella_frame* f) { return title(f->op); }

/* ---- values --------------------------------------------------------------------------------------------------- */

LAMELLA_HIDDEN inline lamella_value value(lamella_tensor* t) {
  lamella_value v{LAMELLA_TENSOR, 0, {0}};
  v.as.tensor = t;
  return v;
}
LAMELLA_HIDDEN inline lamella_value none() { return {LAMELLA_NONE, 0, {0}}; }
LAMELLA_HIDDEN inline lamella_value value(const TensorRef& t) { return t ? value(t.get()) : none(); }
LAMELLA_HIDDEN inline lamella_value value(int64_t i) { return {LAMELLA_INT, 0, {i}}; }
LAMELLA_HIDDEN inline lamella_value value(int i) { return value(static_cast<int64_t>(i)); }
LAMELLA_HIDDEN inline lamella_value value(bool b) { return {LAMELLA_BOOLEAN, 0, {b}}; }
template <class T>
lamella_value value(T*) = delete; /* a pointer is no bool */
LAMELLA_HIDDEN inline lamella_value value(double d) {
  lamella_value v{LAMELLA_FLOAT, 0, {0}};
  v.as.d = d;
  return v;
}
/* The value points into `list`, which must outlive it. */
LAMELLA_HIDDEN inline lamella_value value(const std::vector<int64_t>& list) {
  lamella_value v{LAMELLA_INT_LIST, static_cast<uint32_t>(list.size()), {0}};
  v.as.ints = list.data();
  return v;
}

LAMELLA_HIDDEN inline double as_double(const lamella_value& v) {
  return v.tag == LAMELLA_FLOAT     ? v.as.d
         : v.tag == LAMELLA_COMPLEX ? v.as.doubles[0]
         : v.tag == LAMELLA_UINT    ? static_cast<double>(v.as.u)
                                    : static_cast<double>(v.as.i);
}
LAMELLA_HIDDEN inline int64_t as_int(const lamella_value& v) {
  return v.tag == LAMELLA_FLOAT     ? static_cast<int64_t>(v.as.d)
         : v.tag == LAMELLA_COMPLEX ? static_cast<int64_t>(v.as.doubles[0])
                                    : v.as.i;
}

/* ---- work ----------------------------------------------------------------------------------------------------- */

/* Calls body(begin, end) for pieces of the range, on all threads; body returns a lamella_status. */
template <class Body,
          class = std::enable_if_t<!std::is_void<decltype(std::declval<Body&>()(int64_t(), int64_t()))>::value>>
[[nodiscard]] LAMELLA_HIDDEN inline lamella_status parallel_for(int64_t begin, int64_t end, int64_t grain,
                                                                Body&& body) {
  return api().parallel_for(
      begin, end, grain,
      [](void* c, int64_t b, int64_t e) -> lamella_status {
        return (*static_cast<std::remove_reference_t<Body>*>(c))(b, e);
      },
      &body);
}

/* While it lives, layers are off for this thread: for a kernel that calls other operators. */
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

/* Holds for functions: not for a key's name, and not for null, which makes an operator fall through a layer. */
template <class F>
using IsFunction =
    std::enable_if_t<!std::is_convertible<F, const char*>::value && !std::is_same<F, std::nullptr_t>::value>;
namespace detail {
struct LAMELLA_HIDDEN TypedKernel;
}
/* Holds for functions with C++ types of their own, not for kernels against the C table. */
template <class F>
using IsTyped = std::enable_if_t<!std::is_convertible<F, lamella_kernel>::value>;

/* The namespace of a library that was loaded under another name: the one in its source, and the chosen one. */
struct LAMELLA_HIDDEN OwnNamespace {
  std::string written, chosen;
};
LAMELLA_HIDDEN inline OwnNamespace& own_namespace() {
  static OwnNamespace n;
  return n;
}

template <class T>
class Slot;
/* Holds for the getter of an attribute that is a C++ function with types of its own. */
template <class F>
using IsTypedGetter = std::enable_if_t<!std::is_convertible<F, lamella_get_attribute>::value>;

/* Registers under one owner. The first failure stops all that follows; the init function returns it. */
class LAMELLA_HIDDEN Library {
 public:
  /* `key`: the key for `impl` without a key; null for a whole library. `version`: that of the namespace's operators. */
  Library(const char* ns, const char* owner, const char* key = nullptr, uint32_t kind = LAMELLA_EXTENDS,
          uint32_t version = 0)
      : ns_(ns), key_(key), exact_(kind == LAMELLA_DEFINES) {
    const lamella_library_def d = {sizeof d, LAMELLA_TARGET_VERSION, ns, owner, kind, version};
    status_ = api().library_open(&d, &lib_);
    if (status_) return;
    ns_ = api().library_namespace(lib_);
    if (std::strcmp(ns, ns_) || own_namespace().written == ns) own_namespace() = {ns, ns_};
  }

  lamella_status status() const { return status_; }
  lamella_library* handle() const { return lib_; }
  const char* ns() const { return ns_; } /* the namespace, by the name that it has in this process */

  /* Operators that are defined from here on are shown in that module too: with m.module("linalg"), `cholesky` is
   * lamella.linalg.cholesky. */
  Library& module(const char* name) {
    module_ = name;
    return *this;
  }
  /* Operators that are defined from here on have these effects (enum lamella_effects) and their definitions'. */
  Library& effects(uint32_t bits) {
    effects_ = bits;
    return *this;
  }
  /* Operators that are defined from here on got their present arguments in that version of the namespace. */
  Library& since(uint32_t version) {
    since_ = version;
    return *this;
  }
  /* Defines an operator. Its `dims`, as "broadcast", say how dimensions map: Note [Dimensions] in c_api.h. */
  Library& define(lamella_operator_def def) {
    if (!def.module) def.module = module_;
    if (!def.since) def.since = since_;
    def.effects |= effects_;
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
    return kernel(op, key, {sizeof(lamella_kernel_def), flags, fn, const_cast<void*>(context), file, line, 0});
  }
  /* Registers a kernel with the number of arguments that it was written for. */
  Library& kernel(const char* op, const char* key, const lamella_kernel_def& def) {
    if (!status_) status_ = api().kernel(lib_, op, key, &def, nullptr);
    return *this;
  }
  Library& category(const char* name, const char* key, lamella_kernel fn, const void* context = nullptr,
                    uint32_t flags = 0, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    const lamella_kernel_def d = {sizeof d, flags, fn, const_cast<void*>(context), file, line, 0};
    if (!status_) status_ = api().category_kernel(lib_, name, key, &d, nullptr);
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
  /* Registers a layer's rule for an operator, as a derivative for "autograd"; it may precede the layer's
   * registration. */
  Library& rule(const char* op, const char* layer, const void* payload) {
    const lamella_rule r = {sizeof r, 0, op, layer, nullptr, const_cast<void*>(payload), nullptr, nullptr};
    if (!status_) status_ = api().rule(lib_, &r, nullptr);
    return *this;
  }
  /* Registers the derivative of an operator, in the notation of <lamella/autograd.h>: m.derivative("twice", "self:
   * grad * 2"). num_args: how many arguments the operator had when the derivative was written, for operators of
   * another library, which may grow. */
  Library& derivative(const char* op, const char* formulas, int32_t num_args = 0) {
    const OwnNamespace& own = own_namespace();
    auto* d = new lamella_derivative{}; /* never freed, nor is the text */
    d->size = sizeof *d;
    d->formulas = formulas;
    d->num_args = num_args;
    if (own.written != own.chosen) { /* its formulas call its own operators by the chosen name */
      auto* text = new std::string(formulas);
      for (size_t at = 0; (at = text->find(own.written + "::", at)) != std::string::npos; at += own.chosen.size() + 2)
        if (at == 0 || !(std::isalnum(static_cast<unsigned char>((*text)[at - 1])) || (*text)[at - 1] == '_'))
          text->replace(at, own.written.size(), own.chosen);
      d->formulas = text->c_str();
    }
    return rule(op, "autograd", d);
  }
  /* Registers a dtype of the plugin's own; *number is the dtype of its tensors. */
  Library& dtype(const lamella_dtype_def& d, int32_t* number) {
    if (!status_) status_ = api().dtype_register(lib_, &d, number, nullptr);
    return *this;
  }
  Library& tensor_slot(const lamella_slot_type& t, int32_t* index) {
    if (!status_) status_ = api().tensor_slot(lib_, &t, index);
    return *this;
  }
  /* Registers a slot whose states are C++ objects: <lamella/slot.h>. layer: the name of the layer that the states
   * belong to, or null. */
  template <class T>
  Library& tensor_slot(const char* name, Slot<T>& slot, const char* layer = nullptr);
  /* Registers a kind of errors for `fail`, whose class in Python is lamella.library.error_class(name). */
  Library& error_kind(const char* name, int32_t base, int32_t* kind) {
    if (!status_) status_ = api().error_kind_register(lib_, name, base, kind);
    return *this;
  }
  Library& attribute(const char* name, lamella_get_attribute get, lamella_set_attribute set = nullptr) {
    if (!status_) status_ = api().attribute(lib_, name, get, set, nullptr, nullptr);
    return *this;
  }
  /* Registers an attribute whose functions are C++ functions: <lamella/attribute.h>. Without `set` it is read-only. */
  template <class Get, class Set = std::nullptr_t, class = IsTypedGetter<Get>>
  Library& attribute(const char* name, Get get, Set set = nullptr);
  Library& keyword(const char* name, lamella_apply_keyword apply, const char* layer = nullptr, uint32_t flags = 0) {
    const lamella_keyword_def d = {sizeof d, flags, name, layer, apply, nullptr, nullptr};
    if (!status_) status_ = api().keyword(lib_, &d, nullptr);
    return *this;
  }
  /* Registers the function that replaces unknown keywords of factories; the name is for errors. */
  Library& keywords(const char* name, lamella_expand_keywords expand) {
    const lamella_keyword_def d = {sizeof d, LAMELLA_KEYWORD_REST, name, nullptr, nullptr, nullptr, expand};
    if (!status_) status_ = api().keyword(lib_, &d, nullptr);
    return *this;
  }
  /* Registers the function that finds dimensions by name. */
  Library& dim_resolver(lamella_resolve_dim resolve) {
    if (!status_) status_ = api().dim_resolver(lib_, resolve, nullptr, nullptr);
    return *this;
  }
  Library& interface(const char* name, uint32_t version, const void* table) {
    if (!status_) status_ = api().publish_interface(lib_, name, version, table, nullptr);
    return *this;
  }

  /* Operators and kernels that are C++ functions: <lamella/kernel.h>, which <lamella/extension.h> includes. */
  Library& def(const char* schema, const char* file = __builtin_FILE(), int line = __builtin_LINE());
  template <class F, class = IsFunction<F>>
  Library& def(const char* schema, F fn, const char* file = __builtin_FILE(), int line = __builtin_LINE());
  template <class F, class = IsFunction<F>>
  Library& impl(const char* op, F fn, const char* file = __builtin_FILE(), int line = __builtin_LINE());
  template <class F, class = IsTyped<F>>
  Library& impl(const char* op, const char* key, F fn, const char* file = __builtin_FILE(),
                int line = __builtin_LINE());
  /* Registers a function that is a template argument: its adapter needs no context. Pass flags = 0 for a kernel that
   * calls no operators and leaves its outputs unchanged when it fails. */
  template <auto Function>
  Library& impl(const char* op, const char* key, uint32_t flags = typed_flags, const char* file = __builtin_FILE(),
                int line = __builtin_LINE());
  template <class F>
  Library& infer(const char* op, F fn);
  Library& impl_category(const char* category, lamella_kernel fn, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE());
  Library& fallback(lamella_kernel fn, const char* file = __builtin_FILE(), int line = __builtin_LINE());
  Library& fail(int kind, const std::string& message) {
    if (!status_) status_ = api().raise(kind, message.c_str());
    return *this;
  }

 private:
  static constexpr uint32_t typed_flags = LAMELLA_KERNEL_CALLS_OPERATORS | LAMELLA_KERNEL_FAILS_LATE;
  Library& typed(const char* op, const char* key, const detail::TypedKernel& k, uint32_t flags, const char* file,
                 int line);

  const char *ns_, *key_, *module_ = nullptr;
  uint32_t effects_ = 0, since_ = 0;
  bool exact_; /* the library defines the schemas, so that a function with fewer arguments is an error */
  lamella_library* lib_ = nullptr;
  lamella_status status_ = LAMELLA_OK;
};

/* Runs a block of registrations; an exception becomes the status. */
template <class Body>
LAMELLA_HIDDEN lamella_status run_block(const char* ns, const char* owner, const char* key, uint32_t kind, Body body,
                                        uint32_t version = 0) {
  return guarded([&] {
    Library m(ns, owner, key, kind, version);
    if (!m.status()) body(m);
    return m.status();
  });
}

}  // namespace lamella

/* Note [No static initializers]  Each LAMELLA_LIBRARY block leaves a pointer to itself in the section lamella_init; one
 * weak lamella_plugin_init for the whole library walks the section when the loader calls it and returns the first bad
 * status. Several blocks in several files work: blocks that define a namespace run first, blocks of a key last, and the
 * blocks of one file in the file's order. The section does not keep that order, so each block has its number. */
extern "C" {
typedef struct {
  lamella_status (*run)(void);
  uint32_t order; /* its kind, then its place in the file */
} lamella_block;
extern const lamella_block* const __start_lamella_init[] __attribute__((weak, visibility("hidden")));
extern const lamella_block* const __stop_lamella_init[] __attribute__((weak, visibility("hidden")));

#ifndef LAMELLA_NO_PLUGIN_INIT /* defined for a library that no loader opens */
/* Called only by the loader, when the library is loaded, and again when it is loaded after an unload. */
__attribute__((weak, visibility("default"))) lamella_status lamella_plugin_init(const lamella_api* api) {
  lamella::Api::table() = api;
  std::vector<const lamella_block*> blocks(__start_lamella_init, __stop_lamella_init);
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const lamella_block* a, const lamella_block* b) { return a->order < b->order; });
  for (const lamella_block* b : blocks)
    if (lamella_status st = b->run()) return st;
  return LAMELLA_OK;
}
#endif
}

#ifndef LAMELLA_PLUGIN_NAME
#define LAMELLA_PLUGIN_NAME __FILE__
#endif

#define LAMELLA_CAT_(a, b) a##b
#define LAMELLA_CAT(a, b) LAMELLA_CAT_(a, b)

/* Defines a namespace and its operators; a second library that defines it is an error that names both. */
#define LAMELLA_LIBRARY(ns, m) LAMELLA_LIBRARY_VERSION(ns, 0, m)
/* The same, for a namespace whose operators have that version: lamella_library_def.namespace_version. */
#define LAMELLA_LIBRARY_VERSION(ns, version, m) LAMELLA_BLOCK_(ns, version, nullptr, LAMELLA_DEFINES, m, __COUNTER__)
/* Adds operators to a namespace that another library defines, as the catalogue defines aten. */
#define LAMELLA_LIBRARY_FRAGMENT(ns, m) LAMELLA_BLOCK_(ns, 0, nullptr, LAMELLA_EXTENDS, m, __COUNTER__)
/* Registers kernels of one key: a device, backend, a layer, composite, or a dtype that is not plain. */
#define LAMELLA_LIBRARY_IMPL(ns, key, m) LAMELLA_BLOCK_(ns, 0, #key, LAMELLA_IMPLEMENTS, m, __COUNTER__)
#define LAMELLA_BLOCK_(ns, version, key, kind, m, id) LAMELLA_BLOCK_NUMBERED_(ns, version, key, kind, m, id)
#define LAMELLA_BLOCK_NUMBERED_(ns, version, key, kind, m, id)                                               \
  static void LAMELLA_CAT(lamella_body_, id)(lamella::Library & m);                                          \
  static lamella_status LAMELLA_CAT(lamella_run_, id)(void) {                                                \
    return lamella::run_block(#ns, LAMELLA_PLUGIN_NAME, key, kind, LAMELLA_CAT(lamella_body_, id), version); \
  }                                                                                                          \
  static const lamella_block LAMELLA_CAT(lamella_block_, id) = {LAMELLA_CAT(lamella_run_, id),               \
                                                                uint32_t{kind} << 30 | id};                  \
  __attribute__((used, retain, section("lamella_init"))) static const lamella_block* const LAMELLA_CAT(      \
      lamella_entry_, id) = &LAMELLA_CAT(lamella_block_, id);                                                \
  static void LAMELLA_CAT(lamella_body_, id)(lamella::Library & m)

#endif
