// One direction of one recurrent layer over all steps, and its gradients. Composites go step by step.
//
// Note [Steps]  The rows of all steps follow each other: `batch_sizes` says how many sequences a step has, never more
//   than the step before it, so that sequences are sorted by length. A reversed layer begins at the last step; a
//   sequence that is not in that step begins later, with the state that it was given.
// Note [Gates]  An LSTM has the gates i, f, g, o: c' = f c + i g, h' = o tanh(c'). A GRU has r, z, n, with
//   n = tanh(x + r u), where x and u are the parts of the input and the state, and h' = n + z (h - n). `kept` holds
//   activations for the gradient, for a GRU also u.
#include "operators/recurrent.h"

namespace lamella::operators {
namespace {

// ---- shapes ---------------------------------------------------------------------------------------------------------

void check_is(const char* name, const Tensor& t, IntArrayRef sizes, ScalarType dtype) {
  if (!t.defined()) return;
  LAMELLA_CHECK(t.sizes() == sizes, argument(name), ": expected shape ", shape_text(sizes), ", got ", shape_text(t));
  LAMELLA_CHECK(t.dtype() == dtype, argument(name), ": expected dtype ", dtype, ", got ", t.dtype());
}

struct LayerSizes {
  int64_t rows, batch, hidden, state;  // a state has as many numbers as `hidden`, unless it is projected
  ScalarType dtype;
};

void check_dtype(const char* name, ScalarType t) {
  LAMELLA_CHECK(t == kFloat || t == kDouble, argument(name), ": expected dtype ", kFloat, " or ", kDouble, ", got ", t);
}

// The checks that forward and backward share; `count` is the number of gates.
LayerSizes check_steps(const Tensor& hx, const Tensor& weight, IntArrayRef batch_sizes, int64_t count, ScalarType t,
                       const Tensor& projection = Tensor()) {
  LAMELLA_CHECK(hx.dim() == 2, argument("hx"), ": expected (batch, hidden), got shape ", shape_text(hx));
  LAMELLA_CHECK(!projection.defined() || projection.dim() == 2, argument("projection"),
                ": expected (projected, hidden), got shape ", projection.defined() ? shape_text(projection) : "");
  const int64_t batch = hx.size(0), state = hx.size(1), hidden = projection.defined() ? projection.size(1) : state;
  const LayerSizes n{check_batch_sizes(batch_sizes, batch), batch, hidden, state, t};
  check_is("hx", hx, {batch, state}, t);
  check_is("projection", projection, {state, hidden}, t);
  check_is("weight", weight, {count * hidden, state}, t);
  return n;
}

LayerSizes check_layer(const Tensor& gates, const Tensor& hx, const Tensor& weight, IntArrayRef batch_sizes,
                       int64_t count, const Tensor& projection = Tensor()) {
  check_dtype("gates", gates.dtype());
  const LayerSizes n = check_steps(hx, weight, batch_sizes, count, gates.dtype(), projection);
  check_is("gates", gates, {n.rows, count * n.hidden}, n.dtype);
  return n;
}

void infer_lstm(const Tensor& gates, const Tensor& hx, const Tensor& cx, const Tensor& weight, const Tensor& projection,
                IntArrayRef batch_sizes, bool /*reverse*/, Output out, Output hn, Output cn, Output cells,
                Output kept) {
  const LayerSizes n = check_layer(gates, hx, weight, batch_sizes, 4, projection);
  check_is("cx", cx, {n.batch, n.hidden}, n.dtype);
  out.set({n.rows, n.state}, n.dtype);
  hn.set({n.batch, n.state}, n.dtype);
  cn.set({n.batch, n.hidden}, n.dtype);
  cells.set({n.rows, n.hidden}, n.dtype);
  kept.set({n.rows, 4 * n.hidden}, n.dtype);
}

void infer_gru(const Tensor& gates, const Tensor& hx, const Tensor& weight, const Tensor& bias, IntArrayRef batch_sizes,
               bool /*reverse*/, Output out, Output hn, Output kept) {
  const LayerSizes n = check_layer(gates, hx, weight, batch_sizes, 3);
  check_is("bias", bias, {3 * n.hidden}, n.dtype);
  out.set({n.rows, n.hidden}, n.dtype);
  hn.set({n.batch, n.hidden}, n.dtype);
  kept.set({n.rows, 4 * n.hidden}, n.dtype);
}

void infer_rnn(const Tensor& gates, const Tensor& hx, const Tensor& weight, IntArrayRef batch_sizes, bool /*reverse*/,
               bool /*relu*/, Output out, Output hn) {
  const LayerSizes n = check_layer(gates, hx, weight, batch_sizes, 1);
  out.set({n.rows, n.hidden}, n.dtype);
  hn.set({n.batch, n.hidden}, n.dtype);
}

LayerSizes check_backward(const Tensor& grad_out, const Tensor& grad_hn, const Tensor& hx, const Tensor& weight,
                          const Tensor& out, IntArrayRef batch_sizes, int64_t count,
                          const Tensor& projection = Tensor()) {
  check_dtype("out", out.dtype());
  const LayerSizes n = check_steps(hx, weight, batch_sizes, count, out.dtype(), projection);
  check_is("out", out, {n.rows, n.state}, n.dtype);
  check_is("grad_out", grad_out, {n.rows, n.state}, n.dtype);
  check_is("grad_hn", grad_hn, {n.batch, n.state}, n.dtype);
  return n;
}

void infer_lstm_backward(const Tensor& grad_out, const Tensor& grad_hn, const Tensor& grad_cn, const Tensor& grad_cells,
                         const Tensor& grad_kept, const Tensor& hx, const Tensor& cx, const Tensor& weight,
                         const Tensor& projection, const Tensor& out, const Tensor& cells, const Tensor& kept,
                         IntArrayRef batch_sizes, bool /*reverse*/, Output dgates, Output dhx, Output dcx,
                         Output dweight, Output dprojection) {
  const LayerSizes n = check_backward(grad_out, grad_hn, hx, weight, out, batch_sizes, 4, projection);
  check_is("cx", cx, {n.batch, n.hidden}, n.dtype);
  check_is("grad_cn", grad_cn, cx.sizes(), n.dtype);
  check_is("cells", cells, {n.rows, n.hidden}, n.dtype);
  check_is("grad_cells", grad_cells, cells.sizes(), n.dtype);
  check_is("kept", kept, {n.rows, 4 * n.hidden}, n.dtype);
  check_is("grad_kept", grad_kept, kept.sizes(), n.dtype);
  dgates.set({n.rows, 4 * n.hidden}, n.dtype);
  dhx.set(hx.sizes(), n.dtype);
  dcx.set(cx.sizes(), n.dtype);
  dweight.set(weight.sizes(), n.dtype);
  dprojection.set({n.state, n.hidden}, n.dtype);
  if (!projection.defined()) dprojection.absent();
}

void infer_gru_backward(const Tensor& grad_out, const Tensor& grad_hn, const Tensor& grad_kept, const Tensor& hx,
                        const Tensor& weight, const Tensor& out, const Tensor& kept, IntArrayRef batch_sizes,
                        bool /*reverse*/, Output dgates, Output dhx, Output dweight, Output dbias) {
  const LayerSizes n = check_backward(grad_out, grad_hn, hx, weight, out, batch_sizes, 3);
  check_is("kept", kept, {n.rows, 4 * n.hidden}, n.dtype);
  check_is("grad_kept", grad_kept, kept.sizes(), n.dtype);
  dgates.set({n.rows, 3 * n.hidden}, n.dtype);
  dhx.set(hx.sizes(), n.dtype);
  dweight.set(weight.sizes(), n.dtype);
  dbias.set({3 * n.hidden}, n.dtype);
}

void infer_rnn_backward(const Tensor& grad_out, const Tensor& grad_hn, const Tensor& hx, const Tensor& weight,
                        const Tensor& out, IntArrayRef batch_sizes, bool /*reverse*/, bool /*relu*/, Output dgates,
                        Output dhx, Output dweight) {
  const LayerSizes n = check_backward(grad_out, grad_hn, hx, weight, out, batch_sizes, 1);
  dgates.set(out.sizes(), n.dtype);
  dhx.set(hx.sizes(), n.dtype);
  dweight.set(weight.sizes(), n.dtype);
}

// ---- steps ----------------------------------------------------------------------------------------------------------

Tensor given_or_zeros(const Tensor& t, const Tensor& like) { return t.defined() ? t : lamella::zeros_like(like); }
Tensor slope_of_sigmoid(const Tensor& y) { return y * (1 - y); }
Tensor slope_of_tanh(const Tensor& y) { return 1 - y * y; }

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> lstm_layer(const Tensor& gates, const Tensor& hx, const Tensor& cx,
                                                              const Tensor& weight, const Tensor& projection,
                                                              IntArrayRef batch_sizes, bool reverse) {
  const Steps steps(batch_sizes, reverse);
  std::vector<Tensor> out(steps.count()), cells(out), kept(out);
  Tensor h = hx, c = cx;
  const Tensor turned = weight.t();
  steps.each([&](size_t k) {
    const int64_t n = steps.size(k);
    const Tensor sums = steps.of(gates, k) + h.narrow(0, 0, n).mm(turned);
    std::tie(out[k], cells[k], kept[k]) = lstm_step(sums, c.narrow(0, 0, n));
    if (projection.defined()) out[k] = out[k].mm(projection.t());
    h = renewed(h, out[k]);
    c = renewed(c, cells[k]);
  });
  return {lamella::cat(out, 0), h, c, lamella::cat(cells, 0), lamella::cat(kept, 0)};
}

// Returns the gradients of an LSTM's sums and of the cell before, given those of the result, the cell and the
// activations.
std::tuple<Tensor, Tensor> lstm_step_backward(const Tensor& dh, const Tensor& of_cell, const Tensor& more,
                                              const Tensor& before, const Tensor& cell, const Tensor& kept) {
  const Tensor i = part(kept, 0, 4), f = part(kept, 1, 4), g = part(kept, 2, 4), o = part(kept, 3, 4);
  auto also = [&](const Tensor& d, int64_t k) { return more.defined() ? d + part(more, k, 4) : d; };
  const Tensor t = cell.tanh(), dc = of_cell + dh * o * slope_of_tanh(t);
  const Tensor di = also(dc * g, 0), df = also(dc * before, 1), dg = also(dc * i, 2), d_o = also(dh * t, 3);
  return {
      lamella::cat(
          {di * slope_of_sigmoid(i), df * slope_of_sigmoid(f), dg * slope_of_tanh(g), d_o * slope_of_sigmoid(o)}, 1),
      dc * f};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> lstm_layer_backward(
    const Tensor& grad_out, const Tensor& grad_hn, const Tensor& grad_cn, const Tensor& grad_cells,
    const Tensor& grad_kept, const Tensor& hx, const Tensor& cx, const Tensor& weight, const Tensor& projection,
    const Tensor& out, const Tensor& cells, const Tensor& kept, IntArrayRef batch_sizes, bool reverse) {
  const Steps steps(batch_sizes, reverse);
  auto of = [&](const Tensor& t, size_t k) { return t.defined() ? steps.of(t, k) : t; };
  std::vector<Tensor> sums(steps.count()), of_state(sums);
  Tensor dh = given_or_zeros(grad_hn, hx), dc = given_or_zeros(grad_cn, cx);
  steps.each(
      [&](size_t k) {
        const int64_t n = steps.size(k);
        of_state[k] = sum_of(dh.narrow(0, 0, n), of(grad_out, k));
        const Tensor of_result = projection.defined() ? of_state[k].mm(projection) : of_state[k];
        const Tensor of_cell = sum_of(dc.narrow(0, 0, n), of(grad_cells, k));
        Tensor before;
        std::tie(sums[k], before) = lstm_step_backward(of_result, of_cell, of(grad_kept, k), steps.before(cells, cx, k),
                                                       steps.of(cells, k), steps.of(kept, k));
        dh = renewed(dh, sums[k].mm(weight));
        dc = renewed(dc, before);
      },
      true);
  const Tensor dgates = lamella::cat(sums, 0);
  Tensor dprojection;
  if (projection.defined()) dprojection = lamella::cat(of_state, 0).t().mm(part(kept, 3, 4) * cells.tanh());
  return {dgates, dh, dc, dgates.t().mm(steps.all_before(out, hx)), dprojection};
}

std::tuple<Tensor, Tensor, Tensor> gru_layer(const Tensor& gates, const Tensor& hx, const Tensor& weight,
                                             const Tensor& bias, IntArrayRef batch_sizes, bool reverse) {
  const Steps steps(batch_sizes, reverse);
  std::vector<Tensor> out(steps.count()), kept(out);
  Tensor h = hx;
  const Tensor turned = weight.t();
  steps.each([&](size_t k) {
    const Tensor before = h.narrow(0, 0, steps.size(k)), x = steps.of(gates, k);
    const Tensor u = sum_of(before.mm(turned), bias), q = part(u, 2, 3);
    const Tensor r = (part(x, 0, 3) + part(u, 0, 3)).sigmoid(), z = (part(x, 1, 3) + part(u, 1, 3)).sigmoid();
    const Tensor n = (part(x, 2, 3) + r * q).tanh();
    out[k] = n + z * (before - n);
    kept[k] = lamella::cat({r, z, n, q}, 1);
    h = renewed(h, out[k]);
  });
  return {lamella::cat(out, 0), h, lamella::cat(kept, 0)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> gru_layer_backward(const Tensor& grad_out, const Tensor& grad_hn,
                                                              const Tensor& grad_kept, const Tensor& hx,
                                                              const Tensor& weight, const Tensor& out,
                                                              const Tensor& kept, IntArrayRef batch_sizes,
                                                              bool reverse) {
  const Steps steps(batch_sizes, reverse);
  std::vector<Tensor> of_input(steps.count()), of_state(of_input);
  Tensor dh = given_or_zeros(grad_hn, hx);
  steps.each(
      [&](size_t k) {
        const Tensor own = steps.of(kept, k), more = grad_kept.defined() ? steps.of(grad_kept, k) : Tensor();
        auto also = [&](const Tensor& d, int64_t i) { return more.defined() ? d + part(more, i, 4) : d; };
        const Tensor r = part(own, 0, 4), z = part(own, 1, 4), n = part(own, 2, 4), q = part(own, 3, 4);
        const Tensor d = sum_of(dh.narrow(0, 0, steps.size(k)), grad_out.defined() ? steps.of(grad_out, k) : Tensor());
        const Tensor of_n = also(d * (1 - z), 2) * slope_of_tanh(n);
        const Tensor of_r = also(of_n * q, 0) * slope_of_sigmoid(r);
        const Tensor of_z = also(d * (steps.before(out, hx, k) - n), 1) * slope_of_sigmoid(z);
        of_input[k] = lamella::cat({of_r, of_z, of_n}, 1);
        of_state[k] = lamella::cat({of_r, of_z, also(of_n * r, 3)}, 1);
        dh = renewed(dh, d * z + of_state[k].mm(weight));
      },
      true);
  const Tensor d = lamella::cat(of_state, 0);
  return {lamella::cat(of_input, 0), dh, d.t().mm(steps.all_before(out, hx)), d.sum(0)};
}

std::tuple<Tensor, Tensor> rnn_layer(const Tensor& gates, const Tensor& hx, const Tensor& weight,
                                     IntArrayRef batch_sizes, bool reverse, bool relu) {
  const Steps steps(batch_sizes, reverse);
  std::vector<Tensor> out(steps.count());
  Tensor h = hx;
  const Tensor turned = weight.t();
  steps.each([&](size_t k) {
    const Tensor sums = steps.of(gates, k) + h.narrow(0, 0, steps.size(k)).mm(turned);
    out[k] = relu ? sums.relu() : sums.tanh();
    h = renewed(h, out[k]);
  });
  return {lamella::cat(out, 0), h};
}

std::tuple<Tensor, Tensor, Tensor> rnn_layer_backward(const Tensor& grad_out, const Tensor& grad_hn, const Tensor& hx,
                                                      const Tensor& weight, const Tensor& out, IntArrayRef batch_sizes,
                                                      bool reverse, bool relu) {
  const Steps steps(batch_sizes, reverse);
  std::vector<Tensor> sums(steps.count());
  Tensor dh = given_or_zeros(grad_hn, hx);
  steps.each(
      [&](size_t k) {
        const Tensor y = steps.of(out, k);
        const Tensor d = sum_of(dh.narrow(0, 0, steps.size(k)), grad_out.defined() ? steps.of(grad_out, k) : Tensor());
        sums[k] = relu ? d.masked_fill(y <= 0, 0) : d * slope_of_tanh(y);
        dh = renewed(dh, sums[k].mm(weight));
      },
      true);
  const Tensor dgates = lamella::cat(sums, 0);
  return {dgates, dh, dgates.t().mm(steps.all_before(out, hx))};
}

// ---- one step of an LSTM with the product of its input --------------------------------------------------------------

void check_cell(const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_ih, const Tensor& w_hh) {
  check_dtype("input", input.dtype());
  const ScalarType t = input.dtype();
  LAMELLA_CHECK(input.dim() == 2, argument("input"), ": expected (batch, features), got shape ", shape_text(input));
  LAMELLA_CHECK(hx.dim() == 2, argument("hx"), ": expected (batch, hidden), got shape ", shape_text(hx));
  const int64_t batch = input.size(0), hidden = hx.size(1);
  check_is("hx", hx, {batch, hidden}, t);
  check_is("cx", cx, {batch, hidden}, t);
  check_is("w_ih", w_ih, {4 * hidden, input.size(1)}, t);
  check_is("w_hh", w_hh, {4 * hidden, hidden}, t);
}

void infer_cell(const Tensor& input, const Tensor& hx, const Tensor& cx, const Tensor& w_ih, const Tensor& w_hh,
                const Tensor& b_ih, const Tensor& b_hh, Output hy, Output cy, Output kept) {
  check_cell(input, hx, cx, w_ih, w_hh);
  const ScalarType t = input.dtype();
  const int64_t batch = hx.size(0), hidden = hx.size(1);
  check_is("b_ih", b_ih, {4 * hidden}, t);
  check_is("b_hh", b_hh, {4 * hidden}, t);
  hy.set({batch, hidden}, t);
  cy.set({batch, hidden}, t);
  kept.set({batch, 4 * hidden}, t);
}

std::tuple<Tensor, Tensor, Tensor> kept_lstm_cell(const Tensor& input, const Tensor& hx, const Tensor& cx,
                                                  const Tensor& w_ih, const Tensor& w_hh, const Tensor& b_ih,
                                                  const Tensor& b_hh) {
  return lstm_step(sum_of(sum_of(input.mm(w_ih.t()), b_ih), b_hh) + hx.mm(w_hh.t()), cx);
}

void infer_cell_backward(const Tensor& grad_hy, const Tensor& grad_cy, const Tensor& grad_kept, const Tensor& input,
                         const Tensor& hx, const Tensor& cx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& cy,
                         const Tensor& kept, ArrayRef<bool> output_mask, Output dinput, Output dhx, Output dcx,
                         Output dw_ih, Output dw_hh, Output db_ih, Output db_hh) {
  check_cell(input, hx, cx, w_ih, w_hh);
  const ScalarType t = input.dtype();
  for (const auto& [name, x] : {std::pair{"grad_hy", &grad_hy}, {"grad_cy", &grad_cy}, {"cx", &cx}, {"cy", &cy}})
    check_is(name, *x, hx.sizes(), t);
  check_is("kept", kept, {hx.size(0), 4 * hx.size(1)}, t);
  check_is("grad_kept", grad_kept, kept.sizes(), t);
  const DimVector bias = {w_ih.size(0)};
  size_t i = 0;
  auto set = [&](Output& to, IntArrayRef sizes) {
    to.set(sizes, t);
    if (i >= output_mask.size() || !output_mask[i]) to.absent();
    i++;
  };
  set(dinput, input.sizes());
  set(dhx, hx.sizes());
  set(dcx, cx.sizes());
  set(dw_ih, w_ih.sizes());
  set(dw_hh, w_hh.sizes());
  set(db_ih, bias);
  set(db_hh, bias);
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> kept_lstm_cell_backward(
    const Tensor& grad_hy, const Tensor& grad_cy, const Tensor& grad_kept, const Tensor& input, const Tensor& hx,
    const Tensor& cx, const Tensor& w_ih, const Tensor& w_hh, const Tensor& cy, const Tensor& kept,
    ArrayRef<bool> output_mask) {
  const auto [sums, dcx] =
      lstm_step_backward(given_or_zeros(grad_hy, cx), given_or_zeros(grad_cy, cx), grad_kept, cx, cy, kept);
  auto asked = [&](size_t i) { return i < output_mask.size() && output_mask[i]; };
  Tensor dinput, dhx, dw_ih, dw_hh, db_ih, db_hh;
  if (asked(0)) dinput = sums.mm(w_ih);
  if (asked(1)) dhx = sums.mm(w_hh);
  if (asked(3)) dw_ih = sums.t().mm(input);
  if (asked(4)) dw_hh = sums.t().mm(hx);
  if (asked(5)) db_ih = sums.sum(0);
  if (asked(6)) db_hh = sums.sum(0);
  return {dinput, dhx, asked(2) ? dcx : Tensor(), dw_ih, dw_hh, db_ih, db_hh};
}

}  // namespace

LAMELLA_FAMILY(recurrent_layer, .category = "matmul", .forms = hidden | function) {
  return {
      {.schema = "_lstm_layer(Tensor gates, Tensor hx, Tensor cx, Tensor weight, Tensor? projection, int[] "
                 "batch_sizes, bool reverse) -> (Tensor out, Tensor hn, Tensor cn, Tensor cells, Tensor kept)",
       .infer = shape<infer_lstm>,
       .composite = composite<lstm_layer>,
       .doc = "One direction of an LSTM's layer, from what the input and the biases give to the gates. With a "
              "`projection`, of shape (state, hidden), its product with the result is the state."},
      {.schema = "_lstm_layer_backward(Tensor? grad_out, Tensor? grad_hn, Tensor? grad_cn, Tensor? grad_cells, Tensor? "
                 "grad_kept, Tensor hx, Tensor cx, Tensor weight, Tensor? projection, Tensor out, Tensor cells, Tensor "
                 "kept, int[] batch_sizes, bool reverse) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
       .infer = shape<infer_lstm_backward>,
       .composite = composite<lstm_layer_backward>,
       .doc = "The gradients of _lstm_layer by gates, hx, cx, weight and projection, which is None if there is none."},
      {.schema = "_gru_layer(Tensor gates, Tensor hx, Tensor weight, Tensor? bias, int[] batch_sizes, bool reverse) -> "
                 "(Tensor out, Tensor hn, Tensor kept)",
       .infer = shape<infer_gru>,
       .composite = composite<gru_layer>,
       .doc = "One direction of a GRU's layer, from what the input gives to the gates; `bias` is the state's."},
      {.schema = "_gru_layer_backward(Tensor? grad_out, Tensor? grad_hn, Tensor? grad_kept, Tensor hx, Tensor weight, "
                 "Tensor out, Tensor kept, int[] batch_sizes, bool reverse) -> (Tensor, Tensor, Tensor, Tensor)",
       .infer = shape<infer_gru_backward>,
       .composite = composite<gru_layer_backward>,
       .doc = "The gradients of _gru_layer by gates, hx, weight and bias."},
      {.schema = "_rnn_layer(Tensor gates, Tensor hx, Tensor weight, int[] batch_sizes, bool reverse, bool relu) -> "
                 "(Tensor out, Tensor hn)",
       .infer = shape<infer_rnn>,
       .composite = composite<rnn_layer>,
       .doc = "One direction of a plain recurrent layer, from what the input and the biases give; tanh, or relu."},
      {.schema = "_rnn_layer_backward(Tensor? grad_out, Tensor? grad_hn, Tensor hx, Tensor weight, Tensor out, int[] "
                 "batch_sizes, bool reverse, bool relu) -> (Tensor, Tensor, Tensor)",
       .infer = shape<infer_rnn_backward>,
       .composite = composite<rnn_layer_backward>,
       .doc = "The gradients of _rnn_layer by gates, hx and weight."},
      {.schema = "_lstm_cell(Tensor input, Tensor hx, Tensor cx, Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? b_hh) "
                 "-> (Tensor hy, Tensor cy, Tensor kept)",
       .dims = "... i, ... h~, ... h~, g~ i, g~ h~, g~, g~ -> ... h~, ... h~, ... k",
       .infer = shape<infer_cell>,
       .composite = composite<kept_lstm_cell>,
       .doc = "One step of an LSTM."},
      {.schema = "_lstm_cell_backward(Tensor? grad_hy, Tensor? grad_cy, Tensor? grad_kept, Tensor input, Tensor hx, "
                 "Tensor cx, Tensor w_ih, Tensor w_hh, Tensor cy, Tensor kept, bool[7] output_mask) -> (Tensor, "
                 "Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)",
       .infer = shape<infer_cell_backward>,
       .composite = composite<kept_lstm_cell_backward>,
       .doc = "The gradients of _lstm_cell; those that `output_mask` leaves out are None."},
  };
}

}  // namespace lamella::operators
