// Layer, group, root-mean-square and batch norms and their gradients: the launches of kernels/norms.cu.
#include "kernels/norms.h"

#include "rows.h"

namespace cuda {
namespace {

using Flags = lamella::ArrayRef<bool>;

// Weight and bias, in a dtype that the kernels support for them: that of the input, or that in which it is computed.
struct Parameters {
  Operand weight, bias;
  int dtype;
  Parameters(const Tensor& w, const Tensor& b, int input) : dtype(input) {
    for (const Tensor* t : {&w, &b})
      if (t->defined() && t->get()->dtype != input) dtype = wide_of(input);
    weight = Operand(w.get(), dtype);
    bias = Operand(b.get(), dtype);
  }
  // Returns whether a load can read the parameters of `width` neighbours in a row; true without parameters.
  bool dense(const Channels& c, int width) const {
    if (!weight && !bias) return true;
    const auto aligned = [&](const Operand& t) {
      return reinterpret_cast<uintptr_t>(t.data()) % static_cast<uintptr_t>(width * item_of(dtype)) == 0;
    };
    return c.groups == 1 && c.area == 1 && aligned(weight) && aligned(bias);
  }
};

struct Rows {
  int64_t rows, length;
  Rows(const lamella_tensor* t, size_t dims) {
    const int n = t->dl.ndim, at = n - static_cast<int>(dims);
    rows = count_of(t, 0, at);
    length = count_of(t, at, n);
  }
  Rows(int64_t rows, int64_t length) : rows(rows), length(length) {}
};

template <bool Centered>
lamella_status normalize(const Tensor& input, const Tensor& weight, const Tensor& bias, const Rows& n,
                         const Channels& channels, double eps, const Tensor& out, const Tensor& mean,
                         const Tensor& scale) {
  static Kernels kernels("norms.cu");
  if (input.numel() == 0) {  // statistics of no elements are 0
    for (const Tensor* t : {&mean, &scale})
      if (t->defined() && t->numel()) {
        const Tensor none = empty_on(t->get(), t->sizes(), t->get()->dtype);
        if (lamella_status st = clear(none.get())) return st;
        if (lamella_status st = assign(t->get(), none.get())) return st;
      }
    return LAMELLA_OK;
  }
  const int t = input.get()->dtype;
  const Operand x(input);
  const Parameters p(weight, bias, t);
  const Result to(out);
  std::optional<Result> means, scales;
  if (mean.defined()) means.emplace(mean);
  if (scale.defined()) scales.emplace(scale);
  const int width = pack_width(item_of(t), n.length, {x.data(), to.data()});
  const RowLaunch rows(x.get(), n.rows, n.length, width, item_of(wide_of(t)));
  const bool dense = p.dense(channels, width);
  Kernel& kernel = kernels.get({t, p.dtype, dense, width, rows.packs}, [&] {
    return text("normalize_rows<", type_name(t), ", ", type_name(p.dtype), ", ", Centered ? "true" : "false", ", ",
                dense ? "true" : "false", ", ", width, ", ", rows.packs, ">");
  });
  if (lamella_status st = launch(kernel, x.get(), rows.grid, rows.block, rows.shared, x.data(), p.weight.data(),
                                 p.bias.data(), to.data(), means ? means->data() : nullptr,
                                 scales ? scales->data() : nullptr, n.rows, n.length, channels, eps, rows.keeps))
    return st;
  if (means)
    if (lamella_status st = means->finish()) return st;
  if (scales)
    if (lamella_status st = scales->finish()) return st;
  return to.finish();
}

Status native_layer_norm(const Tensor& input, IntList normalized_shape, const Tensor& weight, const Tensor& bias,
                         double eps, const Tensor& out, const Tensor& mean, const Tensor& scale) {
  const Rows n(input.get(), normalized_shape.size());
  return normalize<true>(input, weight, bias, n, {1, n.length, 1}, eps, out, mean, scale);
}
Status layer_norm(const Tensor& input, IntList normalized_shape, const Tensor& weight, const Tensor& bias, double eps,
                  bool, const Tensor& out) {
  return native_layer_norm(input, normalized_shape, weight, bias, eps, out, Tensor(), Tensor());
}

Status fused_rms_norm(const Tensor& input, IntList normalized_shape, const Tensor& weight, std::optional<double> eps,
                      const Tensor& out, const Tensor& scale) {
  const Rows n(input.get(), normalized_shape.size());
  const double least = eps.value_or(input.get()->dtype == LAMELLA_FLOAT64 ? 0x1p-52 : 0x1p-23);
  return normalize<false>(input, weight, Tensor(), n, {1, n.length, 1}, least, out, Tensor(), scale);
}
Status rms_norm(const Tensor& input, IntList normalized_shape, const Tensor& weight, std::optional<double> eps,
                const Tensor& out) {
  return fused_rms_norm(input, normalized_shape, weight, eps, out, Tensor());
}

Status native_group_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t N, int64_t C,
                         int64_t HxW, int64_t group, double eps, const Tensor& out, const Tensor& mean,
                         const Tensor& scale) {
  return normalize<true>(input, weight, bias, {N * group, C / group * HxW}, {group, C / group, HxW}, eps, out, mean,
                         scale);
}
Status group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps, bool,
                  const Tensor& out) {
  const lamella_tensor* x = input.get();
  return native_group_norm(input, weight, bias, x->dl.shape[0], x->dl.shape[1], count_of(x, 2, x->dl.ndim), num_groups,
                           eps, out, Tensor(), Tensor());
}

// ---- gradients of rows ----

template <bool Centered>
lamella_status backward_rows(const Operand& g, const Operand& x, const Tensor& weight, const Operand& mean,
                             const Operand& scale, const Rows& n, const Channels& channels, const Tensor& out) {
  static Kernels kernels("norms.cu");
  if (!out.numel()) return LAMELLA_OK;
  const int t = x.get()->dtype;
  const Parameters p(weight, Tensor(), t);
  const Result to(out);
  const int width = pack_width(item_of(t), n.length, {g.data(), x.data(), to.data()});
  const RowLaunch rows(x.get(), n.rows, n.length, width, 0);
  const bool dense = p.dense(channels, width);
  Kernel& kernel = kernels.get({t, p.dtype, dense, width, rows.packs}, [&] {
    return text("normalize_rows_backward<", type_name(t), ", ", type_name(p.dtype), ", ", Centered ? "true" : "false",
                ", ", dense ? "true" : "false", ", ", width, ", ", rows.packs, ">");
  });
  if (lamella_status st = launch(kernel, x.get(), rows.grid, rows.block, 0, g.data(), x.data(), p.weight.data(),
                                 mean.data(), scale.data(), to.data(), n.rows, n.length, channels))
    return st;
  return to.finish();
}

// Adds up `count` parts for each of one or two results; the parts of the second follow those of the first. A result
// that is undefined or empty is left out. Two results of one dtype take one launch.
lamella_status add_parts(const lamella_tensor* parts, int64_t count, int64_t length, const Tensor& first,
                         const Tensor& second) {
  static Kernels kernels("norms.cu");
  const int from = parts->dtype;
  const auto add = [&](int at, const Tensor& out, const Tensor& other) -> lamella_status {
    if (!out.defined() || !out.numel()) return LAMELLA_OK;
    const int to_dtype = out.get()->dtype;
    const Result to(out);
    std::optional<Result> and_to;
    if (other.defined()) and_to.emplace(other);
    Kernel& kernel = kernels.get({from, to_dtype},
                                 [&] { return text("add_parts<", type_name(from), ", ", type_name(to_dtype), ">"); });
    const void* begin = data_of(parts) + at * count * length * item_of(from);
    if (lamella_status st = launch(kernel, parts, {grid_for(parts, length, 32).x, and_to ? 2u : 1u}, {32, 16}, 0, begin,
                                   count, length, to.data(), and_to ? and_to->data() : nullptr))
      return st;
    if (and_to)
      if (lamella_status st = and_to->finish()) return st;
    return to.finish();
  };
  if (first.defined() && second.defined() && first.get()->dtype == second.get()->dtype) return add(0, first, second);
  if (lamella_status st = add(0, first, Tensor())) return st;
  return add(1, second, Tensor());
}

template <bool Centered>
lamella_status backward_weights(const Operand& g, const Operand& x, const Operand& mean, const Operand& scale,
                                const Rows& n, const Tensor& dw, const Tensor& db) {
  static Kernels kernels("norms.cu");
  if (!dw.defined() && !db.defined()) return LAMELLA_OK;
  const int t = x.get()->dtype, wide = wide_of(t);
  const int width = pack_width(item_of(t), n.length, {g.data(), x.data()});
  // The rows are cut into as many parts as keep the device busy together with the tiles of columns. A part is a
  // multiple of 32 rows, a block's step. Parts depend on the shape and on `width` only, so that results do not depend
  // on the device.
  const int64_t tiles = (n.length + 32 * width - 1) / (32 * width), busy = std::max<int64_t>(1, 512 / (tiles + !tiles));
  const int64_t part = ((n.rows + busy - 1) / busy + 31) / 32 * 32, parts = part ? (n.rows + part - 1) / part : 0;
  const Tensor sums = empty_on(x.get(), {2, parts ? parts : 1, n.length}, wide);
  char* at = data_of(sums);
  if (parts && n.length) {
    Kernel& kernel = kernels.get({t, width}, [&] {
      return text("weight_parts<", type_name(t), ", ", Centered ? "true" : "false", ", ", width, ">");
    });
    void* of_bias = db.defined() ? at + parts * n.length * item_of(wide) : nullptr;
    if (lamella_status st = launch(kernel, x.get(), {static_cast<unsigned>(tiles), static_cast<unsigned>(parts)},
                                   {32, 8}, 0, g.data(), x.data(), mean.data(), scale.data(), n.rows, n.length, part,
                                   dw.defined() ? static_cast<void*>(at) : nullptr, of_bias))
      return st;
  }
  return add_parts(sums.get(), parts, n.length, dw, db);
}

Tensor given(const std::optional<Tensor>& t) { return t ? *t : Tensor(); }

Status native_layer_norm_backward(const Tensor& grad_out, const Tensor& input, IntList normalized_shape,
                                  const Tensor& mean, const Tensor& rstd, const Tensor& weight, const Tensor&, Flags,
                                  const std::optional<Tensor>& dx, const std::optional<Tensor>& dw,
                                  const std::optional<Tensor>& db) {
  const Rows n(input.get(), normalized_shape.size());
  const int t = input.get()->dtype;
  const Operand g(grad_out.get(), t), x(input), m(mean.get(), wide_of(t)), s(rstd.get(), wide_of(t));
  if (given(dx).defined())
    if (lamella_status st = backward_rows<true>(g, x, weight, m, s, n, {1, n.length, 1}, *dx)) return st;
  return backward_weights<true>(g, x, m, s, n, given(dw), given(db));
}

Status fused_rms_norm_backward(const Tensor& grad_out, const Tensor& input, IntList normalized_shape,
                               const Tensor& rstd, const Tensor& weight, Flags, const std::optional<Tensor>& dx,
                               const std::optional<Tensor>& dw) {
  const Rows n(input.get(), normalized_shape.size());
  const int t = input.get()->dtype;
  const Operand g(grad_out.get(), t), x(input), s(rstd.get(), wide_of(t));
  if (given(dx).defined())
    if (lamella_status st = backward_rows<false>(g, x, weight, Operand(), s, n, {1, n.length, 1}, *dx)) return st;
  return backward_weights<false>(g, x, Operand(), s, n, given(dw), Tensor());
}

// ---- by channel ----

struct Images {
  int64_t images, channels, area;
  explicit Images(const lamella_tensor* t)
      : images(t->dl.shape[0]), channels(t->dl.shape[1]), area(count_of(t, 2, t->dl.ndim)) {}
  int64_t count() const { return images * area; }
  // Returns the number of parts of a channel: one for every 8192 elements, but no more than keep the device busy.
  int64_t parts() const {
    const int64_t by_size = (count() + 8191) / 8192, busy = 2048 / (channels ? channels : 1) + 1;
    return by_size < busy ? by_size : busy;
  }
};

// Statistics of one dtype, by channel, or by image and group of channels. With `variances`, `spreads` are variances,
// else 1 / sqrt(variance + eps).
struct Statistics {
  Operand means, spreads;
  bool variances;
  int dtype() const { return means->dtype; }
};

lamella_status normalize_by_channel(const Operand& x, const Parameters& p, const Statistics& s, double eps,
                                    const Tensor& out) {
  static Kernels kernels("norms.cu");
  const Result to(out);
  const int t = x.get()->dtype;
  const Images n(x.get());
  if (!x->numel) return LAMELLA_OK;
  Kernel& kernel = kernels.get({t, p.dtype, s.dtype()}, [&] {
    return text("normalize_channels<", type_name(t), ", ", type_name(p.dtype), ", ", type_name(s.dtype()), ">");
  });
  if (lamella_status st =
          launch(kernel, x.get(), grid_for(x.get(), x->numel), {256}, 0, x.data(), p.weight.data(), p.bias.data(),
                 s.means.data(), s.spreads.data(), s.variances, eps, to.data(), x->numel, n.channels, n.area))
    return st;
  return to.finish();
}

lamella_status batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                          const Tensor& running_var, double momentum, double eps, const Tensor& out, const Tensor& mean,
                          const Tensor& scale) {
  static Kernels moments("norms.cu");
  static Kernels statistics("norms.cu");
  const int t = input.get()->dtype, wide = wide_of(t);
  const Operand x(input);
  const Images n(x.get());
  if (!x->numel) return LAMELLA_OK;
  const int64_t parts = n.parts();
  const Tensor sums = empty_on(x.get(), {2, parts, n.channels}, wide);
  char *part_means = data_of(sums), *part_squares = part_means + parts * n.channels * item_of(wide);
  Kernel& first = moments.get({t}, [&] { return text("channel_moments<", type_name(t), ">"); });
  if (lamella_status st = launch(first, x.get(), {static_cast<unsigned>(n.channels), static_cast<unsigned>(parts)},
                                 {256}, 0, x.data(), n.images, n.channels, n.area, part_means, part_squares))
    return st;
  const Result m(mean), s(scale);
  // The kernel takes both running statistics in one dtype. A variance of another dtype goes through a copy.
  const bool running = running_mean.defined();
  Tensor var = running_var;
  if (running && var.get()->dtype != running_mean.get()->dtype) {
    var = empty_on(x.get(), var.sizes(), running_mean.get()->dtype);
    if (lamella_status st = assign(var.get(), running_var.get())) return st;
  }
  const int r = running ? running_mean.get()->dtype : t;
  Kernel& second =
      statistics.get({t, r}, [&] { return text("channel_statistics<", type_name(t), ", ", type_name(r), ">"); });
  if (lamella_status st =
          launch(second, x.get(), {static_cast<unsigned>((n.channels + 255) / 256)}, {256}, 0, part_means, part_squares,
                 parts, n.count(), n.channels, eps, momentum, m.data(), s.data(), data_of<void>(running_mean),
                 running ? stride_along(running_mean.get(), 0) : int64_t{1}, data_of<void>(var),
                 running ? stride_along(var.get(), 0) : int64_t{1}))
    return st;
  if (running && !var.is_same(running_var))
    if (lamella_status st = assign(running_var.get(), var.get())) return st;
  const Parameters p(weight, bias, t);
  if (lamella_status st = normalize_by_channel(x, p, {Operand(m.get()), Operand(s.get()), false}, eps, out)) return st;
  if (lamella_status st = m.finish()) return st;
  return s.finish();
}

Status batch_norm_train(const Tensor& input, const Tensor& weight, const Tensor& bias, double eps, const Tensor& out,
                        const Tensor& mean, const Tensor& scale) {
  return batch_norm(input, weight, bias, Tensor(), Tensor(), 0, eps, out, mean, scale);
}
Status batch_norm_with_update(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                              const Tensor& running_var, double momentum, double eps, const Tensor& out,
                              const Tensor& mean, const Tensor& scale) {
  return batch_norm(input, weight, bias, running_mean, running_var, momentum, eps, out, mean, scale);
}
Statistics given_statistics(const Tensor& mean, const Tensor& var, int t) {
  const bool same = mean.get()->dtype == var.get()->dtype;
  const int dtype = same ? mean.get()->dtype : wide_of(t);
  return {Operand(mean.get(), dtype), Operand(var.get(), dtype), true};
}
Status batch_norm_eval(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                       const Tensor& running_var, double eps, const Tensor& out) {
  const int t = input.get()->dtype;
  return normalize_by_channel(Operand(input), Parameters(weight, bias, t),
                              given_statistics(running_mean, running_var, t), eps, out);
}

// Returns the sums of g y and of g for each channel, as (2, channels) of the wide dtype; y is the normalized input.
// With `groups` above 0, `s` has statistics for each image and group of channels.
Tensor channel_sums(const Operand& g, const Operand& x, const Images& n, const Statistics& s, double eps,
                    int64_t groups) {
  static Kernels kernels("norms.cu");
  const int t = x.get()->dtype, wide = wide_of(t);
  Tensor sums = empty_on(x.get(), {2, n.channels}, wide);
  if (!n.count()) {
    lamella::check(clear(sums.get()));
    return sums;
  }
  const int64_t parts = n.parts();
  const Tensor all = empty_on(x.get(), {2, parts, n.channels}, wide);
  char *of_weight = data_of(all), *of_bias = of_weight + parts * n.channels * item_of(wide);
  Kernel& kernel = kernels.get(
      {t, s.dtype()}, [&] { return text("channel_gradients<", type_name(t), ", ", type_name(s.dtype()), ">"); });
  lamella::check(launch(kernel, x.get(), {static_cast<unsigned>(n.channels), static_cast<unsigned>(parts)}, {256}, 0,
                        g.data(), x.data(), s.means.data(), s.spreads.data(), s.variances, eps, n.images, n.channels,
                        n.area, groups, of_weight, of_bias));
  const int64_t size = n.channels, one = 1;
  lamella::check(add_parts(all.get(), parts, size, view_of(sums.get(), 1, &size, &one),
                           view_of(sums.get(), 1, &size, &one, size)));
  return sums;
}

lamella_status write_sums(const Tensor& sums, const Tensor& dw, const Tensor& db) {
  const int64_t size = sums.size(1), one = 1;
  int k = 0;
  for (const Tensor* to : {&dw, &db}) {
    if (to->defined() && to->numel())
      if (lamella_status st = assign(to->get(), view_of(sums.get(), 1, &size, &one, k * size).get())) return st;
    k++;
  }
  return LAMELLA_OK;
}

Status native_group_norm_backward(const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& rstd,
                                  const Tensor& weight, int64_t N, int64_t C, int64_t HxW, int64_t group, Flags,
                                  const std::optional<Tensor>& dx, const std::optional<Tensor>& dw,
                                  const std::optional<Tensor>& db) {
  const int t = input.get()->dtype;
  const Operand g(grad_out.get(), t), x(input), m(mean.get(), wide_of(t)), s(rstd.get(), wide_of(t));
  if (given(dx).defined())
    if (lamella_status st =
            backward_rows<true>(g, x, weight, m, s, {N * group, C / group * HxW}, {group, C / group, HxW}, *dx))
      return st;
  if (!given(dw).defined() && !given(db).defined()) return LAMELLA_OK;
  Images n(x.get());
  n.images = N, n.channels = C, n.area = HxW;
  return write_sums(channel_sums(g, x, n, {m, s, false}, 0, group), given(dw), given(db));
}

Status native_batch_norm_backward(const Tensor& grad_out, const Tensor& input, const Tensor& weight,
                                  const Tensor& running_mean, const Tensor& running_var, const Tensor& save_mean,
                                  const Tensor& save_invstd, bool train, double eps, Flags,
                                  const std::optional<Tensor>& dx, const std::optional<Tensor>& dw,
                                  const std::optional<Tensor>& db) {
  static Kernels kernels("norms.cu");
  const int t = input.get()->dtype;
  const Operand g(grad_out.get(), t), x(input);
  const Images n(x.get());
  Statistics s = train ? Statistics{Operand(save_mean.get(), wide_of(t)), Operand(save_invstd.get(), wide_of(t)), false}
                       : given_statistics(running_mean, running_var, t);
  const bool weights = given(dw).defined() || given(db).defined(), of_input = given(dx).defined() && dx->numel();
  Tensor sums;
  if (weights || (train && of_input)) sums = channel_sums(g, x, n, s, eps, 0);
  if (of_input) {
    const Parameters p(weight, Tensor(), t);
    const Result to(*dx);
    Kernel& kernel = kernels.get({t, p.dtype, s.dtype()}, [&] {
      return text("normalize_channels_backward<", type_name(t), ", ", type_name(p.dtype), ", ", type_name(s.dtype()),
                  ">");
    });
    const char* of_n = train ? data_of(sums) : nullptr;
    const char* of_g = train ? of_n + n.channels * item_of(wide_of(t)) : nullptr;
    if (lamella_status st = launch(kernel, x.get(), grid_for(x.get(), x->numel), {256}, 0, g.data(), x.data(),
                                   p.weight.data(), s.means.data(), s.spreads.data(), s.variances, eps, of_n, of_g,
                                   to.data(), x->numel, n.channels, n.area))
      return st;
    if (lamella_status st = to.finish()) return st;
  }
  return weights ? write_sums(sums, given(dw), given(db)) : LAMELLA_OK;
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  add<native_layer_norm>(m, "native_layer_norm");
  add<layer_norm>(m, "layer_norm");
  add<native_group_norm>(m, "native_group_norm");
  add<group_norm>(m, "group_norm");
  add<rms_norm>(m, "rms_norm");
  add<fused_rms_norm>(m, "_fused_rms_norm");
  add<batch_norm_train>(m, "_batch_norm_train");
  add<batch_norm_with_update>(m, "_batch_norm_with_update");
  add<batch_norm_eval>(m, "_batch_norm_eval");
  add<native_layer_norm_backward>(m, "native_layer_norm_backward");
  add<fused_rms_norm_backward>(m, "_fused_rms_norm_backward");
  add<native_group_norm_backward>(m, "native_group_norm_backward");
  add<native_batch_norm_backward>(m, "native_batch_norm_backward");
}

}  // namespace cuda
