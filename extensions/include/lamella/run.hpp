/* Programs of jit.save in C++17 without Python, over <lamella/run.h>; a program links liblamella_run.so and
 * liblamella.so. docs/embed.md is the guide.
 *
 *   auto net = lamella::jit::load("resnet.lamella");
 *   lamella::Tensor scores = net.forward({lamella::ones({1, 3, 224, 224})});
 *
 * What fails throws a lamella::Error. Any number of threads may call one module. */
#ifndef LAMELLA_RUN_HPP
#define LAMELLA_RUN_HPP

#include <lamella/extension.h>
#include <lamella/run.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#pragma GCC visibility push(hidden) /* all of C++ stays within the program */

namespace lamella {
namespace jit {

class IValue;
using Kwargs = std::map<std::string, IValue>;
using ExtraFilesMap = std::unordered_map<std::string, std::string>;

namespace detail {

/* The table is there before main(), so that an operator that is called before a module is loaded is an error. */
inline const bool has_table = [] {
  if (!Api::table()) Api::table() = lamella_run_api(LAMELLA_TARGET_VERSION);
  return Api::table() != nullptr;
}();

/* Loads the plugins when it is first called. */
inline const lamella_graph_table& graph() {
  if (!Api::table()) Api::table() = lamella_run_api(LAMELLA_TARGET_VERSION);
  if (!Api::table())
    throw Error(LAMELLA_RUNTIME_ERROR,
                "this liblamella.so is too old or too new for the program: install one of the "
                "version that the program was compiled with");
  check(lamella_run_start());
  return *lamella_run_graph();
}

}  // namespace detail

/* Loads the backend of the host and the plugins. load() does it, too: a program needs this only to call operators
 * before. */
inline void start() { detail::graph(); }

/* A value of a program: a tensor, a number, text, a list, a tuple, a dict, or none. Copies share containers and
 * tensors. */
class IValue {
 public:
  IValue() = default; /* none */
  IValue(std::nullopt_t) {}
  IValue(const Tensor& t) : IValue(retained(t.defined() ? lamella::value(t) : none())) {}
  template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
  IValue(T x) {
    if constexpr (std::is_same<T, bool>::value)
      v_ = lamella::value(x);
    else if constexpr (std::is_integral<T>::value)
      v_ = lamella::value(static_cast<int64_t>(x));
    else
      v_ = lamella::value(static_cast<double>(x));
  }
  IValue(const char* text) : IValue(retained(lamella::value(text))) {}
  IValue(const std::string& text) : IValue(retained(lamella::value(text))) {}
  IValue(ScalarType t) : v_(lamella::value(t)) {}
  IValue(const Device& d) : v_(lamella::value(d)) {}
  IValue(const Scalar& x) : IValue(retained(x.value())) {}
  template <class T>
  IValue(const std::optional<T>& x) : IValue(x ? IValue(*x) : IValue()) {}
  template <class T>
  IValue(const std::vector<T>& list) : IValue(made(LAMELLA_GRAPH_LIST, items_of(list))) {}
  template <class... T>
  IValue(const std::tuple<T...>& parts)
      : IValue(made(LAMELLA_GRAPH_TUPLE,
                    std::apply([](const T&... x) { return std::vector<IValue>{IValue(x)...}; }, parts))) {}
  template <class K, class V>
  IValue(const std::map<K, V>& dict) : IValue(of_pairs(dict)) {}
  template <class K, class V>
  IValue(const std::unordered_map<K, V>& dict) : IValue(of_pairs(dict)) {}
  IValue(const void*) = delete;

  IValue(const IValue& o) : IValue(retained(o.v_)) {}
  IValue(IValue&& o) noexcept : v_(std::exchange(o.v_, none())) {}
  IValue& operator=(IValue o) noexcept {
    std::swap(v_, o.v_);
    return *this;
  }
  ~IValue() {
    if (v_.tag != LAMELLA_NONE) api().value_release(&v_);
  }
  /* Takes an owned value over. */
  static IValue steal(lamella_value owned) {
    IValue x;
    x.v_ = owned;
    return x;
  }
  const lamella_value& value() const { return v_; }

  bool isNone() const { return v_.tag == LAMELLA_NONE; }
  bool isTensor() const { return v_.tag == LAMELLA_TENSOR; }
  bool isBool() const { return v_.tag == LAMELLA_BOOLEAN; }
  bool isInt() const { return v_.tag == LAMELLA_INT; }
  bool isDouble() const { return v_.tag == LAMELLA_FLOAT; }
  bool isString() const { return v_.tag == LAMELLA_STRING; }
  bool isList() const { return container() == LAMELLA_GRAPH_LIST; }
  bool isTuple() const { return container() == LAMELLA_GRAPH_TUPLE; }
  bool isGenericDict() const { return container() == LAMELLA_GRAPH_DICT; }
  bool isObject() const { return container() == LAMELLA_GRAPH_INSTANCE; }

  Tensor toTensor() const { return expect(isTensor(), "a Tensor"), Tensor::borrow(v_.as.tensor); }
  operator Tensor() const { return toTensor(); }
  bool toBool() const { return expect(isBool(), "a bool"), v_.as.i != 0; }
  int64_t toInt() const { return expect(isInt(), "an int"), v_.as.i; }
  double toDouble() const { return expect(isDouble(), "a float"), v_.as.d; }
  Scalar toScalar() const { return Scalar(v_); }
  std::string toStringRef() const { return expect(isString(), "text"), std::string(v_.as.string, v_.length); }
  std::vector<IValue> toListRef() const { return expect(isList(), "a list"), parts(); }
  std::vector<IValue> toList() const { return toListRef(); }
  std::vector<IValue> toTuple() const { return expect(isTuple(), "a tuple"), parts(); }
  std::vector<Tensor> toTensorVector() const {
    std::vector<Tensor> all;
    for (const IValue& x : toList()) all.push_back(x.toTensor());
    return all;
  }
  std::vector<int64_t> toIntVector() const {
    std::vector<int64_t> all;
    for (const IValue& x : toList()) all.push_back(x.toInt());
    return all;
  }
  std::vector<double> toDoubleVector() const {
    std::vector<double> all;
    for (const IValue& x : toList()) all.push_back(x.toDouble());
    return all;
  }
  /* The entries in their order. */
  std::vector<std::pair<IValue, IValue>> toGenericDict() const {
    expect(isGenericDict(), "a dict");
    const std::vector<IValue> all = parts();
    std::vector<std::pair<IValue, IValue>> pairs;
    for (size_t i = 0; i + 1 < all.size(); i += 2) pairs.emplace_back(all[i], all[i + 1]);
    return pairs;
  }

 private:
  static IValue retained(const lamella_value& borrowed) {
    IValue x;
    if (borrowed.tag != LAMELLA_NONE) check(api().value_retain(&borrowed, &x.v_));
    return x;
  }
  template <class List>
  static std::vector<IValue> items_of(const List& list) {
    std::vector<IValue> all;
    all.reserve(list.size());
    for (const auto& x : list) all.emplace_back(static_cast<const typename List::value_type&>(x));
    return all;
  }
  template <class Map>
  static IValue of_pairs(const Map& dict) {
    std::vector<IValue> all;
    for (const auto& [key, x] : dict) {
      all.emplace_back(key);
      all.emplace_back(x);
    }
    return made(LAMELLA_GRAPH_DICT, std::move(all));
  }
  static IValue made(int32_t kind, std::vector<IValue> items) {
    std::vector<lamella_value> values;
    for (IValue& x : items) values.push_back(std::exchange(x.v_, none()));
    lamella_value out = none();
    check(detail::graph().make(kind, values.data(), static_cast<int32_t>(values.size()), nullptr, nullptr, &out));
    return steal(out);
  }
  int32_t container() const { return detail::graph().kind_of(&v_); }
  std::vector<IValue> parts() const {
    lamella_value items = none();
    check(detail::graph().items(&v_, &items));
    const IValue own = steal(items);
    std::vector<IValue> all;
    for (uint32_t i = 0; i < items.length; i++) all.push_back(retained(items.as.values[i]));
    return all;
  }
  const char* kind() const {
    switch (v_.tag) {
      case LAMELLA_NONE:
        return "none";
      case LAMELLA_BOOLEAN:
        return "a bool";
      case LAMELLA_INT:
        return "an int";
      case LAMELLA_FLOAT:
        return "a float";
      case LAMELLA_STRING:
        return "text";
      case LAMELLA_TENSOR:
        return "a Tensor";
      default:
        return isList() ? "a list" : isTuple() ? "a tuple" : isGenericDict() ? "a dict" : "another value";
    }
  }
  void expect(bool holds, const char* wanted) const {
    LAMELLA_CHECK_TYPE(holds, "IValue: expected ", wanted, ", got ", kind());
  }

  lamella_value v_ = none();
};

struct NamedTensor {
  std::string name;
  Tensor value;
};

class Module;

/* A method of a module, which it keeps. */
class Method {
 public:
  template <class... Args>
  IValue operator()(const Args&... args) const;
  IValue operator()(const std::vector<IValue>& args, const Kwargs& kwargs = {}) const;
  const std::string& name() const { return name_; }

 private:
  friend class Module;
  Method(lamella_module* m, std::string name) : module_(m), name_(std::move(name)) { lamella_run_retain(m); }

 public:
  Method(const Method& o) : Method(o.module_, o.name_) {}
  Method(Method&& o) noexcept : module_(std::exchange(o.module_, nullptr)), name_(std::move(o.name_)) {}
  Method& operator=(Method o) noexcept {
    std::swap(module_, o.module_);
    std::swap(name_, o.name_);
    return *this;
  }
  ~Method() { lamella_run_release(module_); }

 private:
  lamella_module* module_;
  std::string name_;
};

/* A module of a program. Copies are the same module. An undefined one, Module(), can be assigned to alone. */
class Module {
 public:
  Module() = default;
  Module(const Module& o) : m_(o.m_) { lamella_run_retain(m_); }
  Module(Module&& o) noexcept : m_(std::exchange(o.m_, nullptr)) {}
  Module& operator=(Module o) noexcept {
    std::swap(m_, o.m_);
    return *this;
  }
  ~Module() { lamella_run_release(m_); }
  static Module steal(lamella_module* owned) {
    Module m;
    m.m_ = owned;
    return m;
  }
  lamella_module* c() const {
    LAMELLA_CHECK(m_, "this module is undefined: jit::load makes one");
    return m_;
  }
  Module* operator->() { return this; } /* torch's first versions gave pointers to modules */
  const Module* operator->() const { return this; }

  /* Calls `forward`; arguments that are left out get their defaults. */
  IValue forward(const std::vector<IValue>& args, const Kwargs& kwargs = {}) const {
    return run(c(), "forward", args, kwargs);
  }
  template <class... Args>
  IValue operator()(const Args&... args) const {
    return run(c(), "forward", {IValue(args)...}, {});
  }
  template <class... Args>
  IValue run_method(const std::string& name, const Args&... args) const {
    return run(c(), name, {IValue(args)...}, {});
  }
  /* Throws if there is no such method; the message names those that there are. */
  Method get_method(const std::string& name) const {
    if (auto found = find_method(name)) return *found;
    std::string all;
    for (const std::string& own : methods()) all += (all.empty() ? "" : ", ") + own;
    throw Error(LAMELLA_VALUE_ERROR, "the module has no method '" + name + "'; it has " + all);
  }
  std::optional<Method> find_method(const std::string& name) const {
    if (lamella_run_parameters(c(), name.c_str(), nullptr, 0, nullptr) < 0) return std::nullopt;
    return Method(m_, name);
  }
  std::vector<std::string> methods() const {
    std::vector<const char*> names(static_cast<size_t>(lamella_run_methods(c(), nullptr, 0)));
    lamella_run_methods(m_, names.data(), static_cast<int32_t>(names.size()));
    return {names.begin(), names.end()};
  }
  std::string name() const { return lamella_run_name(c()); }

  std::vector<NamedTensor> named_parameters() const { return tensors(LAMELLA_GRAPH_PARAMETERS); }
  std::vector<NamedTensor> named_buffers() const { return tensors(LAMELLA_GRAPH_BUFFERS); }
  std::vector<Tensor> parameters() const { return values(named_parameters()); }
  std::vector<Tensor> buffers() const { return values(named_buffers()); }
  /* The module of a name in this one, as "layer.0". */
  Module module(const std::string& name) const {
    lamella_module* found;
    check(lamella_run_child(c(), name.c_str(), &found));
    return steal(found);
  }

  IValue attr(const std::string& name) const {
    lamella_value v = none();
    check(lamella_run_get(c(), name.c_str(), &v));
    return IValue::steal(v);
  }
  void setattr(const std::string& name, const IValue& x) { check(lamella_run_set(c(), name.c_str(), &x.value())); }
  bool hasattr(const std::string& name) const {
    lamella_value v = none();
    if (lamella_run_get(c(), name.c_str(), &v)) return api().error_clear(), false;
    api().value_release(&v);
    return true;
  }
  Module& train(bool on = true) { return check(lamella_run_train(c(), on)), *this; }
  Module& eval() { return train(false); }
  bool is_training() const { return attr("training").toBool(); }
  Module& to(const Device& device) { return check(lamella_run_move(c(), device.str().c_str(), -1)), *this; }
  Module& to(ScalarType dtype) { return check(lamella_run_move(c(), nullptr, static_cast<int32_t>(dtype))), *this; }
  Module& to(const Device& device, ScalarType dtype) {
    return check(lamella_run_move(c(), device.str().c_str(), static_cast<int32_t>(dtype))), *this;
  }
  Module& to(const char* device) { return to(Device(device)); }
  /* The bytes of a further file beside the program; nothing if it is not there. */
  std::optional<std::string> extra_file(const std::string& name) const {
    lamella_value v = none();
    check(lamella_run_extra(c(), name.c_str(), &v));
    const IValue x = IValue::steal(v);
    if (x.isNone()) return std::nullopt;
    return x.toStringRef();
  }
  /* Writes the module as it is now to a file that jit::load, here and in Python, reads. */
  void save(const std::string& path, const ExtraFilesMap& extra_files = {}) const {
    const auto add = [](void* given, const lamella_graph_files* files) {
      for (const auto& [name, bytes] : *static_cast<const ExtraFilesMap*>(given))
        files->add(files->context, name.c_str(), bytes.data(), bytes.size());
    };
    check(lamella_run_save(c(), path.c_str(), add, const_cast<ExtraFilesMap*>(&extra_files)));
  }

 private:
  friend class Method;
  static IValue run(lamella_module* m, const std::string& name, const std::vector<IValue>& args, const Kwargs& kwargs) {
    static_assert(sizeof(IValue) == sizeof(lamella_value), "a list of IValue is a list of lamella_value");
    std::vector<lamella_run_keyword> keywords;
    for (const auto& [key, x] : kwargs) keywords.push_back({key.c_str(), x.value()});
    lamella_value result = none();
    check(lamella_run_call(m, name.c_str(), reinterpret_cast<const lamella_value*>(args.data()),
                           static_cast<int32_t>(args.size()), keywords.data(), static_cast<int32_t>(keywords.size()),
                           &result));
    return IValue::steal(result);
  }
  std::vector<NamedTensor> tensors(int32_t kind) const {
    std::vector<NamedTensor> all;
    check(lamella_run_tensors(
        c(), kind,
        [](void* to, const char* name, lamella_tensor* t) {
          static_cast<std::vector<NamedTensor>*>(to)->push_back({name, Tensor::borrow(t)});
        },
        &all));
    return all;
  }
  static std::vector<Tensor> values(const std::vector<NamedTensor>& named) {
    std::vector<Tensor> all;
    for (const NamedTensor& t : named) all.push_back(t.value);
    return all;
  }

  lamella_module* m_ = nullptr;
};

template <class... Args>
IValue Method::operator()(const Args&... args) const {
  return Module::run(module_, name_, {IValue(args)...}, {});
}
inline IValue Method::operator()(const std::vector<IValue>& args, const Kwargs& kwargs) const {
  return Module::run(module_, name_, args, kwargs);
}

/* Makes every save of this process, also by jit.save of Python, add further files, which the function returns. It gets
 * the program (a copy, of <lamella/graph.h>). A later call of this library or program replaces its function; an empty
 * one takes it away. An exception of the function ends the save before a file is written. */
inline void SetExportModuleExtraFilesHook(std::function<ExtraFilesMap(lamella_object* program)> hook) {
  using Hook = std::function<ExtraFilesMap(lamella_object*)>;
  static std::mutex lock;
  static uint64_t handle = 0;
  const std::lock_guard<std::mutex> guard(lock);
  if (handle) check(detail::graph().remove_export_hook(std::exchange(handle, 0)));
  if (!hook) return;
  auto own = std::make_unique<Hook>(std::move(hook));
  const auto run = [](void* context, lamella_object* program, const lamella_graph_files* files) {
    return lamella::guarded([&] {
      for (const auto& [name, bytes] : (*static_cast<Hook*>(context))(program))
        check(files->add(files->context, name.c_str(), bytes.data(), bytes.size()));
      return LAMELLA_OK;
    });
  };
  const auto destroy = [](void* context) { delete static_cast<Hook*>(context); };
  check(detail::graph().add_export_hook(run, own.get(), destroy, &handle));
  own.release();
}

/* Reads a file of jit.save. device: where tensors are put; empty: where they were saved from. flags: enum
 * lamella_graph_load_flags. */
inline Module load(const std::string& path, const std::string& device = {}, uint32_t flags = 0) {
  detail::graph();
  lamella_module* m;
  check(lamella_run_load(path.c_str(), flags, device.empty() ? nullptr : device.c_str(), &m));
  return Module::steal(m);
}
/* Reads the further files that the map names, too: their bytes become its values, none for one that is not there. */
inline Module load(const std::string& path, const std::string& device, ExtraFilesMap& extra_files, uint32_t flags = 0) {
  Module m = load(path, device, flags);
  for (auto& [name, bytes] : extra_files) bytes = m.extra_file(name).value_or("");
  return m;
}
/* Reads a program from memory, which is copied. */
inline Module load(const void* data, size_t size, const std::string& device = {}, uint32_t flags = 0) {
  detail::graph();
  lamella_module* m;
  check(lamella_run_load_memory(data, size, flags, device.empty() ? nullptr : device.c_str(), &m));
  return Module::steal(m);
}

}  // namespace jit
}  // namespace lamella

#pragma GCC visibility pop

#endif
