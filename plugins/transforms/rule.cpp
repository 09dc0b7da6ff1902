#include "call.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>

namespace lamella::transforms {
namespace {

const char* text_of(const lamella_operator* op) {
  static const auto* texts = [] {
    auto* map = new std::map<std::string, const char*, std::less<>>;
    for (int i = 0; i < rule_table_size; i++) map->emplace(rule_table[i].op, rule_table[i].text);
    return map;
  }();
  const auto found = texts->find(full_name(op));
  return found == texts->end() ? nullptr : found->second;
}

Rule parsed(const char* text) {
  static const std::map<std::string, How, std::less<>> ways = {
      {"compose", How::compose}, {"lead", How::lead}, {"gather", How::gather},  {"dims", How::dims},
      {"loop", How::loop},       {"host", How::host}, {"dynamic", How::dynamic}};
  static const std::map<std::string, bool (*)(Call&), std::less<>> functions = {{"convolution", serve_convolution},
                                                                                {"index", serve_index},
                                                                                {"matmul", serve_matmul},
                                                                                {"stack", serve_stack},
                                                                                {"fill", serve_fill},
                                                                                {"masked_fill", serve_masked_fill},
                                                                                {"resampled", serve_resampled},
                                                                                {"to_other", serve_to_other},
                                                                                {"attention", serve_attention}};
  Rule r;
  if (const auto found = functions.find(text); found != functions.end()) {
    r.how = How::custom;
    r.function = found->second;
    return r;
  }
  r.how = ways.at(text);
  return r;
}

Plan* made(const lamella_operator* op) {
  auto* p = new Plan{};
  p->op = op;
  p->form = api().operator_form(op);
  p->functional = api().operator_functional(op);
  const lamella_operator* meaning = p->functional ? p->functional : op;
  p->dims = parse_dims(api().operator_dims(meaning));
  p->is_product = text_of(meaning) && std::string_view(text_of(meaning)) == "matmul";
  p->is_random = std::string_view(api().operator_category(op)) == "random";
  const int n = api().operator_num_args(op);
  for (int i = 0; i < n; i++) {
    const lamella_argument* a = api().operator_argument(op, i);
    if (a->flags & LAMELLA_ARGUMENT_OUT) continue;
    if (a->kind == LAMELLA_KIND_TENSOR) p->tensors.push_back(i);
    if (a->flags & LAMELLA_ARGUMENT_DIM) p->dim_arguments.push_back(i);
    if (a->flags & LAMELLA_ARGUMENT_WRITTEN && p->written < 0) p->written = i;
  }
  p->is_view = !p->functional && std::string_view(api().operator_category(op)) == "view";
  p->has_composite = kernel_of(op, "composite") != nullptr;
  for (int i = 0; i < n && p->has_composite && p->is_random; i++) {
    const std::string_view argument = api().operator_argument(op, i)->name;
    p->may_draw |= argument == "train" || argument == "training";
  }
  for (int i = 0; i < api().operator_num_returns(op); i++) {
    const lamella_argument* r = api().operator_return(op, i);
    if (r->alias_of >= 0) p->is_view |= !(api().operator_argument(op, r->alias_of)->flags & LAMELLA_ARGUMENT_WRITTEN);
  }
  if (const char* text = text_of(op) ? text_of(op) : text_of(meaning)) {
    p->has_rule = true;
    p->rule = parsed(text);
  }
  p->tangent = tangent_rule(op);
  p->has_derivative = api().find_rule(op, "autograd") || api().find_rule(meaning, "autograd");
  return p;
}

}  // namespace

std::string full_name(const lamella_operator* op) {
  const std::string overload = api().operator_overload(op);
  return api().operator_name(op) + (overload.empty() ? "" : "." + overload);
}

int argument_named(const lamella_operator* op, std::string_view name) {
  for (int i = 0; i < api().operator_num_args(op); i++)
    if (api().operator_argument(op, i)->name == name) return i;
  return -1;
}

const void* kernel_of(const lamella_operator* op, const char* key) {
  lamella_object* kernel = nullptr;
  if (api().find_kernel(op, key, &kernel)) {
    api().error_clear();
    return nullptr;
  }
  api().release(kernel);
  return kernel;
}

const Plan& Served::get() {
  if (const Plan* p = plan.load(std::memory_order_acquire)) return *p;
  const Plan* p = made(op);
  const Plan* before = nullptr;
  if (!plan.compare_exchange_strong(before, p, std::memory_order_acq_rel)) {  // another thread was faster
    delete p;
    return *before;
  }
  return *p;
}

Served* served(const lamella_operator* op) {
  static constexpr std::string_view makers[] = {
      "aten::empty",      "aten::empty_strided", "aten::zeros",     "aten::ones",      "aten::full",
      "aten::empty_like", "aten::zeros_like",    "aten::ones_like", "aten::full_like", "aten::clone"};
  static std::mutex lock;
  static auto* all = new std::unordered_map<const lamella_operator*, Served>;
  try {
    const std::lock_guard<std::mutex> guard(lock);
    const auto [at, is_new] = all->try_emplace(op);
    Served& s = at->second;
    if (is_new) {
      s.op = op;
      const bool makes = std::find(std::begin(makers), std::end(makers), api().operator_name(op)) != std::end(makers) &&
                         api().operator_form(op) == LAMELLA_FUNCTIONAL_FORM;
      const bool draws = std::string_view(api().operator_category(op)) == "random";
      s.kind = draws ? Served::draws : makes ? Served::makes : Served::computes;
    }
    return &s;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

std::string describe_tangent(const lamella_operator* op) {
  const Plan& p = served(op)->get();
  if (p.tangent.by != By::derivative) return tangent_text(op);
  if (p.is_view) return p.has_composite ? "compose" : "view";
  if (p.functional) return "functional form";
  return p.has_composite && !p.has_derivative ? "compose" : "derivative";
}

std::string describe_rule(const lamella_operator* op) {
  const lamella_operator* functional = api().operator_functional(op);
  if (const char* text = text_of(functional ? functional : op)) return text;
  const std::string dims = api().operator_dims(functional ? functional : op);
  return dims.empty() ? served(op)->get().is_view ? "view" : "compose" : dims;
}

}  // namespace lamella::transforms
