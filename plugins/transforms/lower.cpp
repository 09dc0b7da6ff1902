// Makes one call on the batch of a call on samples, by the operator's text of dimensions: Note [Dimensions] in
// <lamella/c_api.h>.
#include <lamella/dimensions.h>

#include <algorithm>

#include "lowered.h"

namespace lamella::transforms {
namespace {

int most_dims(const std::vector<Operand>& operands) {
  int most = 0;
  for (const Operand& o : operands) most = std::max(most, o.ndim);
  return most;
}

int class_of(int dtype) {
  return dtype == LAMELLA_BOOL ? 0 : dtype < LAMELLA_FLOAT16 ? 1 : dtype < LAMELLA_COMPLEX64 ? 2 : 3;
}

// A sample without dimensions decides the result's dtype less than one that has some, and a batch of it has one. If that
// would change the result's dtype, it gets the dtype of the others before.
Tensor with_weight(const Operand& o, const std::vector<Operand>& operands) {
  if (!o.batched || o.ndim > 0 || o.tensor.dtype() == kBool) return o.tensor;  // bools never decide it
  for (const Operand& other : operands)
    if (other.ndim > 0 && other.tensor.dtype() != o.tensor.dtype() &&
        class_of(other.given->dtype) >= class_of(o.given->dtype))
      return o.tensor.to(other.tensor.dtype());
  return o.tensor;
}

// Returns dimension `dim` of a sample, counted in its batch. A sample without dimensions counts as one with one.
int64_t behind_batch(const Call& c, int64_t dim, int ndim) {
  const int n = std::max(ndim, 1);
  LAMELLA_CHECK_INDEX(dim >= -n && dim < n, c.name(), ": dimension ", dim, " is out of range for a sample of ", ndim,
                      " dimensions: from ", -n, " to ", n - 1);
  return (dim < 0 ? dim + n : dim) + 1;
}

// Returns whether a group has the words of another one, and one more in front if `longer`.
bool same_words(const DimsOfTensor& group, const DimsOfTensor& shorter, bool longer) {
  return group.size() == shorter.size() + longer &&
         std::equal(shorter.begin(), shorter.end(), group.begin() + longer,
                    [](const DimsToken& a, const DimsToken& b) { return a.word == b.word; });
}

// Returns the place of the ellipsis of a group, -1 without one.
int place_of_run(const DimsOfTensor& group) {
  for (size_t i = 0; i < group.size(); i++)
    if (group[i].ellipsis) return static_cast<int>(i);
  return -1;
}

// Returns the dimension of a word in a tensor of `ndim` dimensions; -1 if the group has not exactly one such word.
int place_of(const DimsOfTensor& group, const std::string& word, int ndim) {
  int found = -1, count = 0, d = 0;
  for (const DimsToken& t : group) {
    if (t.word == word) {
      found = d;
      count++;
    }
    d += t.ellipsis ? ndim - static_cast<int>(group.size()) + 1 : 1;
  }
  return count == 1 ? found : -1;
}

// The operands by their groups in a pattern, which has none for the elements of a list.
struct Groups {
  std::vector<int> ndims;                // of a sample, for each tensor argument; -1: absent
  std::vector<const Operand*> operands;  // null: absent
  bool plain = true;                     // no argument is a list of tensors
  explicit Groups(Call& c) {
    for (const int i : c.plan.tensors) {
      plain &= c.argument(i).tag != LAMELLA_TENSOR_LIST;
      operands.push_back(c.operand(i));
      ndims.push_back(operands.back() ? operands.back()->ndim : -1);
    }
  }
};

}  // namespace

Tensor with_dims(const Operand& o, int ndim, int at) {
  if (!o.batched || o.ndim >= ndim) return o.tensor;
  Sizes sizes = o.tensor.sizes().vec();
  sizes.insert(sizes.begin() + 1 + at, static_cast<size_t>(ndim - o.ndim), 1);
  return o.tensor.view(sizes);
}

Tensor with_batch(const Operand& o, int64_t size, int ndim) {
  if (o.batched) return with_dims(o, ndim);
  Sizes sizes = o.tensor.sizes().vec();
  sizes.insert(sizes.begin(), static_cast<size_t>(std::max(ndim - o.ndim, 0)), 1);
  const Tensor t = static_cast<int>(sizes.size()) == o.ndim ? o.tensor : o.tensor.view(sizes);
  sizes.insert(sizes.begin(), size);
  return t.unsqueeze(0).expand(sizes);
}

// ---- broadcast, keep, reduce ------------------------------------------------------------------------------------------

bool Call::broadcast() {
  const int ndim = most_dims(operands_);
  Lowered on(*this);
  for (const Operand& o : operands_) {
    Operand weighed = o;
    weighed.tensor = with_weight(o, operands_);
    if (o.batched)
      on.tensor(o, with_dims(weighed, ndim));
    else if (ndim == 0)
      on.tensor(o, o.tensor.unsqueeze(0));
  }
  if (plan.written >= 0) {
    const Operand* w = operand(plan.written);
    LAMELLA_CHECK(w && w->ndim == ndim, "vmap: ", name(), ": its result has ", ndim,
                  " dimensions, and the tensor that it writes has ", w ? w->ndim : 0);
  }
  on.run(f_->op);
  on.give();
  return true;
}

// Serves operators that compute along the dimensions that arguments name.
bool Call::along(bool reduces) {
  if (plan.dim_arguments.empty()) return false;
  const int ndim = most_dims(operands_);
  for (const Operand& o : operands_)  // `cat` leaves out tensors of shape (0,)
    if (o.element >= 0 && o.ndim != ndim) return false;
  bool flat = false;
  Lowered on(*this);
  for (const int i : plan.dim_arguments) {
    const lamella_value& v = args_[i];
    const bool is_list = (api().operator_argument(f_->op, i)->flags & LAMELLA_ARGUMENT_LIST) != 0;
    if (v.tag == LAMELLA_INT) {
      on.integer(i, behind_batch(*this, v.as.i, ndim));
    } else if (v.tag == LAMELLA_INT_LIST && v.length) {
      Sizes dims;
      for (uint32_t k = 0; k < v.length; k++) dims.push_back(behind_batch(*this, v.as.ints[k], ndim));
      on.ints(i, dims);
    } else if (!reduces) {
      return false;
    } else if (is_list) {
      Sizes dims;
      for (int d = 1; d <= std::max(ndim, 1); d++) dims.push_back(d);
      on.ints(i, dims);
    } else {
      flat = true;
      on.integer(i, 1);
    }
  }
  if (flat)  // with `keepdim` the result has as many dimensions as the sample, and the joined one is lost
    for (int i = 0; i < f_->num_args; i++)
      if (std::string_view(api().operator_argument(f_->op, i)->name) == "keepdim" && args_[i].as.i) return false;
  for (const Operand& o : operands_) {
    Operand weighed = o;
    weighed.tensor = with_weight(o, operands_);
    Tensor t = with_batch(weighed, level_.size, std::max(ndim, 1));
    if (flat) t = t.flatten(1);
    on.tensor(o, t);
  }
  on.run(f_->op);
  if (plan.written < 0 && ndim == 0) {
    for (int i = 0; i < f_->num_rets; i++) {
      const Tensor t = on.result(i);
      if (!t.defined()) return false;
      give(i, t.dim() > 1 ? t.select(1, 0) : t);
    }
    return true;
  }
  on.give();
  return true;
}

// ---- patterns -----------------------------------------------------------------------------------------------------------

// The batch is one more dimension of `...`.
bool Call::by_ellipsis(const DimsPattern& p) {
  const Groups g(*this);
  int most = 0;
  for (size_t i = 0; i < g.operands.size(); i++)
    if (g.operands[i] && place_of_run(p.args[i]) >= 0)
      most = std::max(most, g.ndims[i] - static_cast<int>(p.args[i].size()) + 1);
  Lowered on(*this);
  bool in_front = true;
  for (size_t i = 0; i < g.operands.size(); i++) {
    const Operand* o = g.operands[i];
    const int at = place_of_run(p.args[i]);
    // Products broadcast their batches; other operators want them alike.
    if (!o || (!o->batched && (plan.is_product || at != 0))) continue;
    if (at < 0 || p.args[i][static_cast<size_t>(at)].bound) return false;
    const int ndim = most + static_cast<int>(p.args[i].size()) - 1;
    const Tensor t = o->batched ? with_dims(*o, ndim, at) : with_batch(*o, level_.size, ndim);
    in_front &= at == 0;
    on.tensor(*o, at ? t.movedim(0, at) : t);
  }
  for (const DimsOfTensor& r : p.results)
    if (place_of_run(r) < 0) return false;
  if (!plan.dim_arguments.empty() && !in_front) return false;
  for (const int i : plan.dim_arguments) {
    if (args_[i].tag != LAMELLA_INT) return false;
    if (args_[i].as.i >= 0) return false;
  }
  on.run(f_->op);
  if (plan.written >= 0) return give_written(), true;
  for (size_t i = 0; i < p.results.size(); i++)
    if (on.result(static_cast<int>(i)).defined())
      give(static_cast<int>(i), on.result(static_cast<int>(i)), place_of_run(p.results[i]));
  return true;
}

// The pattern for tensors of one dimension more has that dimension in front: an image becomes a batch of images.
bool Call::by_longer(const DimsPattern& shorter, const std::vector<int>& ndims) {
  const Groups g(*this);
  std::vector<int> longer = ndims;
  for (size_t i = 0; i < g.operands.size(); i++)
    if (g.operands[i] && g.operands[i]->batched) longer[i]++;
  const DimsPattern* p = plan.dims.fitting(longer);
  if (!p || !plan.dim_arguments.empty() || p->results.size() != shorter.results.size()) return false;
  const DimsToken* first = nullptr;
  for (size_t i = 0; i < g.operands.size(); i++) {
    const bool batched = g.operands[i] && g.operands[i]->batched;
    if (!g.operands[i]) continue;
    if (!same_words(p->args[i], shorter.args[i], batched)) return false;
    if (!batched) continue;
    if (p->args[i].empty()) return false;
    const DimsToken& word = p->args[i][0];
    if (word.bound || word.ellipsis || (first && first->word != word.word)) return false;
    first = &word;
  }
  for (size_t i = 0; i < g.operands.size(); i++)
    if (g.operands[i] && !g.operands[i]->batched && place_of(p->args[i], first->word, g.ndims[i]) >= 0) return false;
  for (size_t i = 0; i < p->results.size(); i++)
    if (!same_words(p->results[i], shorter.results[i], true) || p->results[i][0].word != first->word) return false;
  Lowered on(*this);
  on.run(f_->op);
  on.give();
  return true;
}

// The batch joins a dimension that all batched tensors and all results have, along which each index is for itself.
bool Call::by_fold(const DimsPattern& p) {
  const Groups g(*this);
  if (plan.written >= 0 || !plan.dim_arguments.empty()) return false;
  const DimsToken* word = nullptr;
  for (size_t i = 0; i < g.operands.size() && !word; i++) {
    if (!g.operands[i] || !g.operands[i]->batched) continue;
    for (const DimsToken& t : p.args[i]) {
      bool everywhere = !t.bound && !t.ellipsis;
      for (size_t k = 0; everywhere && k < g.operands.size(); k++)
        if (g.operands[k] && g.operands[k]->batched) everywhere = place_of(p.args[k], t.word, g.ndims[k]) >= 0;
      for (const DimsOfTensor& r : p.results)
        everywhere = everywhere && place_of(r, t.word, static_cast<int>(r.size())) >= 0;
      if (everywhere) {
        word = &t;
        break;
      }
    }
    break;  // a word of all batched operands is a word of the first one
  }
  if (!word) return false;
  int64_t length = 1;
  for (size_t i = 0; i < g.operands.size(); i++) {
    const int at = g.operands[i] ? place_of(p.args[i], word->word, g.ndims[i]) : -1;
    if (at >= 0 && g.operands[i]->given->dl.shape[at] != 1) length = g.operands[i]->given->dl.shape[at];
  }
  Lowered on(*this);
  for (size_t i = 0; i < g.operands.size(); i++) {
    const int at = g.operands[i] ? place_of(p.args[i], word->word, g.ndims[i]) : -1;
    if (at < 0) continue;
    Tensor t = with_batch(*g.operands[i], level_.size, g.ndims[i]);
    if (at) t = t.movedim(0, at);
    Sizes sizes = t.sizes().vec();
    sizes[static_cast<size_t>(at) + 1] = length;
    t = t.expand(sizes);
    sizes.erase(sizes.begin() + at);
    sizes[static_cast<size_t>(at)] = level_.size * length;
    on.tensor(*g.operands[i], t.reshape(sizes));
  }
  on.run(f_->op);
  for (size_t i = 0; i < p.results.size(); i++) {
    const Tensor t = on.result(static_cast<int>(i));
    if (!t.defined()) continue;
    const int at = place_of(p.results[i], word->word, static_cast<int>(t.dim()));
    Sizes sizes = t.sizes().vec();
    sizes[static_cast<size_t>(at)] = length;
    sizes.insert(sizes.begin() + at, level_.size);
    give(static_cast<int>(i), t.view(sizes), at);
  }
  return true;
}

bool Call::by_pattern() {
  const Groups g(*this);
  if (!g.plain) return false;
  const DimsPattern* p = plan.dims.fitting(g.ndims);
  if (!p || p->results.size() != static_cast<size_t>(f_->num_rets)) return false;
  return by_ellipsis(*p) || by_longer(*p, g.ndims) || by_fold(*p);
}

bool Call::by_dims() {
  switch (plan.dims.kind) {
    case DimsKind::Broadcast:
      return broadcast();
    case DimsKind::Keep:
      return along(false);
    case DimsKind::Reduce:
      return along(true);
    case DimsKind::Pattern:
      return by_pattern();
    default:
      return false;
  }
}

// ---- rules of the table -------------------------------------------------------------------------------------------------

bool Call::lead() {
  for (const Operand& o : operands_)
    if (o.batched && o.argument != plan.tensors[0]) return false;
  Lowered on(*this);
  on.run(f_->op);
  for (int i = 0; i < f_->num_rets; i++) {
    const Tensor t = on.result(i);
    const bool is_left_out = t.defined() && t.dim() == 1 && t.numel() == 0;  // as the vectors of singular values alone
    if (t.defined()) give(i, is_left_out ? t.unsqueeze(0).expand({level_.size, 0}) : t);
  }
  return true;
}

bool Call::gather() {
  const int own = most_dims(operands_), ndim = std::max(own, 1);
  for (const Operand& o : operands_)
    if (o.ndim != own) return false;
  Lowered on(*this);
  for (const int i : plan.dim_arguments) {
    if (args_[i].tag != LAMELLA_INT) return false;
    on.integer(i, behind_batch(*this, args_[i].as.i, ndim));
  }
  for (const Operand& o : operands_) on.tensor(o, with_batch(o, level_.size, ndim));
  on.run(f_->op);
  if (own == 0 && plan.written < 0)
    give(0, on.result(0).select(1, 0));
  else
    on.give();
  return true;
}

}  // namespace lamella::transforms
