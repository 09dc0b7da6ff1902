// Builtins on integers, floats and booleans, by their names.
#include "run/inline_ops.h"

namespace lamella::graph {

std::optional<Op> inline_op(const Signature& s) {
  static const std::map<std::string, Op> ops = {
      {"aten::add.int", Op::add_int},       {"aten::sub.int", Op::sub_int},
      {"aten::mul.int", Op::mul_int},       {"aten::floordiv.int", Op::floordiv_int},
      {"aten::remainder.int", Op::mod_int}, {"aten::neg.int", Op::neg_int},
      {"aten::eq.int", Op::eq_int},         {"aten::ne.int", Op::ne_int},
      {"aten::lt.int", Op::lt_int},         {"aten::le.int", Op::le_int},
      {"aten::gt.int", Op::gt_int},         {"aten::ge.int", Op::ge_int},
      {"aten::add.float", Op::add_float},   {"aten::sub.float", Op::sub_float},
      {"aten::mul.float", Op::mul_float},   {"aten::div.float", Op::div_float},
      {"aten::neg.float", Op::neg_float},   {"aten::eq.float", Op::eq_float},
      {"aten::ne.float", Op::ne_float},     {"aten::lt.float", Op::lt_float},
      {"aten::le.float", Op::le_float},     {"aten::gt.float", Op::gt_float},
      {"aten::ge.float", Op::ge_float},     {"aten::__and__.bool", Op::and_bool},
      {"aten::__or__.bool", Op::or_bool},   {"aten::__not__", Op::not_bool},
  };
  if (s.op) return std::nullopt;
  const auto found = ops.find(s.overload.empty() ? s.name : s.name + "." + s.overload);
  return found == ops.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace lamella::graph
