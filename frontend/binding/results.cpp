#include "frontend/binding/results.h"

#include <map>
#include <vector>

#include "frontend/binding/conversion.h"

namespace lamella::binding {

std::string results_name(const dispatcher::Operator* op) {
  if (op->name.rfind("aten::", 0) == 0) return op->base;
  std::string name = op->name;
  return name.replace(name.find("::"), 2, "_");
}

PyTypeObject* results_type(const dispatcher::Operator* op) {
  static auto* types = new std::map<std::string, PyTypeObject*>;
  const auto& rets = op->schema.load()->rets;
  std::string fields;
  for (const auto& r : rets) {
    if (r.name.empty()) return nullptr;
    fields += " " + r.name;
  }
  PyTypeObject*& type = (*types)[op->name + fields];
  if (type) return type;
  // Each type has a name of its own, which is never freed.
  auto* kept = new std::string("lamella.return_types." + results_name(op));
  auto* names = new std::vector<std::string>;
  for (const auto& r : rets) names->push_back(r.name);
  auto* described = new PyStructSequence_Field[rets.size() + 1];
  for (size_t i = 0; i < rets.size(); i++) described[i] = {(*names)[i].c_str(), nullptr};
  described[rets.size()] = {nullptr, nullptr};
  PyStructSequence_Desc d = {kept->c_str(), "The operator's results, by name.", described,
                             static_cast<int>(rets.size())};
  return type = PyStructSequence_NewType(&d);
}

PyObject* named_results(const dispatcher::Operator* op, Value* rets, int n) {
  if (n == 0) Py_RETURN_NONE;
  static auto* types = new std::map<const dispatcher::Operator*, PyTypeObject*>;
  const auto [known, first] = types->try_emplace(op, nullptr);
  if (first) known->second = results_type(op);
  PyTypeObject* type = known->second;
  PyObject* o = type ? PyStructSequence_New(type) : PyTuple_New(n);
  for (int i = 0; i < n; i++) {
    PyObject* x = to_python(rets[i]);
    if (!x) x = Py_NewRef(Py_None);
    if (type)
      PyStructSequence_SET_ITEM(o, i, x);
    else
      PyTuple_SET_ITEM(o, i, x);
  }
  return o;
}

}  // namespace lamella::binding
