// The extension module lamella._C: it initializes the types and operators of the call path, and defines by pybind11 the
// functions that are called rarely: registration, plugins, threads, settings.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <tuple>
#include <utility>

#include "core/thread.h"
#include "dispatcher/api.h"
#include "dispatcher/load.h"
#include "dispatcher/stamp.h"
#include "dispatcher/parallel.h"
#include "dispatcher/attributes.h"
#include "dispatcher/fallback.h"
#include "dispatcher/fill.h"
#include "dispatcher/interfaces.h"
#include "dispatcher/kernels.h"
#include "dispatcher/keys.h"
#include "dispatcher/layer.h"
#include "dispatcher/ledger.h"
#include "dispatcher/keys.h"
#include "dispatcher/operators.h"
#include "dispatcher/waiting.h"
#include "dispatcher/prepare.h"
#include "dispatcher/registry_lock.h"
#include "dispatcher/show.h"
#include "frontend/binding/archive.h"
#include "frontend/binding/dlpack.h"
#include "frontend/binding/drawing.h"
#include "frontend/binding/module_base.h"
#include "frontend/binding/interop.h"
#include "frontend/binding/objects.h"
#include "frontend/binding/overrides.h"
#include "frontend/binding/packet.h"
#include "frontend/binding/results.h"
#include "frontend/binding/plugin_keywords.h"
#include "frontend/binding/protocols.h"
#include "frontend/binding/python_backend.h"
#include "frontend/binding/python_face.h"
#include "frontend/binding/python_kernel.h"
#include "frontend/binding/registration.h"
#include "frontend/binding/settings.h"
#include "frontend/binding/shared.h"
#include "frontend/binding/state.h"
#include "frontend/binding/streams.h"
#include "frontend/binding/status.h"
#include "frontend/binding/tensor_object.h"
#include "frontend/binding/types.h"
#include "frontend/binding/updates.h"
#include "operators/singles.h"
#include "operators/start.h"

namespace py = pybind11;

namespace lamella::binding {
namespace {

using dispatcher::Operator;

py::dict meaning_of(const lamella_pointwise& p) {
  const lamella_expressions& e = p.expressions;
  const std::pair<const char*, const char*> texts[] = {
      {"bool", e.of_bools}, {"integral", e.of_integers}, {"floating", e.of_floats}, {"complex", e.of_complex}};
  py::dict expressions, d;
  for (const auto& [name, text] : texts)
    if (text) expressions[name] = text;
  d["expressions"] = expressions;
  d["inputs"] = p.inputs;
  d["params"] = p.params;
  d["condition"] = p.condition != 0;
  d["result"] = p.result;
  d["fault"] = p.fault ? py::object(py::str(p.fault)) : py::object(py::none());
  d["fault_condition"] = p.fault_condition ? py::object(py::str(p.fault_condition)) : py::object(py::none());
  return d;
}

py::dict describe_operator(Operator* op) {
  check(dispatcher::prepare(op));
  std::string owner, doc, file, module, dims;  // copies, since a redefinition may change the operator's own
  int line;
  std::vector<std::pair<std::string, std::string>> registered;
  {
    dispatcher::RegistryLock lock;
    std::tie(owner, doc, file, module, line) = std::tie(op->owner, op->doc, op->file, op->module, op->line);
    dims = op->dims;
    for (const auto& r : (op->functional ? op->functional : op)->kernels) registered.emplace_back(r.key, r.owner);
  }
  py::dict d;
  d["name"] = op->name;
  d["overload"] = op->overload;
  d["aliases"] = op->aliases;
  d["schema"] = op->schema_text;
  d["category"] = op->category;
  d["dims"] = dims;
  d["effects"] = op->effects;
  d["since"] = op->since;
  d["owner"] = owner;
  d["doc"] = doc;
  d["file"] = file;
  d["module"] = module;
  d["line"] = line;
  d["method"] = (op->forms & LAMELLA_FORM_METHOD) != 0;
  d["function"] = (op->forms & LAMELLA_FORM_FUNCTION) != 0;
  d["private"] = (op->forms & LAMELLA_FORM_PRIVATE) != 0;
  static const char* const forms[] = {"functional", "inplace", "out"};
  d["form"] = forms[static_cast<int>(op->form)];
  d["functional"] = (op->functional ? op->functional : op)->full_name();
  std::vector<std::string> disabled;
  for (const auto& each : op->disabled) disabled.push_back(each.key);
  d["disabled"] = disabled;
  d["shape_rule"] = op->infer != nullptr;
  d["pointwise"] = op->pointwise ? py::object(meaning_of(*op->pointwise)) : py::object(py::none());
  py::list kernels, args;
  for (const auto& [key, who] : registered) kernels.append(py::make_tuple(key, who));
  d["kernels"] = kernels;
  const dispatcher::Schema& schema = *op->schema.load();
  for (size_t i = 0; i < schema.args.size(); i++) {
    const auto& a = schema.args[i];
    py::dict arg;
    arg["name"] = a.name;
    arg["type"] = a.type.text;
    arg["keyword_only"] = a.keyword_only;
    arg["has_default"] = a.has_default;
    arg["default"] = a.default_text;
    arg["value"] = py::reinterpret_steal<py::object>(borrowed_to_python(a.value));
    arg["written"] = a.alias.write;
    arg["dim"] = (schema.described_args[i].flags & LAMELLA_ARGUMENT_DIM) != 0;
    arg["alias"] = a.alias.before;
    args.append(arg);
  }
  d["args"] = args;
  py::list returns, aliases;
  for (const auto& r : schema.rets) {
    returns.append(py::make_tuple(r.type.text, r.name));
    aliases.append(r.alias.before);
  }
  d["returns"] = returns;
  d["return_aliases"] = aliases;
  return d;
}

py::object attribute_list() { return py::cast(dispatcher::attribute_names()); }

void add_operators(py::module_& m) {
  m.def("_set_object_wrapper", [](py::object callable) { set_object_wrapper(callable.ptr()); });
  m.def("_operators", [] {
    py::list l;
    for (Operator* op : dispatcher::all_operators()) l.append(describe_operator(op));
    return l;
  });
  m.def("_single_operators", [] { return py::cast(operators::single_operators()); });  // see operators/singles.h
  m.def("_describe", [](py::object o) {
    auto* op = const_cast<Operator*>(find_operator(o.ptr()));
    if (!op) throw py::error_already_set();
    return describe_operator(op);
  });
  m.def("_operator_names", [] {
    std::vector<std::tuple<std::string, uint32_t>> v;
    for (Operator* op : dispatcher::all_operators())
      if (op->form != dispatcher::Form::Out) {
        v.emplace_back(op->name, op->forms);
        for (const std::string& alias : op->aliases) v.emplace_back(alias, op->forms);
      }
    return v;
  });
  m.def("_operator_modules", [] {  // operators whose declaration names a module
    dispatcher::RegistryLock lock;
    std::vector<std::pair<std::string, std::string>> v;
    for (Operator* op : dispatcher::all_operators())
      if (!op->module.empty() && op->form == dispatcher::Form::Functional) v.emplace_back(op->name, op->module);
    return v;
  });
  m.def("_return_type", [](const std::string& name) -> py::object {
    for (Operator* op : dispatcher::all_operators()) {
      if (results_name(op) != name || dispatcher::prepare(op)) continue;
      if (PyTypeObject* type = op->info.nrets > 0 ? results_type(op) : nullptr)
        return py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(type));
    }
    return py::none();
  });
  m.def("_show", [](const std::string& name) { return dispatcher::show(name); });
  m.def("_packet", [](const std::string& name) {
    PyObject* p = packet(name);
    if (!p) throw py::error_already_set();
    return py::reinterpret_borrow<py::object>(p);
  });
  m.def("_find_operator", [](py::object o) {  // -> (full name, schema)
    auto* op = const_cast<Operator*>(find_operator(o.ptr()));
    if (!op) throw py::error_already_set();
    check(dispatcher::prepare(op));
    return std::pair(op->full_name(), op->schema_text);
  });
  m.def("_get_kernel", [](py::object o, const std::string& key) {
    const Operator* op = find_operator(o.ptr());
    PyObject* k = op ? new_kernel(op, key) : nullptr;
    if (!k) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(k);
  });
  m.def("_read_key", [](const std::string& who, const std::string& key) {
    std::string name;
    check(dispatcher::read_key(who, key, &name));
    return name;
  });
  m.def("_waiting", [] {
    py::list l;
    for (const dispatcher::Waiting& w : dispatcher::all_waiting())
      l.append(py::make_tuple(w.owner, w.what, w.kind, w.awaited));
    return l;
  });
  m.def("_parse_schema", [](const std::string& text, const std::string& ns) {
    std::string whole;
    check(dispatcher::check_schema(text, ns, &whole));
    return whole;
  });
  m.def("_retained_bytes", [] { return dispatcher::retained_bytes(); });
  m.def("_forget_signatures", forget_signatures);
  m.def("_set_trace", [](bool on) { dispatcher::set_trace(on); });
  m.def("_layers", [] {
    py::list l;
    for (int bit = LAMELLA_MAX_LAYERS - 1; bit >= 0; bit--)
      if (const dispatcher::Layer* x = dispatcher::layer(bit); x && x->live)
        l.append(py::make_tuple(bit, x->name, x->owner));
    return l;
  });
  m.def("_anchors", [] {
    py::list l;
    for (const auto& b : dispatcher::bands()) l.append(py::make_tuple(b.name, b.low, b.high));
    return l;
  });
}

void add_fallback(py::module_& m) {
  m.def("_support", [](const std::string& device) {  // -> every operator not derived from another, with its support
    const int32_t id = core::backend_id(device.c_str());
    if (id < 0) throw std::runtime_error("support: there is no device '" + device + "'");
    py::list l;
    for (Operator* op : dispatcher::all_operators())
      if (!op->functional) l.append(py::make_tuple(op->full_name(), dispatcher::support(op, id)));
    return l;
  });
  m.def("_set_fallback", [](bool allow) {
    dispatcher::set_fallback_mode(allow ? dispatcher::FallbackMode::Allow : dispatcher::FallbackMode::Error);
  });
  m.def("_get_fallback", [] { return dispatcher::fallback_mode() == dispatcher::FallbackMode::Allow; });
  m.def("_fallbacks", [] {
    py::list l;
    for (const auto& n : dispatcher::fallback_counts())
      l.append(py::make_tuple(n.device, n.op, n.calls, n.bytes, n.seconds, n.reason));
    return l;
  });
  m.def("_reset_fallbacks", dispatcher::reset_fallback_counts);
}

void add_plugins(py::module_& m) {
  m.def("_plugin_stamp", [](const std::string& path) {  // -> (major, minor) of the C ABI that a library was built for
    uint32_t version = 0;
    check(dispatcher::read_stamp(path, &version));
    return py::make_tuple(version >> 16, version & 0xffff);
  });
  m.attr("_abi_version") = py::make_tuple(LAMELLA_ABI_MAJOR, LAMELLA_ABI_MINOR);
  m.def(
      "_load_plugin",
      [](const std::string& path, const std::string& ns, const std::string& replaces) {
        std::vector<std::string> defined;
        lamella_status st;
        {
          py::gil_scoped_release release;  // this may wait for another library's init, which may need the lock
          st = dispatcher::load_plugin(path, {ns, replaces}, &defined);
        }
        forget_signatures();
        check(st);
        raise_first();  // an exception raised as the replaced registration was withdrawn
        return defined;
      },
      py::arg("path"), py::arg("namespace") = "", py::arg("replaces") = "");
  m.def("_owners_of", [](const std::string& path) { return dispatcher::owners_of(path); });
  m.def("_is_loaded", [](const std::string& path) { return dispatcher::is_loaded(path); });
  m.def("_unload_plugin", [](const std::string& path) {
    {
      py::gil_scoped_release release;  // a withdrawal may wait for another thread that needs the lock
      dispatcher::unload_plugin(path);
    }
    forget_signatures();
    raise_first();
  });
  m.def("_set_backend_loader", [](py::object f) { set_backend_loader(f.ptr()); });
  m.def("_backends", [] {
    py::list l;
    for (int32_t i = 0; i < core::backend_count(); i++)
      if (const lamella_backend* b = core::backend(i))
        l.append(py::make_tuple(std::string(b->name), core::backend_owner(i),
                                b->device_count ? b->device_count(b->context) : 1,
                                (b->flags & LAMELLA_BACKEND_HOST) != 0));
    return l;
  });
  m.def("_attributes", attribute_list);
  m.def("_attribute_owner", [](const std::string& name) {
    const dispatcher::Attribute* a = dispatcher::find_attribute(name);
    return a ? a->owner : std::string();
  });
  m.def("_interface_text",
        // The interface is {uint32_t size; const char* text}; `lamella info` prints the text.
        [](const std::string& name) -> py::object {
          struct Info {
            uint32_t size;
            const char* text;
          };
          auto* i = static_cast<const Info*>(dispatcher::find_interface(name.c_str(), 1));
          return i ? py::object(py::str(i->text)) : py::object(py::none());
        });
}

}  // namespace
}  // namespace lamella::binding

PYBIND11_MODULE(_C_of_main, m) {
  using namespace lamella::binding;
  lamella::operators::start();
  PyObject* p = m.ptr();
  init_errors(p);
  if (init_types(p) < 0 || init_objects(p) < 0 || init_packets(p) < 0 || init_tensor_type(p) < 0 ||
      init_python_kernels(p) < 0 || init_overrides(p) < 0 || init_module_base(p) < 0 || init_protocols() < 0 ||
      init_python_face(p) < 0 || PyModule_AddFunctions(p, interop_methods) < 0 ||
      PyModule_AddFunctions(p, dlpack_methods) < 0)
    throw py::error_already_set();
  add_registration(m);
  add_operators(m);
  add_updates(m);
  add_fallback(m);
  add_plugins(m);
  add_archive(m);
  add_settings(m);
  add_drawing(m);
  add_state(m);
  add_streams(m);
  add_overrides(m);
  add_shared(m);
  m.attr("__version__") = LAMELLA_VERSION;
  m.attr("_compiler") = LAMELLA_COMPILER;
}

// The module's entry. pybind11's own entry waits in a subinterpreter for the lock that its caller has, so the
// interpreter is checked before.
extern "C" PYBIND11_EXPORT PyObject* PyInit__C() {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) return PyInit__C_of_main();
  PyErr_SetString(PyExc_ImportError,
                  "lamella cannot be imported in a subinterpreter, since its types belong to the main interpreter; "
                  "import it in the main interpreter, or run the program in a process of its own");
  return nullptr;
}
