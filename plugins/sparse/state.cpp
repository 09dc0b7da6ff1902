#include "state.h"

#include <algorithm>

namespace lamella::sparse {
namespace {

// Calls body(pointer to the first element, number of elements) with indices in host memory of either width.
template <class Body>
void with_indices(const Tensor& t, Body body) {
  const Tensor here = t.cpu().contiguous();
  if (here.dtype() == kInt)
    body(here.data_ptr<int32_t>(), here.numel());
  else
    body(here.data_ptr<int64_t>(), here.numel());
}

void check_coo_elements(const State& s, IntArrayRef sizes) {
  const int64_t n = s.nnz();
  with_indices(s.outer, [&](const auto* at, int64_t) {
    for (int64_t d = 0; d < s.sparse_dim(); d++) {
      const auto size = static_cast<uint64_t>(sizes[d]);
      bool bad = false;
      for (int64_t i = 0; i < n; i++) bad |= static_cast<uint64_t>(at[d * n + i]) >= size;
      for (int64_t i = 0; bad && i < n; i++)
        LAMELLA_CHECK(static_cast<uint64_t>(at[d * n + i]) < size, "argument 'indices': entry ", i, " has index ",
                      static_cast<int64_t>(at[d * n + i]), " in dimension ", d, ", which has size ", sizes[d],
                      "; indices count from 0");
    }
  });
}

void check_compressed_elements(const State& s, IntArrayRef sizes) {
  const bool rows = s.kind == csr;
  const int64_t b = s.batch(), n = s.outer.size(-1) - 1, entries = s.nnz(), width = sizes[b + (rows ? 1 : 0)];
  const char* outer = rows ? "crow_indices" : "ccol_indices";
  const char* inner = rows ? "col_indices" : "row_indices";
  const Tensor plain = s.inner.cpu();
  with_indices(s.outer, [&](const auto* ptr, int64_t all) {
    with_indices(plain, [&](const auto* at, int64_t) {
      for (int64_t m = 0; m < all / (n + 1); m++) {
        const auto* p = ptr + m * (n + 1);
        const auto* a = at + m * entries;
        LAMELLA_CHECK(p[0] == 0, "argument '", outer, "': must begin with 0, got ", static_cast<int64_t>(p[0]));
        LAMELLA_CHECK(p[n] == entries, "argument '", outer, "': must end with the number of entries, ", entries,
                      ", got ", static_cast<int64_t>(p[n]));
        for (int64_t i = 0; i < n; i++) {
          LAMELLA_CHECK(p[i] <= p[i + 1] && p[i] >= 0 && p[i + 1] <= entries, "argument '", outer,
                        "': must not decrease, but position ", i + 1, " has ", static_cast<int64_t>(p[i + 1]),
                        " after ", static_cast<int64_t>(p[i]));
          for (auto k = p[i]; k < p[i + 1]; k++) {
            LAMELLA_CHECK(static_cast<uint64_t>(a[k]) < static_cast<uint64_t>(width), "argument '", inner, "': entry ",
                          static_cast<int64_t>(k), " is ", static_cast<int64_t>(a[k]), ", and the dimension has size ",
                          width, "; indices count from 0");
            LAMELLA_CHECK(k == p[i] || a[k - 1] < a[k], "argument '", inner, "': the indices of ",
                          rows ? "row " : "column ", i, " must be sorted and distinct, got ",
                          static_cast<int64_t>(a[k - 1]), " before ", static_cast<int64_t>(a[k]),
                          "; make a COO tensor of the entries, whose to_sparse_csr() sorts and adds them");
          }
        }
      }
    });
  });
}

void check_devices(const State& s) {
  for (const Tensor* t : {&s.outer, &s.inner})
    if (t->defined())
      LAMELLA_CHECK(t->device() == s.values.device(), "argument 'values': is on ", s.values.device(),
                    ", and indices are on ", t->device(), "; move them to one device");
}

void check_plain(const Tensor& t, const char* name) {
  LAMELLA_CHECK(t.defined() && !t.is_opaque(), "argument '", name, "': must be a dense tensor; to_dense() makes one");
}

Tensor without_history(const Tensor& t) { return t.defined() ? t.contiguous().detach() : t; }

}  // namespace

const char* kind_name(int64_t kind) {
  static const char* const names[] = {"strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"};
  return kind >= 0 && kind <= bsc ? names[kind] : "unknown";
}

const State& state_in(const Tensor& t, const char* argument) {
  const State* s = state_of(t);
  LAMELLA_CHECK(s, "argument '", argument, "': expected a sparse tensor, got a strided one; to_sparse() makes one");
  return *s;
}

const State& coo_in(const Tensor& t, const char* argument) {
  const State* s = state_of(t);
  LAMELLA_CHECK(s && s->kind == coo, "argument '", argument, "': expected layout sparse_coo, got ",
                kind_name(s ? s->kind : strided), "; to_sparse_coo() converts it");
  return *s;
}

void check_parts(const State& s, IntArrayRef sizes, bool deep) {
  const char* outer = s.kind == coo ? "indices" : s.kind == csr ? "crow_indices" : "ccol_indices";
  const char* inner = s.kind == csr ? "col_indices" : "row_indices";
  check_plain(s.values, "values");
  check_plain(s.outer, outer);
  for (size_t d = 0; d < sizes.size(); d++)
    LAMELLA_CHECK(sizes[d] >= 0, "argument 'size': must not have negative numbers, got ", sizes);
  const auto n = static_cast<int64_t>(sizes.size());
  if (s.kind == coo) {
    LAMELLA_CHECK(s.outer.dtype() == kLong, "argument 'indices': expected int64, got ", s.outer.dtype());
    LAMELLA_CHECK(s.outer.dim() == 2,
                  "argument 'indices': expected 2 dimensions, one column for each entry, got shape ", s.outer.sizes());
    LAMELLA_CHECK(s.values.dim() >= 1, "argument 'values': expected at least 1 dimension, got a number");
    LAMELLA_CHECK(s.outer.size(1) == s.values.size(0), "argument 'values': has ", s.values.size(0),
                  " entries, and 'indices' have ", s.outer.size(1), "; both must have the same number");
    LAMELLA_CHECK(n == s.sparse_dim() + s.dense_dim(), "argument 'size': ", sizes, " has ", n,
                  " dimensions, and the tensor has ", s.sparse_dim(), " sparse and ", s.dense_dim(), " dense ones");
    for (int64_t d = 0; d < s.dense_dim(); d++)
      LAMELLA_CHECK(sizes[s.sparse_dim() + d] == s.values.size(1 + d), "argument 'values': shape ", s.values.sizes(),
                    " does not end in the dense dimensions of 'size', ", sizes);
    check_devices(s);
    if (deep && !s.values.is_meta()) check_coo_elements(s, sizes);
    return;
  }
  LAMELLA_CHECK_NOT_IMPLEMENTED(s.kind == csr || s.kind == csc, "layout ", kind_name(s.kind),
                                " is not here; sparse_csr and sparse_csc are");
  check_plain(s.inner, inner);
  for (const auto& [t, name] : {std::pair{&s.outer, outer}, std::pair{&s.inner, inner}})
    LAMELLA_CHECK(t->dtype() == kLong || t->dtype() == kInt, "argument '", name, "': expected int64 or int32, got ",
                  t->dtype());
  LAMELLA_CHECK(s.outer.dtype() == s.inner.dtype(), "argument '", inner, "': has dtype ", s.inner.dtype(), ", and '",
                outer, "' has ", s.outer.dtype(), "; both must have the same");
  const int64_t b = s.outer.dim() - 1;
  LAMELLA_CHECK(b >= 0 && s.inner.dim() == b + 1, "argument '", inner, "': shape ", s.inner.sizes(),
                " does not have the number of dimensions of '", outer, "', shape ", s.outer.sizes());
  LAMELLA_CHECK(s.values.dim() >= b + 1, "argument 'values': shape ", s.values.sizes(), " has fewer dimensions than '",
                inner, "', shape ", s.inner.sizes());
  LAMELLA_CHECK(n == s.values.dim() + 1, "argument 'size': ", sizes, " has ", n, " dimensions, and the tensor has ",
                s.values.dim() + 1);
  const int64_t rows = sizes[b + (s.kind == csr ? 0 : 1)];
  LAMELLA_CHECK(s.outer.size(b) == rows + 1, "argument '", outer, "': has ", s.outer.size(b), " elements, and 'size' ",
                sizes, " needs ", rows + 1);
  LAMELLA_CHECK(s.values.size(b) == s.inner.size(b), "argument 'values': has ", s.values.size(b), " entries, and '",
                inner, "' has ", s.inner.size(b), "; both must have the same number");
  for (int64_t d = 0; d < b; d++)
    LAMELLA_CHECK(s.outer.size(d) == sizes[d] && s.inner.size(d) == sizes[d] && s.values.size(d) == sizes[d],
                  "argument 'size': dimension ", d, " of the batch is ", sizes[d], ", and the parts have shapes ",
                  s.outer.sizes(), ", ", s.inner.sizes(), " and ", s.values.sizes());
  for (int64_t d = 0; d < s.dense_dim(); d++)
    LAMELLA_CHECK(sizes[b + 2 + d] == s.values.size(b + 1 + d), "argument 'values': shape ", s.values.sizes(),
                  " does not end in the dense dimensions of 'size', ", sizes);
  check_devices(s);
  if (deep && !s.values.is_meta()) check_compressed_elements(s, sizes);
}

Tensor make(State s, IntArrayRef sizes) {
  s.values = without_history(s.values);
  s.outer = without_history(s.outer);
  s.inner = without_history(s.inner);
  if (s.kind != coo || s.nnz() < 2) s.coalesced = true;
  const Tensor made = lamella::opaque_over(s.values, sizes, TensorOptions().dtype(s.values.dtype()));
  slot.set(made, Held{std::make_shared<State>(std::move(s))});
  return made;
}

bool is_recorded(const Tensor& t) {
  const lamella_autograd* a = Tensor::autograd();
  if (!a || !t.requires_grad()) return false;
  return !(api().thread()->exclude >> a->layer & 1);
}

void assign(const Tensor& to, const Tensor& from) {
  LAMELLA_CHECK(to.sizes() == from.sizes(), "argument 'self': has shape ", to.sizes(), ", and the result has ",
                from.sizes(), "; an in-place form cannot change it");
  LAMELLA_CHECK(to.dtype() == from.dtype(), "argument 'self': has dtype ", to.dtype(),
                ", which cannot hold the result's ", from.dtype());
  LAMELLA_CHECK(!is_recorded(to) && !is_recorded(from),
                "a sparse tensor cannot be written in place while autograd records it; use the form without '_', or "
                "write within lamella.no_grad()");
  const Held shared = *slot.get(to);
  shared.state->values.narrow(0, 0, 0).zero_();  // counts the write, for a check of saved values in backward
  *shared.state = State(state_in(from));
  check(api().tensor_assign(to.get(), from.get()));
  slot.set(to, shared);
}

std::optional<Held> Held::carry(const Tensor& from, const Tensor& to, int32_t how) const {
  if (how == LAMELLA_CARRY_DETACH) return *this;
  if (how == LAMELLA_CARRY_VIEW) {
    LAMELLA_CHECK_NOT_IMPLEMENTED(to.sizes() == from.sizes() && to.dtype() == from.dtype(), "a sparse tensor (",
                                  kind_name(state->kind),
                                  ") has no views; to_dense() gives a tensor "
                                  "that has");
    return *this;
  }
  if (how == LAMELLA_CARRY_RESIZE)
    throw Error(LAMELLA_NOT_IMPLEMENTED,
                std::string("a sparse tensor (") + kind_name(state->kind) + ") cannot be resized");
  if (how != LAMELLA_CARRY_COPY && how != LAMELLA_CARRY_DEVICE) return std::nullopt;
  State made = *state;
  made.values = made.values.to(to.device(), to.dtype(), false, true);
  made.outer = made.outer.to(to.device(), {}, false, true);
  if (made.inner.defined()) made.inner = made.inner.to(to.device(), {}, false, true);
  check(api().tensor_set_storage(to.get(), made.values.get()->storage));
  return Held{std::make_shared<State>(std::move(made))};
}

OwnedValue Held::save(const Tensor&) const {
  const State& s = *state;
  const lamella_value parts[] = {
      value("layout"),    value(kind_name(s.kind)), value("outer"),
      value(s.outer),     value("inner"),           s.inner.defined() ? value(s.inner) : none(),
      value("values"),    value(s.values),          value("coalesced"),
      value(s.coalesced),
  };
  lamella_value all{LAMELLA_DICT, sizeof parts / sizeof *parts / 2, {0}};
  all.as.values = parts;
  return OwnedValue(all);
}

std::optional<Held> Held::load(const Tensor& to, const lamella_value& saved) {
  const auto part = [&](const char* name) -> const lamella_value& {
    const lamella_value* v = saved.tag == LAMELLA_DICT ? Dict(saved).find(name) : nullptr;
    LAMELLA_CHECK_VALUE(v, "sparse: a part of what was saved is missing: ", name);
    return *v;
  };
  const auto fits = [&](bool good, const char* name) {
    LAMELLA_CHECK_VALUE(good, "sparse: what was saved does not fit a tensor of shape ", to.sizes(), ": ", name);
  };
  const auto tensor = [&](const char* name) {
    fits(part(name).tag == LAMELLA_TENSOR && part(name).as.tensor, name);
    const Tensor t = Tensor::borrow(part(name).as.tensor);
    fits(!t.is_opaque() && t.is_contiguous() && t.device() == to.device(), name);
    return t.detach();
  };
  State s;
  const lamella_value &layout = part("layout"), &coalesced = part("coalesced");
  fits(layout.tag == LAMELLA_STRING, "layout");
  int64_t kind = coo;
  while (kind <= bsc && std::string_view(layout.as.string, layout.length) != kind_name(kind)) kind++;
  fits(kind == coo || kind == csr || kind == csc, "layout");
  s.kind = static_cast<Kind>(kind);
  s.outer = tensor("outer");
  s.values = tensor("values");
  if (kind != coo) s.inner = tensor("inner");
  fits(to.is_opaque() && s.values.dtype() == to.dtype(), "values");
  fits(coalesced.tag == LAMELLA_BOOLEAN, "coalesced");
  s.coalesced = coalesced.as.i != 0;
  try {
    check_parts(s, to.sizes(), true);
  } catch (const Error& e) {
    throw Error(LAMELLA_VALUE_ERROR, std::string("sparse: what was saved is not a sparse tensor: ") + e.what());
  }
  if (s.kind == coo && s.coalesced && !to.device().is_meta()) {
    const Tensor at = s.outer.cpu().contiguous();
    const int64_t n = s.nnz(), dims = s.sparse_dim();
    const int64_t* p = at.data_ptr<int64_t>();
    for (int64_t i = 1; i < n && s.coalesced; i++) {
      int64_t d = 0;
      while (d < dims && p[d * n + i - 1] == p[d * n + i]) d++;
      s.coalesced = d < dims && p[d * n + i - 1] < p[d * n + i];
    }
  }
  check(api().tensor_set_storage(to.get(), s.values.get()->storage));
  return Held{std::make_shared<State>(std::move(s))};
}

}  // namespace lamella::sparse
