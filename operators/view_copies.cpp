// Copies of views: `expand_copy` returns the elements of `expand` in new memory.
//
// Note [View copies]  A row below names a view. Each overload of the view gets an operator with "_copy" after its name:
//   the schema without the alias, the same dims, and one composite, which calls the view and clones what it returns. So
//   shapes, checks, derivatives and devices are those of the view.
#include <cstring>

#include "operators/shapes.h"
#include "operators/singles.h"

namespace lamella::operators {

// The families that declare the views.
std::vector<Declaration> complex_operators();
std::vector<Declaration> reshaping_operators();
std::vector<Declaration> splitting_operators();
std::vector<Declaration> view_operators();

namespace {

constexpr struct CopiedView {
  const char *name, *x, *arguments;  // the example's first argument, and the further ones with a comma before
} copied_views[] = {{"alias", "lamella.arange(3)", ""},
                    {"as_strided", "lamella.arange(6)", ", (2, 2), (3, 1)"},
                    {"detach", "lamella.ones(2)", ""},
                    {"diagonal", "lamella.arange(4).view(2, 2)", ""},
                    {"expand", "lamella.ones(1)", ", (2,)"},
                    {"permute", "lamella.arange(6).view(2, 3)", ", (1, 0)"},
                    {"select", "lamella.arange(3)", ", 0, 1"},
                    {"slice", "lamella.arange(3)", ", 0, 1"},
                    {"split", "lamella.arange(3)", ", 2"},
                    {"split_with_sizes", "lamella.arange(3)", ", (1, 2)"},
                    {"squeeze", "lamella.ones(1, 2)", ""},
                    {"t", "lamella.arange(6).view(2, 3)", ""},
                    {"transpose", "lamella.arange(6).view(2, 3)", ", 0, 1"},
                    {"unbind", "lamella.arange(3)", ""},
                    {"unfold", "lamella.arange(3)", ", 0, 2, 1"},
                    {"unsqueeze", "lamella.arange(3)", ", 0"},
                    {"view", "lamella.arange(4)", ", (2, 2)"},
                    {"view_as_complex", "lamella.ones(1, 2)", ""},
                    {"view_as_real", "lamella.tensor([1 + 2j])", ""}};

Tensor copy_of(const Tensor& seen) { return seen.clone(MemoryFormat::Contiguous); }

lamella_status copy_view(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return detail::guarded_in(f, [&]() -> lamella_status {
    const lamella_operator* view = single_of(f->op);
    lamella_value seen = lamella::none();
    if (lamella_status st = api().call(f, view, args, api().operator_num_args(view), &seen, 1)) return st;
    const core::OwnedValue kept = core::OwnedValue::adopt(seen);
    if (seen.tag == LAMELLA_TENSOR) return detail::Convert<Tensor>::put(copy_of(Tensor::borrow(seen.as.tensor)), rets);
    std::vector<Tensor> copies;
    copies.reserve(seen.length);
    for (uint32_t i = 0; i < seen.length; i++) copies.push_back(copy_of(Tensor::borrow(seen.as.tensors[i])));
    return detail::Convert<std::vector<Tensor>>::put(std::move(copies), rets);
  });
}

// Returns a copy that lives as long as the catalogue.
const char* lasting(const std::string& text) { return (new std::string(text))->c_str(); }

std::string without_alias(std::string schema) {
  for (size_t at; (at = schema.find("(a)")) != schema.npos;) schema.erase(at, 3);
  return schema;
}

std::string page_of_copy(const CopiedView& view, bool list) {
  const std::string name = view.name, first = list ? "[0]" : "", arguments = std::string("(x") + view.arguments + ")";
  return std::string(list ? "Copies of the views that `" : "A copy of the view that `") + name +
         "` returns, with memory of " + (list ? "their" : "its") + " own, in row-major order.\n\n>>> x = " + view.x +
         "\n>>> lamella." + name + "_copy" + arguments + first + ".equal(lamella.ops.aten." + name + arguments + first +
         ")\nTrue\n";
}

void add_copy(std::vector<Declaration>& table, const Declaration& view, const CopiedView& row) {
  const std::string text = view.schema.text, name = row.name;
  const std::string whole = text.substr(0, text.find('('));
  const std::string copy = name + "_copy" + whole.substr(name.size());
  const bool list = text.find("Tensor(a)[]") != text.npos;
  stand_for(copy, whole);
  table.push_back({.schema = {lasting(copy + without_alias(text.substr(whole.size()))), __LINE__, __FILE__},
                   .dims = view.dims,
                   .category = "copy",
                   .forms = list ? function : function | out,
                   .composite = copy_view,
                   .doc = view.doc ? lasting(page_of_copy(row, list)) : nullptr});
}

}  // namespace

LAMELLA_FAMILY(view_copies) {
  static const auto* table = [] {
    auto* all = new std::vector<Declaration>;
    const struct {
      std::vector<Declaration> (*operators)();
      const char* dims;  // the dims of declarations that have none
    } families[] = {{complex_operators, "broadcast"},
                    {reshaping_operators, nullptr},
                    {splitting_operators, "keep"},
                    {view_operators, nullptr}};
    for (const auto& family : families)
      for (Declaration view : family.operators()) {
        const std::string whole(view.schema.text, std::strchr(view.schema.text, '('));
        if (!view.dims) view.dims = family.dims;
        for (const CopiedView& row : copied_views)
          if (whole.substr(0, whole.find('.')) == row.name) add_copy(*all, view, row);
      }
    return all;
  }();
  return *table;
}

}  // namespace lamella::operators
