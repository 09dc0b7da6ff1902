// Recurrent networks: cells, which compute one step, and stacks of layers over sequences, padded or packed. Half
// precision is computed in float32.
#include "operators/recurrent.h"

namespace lamella::operators {
namespace {

enum class Kind { tanh, relu, lstm, gru };

constexpr int64_t gates_of(Kind kind) { return kind == Kind::lstm ? 4 : kind == Kind::gru ? 3 : 1; }

Tensor in_wide(const Tensor& x) { return x.defined() ? as(x, wide_of(x.dtype())) : x; }

void check_same_dtype(const char* name, const Tensor& t, const Tensor& input) {
  LAMELLA_CHECK(!t.defined() || t.dtype() == input.dtype(), argument(name), ": its dtype ", t.dtype(),
                " is not that of 'input', ", input.dtype(), "; convert one with .to(...)");
}

// ---- cells ----------------------------------------------------------------------------------------------------------

void check_cell(Kind kind, const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                const Tensor& b_ih, const Tensor& b_hh) {
  check_floating("input", input.dtype());
  for (const auto& [name, t] :
       {std::pair{"hx", &hx}, {"w_ih", &w_ih}, {"w_hh", &w_hh}, {"b_ih", &b_ih}, {"b_hh", &b_hh}})
    check_same_dtype(name, *t, input);
  LAMELLA_CHECK(input.dim() == 2, argument("input"), ": expected (batch, features), got shape ", shape_text(input));
  LAMELLA_CHECK(hx.dim() == 2 && hx.size(0) == input.size(0), argument("hx"), ": expected (", input.size(0),
                ", hidden), got shape ", shape_text(hx));
  LAMELLA_CHECK(w_ih.dim() != 2 || input.size(1) == w_ih.size(1), argument("input"), ": expected ", w_ih.size(1),
                " features, as 'w_ih' has columns, got shape ", shape_text(input));
  LAMELLA_CHECK(w_hh.dim() != 2 || hx.size(1) == w_hh.size(1), argument("hx"), ": expected a hidden size of ",
                w_hh.size(1), ", as 'w_hh' has columns, got shape ", shape_text(hx));
  const int64_t rows = gates_of(kind) * hx.size(1);
  auto check = [](const char* name, const Tensor& t, IntArrayRef sizes) {
    LAMELLA_CHECK(!t.defined() || t.sizes() == sizes, argument(name), ": expected shape ", shape_text(sizes), ", got ",
                  shape_text(t));
  };
  check("w_ih", w_ih, {rows, input.size(1)});
  check("w_hh", w_hh, {rows, hx.size(1)});
  check("b_ih", b_ih, {rows});
  check("b_hh", b_hh, {rows});
}

Tensor with_both(const Tensor& a, const Tensor& b) { return a.defined() ? sum_of(a, b) : b; }

std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorList hx, const Tensor& w_ih, const Tensor& w_hh,
                                     const Tensor& b_ih, const Tensor& b_hh) {
  LAMELLA_CHECK(hx.size() == 2, argument("hx"), ": expected the hidden state and the cell, got ", hx.size(),
                " tensors");
  check_cell(Kind::lstm, input, hx[0], w_ih, w_hh, b_ih, b_hh);
  LAMELLA_CHECK(hx[1].sizes() == hx[0].sizes(), argument("hx"), ": the cell has shape ", shape_text(hx[1]),
                ", the hidden state ", shape_text(hx[0]));
  check_same_dtype("hx", hx[1], input);
  auto [h, c, kept] = lamella::_lstm_cell(in_wide(input), in_wide(hx[0]), in_wide(hx[1]), in_wide(w_ih), in_wide(w_hh),
                                          in_wide(b_ih), in_wide(b_hh));
  return {as(h, input.dtype()), as(c, input.dtype())};
}

Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
                const Tensor& b_hh) {
  check_cell(Kind::gru, input, hx, w_ih, w_hh, b_ih, b_hh);
  const Tensor gates = lamella::linear(in_wide(input), in_wide(w_ih), in_wide(b_ih));
  const Tensor h =
      std::get<0>(lamella::_gru_layer(gates, in_wide(hx), in_wide(w_hh), in_wide(b_hh), {input.size(0)}, false));
  return as(h, input.dtype());
}

template <Kind kind>
Tensor rnn_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
                const Tensor& b_hh) {
  check_cell(kind, input, hx, w_ih, w_hh, b_ih, b_hh);
  const Tensor gates = lamella::linear(in_wide(input), in_wide(w_ih), in_wide(with_both(b_ih, b_hh)));
  const Tensor h =
      std::get<0>(lamella::_rnn_layer(gates, in_wide(hx), in_wide(w_hh), {input.size(0)}, false, kind == Kind::relu));
  return as(h, input.dtype());
}

// ---- layers ---------------------------------------------------------------------------------------------------------

struct Weights {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;
};
struct State {
  Tensor h, c;
};

// Runs one direction of a layer: returns its results for all rows, and its last state.
std::pair<Tensor, State> direction(Kind kind, const Tensor& rows, const State& state, const Weights& w,
                                   IntArrayRef batch_sizes, bool reverse) {
  const Tensor gates = lamella::linear(rows, w.w_ih, kind == Kind::gru ? w.b_ih : with_both(w.b_ih, w.b_hh));
  if (kind == Kind::lstm) {
    auto [out, h, c, cells, kept] = lamella::_lstm_layer(gates, state.h, state.c, w.w_hh, w.w_hr, batch_sizes, reverse);
    return {out, {h, c}};
  }
  if (kind == Kind::gru) {
    auto [out, h, kept] = lamella::_gru_layer(gates, state.h, w.w_hh, w.b_hh, batch_sizes, reverse);
    return {out, {h, Tensor()}};
  }
  auto [out, h] = lamella::_rnn_layer(gates, state.h, w.w_hh, batch_sizes, reverse, kind == Kind::relu);
  return {out, {h, Tensor()}};
}

struct Network {
  Kind kind;
  bool has_biases;
  int64_t num_layers;
  double dropout;
  bool train, bidirectional;

  int64_t directions() const { return bidirectional ? 2 : 1; }
  // Returns how many parameters a direction of a layer has.
  int64_t each(TensorList params) const {
    const auto n = static_cast<int64_t>(params.size());
    const int64_t parts = num_layers * directions(), plain = has_biases ? 4 : 2;
    const bool more = kind == Kind::lstm && n == parts * (plain + 1);
    LAMELLA_CHECK(num_layers > 0, argument("num_layers"), ": expected at least 1, got ", num_layers);
    LAMELLA_CHECK(n == parts * plain || more, argument("params"), ": expected ", parts * plain, " tensors, got ", n);
    return plain + more;
  }
  Weights weights(TensorList params, int64_t at) const {
    const int64_t n = each(params), first = at * n;
    auto get = [&](int64_t i) { return in_wide(params[static_cast<size_t>(first + i)]); };
    const bool more = n == 5 || n == 3;
    return {get(0), get(1), has_biases ? get(2) : Tensor(), has_biases ? get(3) : Tensor(),
            more ? get(n - 1) : Tensor()};
  }
};

void check_state(const char* name, const Tensor& t, const Tensor& input, int64_t parts, int64_t batch) {
  LAMELLA_CHECK(t.dim() == 3 && t.size(0) == parts && t.size(1) == batch, argument(name), ": expected (", parts, ", ",
                batch, ", hidden), got shape ", shape_text(t));
  check_same_dtype(name, t, input);
}

// Runs all layers over the rows of all steps.
std::pair<Tensor, State> run(const Network& net, const Tensor& rows, const Tensor& hx, const Tensor& cx,
                             TensorList params, IntArrayRef batch_sizes) {
  check_floating("input", rows.dtype());
  const int64_t parts = net.num_layers * net.directions();
  net.each(params);
  for (const Tensor& t : params) check_same_dtype("params", t, rows);
  check_state("hx", hx, rows, parts, batch_sizes[0]);
  if (cx.defined()) check_state("hx", cx, rows, parts, batch_sizes[0]);
  LAMELLA_CHECK(params[0].dim() == 2 && rows.size(-1) == params[0].size(1), argument("params"),
                ": its first, of shape ", shape_text(params[0]), ", does not take inputs of ", rows.size(-1),
                " features");
  const ScalarType t = rows.dtype();
  const Tensor h = in_wide(hx), c = in_wide(cx);
  Tensor x = in_wide(rows);
  std::vector<Tensor> last_h, last_c;
  for (int64_t layer = 0; layer < net.num_layers; layer++) {
    std::vector<Tensor> made;
    for (int64_t d = 0; d < net.directions(); d++) {
      const int64_t at = layer * net.directions() + d;
      const State state{h.select(0, at), c.defined() ? c.select(0, at) : c};
      const auto [out, last] = direction(net.kind, x, state, net.weights(params, at), batch_sizes, d == 1);
      made.push_back(out);
      last_h.push_back(last.h);
      if (c.defined()) last_c.push_back(last.c);
    }
    x = net.bidirectional ? lamella::cat(made, 1) : made[0];
    if (net.dropout > 0 && net.train && layer + 1 < net.num_layers) x = x.dropout(net.dropout, true);
  }
  auto stacked = [&](const std::vector<Tensor>& all) {
    return as(all.size() == 1 ? all[0].unsqueeze(0) : lamella::stack(all, 0), t);
  };
  return {as(x, t), {stacked(last_h), c.defined() ? stacked(last_c) : Tensor()}};
}

std::pair<Tensor, State> whole(const Network& net, const Tensor& input, const Tensor& hx, const Tensor& cx,
                               TensorList params, bool batch_first) {
  LAMELLA_CHECK(input.dim() == 3, argument("input"), ": expected three dimensions, got shape ", shape_text(input));
  const Tensor x = batch_first ? input.transpose(0, 1) : input;
  const int64_t length = x.size(0), batch = x.size(1);
  LAMELLA_CHECK(length > 0, argument("input"), ": a sequence has one step at least, got shape ", shape_text(input));
  const std::vector<int64_t> sizes(static_cast<size_t>(length), batch);
  auto [out, state] = run(net, x.reshape({length * batch, x.size(2)}), hx, cx, params, sizes);
  out = out.view({length, batch, out.size(1)});
  return {batch_first ? out.transpose(0, 1) : out, state};
}

std::pair<Tensor, State> packed(const Network& net, const Tensor& data, const Tensor& batch_sizes, const Tensor& hx,
                                const Tensor& cx, TensorList params) {
  LAMELLA_CHECK(data.dim() == 2, argument("data"), ": expected (rows, features), got shape ", shape_text(data));
  LAMELLA_CHECK(batch_sizes.dim() == 1 && batch_sizes.size(0) > 0 && batch_sizes.dtype() == kLong,
                argument("batch_sizes"), ": expected one dimension of ", kLong, ", got shape ", shape_text(batch_sizes),
                " of ", batch_sizes.dtype());
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < batch_sizes.size(0); i++) sizes.push_back(batch_sizes.select(0, i).item().toLong());
  const int64_t rows = check_batch_sizes(sizes, sizes[0]);
  LAMELLA_CHECK(rows == data.size(0), argument("data"), ": has ", data.size(0), " rows, but 'batch_sizes' adds up to ",
                rows);
  return run(net, data, hx, cx, params, sizes);
}

std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, TensorList hx, TensorList params, bool has_biases,
                                        int64_t num_layers, double dropout, bool train, bool bidirectional,
                                        bool batch_first) {
  LAMELLA_CHECK(hx.size() == 2, argument("hx"), ": lstm expects two hidden states, got ", hx.size());
  const Network net{Kind::lstm, has_biases, num_layers, dropout, train, bidirectional};
  const auto [out, state] = whole(net, input, hx[0], hx[1], params, batch_first);
  return {out, state.h, state.c};
}
std::tuple<Tensor, Tensor, Tensor> lstm_packed(const Tensor& data, const Tensor& batch_sizes, TensorList hx,
                                               TensorList params, bool has_biases, int64_t num_layers, double dropout,
                                               bool train, bool bidirectional) {
  LAMELLA_CHECK(hx.size() == 2, argument("hx"), ": lstm expects two hidden states, got ", hx.size());
  const Network net{Kind::lstm, has_biases, num_layers, dropout, train, bidirectional};
  const auto [out, state] = packed(net, data, batch_sizes, hx[0], hx[1], params);
  return {out, state.h, state.c};
}

template <Kind kind>
std::tuple<Tensor, Tensor> rnn(const Tensor& input, const Tensor& hx, TensorList params, bool has_biases,
                               int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  const Network net{kind, has_biases, num_layers, dropout, train, bidirectional};
  const auto [out, state] = whole(net, input, hx, Tensor(), params, batch_first);
  return {out, state.h};
}
template <Kind kind>
std::tuple<Tensor, Tensor> rnn_packed(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx,
                                      TensorList params, bool has_biases, int64_t num_layers, double dropout,
                                      bool train, bool bidirectional) {
  const Network net{kind, has_biases, num_layers, dropout, train, bidirectional};
  const auto [out, state] = packed(net, data, batch_sizes, hx, Tensor(), params);
  return {out, state.h};
}

#define CELL "(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor"
#define RNN_CELL(curve, result)                                                                                      \
  {                                                                                                                  \
    .schema = "rnn_" #curve "_cell" CELL, .dims = "n i, n k, h i, h k, h, h -> n h | i, k, h i, h k, h, h -> h",     \
    .composite = composite<rnn_cell<Kind::curve>>,                                                                   \
    .doc = #curve                                                                                                    \
        "(w_ih input + b_ih + w_hh hx + b_hh), row by row.\n\n>>> one = lamella.ones(1, 1)\n>>> lamella.rnn_" #curve \
        "_cell(one, one, one, one)\ntensor([[" result "]])\n"                                                        \
  }
#define WHOLE                                                                                              \
  "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool " \
  "batch_first) "                                                                                          \
  "-> "
#define PACKED "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> "
// The example of a network's documentation has all weights equal.
#define LAYERS(name, kind, about, weights, result)                                                                    \
  {.schema = name ".input(Tensor input, Tensor hx, " WHOLE "(Tensor, Tensor)",                                        \
   .composite = composite<rnn<kind>>,                                                                                 \
   .doc =                                                                                                             \
       about "\n\n>>> x, w = lamella.ones(2, 1, 1), lamella." weights "\n>>> lamella." name                           \
             "(x, lamella.ones(1, 1, 1), [w, w], False, 1, 0., False, False, False)[1]\ntensor([[[" result "]]])\n"}, \
  {                                                                                                                   \
    .schema = name ".data(Tensor data, Tensor batch_sizes, Tensor hx, " PACKED "(Tensor, Tensor)",                    \
    .composite = composite<rnn_packed<kind>>                                                                          \
  }

}  // namespace

LAMELLA_FAMILY(recurrent, .category = "matmul", .forms = function) {
  return {
      {.schema = "lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) "
                 "-> (Tensor, Tensor)",
       .dims = "n i, n h~, g~ i, g~ h~, g~, g~ -> n h~, n h~ | i, h~, g~ i, g~ h~, g~, g~ -> h~, h~",
       .composite = composite<lstm_cell>,
       .doc = R"(One step of an LSTM: the new hidden state and the new cell.

Args:
    hx: the hidden state and the cell, (batch, hidden)
    w_ih: weights of the input to the gates i, f, g, o, (4 * hidden, features)
    w_hh: of the state, (4 * hidden, hidden)

>>> x = lamella.zeros(1, 1)
>>> h, c = lamella.lstm_cell(x, [x, x + 1], lamella.zeros(4, 1), lamella.zeros(4, 1))
>>> c
tensor([[0.5000]])
)"},
      {.schema = "gru_cell" CELL,
       .dims = "n i, n h~, g~ i, g~ h~, g~, g~ -> n h~ | i, h~, g~ i, g~ h~, g~, g~ -> h~",
       .composite = composite<gru_cell>,
       .doc = R"(One step of a GRU, whose weights are those of the gates r, z, n.

>>> lamella.gru_cell(lamella.zeros(1, 1), lamella.ones(1, 1), lamella.zeros(3, 1), lamella.zeros(3, 1))
tensor([[0.5000]])
)"},
      RNN_CELL(tanh, "0.9640"),
      RNN_CELL(relu, "2."),
      {.schema = "lstm.input(Tensor input, Tensor[] hx, " WHOLE "(Tensor, Tensor, Tensor)",
       .composite = composite<lstm>,
       .doc = R"(Layers of LSTMs over sequences: all results of the last layer, and the last hidden states and cells.

Args:
    input: (steps, batch, features); (batch, steps, features) with `batch_first`
    hx: hidden states and cells, (layers * directions, batch, hidden)
    params: for each layer and direction w_ih, w_hh, with `has_biases` b_ih and b_hh, and perhaps
        w_hr, which projects the result
    dropout: between layers, while `train`

The overload `data` takes packed rows and how many of them each step has.

>>> x, s = lamella.ones(2, 1, 1), lamella.zeros(1, 1, 1)
>>> w = lamella.zeros(4, 1)
>>> out, h, c = lamella.lstm(x, [s, s + 1], [w, w], False, 1, 0., False, False, False)
>>> c
tensor([[[0.2500]]])
)"},
      {.schema = "lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, " PACKED "(Tensor, Tensor, Tensor)",
       .composite = composite<lstm_packed>},
      LAYERS("gru", Kind::gru,
             "Layers of GRUs over sequences, as `lstm`: all results of the last layer, and the last hidden states.",
             "zeros(3, 1)", "0.2500"),
      LAYERS("rnn_tanh", Kind::tanh, "Layers of rnn_tanh_cell over sequences, as `lstm`.", "ones(1, 1)", "0.9614"),
      LAYERS("rnn_relu", Kind::relu, "Layers of rnn_relu_cell over sequences, as `lstm`.", "ones(1, 1)", "3."),
  };
}

}  // namespace lamella::operators
