#include "frontend/binding/registration.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "dispatcher/dims.h"
#include "dispatcher/named_kinds.h"
#include "dispatcher/kernels.h"
#include "dispatcher/keys.h"
#include "dispatcher/keywords.h"
#include "dispatcher/layer.h"
#include "dispatcher/ledger.h"
#include "dispatcher/operators.h"
#include "dispatcher/registry_lock.h"
#include "dispatcher/rules.h"
#include "frontend/binding/named_dims.h"
#include "frontend/binding/packet.h"
#include "frontend/binding/plugin_keywords.h"
#include "frontend/binding/python_backend.h"
#include "frontend/binding/python_face.h"
#include "frontend/binding/python_kernel.h"
#include "frontend/binding/status.h"
#include "frontend/binding/tensor_object.h"
#include "frontend/binding/types.h"

namespace py = pybind11;

namespace lamella::binding {
namespace {

// ---- Python callables that are called under the registry's lock -----------------------------------------------------

// The first exception that a callable raised during a withdrawal; see `raise_first`.
thread_local PyObject* first_error[3];

void keep_error() {
  if (!PyErr_Occurred()) return;
  if (first_error[0])
    PyErr_Clear();
  else
    PyErr_Fetch(&first_error[0], &first_error[1], &first_error[2]);
}
void drop_first() {
  for (PyObject*& o : first_error) Py_CLEAR(o);
}
// Throws the error of a failed registration or withdrawal, and drops the exceptions that callables raised meanwhile.
void check_only(lamella_status st) {
  if (st) drop_first();
  check(st);
}
}  // namespace

void raise_first() {
  if (!first_error[0]) return;
  PyErr_Restore(first_error[0], first_error[1], first_error[2]);
  std::fill(first_error, first_error + 3, nullptr);
  throw py::error_already_set();
}

namespace {

// Returns a rule as on_rule's callback gets it: the registered object for a rule of Python, else a tuple of its handle,
// operator, layer, owner and kind.
PyObject* rule_to_python(lamella_handle h, const lamella_rule& r) {
  if (r.kind && !std::strcmp(r.kind, "python")) return Py_NewRef(static_cast<PyObject*>(r.payload));
  return Py_BuildValue("(Ksssz)", (unsigned long long)h, r.op, r.layer, r.owner, r.kind);
}

lamella_status pass_rule(void* context, lamella_handle h, const lamella_rule* r, int32_t there) {
  const Gil gil;
  PyObject* callable = static_cast<PythonKernel*>(context)->callable;
  if (!callable) return LAMELLA_OK;
  PyObject* rule = rule_to_python(h, *r);
  PyObject* done = rule ? PyObject_CallFunction(callable, "Oi", rule, there) : nullptr;
  Py_XDECREF(rule);
  Py_XDECREF(done);
  if (done) return LAMELLA_OK;
  if (there) return capture_exception();
  keep_error();
  return LAMELLA_OK;
}

lamella_kernel_def described(lamella_kernel fn, void* context, const std::string& file, int line, uint32_t flags = 0) {
  return {sizeof(lamella_kernel_def),
          flags | (fn ? uint32_t{LAMELLA_KERNEL_CALLS_OPERATORS | LAMELLA_KERNEL_FAILS_LATE} : 0),
          fn,
          context,
          file.c_str(),
          line,
          0};
}

void drop_object(void* object) { drop_anywhere(static_cast<PyObject*>(object)); }

// A library of registrations from Python. A callable is released when its registration is withdrawn.
class PyLibrary {
 public:
  PyLibrary(const std::string& ns, const std::string& owner, const std::string& kind, uint32_t version) {
    const uint32_t k = kind == "DEF" ? LAMELLA_DEFINES : kind == "IMPL" ? LAMELLA_IMPLEMENTS : LAMELLA_EXTENDS;
    check(dispatcher::open_library(
        {sizeof(lamella_library_def), LAMELLA_ABI_VERSION, ns.c_str(), owner.c_str(), k, version}, &lib_));
  }

  lamella_handle define(const std::string& schema, const std::string& category, const std::string& doc, uint32_t forms,
                        const std::string& module, const std::string& dims, uint32_t effects, uint32_t since,
                        const std::string& file, int line) {
    lamella_operator_def d{};
    d.size = sizeof d;
    d.schema = schema.c_str();
    d.category = category.empty() ? nullptr : category.c_str();
    d.doc = doc.c_str();
    d.forms = forms;
    d.module = module.empty() ? nullptr : module.c_str();
    d.dims = dims.empty() ? nullptr : dims.c_str();
    d.effects = effects;
    d.since = since;
    d.file = file.c_str();
    d.line = line;
    lamella_handle h;
    check(dispatcher::define_operator(open(), d, false, &h));
    forget_signatures();
    return h;
  }
  lamella_handle impl(const std::string& op, const std::string& key, py::object callable, bool all_forms,
                      const std::string& file, int line) {
    lamella_handle h;
    const uint32_t flags = all_forms ? LAMELLA_KERNEL_ALL_FORMS : 0;
    if (callable.is_none()) {  // an explicit fall-through
      check(dispatcher::register_kernel(open(), op.c_str(), key.c_str(), described(nullptr, nullptr, file, line, flags),
                                        &h));
      return h;
    }
    const bool composite = key == "composite";
    auto* cell =
        new PythonKernel{callable.release().ptr(), composite ? PythonKernel::Of::Composite : PythonKernel::Of::Device};
    lamella_status st = dispatcher::register_kernel(open(), op.c_str(), key.c_str(),
                                                    described(run_python, cell, file, line, flags), &h);
    return keep(st, h, cell);
  }
  lamella_handle category(const std::string& name, const std::string& key, py::object callable, const std::string& file,
                          int line) {
    lamella_handle h;
    auto* cell = new PythonKernel{callable.release().ptr(), PythonKernel::Of::Category};
    lamella_status st = dispatcher::register_category_kernel(open(), name.c_str(), key.c_str(),
                                                             described(run_python, cell, file, line), &h);
    return keep(st, h, cell);
  }
  py::tuple layer(const std::string& name, py::object handler, const std::string& at,
                  const std::vector<std::string>& outside, const std::vector<std::string>& inside, uint32_t flags) {
    std::vector<const char*> out, in;
    for (const auto& s : outside) out.push_back(s.c_str());
    for (const auto& s : inside) in.push_back(s.c_str());
    out.push_back(nullptr);
    in.push_back(nullptr);
    auto* cell = handler.is_none() ? nullptr : new PythonKernel{handler.release().ptr()};
    lamella_layer l{};
    l.size = sizeof l;
    l.name = name.c_str();
    l.at = at.empty() ? nullptr : at.c_str();
    l.outside = out.data();
    l.inside = in.data();
    l.flags = flags;
    l.kernel_flags = LAMELLA_KERNEL_CALLS_OPERATORS;
    l.fallback = cell ? run_python : nullptr;
    l.context = cell;
    int32_t bit = -1;
    lamella_handle h;
    lamella_status st = dispatcher::register_layer(open(), l, &bit, &h);
    return py::make_tuple(bit, cell ? keep(st, h, cell) : (check(st), h));
  }
  lamella_handle backend(const std::string& name, const std::vector<py::object>& methods, int32_t device_count,
                         uint32_t flags, int32_t dlpack_type, const std::vector<py::object>& dtypes) {
    PythonBackend b{name, {}, device_count, dlpack_type, flags, {}};
    if (methods.size() != backend_slots().size())
      throw py::value_error("backend: expected " + std::to_string(backend_slots().size()) +
                            " methods, one for each slot, got " + std::to_string(methods.size()));
    for (const py::object& o : methods) b.methods.push_back(o.is_none() ? nullptr : o.ptr());
    for (const py::object& o : dtypes) {
      core::DType t;
      if (!read_dtype(o.ptr(), &t)) throw py::type_error("backend: expected dtypes, got " + type_name(o.ptr()));
      b.dtypes.push_back(t);
    }
    lamella_handle h;
    check(register_python_backend(open(), b, &h));
    return h;
  }
  lamella_handle process_include(uint64_t bits) {
    lamella_handle h = 0;
    check(dispatcher::include_layers(open(), bits, &h));
    return h;
  }
  lamella_handle keyword(const std::string& name, py::object callable, const std::string& layer, uint32_t flags) {
    lamella_handle h = 0;
    auto* cell = new PythonKernel{callable.release().ptr()};
    lamella_keyword_def def{};
    def.size = sizeof def;
    def.flags = flags;
    def.name = name.c_str();
    def.layer = layer.empty() ? nullptr : layer.c_str();
    def.apply = apply_python_keyword;
    def.context = cell;
    const lamella_status st = dispatcher::add_keyword(open(), def, &h);
    return keep(st, h, cell);
  }
  lamella_handle keywords(py::object expand) {
    lamella_handle h = 0;
    auto* cell = new PythonKernel{expand.release().ptr()};
    lamella_keyword_def def{};
    def.size = sizeof def;
    def.flags = LAMELLA_KEYWORD_REST;
    def.name = "expand";
    def.expand = expand_python_keywords;
    def.context = cell;
    const lamella_status st = dispatcher::add_keyword(open(), def, &h);
    return keep(st, h, cell);
  }
  lamella_handle dim_resolver(py::object function) {
    lamella_handle h = 0;
    auto* cell = new PythonKernel{function.release().ptr()};
    const lamella_status st = dispatcher::add_dim_resolver(open(), resolve_python_dim, cell, &h);
    return keep(st, h, cell);
  }
  lamella_handle disable(const std::string& op, const std::string& key) {
    lamella_handle h;
    check(dispatcher::disable_kernel(open(), op.c_str(), key.c_str(), &h));
    return h;
  }
  lamella_handle rule(const std::string& op, const std::string& layer, py::object rule) {
    lamella_handle h;
    const lamella_rule r = {sizeof r, 0, op.c_str(), layer.c_str(), "python", rule.ptr(), drop_object, nullptr};
    check_only(dispatcher::add_rule(open(), r, &h));
    rule.release();  // the registration owns the reference now
    return h;
  }
  lamella_handle on_rule(const std::string& layer, py::object callback) {
    lamella_handle h;
    auto* cell = new PythonKernel{callback.release().ptr()};
    const lamella_status st = dispatcher::on_rule(open(), layer.c_str(), pass_rule, cell, &h);
    if (st) drop_first();
    return keep(st, h, cell);
  }
  // Adds a registration that consists of a callable only: `undo` is called when the registration is withdrawn.
  lamella_handle own(py::object undo) {
    PyObject* callable = undo.release().ptr();
    return dispatcher::enter(open(), [callable](lamella_handle) {
      const Gil gil;
      PyObject* done = PyObject_CallNoArgs(callable);
      Py_XDECREF(done);
      Py_DECREF(callable);
      if (!done) keep_error();
    });
  }
  void withdraw(lamella_handle h, bool missing_ok) {
    if (missing_ok && !lib_) return;
    check_only(dispatcher::withdraw(h));
    drop(h);
    forget_signatures();
    raise_first();
  }
  void close() {
    if (!lib_) return;
    // The library is closed first, so that no table leads to a cell without a callable.
    dispatcher::close_library(std::exchange(lib_, nullptr));
    auto cells = std::exchange(cells_, {});
    // A call that found the cell in an old table gets LAMELLA_RETRY from run_python(), and reads the new table.
    for (auto& [h, cell] : cells) Py_CLEAR(cell->callable);
    forget_signatures();
    raise_first();
  }

 private:
  lamella_handle keep(lamella_status st, lamella_handle h, PythonKernel* cell) {
    if (st) {
      Py_CLEAR(cell->callable);
      delete cell;
      check(st);
    }
    cells_[h] = cell;
    return h;
  }
  void drop(lamella_handle h) {
    auto it = cells_.find(h);
    if (it == cells_.end()) return;
    Py_CLEAR(it->second->callable);  // a call that found the cell in an old table is retried
    cells_.erase(it);
  }
  dispatcher::Library& open() {
    if (!lib_) throw std::runtime_error("this library is closed; open another one to register");
    return *lib_;
  }
  lamella_library* lib_ = nullptr;
  std::map<lamella_handle, PythonKernel*> cells_;
};

}  // namespace

void add_registration(py::module_& m) {
  py::class_<PyLibrary>(m, "_Library")
      .def(py::init<const std::string&, const std::string&, const std::string&, uint32_t>(), py::arg("ns"),
           py::arg("owner"), py::arg("kind"), py::arg("version") = 1)
      .def("define", &PyLibrary::define)
      .def("impl", &PyLibrary::impl)
      .def("category", &PyLibrary::category)
      .def("disable", &PyLibrary::disable)
      .def("layer", &PyLibrary::layer)
      .def("backend", &PyLibrary::backend)
      .def("process_include", &PyLibrary::process_include)
      .def("keyword", &PyLibrary::keyword)
      .def("keywords", &PyLibrary::keywords)
      .def("dim_resolver", &PyLibrary::dim_resolver)
      .def("rule", &PyLibrary::rule)
      .def("on_rule", &PyLibrary::on_rule)
      .def("own", &PyLibrary::own)
      .def("withdraw", &PyLibrary::withdraw, py::arg("handle"), py::arg("missing_ok") = false)
      .def("close", &PyLibrary::close);
  m.def("_backend_slots", [] { return backend_slots(); });
  // Returns the number of a dimension that a str names; `where` begins errors.
  m.def("_resolve_dim", [](const std::string& where, const py::object& tensor, const py::object& name) {
    if (!is_tensor(tensor.ptr()) || *names_hint(name.ptr(), false))
      throw py::type_error(where + ": got a " + type_name(name.ptr()) + names_hint(name.ptr(), false));
    dispatcher::Type type;
    type.kind = dispatcher::Kind::Int;
    Arena arena;
    Value v;
    const auto beginning = [&where] { return where; };
    if (!resolve_dims(unwrap(tensor.ptr()), name.ptr(), type, &v, arena, beginning)) throw py::error_already_set();
    return v.as.i;
  });
  m.def("_error_class", [](const std::string& name) {
    const char* known;
    for (int kind = dispatcher::first_error_kind; (known = dispatcher::describe_error_kind(kind, nullptr)); kind++)
      if (name == known) {
        PyObject* made = exception_type(kind);
        if (!made) throw py::error_already_set();
        return py::reinterpret_borrow<py::object>(made);
      }
    throw py::value_error("error_class: no plugin has registered a kind of errors '" + name + "'");
  });
  m.def("_rules", [](py::object o) {  // the rules of an operator, in the order of their registration
    const dispatcher::Operator* op = find_operator(o.ptr());
    if (!op) throw py::error_already_set();
    py::list l;
    dispatcher::RegistryLock lock;
    dispatcher::each_rule(op, [&l](const dispatcher::Rule& r) {
      PyObject* rule = rule_to_python(r.handle, r.described());
      if (!rule) throw py::error_already_set();
      l.append(py::reinterpret_steal<py::object>(rule));
    });
    return l;
  });
}

}  // namespace lamella::binding
