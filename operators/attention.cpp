// Attention: a softmax of the products of queries and keys weighs the values. Composites build the matrix of all
// scores; half precision is computed in float32.
//
// Note [Attention's rows]  A query that may see no key at all gets zeros, and 0 as its logsumexp: e^(-inf - 0) is the
//   weight 0 that its keys have, in the gradient too.
//
// Note [Dropped scores]  Word i of a random stream decides whether weight i stays, where i is the weight's place in the
//   row-major matrix of all scores, (batch, heads, queries, keys). So `words`, the stream's seed and its offset, is all
//   that the gradient needs: forward and backward generate the words of the block that they compute, whatever blocks
//   they take, and drop the weights that `dropout` would drop from the softmax of the whole matrix.
#include <cmath>
#include <limits>

#include "operators/shapes.h"

namespace lamella::operators {
namespace {

constexpr double lowest = -std::numeric_limits<double>::infinity();

// ---- arguments ------------------------------------------------------------------------------------------------------

void check_operands(const Tensor& query, const Tensor& key, const Tensor& value) {
  check_floating("query", query.dtype());
  for (const auto& [name, t] : {std::pair{"key", &key}, {"value", &value}})
    LAMELLA_CHECK(t->dtype() == query.dtype(), argument(name), ": its dtype ", t->dtype(), " is not that of 'query', ",
                  query.dtype(), "; convert one with .to(...)");
  LAMELLA_CHECK(key.size(-1) == query.size(-1), argument("key"), ": expected last size ", query.size(-1),
                ", that of 'query', got shape ", shape_text(key));
  LAMELLA_CHECK(value.size(-2) == key.size(-2), argument("value"), ": expected ", key.size(-2),
                " rows, as 'key' has, got shape ", shape_text(value));
}

void check_mask_shape(const Tensor& attn_mask, IntArrayRef scores) {
  DimVector sizes(scores);
  LAMELLA_CHECK(broadcast(&sizes, attn_mask.sizes()) && IntArrayRef(sizes) == scores, argument("attn_mask"), ": shape ",
                shape_text(attn_mask), " does not broadcast to that of the scores, ", shape_text(scores));
}

void check_mask(const Tensor& attn_mask, const Tensor& query, IntArrayRef scores) {
  if (!attn_mask.defined()) return;
  const ScalarType t = attn_mask.dtype();
  LAMELLA_CHECK(t == kBool || t == kFloat || t == query.dtype(), argument("attn_mask"), ": expected dtype ", kBool,
                ", ", kFloat, " or that of 'query', ", query.dtype(), ", got ", t);
  check_mask_shape(attn_mask, scores);
}

void check_four(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask) {
  for (const auto& [name, t] : {std::pair{"query", &query}, {"key", &key}, {"value", &value}})
    LAMELLA_CHECK(t->dim() == 4, argument(name), ": expected (batch, heads, length, width), got shape ",
                  shape_text(*t));
  check_operands(query, key, value);
  const bool shared = key.size(1) > 0 ? query.size(1) % key.size(1) == 0 : query.size(1) == 0;
  LAMELLA_CHECK(key.size(0) == query.size(0) && shared, argument("key"), ": shape ", shape_text(key),
                " does not fit that of 'query', ", shape_text(query));
  LAMELLA_CHECK(value.size(0) == key.size(0) && value.size(1) == key.size(1), argument("value"), ": shape ",
                shape_text(value), " does not fit that of 'key', ", shape_text(key));
  check_mask(attn_mask, query, {query.size(0), query.size(1), query.size(2), key.size(2)});
}

void check_dropped(double dropout_p) {
  LAMELLA_CHECK(dropout_p >= 0 && dropout_p <= 1, argument("dropout_p"), ": expected a probability, got ", dropout_p);
}

// Checks the seed and the offset of Note [Dropped scores].
void check_words(const Tensor& words, double dropout_p) {
  check_dropped(dropout_p);
  LAMELLA_CHECK(words.defined() || dropout_p == 0, argument("words"), ": is needed beside a dropout_p of ", dropout_p);
  LAMELLA_CHECK(!words.defined() || (words.dtype() == kLong && words.sizes() == IntArrayRef({2})), argument("words"),
                ": expected two numbers of dtype ", kLong, ", a seed and an offset, got shape ", shape_text(words),
                " of dtype ", words.dtype());
}

void infer_attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask,
                     bool /*is_causal*/, double /*scale*/, Output out, Output logsumexp) {
  check_four(query, key, value, attn_mask);
  const DimVector sizes = {query.size(0), query.size(1), query.size(2), value.size(3)};
  if (value.size(3) == query.size(3))
    out.like(query);
  else
    out.set(sizes, query.dtype());
  logsumexp.set({query.size(0), query.size(1), query.size(2)}, wide_of(query.dtype()));
}

void infer_attention_dropout(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask,
                             bool is_causal, double scale, double dropout_p, const Generator&, Output out,
                             Output logsumexp, Output words) {
  check_dropped(dropout_p);
  infer_attention(query, key, value, attn_mask, is_causal, scale, out, logsumexp);
  words.set({2}, kLong);
}

// Checks the arguments that _attention_backward and _attention_mask_backward share.
void check_backward(const Tensor& grad_out, const Tensor& grad_logsumexp, const Tensor& query, const Tensor& key,
                    const Tensor& value, const Tensor& attn_mask, const Tensor& out, const Tensor& logsumexp,
                    const Tensor& words, double dropout_p) {
  check_four(query, key, value, attn_mask);
  check_words(words, dropout_p);
  const DimVector rows = {query.size(0), query.size(1), query.size(2)};
  DimVector sizes(rows);
  sizes.push_back(value.size(3));
  auto check_sizes = [](const char* name, const Tensor& t, IntArrayRef expected) {
    LAMELLA_CHECK(!t.defined() || t.sizes() == expected, argument(name), ": expected shape ", shape_text(expected),
                  ", got ", shape_text(t));
  };
  check_sizes("grad_out", grad_out, sizes);
  check_sizes("out", out, sizes);
  check_sizes("logsumexp", logsumexp, rows);
  check_sizes("grad_logsumexp", grad_logsumexp, rows);
  const ScalarType t = query.dtype(), wide = wide_of(t);
  for (const auto& [name, x, wanted] : {std::tuple{"grad_out", &grad_out, t},
                                        {"out", &out, t},
                                        {"logsumexp", &logsumexp, wide},
                                        {"grad_logsumexp", &grad_logsumexp, wide}})
    LAMELLA_CHECK(!x->defined() || x->dtype() == wanted, argument(name), ": expected dtype ", wanted, ", got ",
                  x->dtype());
}

void infer_attention_backward(const Tensor& grad_out, const Tensor& grad_logsumexp, const Tensor& query,
                              const Tensor& key, const Tensor& value, const Tensor& attn_mask, const Tensor& out,
                              const Tensor& logsumexp, bool /*is_causal*/, double /*scale*/, ArrayRef<bool> output_mask,
                              const Tensor& words, double dropout_p, Output dq, Output dk, Output dv) {
  check_backward(grad_out, grad_logsumexp, query, key, value, attn_mask, out, logsumexp, words, dropout_p);
  size_t i = 0;
  for (const auto& [to, of] : {std::pair{&dq, &query}, {&dk, &key}, {&dv, &value}}) {
    to->like(*of);
    if (i >= output_mask.size() || !output_mask[i]) to->absent();
    i++;
  }
}

void infer_mask_backward(const Tensor& grad_out, const Tensor& grad_logsumexp, const Tensor& query, const Tensor& key,
                         const Tensor& value, const Tensor& attn_mask, const Tensor& out, const Tensor& logsumexp,
                         bool /*is_causal*/, double /*scale*/, const Tensor& words, double dropout_p, Output result) {
  check_backward(grad_out, grad_logsumexp, query, key, value, attn_mask, out, logsumexp, words, dropout_p);
  check_floating("attn_mask", attn_mask.dtype());
  result.set(attn_mask.sizes(), attn_mask.dtype());
}

// ---- with the matrix of all scores ----------------------------------------------------------------------------------

// Repeats each head of keys or values for every head of queries that shares it.
Tensor for_each_query(const Tensor& x, int64_t heads) {
  const int64_t own = x.size(1);
  if (own == heads || own == 0) return x;
  return x.unsqueeze(2)
      .expand({x.size(0), own, heads / own, x.size(2), x.size(3)})
      .reshape({x.size(0), heads, x.size(2), x.size(3)});
}

// The gradient of for_each_query(): sums over the heads of queries that share a head.
Tensor for_each_key(const Tensor& x, int64_t heads) {
  if (x.size(1) == heads || heads == 0) return x;
  return x.reshape({x.size(0), heads, x.size(1) / heads, x.size(2), x.size(3)}).sum(2);
}

// Returns a mask of the keys that a causal query does not see: those after it.
Tensor behind(const Tensor& scores) {
  return lamella::ones({scores.size(-2), scores.size(-1)}, TensorOptions().dtype(kBool).device(scores.device()))
      .triu(1);
}

Tensor hidden_by(const Tensor& scores, const Tensor& attn_mask, bool is_causal) {
  Tensor s = scores;
  if (attn_mask.defined())
    s = attn_mask.dtype() == kBool ? s.masked_fill(attn_mask.logical_not(), lowest) : s + as(attn_mask, s.dtype());
  return is_causal ? s.masked_fill(behind(s), lowest) : s;
}

Tensor scores_of(const Tensor& q, const Tensor& k, const Tensor& attn_mask, bool is_causal, double scale) {
  return hidden_by((q * scale).matmul(k.transpose(-2, -1)), attn_mask, is_causal);
}

struct Wide {
  Tensor q, k, v;
};
Wide wide(const Tensor& query, const Tensor& key, const Tensor& value) {
  const ScalarType t = wide_of(query.dtype());
  const int64_t heads = query.size(1);
  return {as(query, t), for_each_query(as(key, t), heads), for_each_query(as(value, t), heads)};
}

// Puts the stream's seed and offset into a tensor.
Tensor words_of(std::pair<uint64_t, uint64_t> place, const Device& device) {
  const auto options = TensorOptions().dtype(kLong).device(device);
  return lamella::cat({lamella::full({1}, static_cast<int64_t>(place.first), options),
                       lamella::full({1}, static_cast<int64_t>(place.second), options)},
                      0);
}

// Returns the factor of each weight, (batch, heads, queries, keys): 0 or 1 / (1 - p). Note [Dropped scores]
Tensor factors(const Tensor& words, double dropout_p, const Tensor& weights) {
  auto number = [&](int64_t i) { return static_cast<uint64_t>(words.select(0, i).item().toLong()); };
  lamella_object* made;
  check(api().generator_new(weights.device().get(), number(0), &made));
  const Generator generator = Generator::borrow(made);
  api().release(made);
  check(api().generator_set(made, number(0), number(1)));
  const Tensor stay = lamella::empty(weights.sizes(), TensorOptions().dtype(kBool).device(weights.device()))
                          .bernoulli_(1 - dropout_p, generator);
  return as(stay, weights.dtype()) * (dropout_p == 1 ? 0. : 1 / (1 - dropout_p));
}

std::tuple<Tensor, Tensor> attend(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask,
                                  bool is_causal, double scale, const Tensor& words, double dropout_p) {
  const Wide w = wide(query, key, value);
  if (key.size(2) == 0) {
    const Tensor none = w.q.sum(-1) * 0;
    return {as(none.unsqueeze(-1) * lamella::zeros({value.size(3)}, none.options()), query.dtype()), none};
  }
  const Tensor s = scores_of(w.q, w.k, attn_mask, is_causal, scale);
  const Tensor top = s.amax({-1}, true), from = top.masked_fill(top == lowest, 0);
  const Tensor e = (s - from).exp(), sum = e.sum({-1}, true), none = sum == 0;
  const Tensor divisor = sum.masked_fill(none, 1);
  Tensor weights = e / divisor;
  if (dropout_p > 0) weights = weights * factors(words, dropout_p, weights);
  return {as(weights.matmul(w.v), query.dtype()), (from + divisor.log()).squeeze(-1)};
}

std::tuple<Tensor, Tensor> attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const Tensor& attn_mask, bool is_causal, double scale) {
  return attend(query, key, value, attn_mask, is_causal, scale, Tensor(), 0);
}

std::tuple<Tensor, Tensor, Tensor> attention_dropout(const Tensor& query, const Tensor& key, const Tensor& value,
                                                     const Tensor& attn_mask, bool is_causal, double scale,
                                                     double dropout_p, const Generator& generator) {
  const int64_t count = query.size(0) * query.size(1) * query.size(2) * key.size(2);
  const Tensor words = words_of(generator.reserve(query.device(), static_cast<uint64_t>(count)), query.device());
  auto [out, logsumexp] = attend(query, key, value, attn_mask, is_causal, scale, words, dropout_p);
  return {out, logsumexp, words};
}

// The operands of all gradients: the weights that forward used, and the gradient of the scores.
struct Gradients {
  Tensor weights, of_scores;
};
Gradients gradients(const Tensor& grad_out, const Tensor& grad_logsumexp, const Wide& w, const Tensor& attn_mask,
                    const Tensor& out, const Tensor& logsumexp, bool is_causal, double scale, const Tensor& words,
                    double dropout_p) {
  const ScalarType t = w.q.dtype();
  const Tensor g = as(grad_out, t);
  const Tensor weights = (scores_of(w.q, w.k, attn_mask, is_causal, scale) - as(logsumexp, t).unsqueeze(-1)).exp();
  Tensor shift = (g * as(out, t)).sum(-1), used = weights, of_weights = g.matmul(w.v.transpose(-2, -1));
  if (grad_logsumexp.defined()) shift = shift - as(grad_logsumexp, t);
  if (dropout_p > 0) {
    const Tensor by = factors(words, dropout_p, weights);
    used = weights * by;
    of_weights = of_weights * by;
  }
  return {used, weights * (of_weights - shift.unsqueeze(-1))};
}

std::tuple<Tensor, Tensor, Tensor> attention_backward(const Tensor& grad_out, const Tensor& grad_logsumexp,
                                                      const Tensor& query, const Tensor& key, const Tensor& value,
                                                      const Tensor& attn_mask, const Tensor& out,
                                                      const Tensor& logsumexp, bool is_causal, double scale,
                                                      ArrayRef<bool> output_mask, const Tensor& words,
                                                      double dropout_p) {
  auto asked = [&](size_t i) { return i < output_mask.size() && output_mask[i]; };
  const Wide w = wide(query, key, value);
  const Gradients d =
      gradients(grad_out, grad_logsumexp, w, attn_mask, out, logsumexp, is_causal, scale, words, dropout_p);
  const int64_t heads = key.size(1);
  const ScalarType t = query.dtype();
  Tensor dq, dk, dv;
  if (asked(0)) dq = as(d.of_scores.matmul(w.k) * scale, t);
  if (asked(1)) dk = as(for_each_key(d.of_scores.transpose(-2, -1).matmul(w.q) * scale, heads), t);
  if (asked(2)) dv = as(for_each_key(d.weights.transpose(-2, -1).matmul(as(grad_out, w.q.dtype())), heads), t);
  return {dq, dk, dv};
}

// Sums a gradient over the dimensions that broadcasting repeated.
Tensor sum_to(Tensor x, IntArrayRef sizes) {
  while (x.dim() > static_cast<int64_t>(sizes.size())) x = x.sum(0);
  for (int64_t d = 0; d < x.dim(); d++)
    if (sizes[static_cast<size_t>(d)] == 1 && x.size(d) != 1) x = x.sum({d}, true);
  return x;
}

Tensor attention_mask_backward(const Tensor& grad_out, const Tensor& grad_logsumexp, const Tensor& query,
                               const Tensor& key, const Tensor& value, const Tensor& attn_mask, const Tensor& out,
                               const Tensor& logsumexp, bool is_causal, double scale, const Tensor& words,
                               double dropout_p) {
  const Wide w = wide(query, key, value);
  const Gradients d =
      gradients(grad_out, grad_logsumexp, w, attn_mask, out, logsumexp, is_causal, scale, words, dropout_p);
  return as(sum_to(d.of_scores, attn_mask.sizes()), attn_mask.dtype());
}

// ---- the function of neural networks --------------------------------------------------------------------------------

// Expands a tensor to these sizes before its last two dimensions.
Tensor with_batch(const Tensor& x, IntArrayRef batch) {
  DimVector sizes(batch);
  sizes.append({x.size(-2), x.size(-1)});
  return IntArrayRef(sizes) == x.sizes() ? x : x.expand(sizes);
}

// Returns the tensor in four dimensions: all dimensions before the last three become one, or new ones of size 1 come
// first.
Tensor as_four(const Tensor& x) {
  if (x.dim() == 4) return x;
  if (x.dim() == 2) return x.unsqueeze(0).unsqueeze(0);
  if (x.dim() == 3) return x.unsqueeze(0);
  int64_t count = 1;
  for (int64_t d = 0; d + 3 < x.dim(); d++) count *= x.size(d);
  return x.reshape({count, x.size(-3), x.size(-2), x.size(-1)});
}

void check_shared_heads(const char* name, const Tensor& x, int64_t heads) {
  const int64_t own = x.size(-3);
  LAMELLA_CHECK(own > 0 && heads % own == 0, argument(name), ": with enable_gqa, its ", own, " heads must divide the ",
                heads, " heads of 'query'");
}

// Repeats each head of keys or values for its heads of queries.
Tensor repeated_heads(const Tensor& x, int64_t heads) {
  return x.size(-3) == heads ? x : x.repeat_interleave(heads / x.size(-3), -3);
}

DimVector batch_of(const Tensor& query, const Tensor& key, const Tensor& value) {
  auto leading = [](const Tensor& t) { return IntArrayRef(t.sizes().data(), t.sizes().size() - 2); };
  DimVector batch(leading(query));
  for (const auto& [name, t] : {std::pair{"key", &key}, {"value", &value}})
    LAMELLA_CHECK(broadcast(&batch, leading(*t)), argument(name), ": shape ", shape_text(*t),
                  " does not broadcast with that of 'query', ", shape_text(query), ", but for the last two sizes");
  return batch;
}

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa) {
  for (const auto& [name, t] : {std::pair{"query", &query}, {"key", &key}, {"value", &value}})
    LAMELLA_CHECK(t->dim() >= 2, argument(name), ": expected (..., length, width), got shape ", shape_text(*t));
  check_operands(query, key, value);
  LAMELLA_CHECK(!attn_mask.defined() || !is_causal, argument("is_causal"),
                ": must be False beside an explicit attn_mask");
  check_dropped(dropout_p);
  Tensor k = key, v = value;
  if (enable_gqa) {
    LAMELLA_CHECK(query.dim() >= 3 && key.dim() >= 3 && value.dim() >= 3, argument("enable_gqa"),
                  ": needs a dimension of heads, got shapes ", shape_text(query), " ('query'), ", shape_text(key),
                  " ('key') and ", shape_text(value), " ('value')");
    // Operands of four dimensions and one batch size, with as many heads of keys as of values, stay as they are.
    const bool plain = query.dim() == 4 && key.dim() == 4 && value.dim() == 4 && key.size(1) == value.size(1) &&
                       key.size(0) == query.size(0) && value.size(0) == query.size(0);
    check_shared_heads("key", key, query.size(-3));
    check_shared_heads("value", value, query.size(-3));
    if (!plain) k = repeated_heads(key, query.size(-3)), v = repeated_heads(value, query.size(-3));
  }
  const double by = scale.value_or(query.size(-1) ? 1 / std::sqrt(static_cast<double>(query.size(-1))) : 1);
  auto result = [&](const Tensor& q, const Tensor& keys, const Tensor& values, const Tensor& mask) {
    return dropout_p > 0 ? std::get<0>(lamella::_attention_dropout(q, keys, values, mask, is_causal, by, dropout_p))
                         : std::get<0>(lamella::_attention(q, keys, values, mask, is_causal, by));
  };
  if (query.dim() == 4 && k.dim() == 4 && v.dim() == 4 && query.size(0) == k.size(0) && query.size(0) == v.size(0) &&
      k.size(1) == v.size(1) && (enable_gqa || k.size(1) == query.size(1)))
    return result(query, k, v, attn_mask);
  const DimVector batch = batch_of(query, k, v);
  const Tensor q = with_batch(query, batch);
  k = with_batch(k, batch), v = with_batch(v, batch);
  DimVector sizes((IntArrayRef(batch)));
  sizes.append({q.size(-2), k.size(-2)});
  check_mask(attn_mask, query, sizes);
  Tensor mask = attn_mask;
  if (mask.defined() && mask.dim() > 2)
    mask = as_four(mask.dim() == q.dim() && q.dim() <= 4 ? mask : mask.expand(sizes));
  const Tensor out = result(as_four(q), as_four(k), as_four(v), mask);
  sizes.back() = v.size(-1);
  return out.reshape(sizes);
}

// The weights of MultiheadAttention, which returns them, so that they are computed in full.
Tensor attention_weights(const Tensor& query, const Tensor& key, const Tensor& attn_mask, double scale) {
  for (const auto& [name, t] : {std::pair{"query", &query}, {"key", &key}})
    LAMELLA_CHECK(t->dim() >= 2, argument(name), ": expected (..., length, width), got shape ", shape_text(*t));
  check_operands(query, key, key);
  const Tensor scores = (query * scale).matmul(key.transpose(-2, -1));
  if (!attn_mask.defined()) return scores.softmax(-1);
  check_floating("attn_mask", attn_mask.dtype());
  check_mask_shape(attn_mask, scores.sizes());
  const Tensor hidden = (attn_mask.detach() == lowest).all(-1, true);
  return (scores + attn_mask.masked_fill(hidden, 0)).softmax(-1).masked_fill(hidden, 0);
}

}  // namespace

LAMELLA_FAMILY(attention, .category = "matmul", .forms = hidden | function) {
  return {
      {.schema = "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float "
                 "dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
       .dims = "... l~ e, ... s~ e, ... s~ v, ... l~ s~ -> ... l~ v | ... l~ e, ... s~ e, ... s~ v, s~ -> ... l~ v | "
               "... h~ l~ e, ... g~ s~ e, ... g~ s~ v, ... h~ l~ s~ -> ... h~ l~ v | ... h~ l~ e, ... g~ s~ e, ... g~ "
               "s~ v, l~ s~ -> ... h~ l~ v | ... h~ l~ e, ... g~ s~ e, ... g~ s~ v, s~ -> ... h~ l~ v",
       .composite = composite<scaled_dot_product_attention>,
       .doc = R"(softmax(query key^T * scale + attn_mask) value, over the last two dimensions; the others broadcast.

Args:
    attn_mask: a bool mask is true where a query sees a key; another one is added to the scores
    dropout_p: this fraction of the weights becomes 0, in any mode
    is_causal: the query i sees the keys up to the i-th
    scale: 1 / sqrt(width) without it
    enable_gqa: each head of key and value serves as many heads of query as the numbers of heads say

A query that sees no key gets zeros.

Raises:
    RuntimeError: dtypes or shapes do not fit

>>> x = lamella.tensor([[1., 0.], [0., 1.]])
>>> lamella.ops.aten.scaled_dot_product_attention(x, x, x, is_causal=True)
tensor([[1.0000, 0.0000],
        [0.3302, 0.6698]])
)"},
      {.schema = "_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask, bool is_causal, float scale) "
                 "-> (Tensor out, Tensor logsumexp)",
       .dims = "... l~ e, ... s~ e, ... s~ v, ... l~ s~ -> ... l~ v, ... l~ | ... l~ e, ... s~ e, ... s~ v, s~ -> ... "
               "l~ v, ... l~ | ... h~ l~ e, ... g~ s~ e, ... g~ s~ v, ... h~ l~ s~ -> ... h~ l~ v, ... h~ l~ | ... h~ "
               "l~ e, ... g~ s~ e, ... g~ s~ v, l~ s~ -> ... h~ l~ v, ... h~ l~ | ... h~ l~ e, ... g~ s~ e, ... g~ s~ "
               "v, s~ -> ... h~ l~ v, ... h~ l~",
       .infer = shape<infer_attention>,
       .composite = composite<attention>,
       .doc = "scaled_dot_product_attention of four dimensions, and the logarithms of the sums of the exponentials of "
              "the scores."},
      {.schema = "_attention_dropout(Tensor query, Tensor key, Tensor value, Tensor? attn_mask, bool is_causal, float "
                 "scale, float dropout_p, Generator? generator=None) -> (Tensor out, Tensor logsumexp, Tensor words)",
       .category = "random",
       .infer = shape<infer_attention_dropout>,
       .composite = composite<attention_dropout>,
       .doc = "_attention with dropout of the weights, and the seed and the place of the stream that says which of "
              "them stay."},
      {.schema = "_attention_backward(Tensor grad_out, Tensor? grad_logsumexp, Tensor query, Tensor key, Tensor value, "
                 "Tensor? attn_mask, Tensor out, Tensor logsumexp, bool is_causal, float scale, bool[3] output_mask, "
                 "Tensor? words=None, float dropout_p=0.0) -> (Tensor, Tensor, Tensor)",
       .infer = shape<infer_attention_backward>,
       .composite = composite<attention_backward>,
       .doc = "The gradients of _attention by query, key and value; those that `output_mask` leaves out are None."},
      {.schema = "_attention_mask_backward(Tensor grad_out, Tensor? grad_logsumexp, Tensor query, Tensor key, Tensor "
                 "value, Tensor attn_mask, Tensor out, Tensor logsumexp, bool is_causal, float scale, Tensor? "
                 "words=None, float dropout_p=0.0) -> Tensor",
       .infer = shape<infer_mask_backward>,
       .composite = composite<attention_mask_backward>,
       .doc = "The gradient of _attention by a mask that is added."},
      {.schema = "_attention_weights(Tensor query, Tensor key, Tensor? attn_mask, float scale) -> Tensor",
       .dims = "... l e, ... s~ e, ... l s~ -> ... l w | ... l e, ... s~ e, s~ -> ... l w",
       .composite = composite<attention_weights>,
       .doc = R"(softmax(query key^T * scale + attn_mask), over the last two dimensions; the others broadcast. A query
that sees no key gets zeros.

>>> x = lamella.tensor([[1., 0.], [0., 1.]])
>>> lamella.ops.aten._attention_weights(x, x, None, 1.0)
tensor([[0.7311, 0.2689],
        [0.2689, 0.7311]])
)"},
  };
}

}  // namespace lamella::operators
