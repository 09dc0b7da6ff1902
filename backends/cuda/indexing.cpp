// self[indices] for index tensors and masks: index and index_put_.
#include "kernels/indexing.h"

#include "nonzero.h"
#include "scattering.h"
#include "layout.h"

namespace cuda {

// Typed<F>::kernel() is a kernel that takes a frame and values and calls the typed function F with them.
template <auto Kernel>
using Typed = lamella::detail::SignatureFor<lamella::detail::Constant<Kernel>>;

lamella_status gather_rows(const lamella_tensor* out, const lamella_tensor* index, const lamella_tensor* self,
                           int64_t outer, int64_t size, int64_t width, bool wraps, int32_t code);  // in gather.cpp

namespace {

// An index tensor, and the dimension of self that it indexes.
struct Part {
  Tensor index;  // int64
  int dim;
};

// self and a list of index tensors. The result has the dimensions of self before the index shape, the index shape, to
// which the index tensors broadcast, and the dimensions of self after it.
class Indexed {
 public:
  // Throws Declined if there are more indices than a kernel holds.
  Indexed(const lamella_frame* f, const Tensor& self, TensorList list) : self_(self) {
    int d = 0, lead = 0;
    bool begun = false, ended = false, adjacent = true;
    std::vector<int> kept;
    for (const Tensor& t : list) {
      if (!t.defined()) {
        ended = begun;
        kept.push_back(d++);
        continue;
      }
      if (!begun) lead = static_cast<int>(kept.size());
      adjacent = adjacent && !ended;
      begun = true;
      if (t.get()->dtype == LAMELLA_BOOL)
        take_mask(t, d);
      else
        parts_.push_back({t.get()->dtype == LAMELLA_INT64 ? t : converted(t), d++});
    }
    for (; d < self_.dim(); d++) kept.push_back(d);
    if (parts_.size() > most_indices) throw lamella::Declined();
    for (const Part& p : parts_) broadcast(f, p.index);
    if (!adjacent) lead = 0;
    before_.assign(kept.begin(), kept.begin() + lead);
    behind_.assign(kept.begin() + lead, kept.end());
  }

  const Tensor& self() const { return self_; }
  std::vector<int64_t> shape() const {
    std::vector<int64_t> all;
    for (int d : before_) all.push_back(self_.size(d));
    all.insert(all.end(), sizes_.begin(), sizes_.end());
    for (int d : behind_) all.push_back(self_.size(d));
    return all;
  }
  // Returns whether one index names whole rows of a contiguous self. Sets `size` to the indexed size, `outer` to the
  // product of the sizes before it, and `width` to the elements of a row.
  bool names_rows(int64_t* outer, int64_t* size, int64_t* width) const {
    if (parts_.size() != 1 || !self_.is_contiguous() || self_.dim() == 0) return false;
    const int d = parts_[0].dim;
    *outer = count_of(self_.get(), 0, d);
    *size = self_.size(d);
    *width = count_of(self_.get(), d + 1, static_cast<int>(self_.dim()));
    return true;
  }
  // Returns the only index, in plain layout.
  Tensor only_index() const {
    const Tensor& index = parts_[0].index;
    return index.is_contiguous() ? index : copy_of(index.get());
  }

  // Returns the row-major walk over the result. Its operands are `operand`, unless that is null, and self, whose steps
  // are 0 in the index shape. Sets *indices to the index tensors, with their strides in the walk's dimensions.
  template <int Operands>
  Walk<Operands> walk(const lamella_tensor* operand, Indices* indices) const {
    const int count = static_cast<int>(parts_.size());
    lamella::Dimensions<Operands + most_indices> dims;
    int at = 0;
    auto add = [&](int64_t size, int64_t of_self, int index_dim) {
      std::vector<int64_t> steps;
      if (operand) steps.push_back(operand->dl.strides[at]);
      steps.push_back(of_self);
      for (const Part& p : parts_) steps.push_back(index_dim < 0 ? 0 : index_step(p.index.get(), index_dim));
      dims.add(size, steps.data(), steps.size());
      at++;
    };
    for (int d : before_) add(self_.size(d), self_.stride(d), -1);
    for (size_t i = 0; i < sizes_.size(); i++) add(sizes_[i], 0, static_cast<int>(i));
    for (int d : behind_) add(self_.size(d), self_.stride(d), -1);
    dims.join();
    const Walk<Operands> w = walk_of<Operands>(dims);
    indices->count = count;
    for (int k = 0; k < count; k++) {
      indices->at[k] = data_of<const int64_t>(parts_[k].index);
      indices->size[k] = self_.size(parts_[k].dim);
      indices->scale[k] = self_.stride(parts_[k].dim);
      for (int d = 0; d < w.ndim; d++) indices->strides[k][d] = dims[d].steps[Operands + k];
    }
    return w;
  }

 private:
  // Replaces a mask by the indices of its true places, one index tensor for each of its dimensions. A mask without
  // dimensions adds a dimension of size 1 to self, and indexes that.
  void take_mask(const Tensor& t, int& d) {
    if (t.dim() == 0) {
      std::vector<int64_t> sizes, strides;
      for (int k = 0; k <= self_.dim(); k++) {
        if (k == d) sizes.push_back(1), strides.push_back(0);
        if (k < self_.dim()) sizes.push_back(self_.size(k)), strides.push_back(self_.stride(k));
      }
      self_ = view_of(self_.get(), static_cast<int>(sizes.size()), sizes.data(), strides.data());
      const int64_t one = 1, step = 1;
      const Tensor all = nonzero_of(view_of(t.get(), 1, &one, &step));
      parts_.push_back({column(all, 0), d++});
      return;
    }
    const Tensor all = nonzero_of(t);
    for (int k = 0; k < t.dim(); k++) parts_.push_back({column(all, k), d++});
  }
  static Tensor converted(const Tensor& t) {
    const Tensor numbers = lamella::allocate_like(t.get(), LAMELLA_INT64);
    lamella::check(assign(numbers.get(), t.get()));
    return numbers;
  }
  static Tensor column(const Tensor& all, int64_t k) {
    const int64_t count = all.size(0), step = all.size(1);
    return view_of(all.get(), 1, &count, &step, count ? k : 0);
  }
  void broadcast(const lamella_frame* f, const Tensor& t) {
    const size_t n = static_cast<size_t>(t.dim());
    if (n > sizes_.size()) sizes_.insert(sizes_.begin(), n - sizes_.size(), 1);
    for (size_t i = 1; i <= n; i++) {
      int64_t& mine = sizes_[sizes_.size() - i];
      const int64_t its = t.size(static_cast<int64_t>(n - i));
      LAMELLA_CHECK_INDEX(mine == its || mine == 1 || its == 1, lamella::title(f),
                          ": argument 'indices': the shapes of masks and index tensors do not broadcast; one gives "
                          "shape ",
                          t.sizes());
      if (mine == 1) mine = its;
    }
  }
  int64_t index_step(const lamella_tensor* t, int index_dim) const {
    const int d = index_dim - (static_cast<int>(sizes_.size()) - t->dl.ndim);
    return d < 0 || t->dl.shape[d] == 1 ? 0 : t->dl.strides[d];
  }

  Tensor self_;
  std::vector<Part> parts_;
  std::vector<int> before_, behind_;
  std::vector<int64_t> sizes_;
};

int32_t index_code() {
  static const int32_t code =
      add_fault(LAMELLA_INDEX_ERROR, "index: argument 'indices': index {value} is out of range for size {size}");
  return code;
}

lamella_status pick(const Indexed& indexed, const lamella_tensor* out) {
  static Kernels kernels("indexing.cu");
  if (!out->numel) return LAMELLA_OK;
  const lamella_tensor* self = indexed.self().get();
  int64_t outer, size, width;
  if (indexed.names_rows(&outer, &size, &width) && lamella::is_contiguous(out))
    return gather_rows(out, indexed.only_index().get(), self, outer, size, width, true, index_code());
  Indices indices;
  const Walk<2> w = indexed.walk<2>(out, &indices);
  const int item = item_of(self->dtype);
  Kernel& kernel = kernels.get({item}, [&] { return text("index_get<", word_name(item), ">"); });
  return launch(kernel, out, grid_for(out, w.count), {256}, 0, w, indices, out->dl.data, self->dl.data, fault_of(out),
                index_code());
}

Status index_into(lamella_frame* f, const Tensor& self, TensorList indices, const Tensor& out) {
  if (nothing_indexed(indices)) return assign(out.get(), self.get());
  return pick(Indexed(f, self, indices), out.get());
}
// Serves calls with masks among the indices, whose elements decide the result's shape.
Tensor index_by_masks(lamella_frame* f, const Tensor& self, TensorList indices) {
  const Indexed indexed(f, self, indices);
  Tensor out = empty_on(self.get(), indexed.shape(), self.get()->dtype);
  lamella::check(pick(indexed, out.get()));
  return out;
}

// Calls index_into() or index_by_masks(). The shape rule has allocated the result unless there are masks.
lamella_status index(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  const bool allocated = rets->tag == LAMELLA_TENSOR;
  return (allocated ? Typed<index_into>::kernel() : Typed<index_by_masks>::kernel())(f, args, rets);
}

// The values of index_put_, expanded to the selected elements, in plain layout. If `one` is true, `all` has a single
// element, the value of all of them.
struct Values {
  Tensor all;
  int64_t count = 1;
  bool one = true;

  Values(const lamella_tensor* given, const std::vector<int64_t>& shape, bool accumulate) {
    const int n = static_cast<int>(shape.size()), shift = n - given->dl.ndim;
    std::vector<int64_t> strides(shape.size());
    for (int d = 0; d < n; d++) {
      const int64_t its = d < shift ? 1 : given->dl.shape[d - shift];
      LAMELLA_CHECK(shift >= 0 && (its == 1 || its == shape[d]), "index_put_: argument 'values': shape ",
                    IntList(given->dl.shape, static_cast<size_t>(given->dl.ndim)),
                    " does not broadcast to the indexed shape ", IntList(shape));
      strides[d] = its == 1 ? 0 : given->dl.strides[d - shift];
      one = one && its == 1;
      count *= shape[d];
    }
    one = one && !accumulate;
    if (!count) return;
    all = one ? Tensor::borrow(const_cast<lamella_tensor*>(given)) : view_of(given, n, shape.data(), strides.data());
    if (!one && !all.is_contiguous()) all = copy_of(all.get());
  }
};

// Writes or adds the whole rows that one index names.
lamella_status put_by_rows(const lamella_tensor* self, const Indexed& indexed, const Values& values, bool accumulate,
                           int32_t code, int64_t outer, int64_t size, int64_t width) {
  const Tensor at = indexed.only_index();
  const int64_t numel = at.numel(), one = 1;
  const Tensor vector = view_of(at.get(), 1, &numel, &one);
  const Targets t(self, outer * numel, outer * size, width);
  if (lamella_status st = row_targets(t, vector.get(), outer, size, true, -1, code)) return st;
  const void* from = values.all.data_ptr();
  return accumulate ? fold_rows(self, t, Fold::sum, from) : put_rows(self, t, from, false);
}
lamella_status put_by_elements(const lamella_tensor* self, const Indexed& indexed, const Values& values,
                               bool accumulate, int32_t code) {
  static Kernels kernels("indexing.cu");
  const Targets t(self, values.count, self->numel, 1);
  Indices indices;
  const Walk<1> w = indexed.walk<1>(nullptr, &indices);
  Kernel& kernel = kernels.get({t.bytes}, [&] { return text("index_places<", t.place(), ">"); });
  if (lamella_status st = launch(kernel, self, grid_for(self, values.count), {256}, 0, w, indices, t.places.data_ptr(),
                                 fault_of(self), code))
    return st;
  const void* from = values.all.data_ptr();
  return accumulate ? fold_rows(self, t, Fold::sum, from) : put_rows(self, t, from, values.one);
}

// self[indices] = values, or += with `accumulate`.
Status index_put_(lamella_frame* f, const Tensor&, TensorList indices, const Tensor& given, bool accumulate,
                  const Tensor& out) {
  static const int32_t code =
      add_fault(LAMELLA_INDEX_ERROR, "index_put_: argument 'indices': index {value} is out of range for size {size}");
  if (nothing_indexed(indices)) return LAMELLA_DECLINED;
  const Written written(out.get());
  const lamella_tensor* self = written.get();
  const Indexed indexed(f, Tensor::borrow(const_cast<lamella_tensor*>(self)), indices);
  Values values(given.get(), indexed.shape(), accumulate);
  if (!values.count) return LAMELLA_OK;
  if (values.all.get()->storage == out.get()->storage && self == out.get())  // writing self would change the values
    values.all = copy_of(values.all.get());
  int64_t outer, size, width;
  const bool rows = !values.one && indexed.names_rows(&outer, &size, &width);
  if (lamella_status st = rows ? put_by_rows(self, indexed, values, accumulate, code, outer, size, width)
                               : put_by_elements(self, indexed, values, accumulate, code))
    return st;
  return written.finish();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  m.impl("index.Tensor", "cuda", index);
  add<index_put_>(m, "index_put_");
}

}  // namespace cuda
