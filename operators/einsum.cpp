// einsum: parses an equation into labels; operands are joined from left to right, each pair in one bmm or one product.
#include "operators/einsum.h"

#include <cctype>
#include <string>

namespace lamella::operators {
namespace {

// A letter is a label. Each dimension under an ellipsis has a label, too: numbered from the last, from `first_ellipsis`
// on.
constexpr int first_ellipsis = 128, num_labels = first_ellipsis + LAMELLA_MAX_DIMS;

struct Term {
  std::string letters;
  int ellipsis = -1;  // the number of letters before '...'; -1: the term has none
};

struct Equation {
  std::vector<Term> inputs;
  Term output;
  bool has_output = false;
};

Term parse_term(const std::string& text) {
  Term term;
  for (size_t i = 0; i < text.size(); i++) {
    const char letter = text[i];
    if ((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z')) {
      term.letters += text[i];
    } else {
      size_t width = 1;  // of a character in UTF-8
      while (i + width < text.size() && (text[i + width] & 0xC0) == 0x80) width++;
      LAMELLA_CHECK(text.compare(i, 3, "...") == 0, argument("equation"), ": '", text.substr(i, width),
                    "' is no label; labels are the letters a to z and A to Z, ',' parts operands, '->' the output");
      LAMELLA_CHECK(term.ellipsis < 0, argument("equation"), ": two ellipses in '", text, "'");
      term.ellipsis = static_cast<int>(term.letters.size());
      i += 2;
    }
  }
  return term;
}

Equation parse(std::string_view equation) {
  Equation e;
  std::string text;
  for (char letter : equation)
    if (letter != ' ' && (letter < '\t' || letter > '\r')) text += letter;
  const size_t arrow = text.find("->");
  if (arrow != std::string::npos) {
    e.has_output = true;
    e.output = parse_term(text.substr(arrow + 2));
    text.resize(arrow);
  }
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    e.inputs.push_back(parse_term(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return e;
}

// A tensor whose dimensions have labels, each at most once.
struct Operand {
  Tensor x;
  std::vector<int> labels;

  int find(int label) const {
    auto at = std::find(labels.begin(), labels.end(), label);
    return at == labels.end() ? -1 : static_cast<int>(at - labels.begin());
  }
  bool has(int label) const { return find(label) >= 0; }
};

class Einsum {
 public:
  Einsum(std::string_view equation, TensorList tensors) {
    std::fill_n(sizes_, num_labels, int64_t{-1});
    const Equation e = parse(equation);
    LAMELLA_CHECK(e.inputs.size() == tensors.size(), argument("equation"), ": it has ", e.inputs.size(),
                  " operands, but ", tensors.size(), " tensors were given");
    for (size_t i = 0; i < tensors.size(); i++) add(e.inputs[i], tensors[i], i);
    for (Operand& o : operands_) drop_ones(o);
    find_output(e);
  }

  Tensor run() {
    for (size_t i = 0; i < operands_.size(); i++) reduce(operands_[i], i);
    Operand result = std::move(operands_[0]);
    for (size_t i = 1; i < operands_.size(); i++) result = pair(result, operands_[i], i);
    return in_order(result, output_, true);
  }

 private:
  void add(const Term& term, const Tensor& t, size_t at) {
    const int letters = static_cast<int>(term.letters.size()), under = static_cast<int>(t.dim()) - letters;
    LAMELLA_CHECK(under == 0 || (under > 0 && term.ellipsis >= 0), argument("equation"), ": operand ", at, " has ",
                  letters, " labels, but its tensor has shape ", shape_text(t));
    std::vector<int> all;
    for (int i = 0; i <= letters; i++) {
      if (i == term.ellipsis)
        for (int k = under - 1; k >= 0; k--) all.push_back(first_ellipsis + k);
      if (i < letters) all.push_back(static_cast<unsigned char>(term.letters[i]));
    }
    if (term.ellipsis >= 0) ellipsis_ = std::max(ellipsis_, under);
    for (int64_t d = 0; d < t.dim(); d++) {
      const int64_t n = t.size(d);
      int64_t& size = sizes_[all[d]];
      LAMELLA_CHECK(size < 0 || size == n || size == 1 || n == 1, argument("equation"), ": label ", name(all[d]),
                    " has size ", n, " in operand ", at, " and ", size, " before");
      if (size < 0 || n != 1) size = n;
    }
    operands_.push_back(diagonals(t, all, at));
  }

  static std::string name(int label) {
    return label < first_ellipsis ? std::string("'") + static_cast<char>(label) + "'" : "under '...'";
  }

  // Returns a view of an operand in which the dimensions of a repeated label have become one, their diagonal.
  static Operand diagonals(const Tensor& t, const std::vector<int>& all, size_t at) {
    Operand o{t, {}};
    DimVector sizes, strides;
    for (int64_t d = 0; d < t.dim(); d++) {
      const int seen = o.find(all[d]);
      if (seen < 0) {
        o.labels.push_back(all[d]);
        sizes.push_back(t.size(d));
        strides.push_back(t.stride(d));
      } else {
        LAMELLA_CHECK(sizes[seen] == t.size(d), argument("equation"), ": label ", name(all[d]), " stands for sizes ",
                      sizes[seen], " and ", t.size(d), " of operand ", at);
        strides[seen] += t.stride(d);
      }
    }
    if (sizes.size() < all.size()) o.x = t.as_strided(sizes, strides, t.storage_offset());
    return o;
  }

  // Drops dimensions of size 1 whose label has another size elsewhere: broadcasting makes them unnecessary.
  void drop_ones(Operand& o) {
    for (int d = static_cast<int>(o.labels.size()) - 1; d >= 0; d--)
      if (o.x.size(d) == 1 && sizes_[o.labels[d]] != 1) {
        o.x = o.x.squeeze(d);
        o.labels.erase(o.labels.begin() + d);
      }
  }

  void find_output(const Equation& e) {
    int count[num_labels] = {};
    for (const Term& t : e.inputs)
      for (char l : t.letters) count[static_cast<unsigned char>(l)]++;
    auto under = [&] {
      for (int k = ellipsis_ - 1; k >= 0; k--) output_.push_back(first_ellipsis + k);
    };
    if (!e.has_output) {  // the ellipsis, then the labels that occur once, A to Z and a to z
      under();
      for (int l = 0; l < first_ellipsis; l++)
        if (count[l] == 1) output_.push_back(l);
      return;
    }
    for (size_t i = 0; i <= e.output.letters.size(); i++) {
      if (static_cast<int>(i) == e.output.ellipsis) under();
      if (i == e.output.letters.size()) break;
      const int l = static_cast<unsigned char>(e.output.letters[i]);
      LAMELLA_CHECK(count[l], argument("equation"), ": label ", name(l), " of the output is in no operand");
      LAMELLA_CHECK(std::find(output_.begin(), output_.end(), l) == output_.end(), argument("equation"), ": label ",
                    name(l), " appears twice in the output");
      output_.push_back(l);
    }
  }

  // Returns whether the output or an operand after `last` has the label.
  bool needed(int label, size_t last) const {
    if (std::find(output_.begin(), output_.end(), label) != output_.end()) return true;
    for (size_t i = last + 1; i < operands_.size(); i++)
      if (operands_[i].has(label)) return true;
    return false;
  }

  // Sums over the labels that no other operand and no output has.
  void reduce(Operand& o, size_t at) {
    DimVector dims;
    std::vector<int> kept;
    for (size_t d = 0; d < o.labels.size(); d++) {
      bool other = needed(o.labels[d], at);
      for (size_t i = 0; i < at; i++) other |= operands_[i].has(o.labels[d]);
      if (other)
        kept.push_back(o.labels[d]);
      else
        dims.push_back(static_cast<int64_t>(d));
    }
    if (dims.empty()) return;
    o.x = o.x.sum(dims, false, o.x.dtype());
    o.labels = kept;
  }

  // Returns a view with the dimensions in the order of `labels`. A label that the operand lacks gets a dimension of
  // size 1, or of the label's size if `expanded` is set.
  Tensor in_order(const Operand& o, const std::vector<int>& labels, bool expanded) {
    DimVector order, sizes;
    Tensor x = o.x;
    bool moves = false, lacks = false;
    for (int l : labels)
      if (o.has(l)) {
        moves |= o.find(l) != static_cast<int>(order.size());
        order.push_back(o.find(l));
      }
    if (moves) x = x.permute(order);
    for (size_t d = 0; d < labels.size(); d++) {
      if (!o.has(labels[d])) {
        x = x.unsqueeze(static_cast<int64_t>(d));
        lacks = true;
      }
      sizes.push_back(sizes_[labels[d]]);
    }
    return lacks && expanded ? x.expand(sizes) : x;
  }

  Tensor matrix(const Operand& o, const std::vector<int>& labels, int64_t b, int64_t n, int64_t m) {
    return in_order(o, labels, false).reshape({b, n, m});
  }

  // Joins two operands into one.
  Operand pair(const Operand& x, const Operand& y, size_t last) {
    std::vector<int> both, left, right, summed;
    for (int l : x.labels) (!y.has(l) ? left : needed(l, last) ? both : summed).push_back(l);
    for (int l : y.labels)
      if (!x.has(l)) right.push_back(l);
    Operand r{Tensor(), both};
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
    const Tensor product =
        matrix(x, joined(both, left, summed), b, n, k).bmm(matrix(y, joined(both, summed, right), b, k, m));
    DimVector sizes;
    for (int l : r.labels) sizes.push_back(sizes_[l]);
    r.x = product.reshape(sizes);
    return r;
  }

  std::vector<Operand> operands_;
  std::vector<int> output_;
  int ellipsis_ = 0;
  int64_t sizes_[num_labels];
};

}  // namespace

Tensor einsum(std::string_view equation, TensorList tensors) { return Einsum(equation, tensors).run(); }

}  // namespace lamella::operators
