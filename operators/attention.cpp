// Attention: a softmax of the products of queries and keys weighs the values. Composites build the matrix of all
// scores; half precision is computed in float32.
//
// Note [Attention's rows]  A query that may see no key at all gets zeros, and 0 as its logsumexp: e^(-inf - 0) is the
//   weight 0 that its keys have, in the gradient too.
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
  LAMELLA_CHECK(key.size(-1) == query.size(-1), argument("key"), ": its last size is that of 'query', ", query.size(-1),
                ", got shape ", shape_text(key));
  LAMELLA_CHECK(value.size(-2) == key.size(-2), argument("value"), ": has a row for each of the ", key.size(-2),
                " rows of 'key', got shape ", shape_text(value));
}

void check_mask(const Tensor& attn_mask, const Tensor& query, IntArrayRef scores) {
  if (!attn_mask.defined()) return;
  const ScalarType t = attn_mask.dtype();
  LAMELLA_CHECK(t == kBool || t == kFloat || t == query.dtype(), argument("attn_mask"), ": expected dtype ", kBool,
                ", ", kFloat, " or that of 'query', ", query.dtype(), ", got ", t);
  DimVector sizes(scores);
  LAMELLA_CHECK(broadcast(&sizes, attn_mask.sizes()) && IntArrayRef(sizes) == scores, argument("attn_mask"), ": shape ",
                shape_text(attn_mask), " does not broadcast to that of the scores, ", shape_text(scores));
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

void infer_attention_backward(const Tensor& grad_out, const Tensor& grad_logsumexp, const Tensor& query,
                              const Tensor& key, const Tensor& value, const Tensor& attn_mask, const Tensor& out,
                              const Tensor& logsumexp, bool /*is_causal*/, double /*scale*/, ArrayRef<bool> output_mask,
                              Output dq, Output dk, Output dv) {
  check_four(query, key, value, attn_mask);
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
  size_t i = 0;
  for (const auto& [to, of] : {std::pair{&dq, &query}, {&dk, &key}, {&dv, &value}}) {
    to->like(*of);
    if (i >= output_mask.size() || !output_mask[i]) to->absent();
    i++;
  }
}

// ---- with the matrix of all scores ----------------------------------------------------------------------------------

// Heads that queries share, once for each of these.
Tensor for_each_query(const Tensor& x, int64_t heads) {
  const int64_t own = x.size(1);
  if (own == heads || own == 0) return x;
  return x.unsqueeze(2)
      .expand({x.size(0), own, heads / own, x.size(2), x.size(3)})
      .reshape({x.size(0), heads, x.size(2), x.size(3)});
}

// The gradient of that.
Tensor for_each_key(const Tensor& x, int64_t heads) {
  if (x.size(1) == heads || heads == 0) return x;
  return x.reshape({x.size(0), heads, x.size(1) / heads, x.size(2), x.size(3)}).sum(2);
}

// Which keys a query does not see: those behind it.
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

std::tuple<Tensor, Tensor> attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const Tensor& attn_mask, bool is_causal, double scale) {
  const Wide w = wide(query, key, value);
  if (key.size(2) == 0) {
    const Tensor none = w.q.sum(-1) * 0;
    return {as(none.unsqueeze(-1) * lamella::zeros({value.size(3)}, none.options()), query.dtype()), none};
  }
  const Tensor s = scores_of(w.q, w.k, attn_mask, is_causal, scale);
  const Tensor top = s.amax({-1}, true), from = top.masked_fill(top == lowest, 0);
  const Tensor e = (s - from).exp(), sum = e.sum({-1}, true), none = sum == 0;
  const Tensor divisor = sum.masked_fill(none, 1);
  return {as((e / divisor).matmul(w.v), query.dtype()), (from + divisor.log()).squeeze(-1)};
}

// What the gradients stand on: the weights, and the gradient of the scores.
struct Gradients {
  Tensor weights, of_scores;
};
Gradients gradients(const Tensor& grad_out, const Tensor& grad_logsumexp, const Wide& w, const Tensor& attn_mask,
                    const Tensor& out, const Tensor& logsumexp, bool is_causal, double scale) {
  const ScalarType t = w.q.dtype();
  const Tensor g = as(grad_out, t);
  const Tensor weights = (scores_of(w.q, w.k, attn_mask, is_causal, scale) - as(logsumexp, t).unsqueeze(-1)).exp();
  Tensor shift = (g * as(out, t)).sum(-1);
  if (grad_logsumexp.defined()) shift = shift - as(grad_logsumexp, t);
  return {weights, weights * (g.matmul(w.v.transpose(-2, -1)) - shift.unsqueeze(-1))};
}

std::tuple<Tensor, Tensor, Tensor> attention_backward(const Tensor& grad_out, const Tensor& grad_logsumexp,
                                                      const Tensor& query, const Tensor& key, const Tensor& value,
                                                      const Tensor& attn_mask, const Tensor& out,
                                                      const Tensor& logsumexp, bool is_causal, double scale,
                                                      ArrayRef<bool> output_mask) {
  auto asked = [&](size_t i) { return i < output_mask.size() && output_mask[i]; };
  const Wide w = wide(query, key, value);
  const Gradients d = gradients(grad_out, grad_logsumexp, w, attn_mask, out, logsumexp, is_causal, scale);
  const int64_t heads = key.size(1);
  const ScalarType t = query.dtype();
  Tensor dq, dk, dv;
  if (asked(0)) dq = as(d.of_scores.matmul(w.k) * scale, t);
  if (asked(1)) dk = as(for_each_key(d.of_scores.transpose(-2, -1).matmul(w.q) * scale, heads), t);
  if (asked(2)) dv = as(for_each_key(d.weights.transpose(-2, -1).matmul(as(grad_out, w.q.dtype())), heads), t);
  return {dq, dk, dv};
}

Tensor attention_mask_backward(const Tensor& grad_out, const Tensor& grad_logsumexp, const Tensor& query,
                               const Tensor& key, const Tensor& value, const Tensor& attn_mask, const Tensor& out,
                               const Tensor& logsumexp, bool is_causal, double scale) {
  check_four(query, key, value, attn_mask);
  const Wide w = wide(query, key, value);
  const Gradients d = gradients(grad_out, grad_logsumexp, w, attn_mask, out, logsumexp, is_causal, scale);
  return d.of_scores;  // autograd adds up what the mask broadcast to
}

// ---- the function of neural networks --------------------------------------------------------------------------------

// The tensor with these sizes before its last two.
Tensor with_batch(const Tensor& x, IntArrayRef batch) {
  DimVector sizes(batch);
  sizes.append({x.size(-2), x.size(-1)});
  return IntArrayRef(sizes) == x.sizes() ? x : x.expand(sizes);
}

// All dimensions before the last three become one.
Tensor as_four(const Tensor& x) {
  if (x.dim() == 4) return x;
  if (x.dim() == 2) return x.unsqueeze(0).unsqueeze(0);
  if (x.dim() == 3) return x.unsqueeze(0);
  int64_t count = 1;
  for (int64_t d = 0; d + 3 < x.dim(); d++) count *= x.size(d);
  return x.reshape({count, x.size(-3), x.size(-2), x.size(-1)});
}

// Heads of keys or values, each for as many heads of queries.
Tensor repeated_heads(const char* name, const Tensor& x, int64_t heads) {
  const int64_t own = x.size(-3);
  LAMELLA_CHECK(own > 0 && heads % own == 0, argument(name), ": with enable_gqa, its ", own,
                " heads divide those of 'query', ", heads);
  return own == heads ? x : x.repeat_interleave(heads / own, -3);
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
  LAMELLA_CHECK(dropout_p >= 0 && dropout_p <= 1, argument("dropout_p"), ": expected a probability, got ", dropout_p);
  Tensor k = key, v = value;
  if (enable_gqa) {
    LAMELLA_CHECK(query.dim() >= 3 && key.dim() >= 3 && value.dim() >= 3, argument("enable_gqa"),
                  ": needs a dimension of heads, got query of shape ", shape_text(query));
    // Four dimensions with equal heads of keys and values go on as they are.
    const bool plain = query.dim() == 4 && key.dim() == 4 && value.dim() == 4 && key.size(1) == value.size(1) &&
                       key.size(0) == query.size(0) && value.size(0) == query.size(0) && dropout_p == 0;
    const Tensor all_keys = repeated_heads("key", key, query.size(-3));
    const Tensor all_values = repeated_heads("value", value, query.size(-3));
    if (!plain) k = all_keys, v = all_values;
  }
  const double by = scale.value_or(query.size(-1) ? 1 / std::sqrt(static_cast<double>(query.size(-1))) : 1);
  if (query.dim() == 4 && k.dim() == 4 && v.dim() == 4 && dropout_p == 0 && query.size(0) == k.size(0) &&
      query.size(0) == v.size(0) && k.size(1) == v.size(1) && (enable_gqa || k.size(1) == query.size(1)))
    return std::get<0>(lamella::_attention(query, k, v, attn_mask, is_causal, by));
  const DimVector batch = batch_of(query, k, v);
  const Tensor q = with_batch(query, batch);
  k = with_batch(k, batch), v = with_batch(v, batch);
  DimVector sizes((IntArrayRef(batch)));
  sizes.append({q.size(-2), k.size(-2)});
  check_mask(attn_mask, query, sizes);
  if (dropout_p > 0) {
    const Tensor weights = scores_of(q, k, attn_mask, is_causal, by).softmax(-1);
    const Tensor seen = attn_mask.defined() ? weights.masked_fill(weights != weights, 0) : weights;
    return seen.dropout(dropout_p, true).matmul(v);
  }
  Tensor mask = attn_mask;
  if (mask.defined() && mask.dim() > 2)
    mask = as_four(mask.dim() == q.dim() && q.dim() <= 4 ? mask : mask.expand(sizes));
  const Tensor out = std::get<0>(lamella::_attention(as_four(q), as_four(k), as_four(v), mask, is_causal, by));
  sizes.back() = v.size(-1);
  return out.reshape(sizes);
}

}  // namespace

const std::vector<Declaration>& attention_operators() {
  static const auto* table = new std::vector<Declaration>{
      {"scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float "
       "dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
       "matmul", hidden | function, nullptr, composite<scaled_dot_product_attention>,
       "softmax(query key^T * scale + attn_mask) value, over the last two dimensions; the others broadcast.\n\n"
       "Args:\n    attn_mask: a bool mask is true where a query sees a key; another one is added to the scores\n"
       "    dropout_p: this fraction of the weights becomes 0, in any mode\n"
       "    is_causal: the query i sees the keys up to the i-th\n"
       "    scale: 1 / sqrt(width) without it\n"
       "    enable_gqa: each head of key and value serves as many heads of query as the numbers of heads say\n\n"
       "A query that sees no key gets zeros.\n\nRaises:\n    RuntimeError: dtypes or shapes do not fit\n\n"
       ">>> x = lamella.tensor([[1., 0.], [0., 1.]])\n"
       ">>> lamella.ops.aten.scaled_dot_product_attention(x, x, x, is_causal=True)\n"
       "tensor([[1.0000, 0.0000],\n        [0.3302, 0.6698]])\n"},
      {"_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask, bool is_causal, float scale) -> (Tensor "
       "out, Tensor logsumexp)",
       "matmul", hidden | function, shape<infer_attention>, composite<attention>,
       "scaled_dot_product_attention of four dimensions, and the logarithms of the sums of the exponentials of the "
       "scores."},
      {"_attention_backward(Tensor grad_out, Tensor? grad_logsumexp, Tensor query, Tensor key, Tensor value, Tensor? "
       "attn_mask, Tensor out, Tensor logsumexp, bool is_causal, float scale, bool[3] output_mask) -> (Tensor, Tensor, "
       "Tensor)",
       "matmul", hidden | function, shape<infer_attention_backward>, composite<attention_backward>,
       "The gradients of _attention by query, key and value; those that `output_mask` leaves out are None."},
      {"_attention_mask_backward(Tensor grad_out, Tensor? grad_logsumexp, Tensor query, Tensor key, Tensor value, "
       "Tensor attn_mask, Tensor out, Tensor logsumexp, bool is_causal, float scale) -> Tensor",
       "matmul", hidden | function, nullptr, composite<attention_mask_backward>,
       "The gradient of _attention by a mask that is added."},
  };
  return *table;
}

}  // namespace lamella::operators
