/* torch's checks of arguments: TensorArg, CheckedFrom and the functions check*, as at:: has them.
 *
 *   at::TensorArg boxes_arg{boxes, "boxes", 1}, scores_arg{scores, "scores", 2};
 *   at::checkAllSameType("nms", {boxes_arg, scores_arg});
 *
 * Each check throws an error that names the function and the argument, and says what was expected and passed. */
#ifndef LAMELLA_COMPAT_CHECKS_H
#define LAMELLA_COMPAT_CHECKS_H

#include <lamella/extension.h>

#include <string>
#include <vector>

#pragma GCC visibility push(hidden)

namespace lamella {
namespace compat {
namespace arguments {

using CheckedFrom = const char*;

/* A tensor with the name and the number of its argument. */
struct TensorArg {
  Tensor tensor;
  const char* name;
  int pos;
  const Tensor* operator->() const { return &tensor; }
  const Tensor& operator*() const { return tensor; }
};

namespace checks {

inline std::string place(CheckedFrom c, const TensorArg& t) {
  return std::string(c) + ": argument '" + t.name + "' (#" + std::to_string(t.pos) + ")";
}
inline std::string text(IntArrayRef sizes) {
  std::string s = "(";
  for (size_t i = 0; i < sizes.size(); i++) s += (i ? ", " : "") + std::to_string(sizes[i]);
  return s + ")";
}

/* Compares each argument with the first. */
template <class Check>
void each(ArrayRef<TensorArg> tensors, Check check) {
  for (size_t i = 1; i < tensors.size(); i++) check(tensors[0], tensors[i]);
}

}  // namespace checks

inline void checkDefined(CheckedFrom c, const TensorArg& t) {
  LAMELLA_CHECK(t->defined(), checks::place(c, t), " is no tensor; pass one");
}
inline void checkDim(CheckedFrom c, const TensorArg& t, int64_t dim) {
  LAMELLA_CHECK(t->dim() == dim, checks::place(c, t), ": expected ", dim, " dimensions, got shape ",
                checks::text(t->sizes()));
}
inline void checkDimRange(CheckedFrom c, const TensorArg& t, int64_t first, int64_t end) {
  LAMELLA_CHECK(t->dim() >= first && t->dim() < end, checks::place(c, t), ": expected ", first, " to ", end - 1,
                " dimensions, got shape ", checks::text(t->sizes()));
}
inline void checkSize(CheckedFrom c, const TensorArg& t, IntArrayRef sizes) {
  LAMELLA_CHECK(t->sizes() == sizes, checks::place(c, t), ": expected shape ", checks::text(sizes), ", got ",
                checks::text(t->sizes()));
}
inline void checkSize(CheckedFrom c, const TensorArg& t, int64_t dim, int64_t size) {
  LAMELLA_CHECK(t->size(dim) == size, checks::place(c, t), ": expected size ", size, " in dimension ", dim,
                ", got shape ", checks::text(t->sizes()));
}
inline void checkNumel(CheckedFrom c, const TensorArg& t, int64_t numel) {
  LAMELLA_CHECK(t->numel() == numel, checks::place(c, t), ": expected ", numel, " elements, got ", t->numel());
}
inline void checkContiguous(CheckedFrom c, const TensorArg& t) {
  LAMELLA_CHECK(t->is_contiguous(), checks::place(c, t), " must be contiguous, got shape ", checks::text(t->sizes()),
                " and strides ", checks::text(t->strides()), "; pass its contiguous()");
}
inline void checkScalarType(CheckedFrom c, const TensorArg& t, ScalarType type) {
  LAMELLA_CHECK(t->scalar_type() == type, checks::place(c, t), ": expected dtype ", type, ", got ", t->scalar_type());
}
inline void checkScalarTypes(CheckedFrom c, const TensorArg& t, ArrayRef<ScalarType> types) {
  bool found = false;
  for (const ScalarType type : types) found |= t->scalar_type() == type;
  LAMELLA_CHECK(found, checks::place(c, t), ": expected one of the dtypes ", types, ", got ", t->scalar_type());
}
inline void checkSameType(CheckedFrom c, const TensorArg& a, const TensorArg& b) {
  LAMELLA_CHECK(a->scalar_type() == b->scalar_type() && a->device() == b->device(), checks::place(c, b),
                ": expected dtype ", a->scalar_type(), " on ", a->device(), " as '", a.name, "' has, got ",
                b->scalar_type(), " on ", b->device());
}
inline void checkSameDim(CheckedFrom c, const TensorArg& a, const TensorArg& b) { checkDim(c, b, a->dim()); }
inline void checkSameSize(CheckedFrom c, const TensorArg& a, const TensorArg& b) { checkSize(c, b, a->sizes()); }
inline void checkSameNumel(CheckedFrom c, const TensorArg& a, const TensorArg& b) { checkNumel(c, b, a->numel()); }
/* Raises unless both are on one device. */
inline void checkSameGPU(CheckedFrom c, const TensorArg& a, const TensorArg& b) {
  LAMELLA_CHECK(a->device() == b->device(), checks::place(c, b), ": expected device ", a->device(), " as '", a.name,
                "' has, got ", b->device());
}

inline void checkAllDefined(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  for (const TensorArg& t : tensors) checkDefined(c, t);
}
inline void checkAllContiguous(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  for (const TensorArg& t : tensors) checkContiguous(c, t);
}
inline void checkAllSameType(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  checks::each(tensors, [c](const TensorArg& a, const TensorArg& b) { checkSameType(c, a, b); });
}
inline void checkAllSameSize(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  checks::each(tensors, [c](const TensorArg& a, const TensorArg& b) { checkSameSize(c, a, b); });
}
inline void checkAllSameNumel(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  checks::each(tensors, [c](const TensorArg& a, const TensorArg& b) { checkSameNumel(c, a, b); });
}
inline void checkAllSameGPU(CheckedFrom c, ArrayRef<TensorArg> tensors) {
  checks::each(tensors, [c](const TensorArg& a, const TensorArg& b) { checkSameGPU(c, a, b); });
}

}  // namespace arguments
}  // namespace compat
}  // namespace lamella

#pragma GCC visibility pop

#endif
