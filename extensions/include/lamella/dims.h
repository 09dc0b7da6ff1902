/* The text that says how an operator's dimensions map, read into a struct: Note [Dimensions] in <lamella/c_api.h>. For
 * layers that follow the text, and for `define`, which refuses a text that does not parse:
 *
 *   lamella::Dims d = lamella::parse_dims(api().operator_dims(op));
 *   if (const lamella::DimsPattern* p = d.fitting({2, 3})) ... // for a tensor of 2 dimensions and one of 3 */
#ifndef LAMELLA_DIMS_H
#define LAMELLA_DIMS_H

#include <cstddef>
#include <string>
#include <vector>

#pragma GCC visibility push(hidden)

namespace lamella {

/* A word of a pattern, or `...`. */
struct DimsToken {
  std::string word;
  bool ellipsis = false;
  bool bound =
      false; /* the word has a `~` anywhere in its pattern: the values along the dimension depend on each other */
};
using DimsOfTensor = std::vector<DimsToken>;

/* One group for each tensor, tensor that may be absent, and list of tensors among the arguments and the results. */
struct DimsPattern {
  std::vector<DimsOfTensor> args, results;
};

enum class DimsKind { None, Broadcast, Keep, Reduce, Pattern };

struct Dims {
  DimsKind kind = DimsKind::None;
  std::vector<DimsPattern> patterns; /* of DimsKind::Pattern: those between the text's `|` */
  std::string error;                 /* what is wrong with the text; empty if it is right */

  /* Returns the first pattern that fits the numbers of dimensions, -1 for an argument without a tensor; null if none
   * does. It does not compare sizes. */
  const DimsPattern* fitting(const std::vector<int>& ndims) const {
    for (const DimsPattern& p : patterns) {
      bool fits = p.args.size() == ndims.size();
      for (size_t i = 0; fits && i < ndims.size(); i++) {
        int words = 0;
        bool more = false;
        for (const DimsToken& t : p.args[i]) {
          more |= t.ellipsis;
          words += !t.ellipsis;
        }
        fits = ndims[i] < 0 || ndims[i] == words || (more && ndims[i] > words);
      }
      if (fits) return &p;
    }
    return nullptr;
  }
};

namespace detail {

inline std::vector<std::string> split_dims(const std::string& text, const std::string& mark) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(mark, begin)) != std::string::npos; begin = end + mark.size())
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

inline bool is_dims_word(const std::string& w) {
  bool fine = !w.empty() && !(w[0] >= '0' && w[0] <= '9');
  for (const char c : w) fine &= c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return fine;
}

/* Reads the groups of one side of a pattern. Returns what is wrong, or an empty string. */
inline std::string parse_dims_side(const std::string& side, std::vector<DimsOfTensor>* out) {
  for (const std::string& group : split_dims(side, ",")) {
    DimsOfTensor& tensor = out->emplace_back();
    int runs = 0;
    for (std::string word : split_dims(group, " ")) {
      if (word.empty()) continue;
      DimsToken token;
      token.bound = word.back() == '~';
      if (token.bound) word.pop_back();
      token.ellipsis = word == "...";
      runs += token.ellipsis;
      if (!token.ellipsis && !is_dims_word(word)) return "'" + word + "' is no name of a dimension";
      token.word = word;
      tensor.push_back(token);
    }
    if (runs > 1) return "a tensor has '...' twice";
  }
  return {};
}

/* Marks every occurrence of a word that has a `~` once. */
inline void spread_marks(DimsPattern* p) {
  std::vector<std::string> marked;
  for (const auto* side : {&p->args, &p->results})
    for (const DimsOfTensor& tensor : *side)
      for (const DimsToken& t : tensor)
        if (t.bound) marked.push_back(t.word);
  for (auto* side : {&p->args, &p->results})
    for (DimsOfTensor& tensor : *side)
      for (DimsToken& t : tensor)
        for (const std::string& word : marked) t.bound |= t.word == word;
}

inline std::string parse_dims_pattern(const std::string& text, DimsPattern* p) {
  const std::vector<std::string> sides = split_dims(text, "->");
  if (sides.size() != 2) return "expected 'broadcast', 'keep', 'reduce', or a pattern with one '->'";
  std::string error = parse_dims_side(sides[0], &p->args);
  if (error.empty()) error = parse_dims_side(sides[1], &p->results);
  bool run = false, used = false;
  for (const DimsOfTensor& tensor : p->args)
    for (const DimsToken& t : tensor) run |= t.ellipsis;
  for (const DimsOfTensor& tensor : p->results)
    for (const DimsToken& t : tensor) used |= t.ellipsis;
  if (error.empty() && used && !run) error = "a result has '...', and no argument has it";
  spread_marks(p);
  return error;
}

} /* namespace detail */

/* Reads a text. If it is wrong, `error` says why, and the kind is None. */
inline Dims parse_dims(const std::string& text) {
  Dims d;
  if (text.empty()) return d;
  if (text == "broadcast") d.kind = DimsKind::Broadcast;
  if (text == "keep") d.kind = DimsKind::Keep;
  if (text == "reduce") d.kind = DimsKind::Reduce;
  if (d.kind != DimsKind::None) return d;
  for (const std::string& one : detail::split_dims(text, "|")) {
    d.error = detail::parse_dims_pattern(one, &d.patterns.emplace_back());
    if (!d.error.empty()) {
      d.patterns.clear();
      return d;
    }
  }
  d.kind = DimsKind::Pattern;
  return d;
}

} /* namespace lamella */

#pragma GCC visibility pop

#endif
