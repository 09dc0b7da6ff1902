// einsum: an equation is parsed into labels; operands meet from left to right, each pair in one bmm or one product.
#include "dispatcher/operators/einsum.h"

#include <cctype>
#include <string>

namespace lamella::dispatcher {
namespace {

// A letter is a label, and so is each dimension under an ellipsis: numbered from the last, from `first_ellipsis` on.
constexpr int first_ellipsis = 128, num_labels = first_ellipsis + LAMELLA_MAX_DIMS;

struct Term {
  std::string letters;
  int ellipsis = -1;  // the letters before it
};

struct Equation {
  std::vector<Term> inputs;
  Term output;
  bool has_output = false;
};

lamella_status bad(lamella_frame* f, const std::string& what) {
  return raise(LAMELLA_RUNTIME_ERROR, where(f, 0) + ": " + what);
}

lamella_status parse_term(lamella_frame* f, const std::string& text, Term* term) {
  for (size_t i = 0; i < text.size(); i++) {
    if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      term->letters += text[i];
    } else if (text.compare(i, 3, "...") == 0) {
      if (term->ellipsis >= 0) return bad(f, "two ellipses in '" + text + "'");
      term->ellipsis = static_cast<int>(term->letters.size());
      i += 2;
    } else {
      return bad(f, "'" + text.substr(i, 1) + "' is no label; labels are letters, ',' parts operands, '->' the output");
    }
  }
  return LAMELLA_OK;
}

lamella_status parse(lamella_frame* f, const Value& v, Equation* e) {
  std::string text;
  for (uint32_t i = 0; i < v.length; i++)
    if (!std::isspace(static_cast<unsigned char>(v.as.string[i]))) text += v.as.string[i];
  const size_t arrow = text.find("->");
  if (arrow != std::string::npos) {
    e->has_output = true;
    if (lamella_status st = parse_term(f, text.substr(arrow + 2), &e->output)) return st;
    text.resize(arrow);
  }
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    e->inputs.emplace_back();
    if (lamella_status st = parse_term(f, text.substr(begin, end - begin), &e->inputs.back())) return st;
    begin = end + 1;
  }
  return LAMELLA_OK;
}

// A tensor whose dimensions carry labels, each once.
struct Operand {
  Var x;
  std::vector<int> labels;

  int find(int label) const {
    auto at = std::find(labels.begin(), labels.end(), label);
    return at == labels.end() ? -1 : static_cast<int>(at - labels.begin());
  }
  bool has(int label) const { return find(label) >= 0; }
};

class Einsum {
 public:
  explicit Einsum(Compose& c) : c_(c) { std::fill_n(sizes_, num_labels, int64_t{-1}); }

  lamella_status read(const Value* a) {
    Equation e;
    if (lamella_status st = parse(c_.frame(), a[0], &e)) return st;
    if (e.inputs.size() != a[1].length)
      return bad(c_.frame(), format("it has %zu operands, but %u tensors were given", e.inputs.size(), a[1].length));
    for (uint32_t i = 0; i < a[1].length; i++)
      if (lamella_status st = add(e.inputs[i], *core::full(a[1].as.tensors[i]), i)) return st;
    for (Operand& o : operands_) drop_ones(o);
    return find_output(e);
  }

  Var run() {
    for (size_t i = 0; i < operands_.size() && !c_.status(); i++) reduce(operands_[i], i);
    Operand result = std::move(operands_[0]);
    for (size_t i = 1; i < operands_.size() && !c_.status(); i++) result = pair(result, operands_[i], i);
    return in_order(result, output_, true);
  }

 private:
  lamella_status add(const Term& term, const Tensor& t, uint32_t at) {
    const int letters = static_cast<int>(term.letters.size()), under = t.ndim() - letters;
    if (under < 0 || (under > 0 && term.ellipsis < 0))
      return bad(c_.frame(), format("operand %u has %d labels, but its tensor has shape %s", at, letters,
                                    core::shape_string(&t).c_str()));
    std::vector<int> all;
    for (int i = 0; i <= letters; i++) {
      if (i == term.ellipsis)
        for (int k = under - 1; k >= 0; k--) all.push_back(first_ellipsis + k);
      if (i < letters) all.push_back(static_cast<unsigned char>(term.letters[i]));
    }
    if (term.ellipsis >= 0) ellipsis_ = std::max(ellipsis_, under);
    for (int d = 0; d < t.ndim(); d++) {
      const int64_t n = t.sizes()[d];
      int64_t& size = sizes_[all[d]];
      if (size >= 0 && size != n && size != 1 && n != 1)
        return bad(c_.frame(), format("label %s has size %lld in operand %u and %lld before", name(all[d]).c_str(),
                                      (long long)n, at, (long long)size));
      if (size < 0 || n != 1) size = n;
    }
    Operand o{c_.arg(core::tensor_value(const_cast<Tensor*>(&t))), {}};
    return diagonals(o, all, at);
  }

  static std::string name(int label) {
    return label < first_ellipsis ? std::string("'") + static_cast<char>(label) + "'" : "under '...'";
  }

  // A repeated label walks along the diagonal.
  lamella_status diagonals(Operand& o, const std::vector<int>& all, uint32_t at) {
    const Tensor* t = o.x.tensor();
    Ints sizes, strides;
    for (int d = 0; d < t->ndim(); d++) {
      const int seen = o.find(all[d]);
      if (seen < 0) {
        o.labels.push_back(all[d]);
        sizes.add(t->sizes()[d]);
        strides.add(t->strides()[d]);
      } else if (sizes[seen] != t->sizes()[d]) {
        return bad(c_.frame(), format("label %s stands for sizes %lld and %lld of operand %u", name(all[d]).c_str(),
                                      (long long)sizes[seen], (long long)t->sizes()[d], at));
      } else {
        strides[seen] += t->strides()[d];
      }
    }
    if (sizes.count < t->ndim()) o.x = c_.op<"as_strided">(o.x, sizes, strides, t->storage_offset);
    operands_.push_back(std::move(o));
    return c_.status();
  }

  // A size of 1 beside a larger one broadcasts: the product does not need it.
  void drop_ones(Operand& o) {
    for (int d = static_cast<int>(o.labels.size()) - 1; d >= 0; d--)
      if (o.x.size(d) == 1 && sizes_[o.labels[d]] != 1) {
        o.x = c_.op<"squeeze.dim">(o.x, d);
        o.labels.erase(o.labels.begin() + d);
      }
  }

  lamella_status find_output(const Equation& e) {
    int count[num_labels] = {};
    for (const Term& t : e.inputs)
      for (char l : t.letters) count[static_cast<unsigned char>(l)]++;
    auto under = [&] {
      for (int k = ellipsis_ - 1; k >= 0; k--) output_.push_back(first_ellipsis + k);
    };
    if (!e.has_output) {  // what stands once, in alphabetical order
      under();
      for (int l = 0; l < first_ellipsis; l++)
        if (count[l] == 1) output_.push_back(l);
      return LAMELLA_OK;
    }
    for (size_t i = 0; i <= e.output.letters.size(); i++) {
      if (static_cast<int>(i) == e.output.ellipsis) under();
      if (i == e.output.letters.size()) break;
      const int l = static_cast<unsigned char>(e.output.letters[i]);
      if (!count[l]) return bad(c_.frame(), "label " + name(l) + " of the output is in no operand");
      if (std::find(output_.begin(), output_.end(), l) != output_.end())
        return bad(c_.frame(), "label " + name(l) + " appears twice in the output");
      output_.push_back(l);
    }
    return LAMELLA_OK;
  }

  // Is the label still needed once the operands up to `last` are one?
  bool needed(int label, size_t last) const {
    if (std::find(output_.begin(), output_.end(), label) != output_.end()) return true;
    for (size_t i = last + 1; i < operands_.size(); i++)
      if (operands_[i].has(label)) return true;
    return false;
  }

  // Sums over labels that no other operand and no output has.
  void reduce(Operand& o, size_t at) {
    Ints dims;
    std::vector<int> kept;
    for (size_t d = 0; d < o.labels.size(); d++) {
      bool other = needed(o.labels[d], at);
      for (size_t i = 0; i < at; i++) other |= operands_[i].has(o.labels[d]);
      if (other)
        kept.push_back(o.labels[d]);
      else
        dims.add(static_cast<int64_t>(d));
    }
    if (!dims.count) return;
    o.x = c_.op<"sum.dim_IntList">(o.x, dims, false, As{o.x.dtype()});
    o.labels = kept;
  }

  // The dimensions in the order of `labels`; those it lacks have size 1 (or, expanded, the label's size).
  Var in_order(const Operand& o, const std::vector<int>& labels, bool expanded) {
    Ints order, sizes;
    Var x = o.x;
    bool moves = false, lacks = false;
    for (int l : labels)
      if (o.has(l)) {
        moves |= o.find(l) != order.count;
        order.add(o.find(l));
      }
    if (moves) x = c_.op<"permute">(x, order);
    for (size_t d = 0; d < labels.size(); d++) {
      if (!o.has(labels[d])) {
        x = c_.op<"unsqueeze">(x, static_cast<int64_t>(d));
        lacks = true;
      }
      sizes.add(sizes_[labels[d]]);
    }
    return lacks && expanded ? c_.op<"expand">(x, sizes) : x;
  }

  Var matrix(const Operand& o, const std::vector<int>& labels, int64_t b, int64_t n, int64_t m) {
    return c_.op<"reshape">(in_order(o, labels, false), Ints{b, n, m});
  }

  // One operand out of two.
  Operand pair(const Operand& x, const Operand& y, size_t last) {
    std::vector<int> both, left, right, summed;
    for (int l : x.labels) (!y.has(l) ? left : needed(l, last) ? both : summed).push_back(l);
    for (int l : y.labels)
      if (!x.has(l)) right.push_back(l);
    Operand r{c_.nothing(), both};
    r.labels.insert(r.labels.end(), left.begin(), left.end());
    r.labels.insert(r.labels.end(), right.begin(), right.end());
    if (summed.empty()) {
      r.x = in_order(x, r.labels, false) * in_order(y, r.labels, false);
      return r;
    }
    auto joined = [](std::vector<int> a, const std::vector<int>& b, const std::vector<int>& c) {
      a.insert(a.end(), b.begin(), b.end());
      a.insert(a.end(), c.begin(), c.end());
      return a;
    };
    auto count = [&](const std::vector<int>& labels) {
      int64_t n = 1;
      for (int l : labels) n *= sizes_[l];
      return n;
    };
    const int64_t b = count(both), n = count(left), k = count(summed), m = count(right);
    Var product =
        c_.op<"bmm">(matrix(x, joined(both, left, summed), b, n, k), matrix(y, joined(both, summed, right), b, k, m));
    Ints sizes;
    for (int l : r.labels) sizes.add(sizes_[l]);
    r.x = c_.op<"reshape">(product, sizes);
    return r;
  }

  Compose& c_;
  std::vector<Operand> operands_;
  std::vector<int> output_;
  int ellipsis_ = 0;
  int64_t sizes_[num_labels];
};

}  // namespace

lamella_status einsum(lamella_frame* f, const Value* a, Value* r) {
  Compose c(f);
  Einsum e(c);
  if (lamella_status st = e.read(a)) return st;
  return c.give(r, e.run());
}

}  // namespace lamella::dispatcher
