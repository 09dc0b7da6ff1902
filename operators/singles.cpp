#include "operators/singles.h"

#include <mutex>
#include <shared_mutex>

#include "dispatcher/operator.h"
#include "operators/shapes.h"

namespace lamella::operators {
namespace {

std::unordered_map<std::string, std::string>& singles() {
  static auto* all = new std::unordered_map<std::string, std::string>;  // lives as long as the catalogue
  return *all;
}

const lamella_operator* find_single(const lamella_operator* op) {
  const std::string overload = api().operator_overload(op);
  const std::string single = singles().at(title(op) + (overload.empty() ? "" : "." + overload));
  const size_t dot = single.find('.');
  const lamella_operator* found = api().find_operator(("aten::" + single.substr(0, dot)).c_str(),
                                                      dot == single.npos ? "" : single.substr(dot + 1).c_str());
  LAMELLA_CHECK(found, "the operator that it calls, aten::", single, ", is not registered");
  return found;
}

}  // namespace

const std::unordered_map<std::string, std::string>& single_operators() { return singles(); }

void stand_for(const std::string& op, const std::string& single) { singles()[op] = single; }

const lamella_operator* single_of(const lamella_operator* op) {
  if (op->functional) op = op->functional;  // an out= form runs the composite of the functional one
  static auto* lock = new std::shared_mutex;
  static auto* known = new std::unordered_map<const lamella_operator*, const lamella_operator*>;
  {
    std::shared_lock<std::shared_mutex> reading(*lock);
    if (const auto at = known->find(op); at != known->end()) return at->second;
  }
  const lamella_operator* found = find_single(op);
  std::unique_lock<std::shared_mutex> writing(*lock);
  return (*known)[op] = found;
}

}  // namespace lamella::operators
