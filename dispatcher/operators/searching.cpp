// Where numbers belong among others that are in order.
#include "dispatcher/operators/sort.h"

namespace lamella::dispatcher {
namespace {

// values and the boundaries of its last dimension: of all, or of each row its own
lamella_status check_boundaries(lamella_frame* f, int arg, const Tensor* boundaries, int values_arg,
                                const Value& values, bool rows) {
  if (lamella_status st = check_ordered(f, boundaries)) return st;
  const Tensor* v = tensor_arg(values);
  if (v && v->dtype != boundaries->dtype)
    return raise(LAMELLA_RUNTIME_ERROR,
                 format("%s: dtype %s, but the boundaries have dtype %s; convert one", where(f, values_arg).c_str(),
                        core::dtype_info(v->dtype).name, core::dtype_info(boundaries->dtype).name));
  if (!v && values.tag == LAMELLA_COMPLEX)
    return raise(LAMELLA_RUNTIME_ERROR, where(f, values_arg) + ": a complex number has no order");
  bool fits = boundaries->ndim() == 1 || (rows && v && boundaries->ndim() > 1 && v->ndim() == boundaries->ndim());
  for (int d = 0; d + 1 < boundaries->ndim() && fits; d++) fits = boundaries->sizes()[d] == v->sizes()[d];
  if (fits) return LAMELLA_OK;
  return raise(LAMELLA_RUNTIME_ERROR, where(f, arg) + ": expected a vector" +
                                          (rows ? ", or rows as the values have them" : "") + ", got shape " +
                                          core::shape_string(boundaries));
}

void infer_places(const Value& values, bool narrow, Meta* m) {
  const Tensor* v = tensor_arg(values);
  const auto dtype = static_cast<DType>(narrow ? LAMELLA_INT32 : LAMELLA_INT64);
  fresh(m, v ? v->ndim() : 0, v ? v->sizes() : nullptr, dtype);
}

// sorted_sequence, self, *, out_int32, right, side, sorter
lamella_status infer_searchsorted(lamella_frame* f, const Value* a, Meta* m) {
  const Tensor *sequence = tensor_arg(a[0]), *sorter = tensor_arg(a[5]);
  infer_places(a[1], a[2].as.i != 0, m);
  if (given(a[4])) {
    const std::string_view side(a[4].as.string, a[4].length);
    if (side != "left" && side != "right")
      return raise(LAMELLA_RUNTIME_ERROR,
                   where(f, 4) + ": expected 'left' or 'right', got '" + std::string(side) + "'");
    if (side == "left" && a[3].as.i)
      return raise(LAMELLA_RUNTIME_ERROR, where(f, 4) + ": 'left', but 'right' is True; pass one of them");
  }
  if (sorter && sorter->dtype != LAMELLA_INT64)
    return raise(LAMELLA_RUNTIME_ERROR,
                 where(f, 5) + ": expected dtype int64, got " + core::dtype_info(sorter->dtype).name);
  if (sorter && (sorter->ndim() != sequence->ndim() ||
                 !std::equal(sorter->sizes(), sorter->sizes() + sorter->ndim(), sequence->sizes())))
    return raise(LAMELLA_RUNTIME_ERROR, where(f, 5) + ": shape " + core::shape_string(sorter) +
                                            " differs from that of 'sorted_sequence', " + core::shape_string(sequence));
  return check_boundaries(f, 0, sequence, 1, a[1], true);
}

// self, boundaries, *, out_int32, right
lamella_status infer_bucketize(lamella_frame* f, const Value* a, Meta* m) {
  infer_places(a[0], a[2].as.i != 0, m);
  return check_boundaries(f, 1, tensor_arg(a[1]), 0, a[0], false);
}

// The halving of a range, for all values at once: `place` moves by `step` where what stands before it is still smaller.
// A NaN is larger than all numbers, as it is for sort().
Var places(Compose& c, const Value& boundaries, const Value& values, bool right, bool narrow) {
  // A number is compared as it is: beside narrow integers in int64, or in float64.
  Var in = c.arg(boundaries), v = c.arg(values);
  if (!v.tensor()) {
    DType dtype = in.dtype();
    if (in.dtype_class() < LAMELLA_CLASS_FLOATING && (values.tag == LAMELLA_FLOAT || dtype != LAMELLA_UINT64))
      dtype = static_cast<DType>(values.tag == LAMELLA_FLOAT ? LAMELLA_FLOAT64 : LAMELLA_INT64);
    in = c.op<"to.dtype">(in, As{dtype});
    v = c.op<"full">(Ints{}, values, As{dtype}, Absent{}, in.tensor() ? in.tensor()->device() : lamella_device{});
  }
  if (c.status()) return c.nothing();
  const Tensor* sequence = in.tensor();
  const int64_t n = sequence->sizes()[sequence->ndim() - 1];
  const Ints shape(v.tensor() ? v.tensor()->sizes() : nullptr, v.dim());
  if (sequence->ndim() == 1) v = c.op<"reshape">(v, Ints{v.numel()});
  Var place = c.op<"zeros_like">(v, As{LAMELLA_INT64});
  int64_t step = 1;
  while (step <= n / 2) step *= 2;
  for (; step > 0 && n > 0; step /= 2) {
    Var last = place + (step - 1);
    Var there = c.op<"gather">(in, -1, c.op<"clamp_max">(last, n - 1));
    Var passed = right ? c.op<"gt.Tensor">(there, v) : c.op<"ge.Tensor">(there, v);
    if (v.dtype_class() == LAMELLA_CLASS_FLOATING) {
      Var nan = c.op<"isnan">(there);
      passed = c.op<"logical_or">(passed, right ? c.op<"logical_and">(nan, c.op<"eq.Tensor">(v, v)) : nan);
    }
    Var stays = c.op<"logical_or">(passed, c.op<"ge.Scalar">(last, n));
    place = c.op<"where.self">(stays, place, place + step);
  }
  if (sequence->ndim() == 1) place = c.op<"reshape">(place, shape);
  return narrow ? c.op<"to.dtype">(place, As{LAMELLA_INT32}) : place;
}

lamella_status searchsorted(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Var sequence = given(a[5]) ? c.op<"gather">(a[0], -1, a[5]) : c.arg(a[0]);
  if (c.status()) return c.status();
  const bool right = a[3].as.i || (given(a[4]) && a[4].as.string[0] == 'r');
  return c.give(r, places(c, sequence.value(), a[1], right, a[2].as.i != 0));
}

lamella_status bucketize(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  return c.give(r, places(c, a[1], a[0], a[3].as.i != 0, a[2].as.i != 0));
}

}  // namespace

const std::vector<Declaration>& searching_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? "
       "side=None, Tensor? sorter=None) -> Tensor",
       "sort", function | out, infer_searchsorted, searchsorted,
       "Where numbers would be inserted into a vector that is in order, or into the row that stands where theirs does: "
       "before the elements that equal them, or, with `right` or side='right', behind.\n\nArgs:\n    sorter: indices "
       "that put `sorted_sequence` in order, if it is not\n\n>>> lamella.searchsorted(lamella.tensor([1, 3, 5]), "
       "lamella.tensor([3, 4]))\ntensor([1, 2])\n"},
      {"searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? "
       "side=None, Tensor? sorter=None) -> Tensor",
       "sort", function, infer_searchsorted, searchsorted, nullptr},
      {"bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor", "sort",
       everywhere | out, infer_bucketize, bucketize,
       "The bucket of each number: how many boundaries, which are in order, are smaller, or, with `right`, not "
       "larger.\n\n>>> lamella.bucketize(lamella.tensor([3, 4]), lamella.tensor([1, 3, 5]))\ntensor([1, 2])\n"},
      {"bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor", "sort",
       function, infer_bucketize, bucketize, nullptr},
  };
  return *table;
}

}  // namespace lamella::dispatcher
