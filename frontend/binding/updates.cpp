// The optimizers' updates as data for Python, from the structs of <lamella/updates.h>.
#include "frontend/binding/updates.h"

#include <lamella/updates/host.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace lamella::binding {
namespace {

namespace py = pybind11;
using namespace updates;

// Returns the name of the option that makes the update hold this list of state. Returns None if the update always holds
// the list, or if the entry is no list but a number that a step keeps.
py::object condition_of(const Update& u, int state) {
  const double kept[most_kept] = {};
  double options[most_options] = {};
  if (state >= u.lists - 2 || u.holds(u.plan(options, 1, kept).variant, state)) return py::none();
  for (int k = 0; k < u.options; k++) {
    options[k] = 1;
    if (u.holds(u.plan(options, 1, kept).variant, state)) return py::str(u.about[k].name);
    options[k] = 0;
  }
  return py::none();
}

py::dict describe(const Update& u) {
  py::list state, options;
  for (int k = 0; k < u.lists - 2 + u.kept; k++) {
    const State& s = u.state[k];
    py::object start = s.start_option ? py::object(py::str(s.start_option)) : py::object(py::float_(s.start));
    state.append(py::make_tuple(s.key, s.number, start, condition_of(u, k)));
  }
  for (int k = 0; k < u.options; k++) {
    const Option& o = u.about[k];
    py::object start = o.flag         ? py::object(py::bool_(false))
                       : o.start == 0 ? py::object(py::int_(0))
                                      : py::object(py::float_(o.start));
    options.append(py::make_tuple(o.name, start, o.tensor, o.words, o.low, o.high, o.open));
  }
  py::dict d;
  d["operator"] = operator_name(u, of_numbers);
  d["overloads"] = u.overload_count();
  d["counts"] = u.counts;
  d["state"] = state;
  d["options"] = options;
  return d;
}

}  // namespace

void add_updates(py::module_& m) {
  m.def("_updates", [] {
    py::list all;
    for (const Update& u : update_table) all.append(describe(u));
    return all;
  });
}

}  // namespace lamella::binding
