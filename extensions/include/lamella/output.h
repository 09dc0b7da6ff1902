/* Output: one result of an operator, as its shape rule describes it to the dispatcher. */
#ifndef LAMELLA_OUTPUT_H
#define LAMELLA_OUTPUT_H

#include <lamella/tensor.h>

#pragma GCC visibility push(hidden)

namespace lamella {

/* One result of a call. Each member below that takes a shape or an argument says what the result is; a shape rule calls
 * one of them. */
class Output {
 public:
  Output(lamella_frame* f, const lamella_value* args, lamella_meta* m) : frame_(f), args_(args), meta_(m) {}

  /* The result is a new tensor. The kernel computes in its dtype, unless `compute_in` names another. */
  void set(IntArrayRef sizes, ScalarType dtype) {
    LAMELLA_CHECK(sizes.size() <= LAMELLA_MAX_DIMS, "a result has at most ", LAMELLA_MAX_DIMS, " dimensions, got ",
                  sizes.size());
    meta_->kind = LAMELLA_META_FRESH;
    meta_->dtype = static_cast<uint8_t>(dtype);
    meta_->ndim = static_cast<int32_t>(sizes.size());
    meta_->flags = 0;
    for (size_t i = 0; i < sizes.size(); i++) meta_->sizes[i] = sizes[i];
    frame_->compute_dtype = meta_->dtype;
  }
  void set(IntArrayRef sizes, ScalarType dtype, IntArrayRef strides) {
    set(sizes, dtype);
    LAMELLA_CHECK(strides.empty() || strides.size() == sizes.size(), "a result of ", sizes.size(), " dimensions has ",
                  strides.size(), " strides");
    set_strides(strides);
  }
  /* The result is a new tensor with the shape and the dtype of `t`, and with its layout if that has no gaps. */
  void like(const Tensor& t) { like(t, t.dtype()); }
  void like(const Tensor& t, ScalarType dtype) {
    set(t.sizes(), dtype);
    if (t.defined() && (t.get()->flags & LAMELLA_DENSE) && !t.is_contiguous()) set_strides(t.strides());
  }
  /* Changes the dtype of a result that `set` or `like` has described; the layout stays. */
  void set_dtype(ScalarType dtype) {
    meta_->dtype = static_cast<uint8_t>(dtype);
    compute_in(dtype);
  }
  /* Puts a result that `set` or `like` has described into pinned memory of the host, if `on` is true. */
  void pin(std::optional<bool> on) {
    if (on.value_or(false)) meta_->flags |= LAMELLA_META_PINNED;
  }
  /* The result holds positions or counts: a target of out= must have the dtype that `set` or `like` has described, since
   * another could hold other ones. */
  void exact() { meta_->flags |= LAMELLA_META_EXACT; }
  /* Sets the dtype that the kernel computes in. */
  void compute_in(ScalarType dtype) { frame_->compute_dtype = static_cast<uint32_t>(dtype); }

  /* The result is an argument itself, into which the operator writes. */
  void same(const Tensor& argument) {
    meta_->kind = LAMELLA_META_SAME;
    meta_->alias_of = position(argument);
  }
  /* The result is a view of an argument. Strides and offset count elements, of `dtype` if it is given. */
  void view(const Tensor& argument, IntArrayRef sizes, IntArrayRef strides, int64_t offset,
            ScalarType dtype = ScalarType::Undefined) {
    LAMELLA_CHECK(strides.size() == sizes.size(), "a view of ", sizes.size(), " dimensions has ", strides.size(),
                  " strides");
    const uint32_t compute = frame_->compute_dtype; /* a view computes nothing */
    set(sizes, dtype, strides);
    frame_->compute_dtype = compute;
    meta_->kind = LAMELLA_META_ALIAS;
    meta_->alias_of = position(argument);
    meta_->offset = offset;
  }
  /* The result is a tensor over the argument's memory that no layer treats as a view. */
  void detached(const Tensor& argument) {
    view(argument, argument.sizes(), argument.strides(), argument.storage_offset());
    meta_->kind = LAMELLA_META_DETACHED;
  }
  /* The result's shape depends on values; the kernel allocates the result and returns it. */
  void dynamic() { meta_->kind = LAMELLA_META_DYNAMIC; }
  /* The result is no tensor: the caller did not request this one of several results. */
  void absent() { meta_->kind = LAMELLA_META_NONE; }

  /* `sizes` and `dtype` return what `set` or `like` has described. */
  IntArrayRef sizes() const { return {meta_->sizes, static_cast<size_t>(meta_->ndim)}; }
  ScalarType dtype() const { return static_cast<ScalarType>(meta_->dtype); }
  void set_strides(IntArrayRef strides) {
    for (size_t i = 0; i < strides.size(); i++) meta_->strides[i] = strides[i];
    const int others = meta_->flags & ~LAMELLA_META_STRIDES;
    meta_->flags = static_cast<uint8_t>(others | (strides.empty() ? 0 : LAMELLA_META_STRIDES));
  }

 private:
  uint8_t position(const Tensor& argument) const {
    uint8_t i = 0;
    while (i < frame_->num_args && !(args_[i].tag == LAMELLA_TENSOR && args_[i].as.tensor == argument.get())) i++;
    LAMELLA_CHECK(i < frame_->num_args, "a result can only be, or view, a tensor among the arguments");
    return i;
  }

  lamella_frame* frame_;
  const lamella_value* args_;
  lamella_meta* meta_;
};

}  // namespace lamella

#pragma GCC visibility pop

#endif
