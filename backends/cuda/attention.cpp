// Attention and its gradients: kernels/attention.cu. Dropout of the weights, and widths above 256, take the composite.
#include "kernels.h"
#include "operands.h"

namespace cuda {
namespace {

constexpr int64_t tile_side = 64, widest = 256;

// As `Heads` of kernels/attention.cu.
struct Heads {
  void* data = nullptr;
  int64_t batch = 0, head = 0, row = 0, column = 0;
};
Heads heads_of(const Tensor& t) {
  if (!t.defined()) return {};
  const lamella_tensor* x = t.get();
  return {x->dl.data, x->dl.strides[0], x->dl.strides[1], x->dl.strides[2], x->dl.strides[3]};
}

// As `AttentionSizes`.
struct AttentionSizes {
  int64_t batch, heads, shared, queries, keys, width, value_width;
  int32_t causal, mask;
  double scale;
  const void* mask_data;
  int64_t mask_strides[4];
};

AttentionSizes sizes_of(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask, bool causal,
                        double scale) {
  AttentionSizes n{query.size(0), query.size(1), 1, query.size(2), key.size(2), query.size(3),
                   value.size(3), causal,        0, scale,         nullptr,     {}};
  n.shared = key.size(1) ? query.size(1) / key.size(1) : 1;
  if (!mask.defined()) return n;
  const lamella_tensor* m = mask.get();
  n.mask = m->dtype == LAMELLA_BOOL ? 1 : m->dtype == query.get()->dtype ? 2 : 3;
  n.mask_data = m->dl.data;
  const int shift = 4 - m->dl.ndim;
  for (int d = 0; d < m->dl.ndim; d++) n.mask_strides[shift + d] = m->dl.shape[d] == 1 ? 0 : m->dl.strides[d];
  return n;
}

int quads_of(const AttentionSizes& n) {
  const int64_t most = std::max(n.width, n.value_width);
  return most <= 64 ? 1 : most <= 128 ? 2 : 4;
}
int quad_number(int quads) { return quads == 1 ? 0 : quads == 2 ? 1 : 2; }

// `Space` of kernels/attention.cu.
unsigned shared_bytes(int dtype) {
  const int item = item_of(wide_of(dtype)), depth = item == 8 ? 32 : 64;
  return static_cast<unsigned>((2 * depth + 64) * 68 * item);
}

Dim blocks(int64_t heads, int64_t rows, int64_t side = tile_side) {
  const int64_t count = heads * ((rows + side - 1) / side);
  LAMELLA_CHECK_NOT_IMPLEMENTED(count >> 31 == 0, "cuda: attention over more than 2^31 tiles");
  return {static_cast<unsigned>(count)};
}

// Whether the matrix instruction serves: two-byte floats whose rows can be read 16 bytes at a time. Undefined operands
// are results that are not wanted.
bool suits_warps(const AttentionSizes& n, int dtype, std::initializer_list<Tensor> operands) {
  if (properties_of(index_of(operands.begin()->get())).capability < 80) return false;
  if (!is_half(dtype) || n.width % 8 || n.value_width % 8 || n.width > 128 || n.value_width > 128) return false;
  for (const Tensor& t : operands) {
    if (!t.defined()) continue;
    const lamella_tensor* x = t.get();
    if (x->dl.strides[3] != 1 || reinterpret_cast<uintptr_t>(x->dl.data) % 16) return false;
    for (int d = 0; d < 3; d++)
      if (x->dl.shape[d] > 1 && x->dl.strides[d] % 8) return false;
  }
  return true;
}

constexpr const char *warps_file = "attention_warps.cu", *warps_options = "-fmad=true",
                     *groups_file = "attention_groups.cu", *groups_options = "-fmad=true -arch=sm_90a";
// The gradients' kernels where the device has the instruction of four warps, and elsewhere.
Kernels<dtypes * 6> gradients_of_query(groups_file, groups_options), gradients_of_key(groups_file, groups_options),
    gradients_of_query_by_warps(groups_file, warps_options), gradients_of_key_by_warps(groups_file, warps_options);
bool has_groups(const Tensor& on) { return properties_of(index_of(on.get())).capability == 90; }
// Whether scores are products as they are, times a scale above 0.
bool is_plain(const AttentionSizes& n) { return !n.mask && n.scale > 0; }
int warps_number(const AttentionSizes& n, int dtype) {
  return (dtype * 3 + quad_number(quads_of(n))) * 2 + is_plain(n);
}
std::string warps_name(const char* name, const AttentionSizes& n, int dtype) {
  return text(name, "<", type_name(dtype), ", ", quads_of(n), is_plain(n) ? ", true>" : ", false>");
}
// Tiles of kernels/attention_warps.cu: 64 rows of two-byte floats each.
unsigned tile_bytes(int quads, int tiles) { return static_cast<unsigned>(tiles * tile_side * 64 * quads * 2); }

bool too_wide(const lamella_value& query, const lamella_value& value) {
  const lamella_tensor *q = query.as.tensor, *v = value.as.tensor;
  return q->dl.shape[3] > widest || v->dl.shape[3] > widest;
}
Tensor borrowed(const lamella_value& v) { return v.tag == LAMELLA_TENSOR ? Tensor::borrow(v.as.tensor) : Tensor(); }

// _attention(query, key, value, attn_mask, is_causal, scale) -> (out, logsumexp)
lamella_status attention(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return lamella::guarded([&]() -> lamella_status {
    static Kernels<dtypes * 3> kernels("attention.cu", "-fmad=true");
    if (too_wide(args[0], args[2])) return by_composite(f, args, rets);
    const Tensor q = borrowed(args[0]), k = borrowed(args[1]), v = borrowed(args[2]), out = borrowed(rets[0]),
                 sums = borrowed(rets[1]);
    if (!sums.numel()) return LAMELLA_OK;
    const AttentionSizes n = sizes_of(q, k, v, borrowed(args[3]), args[4].as.i != 0, lamella::as_double(args[5]));
    const PlainOutput logsumexp(sums);
    const int t = q.get()->dtype, quads = quads_of(n), number = t * 3 + quad_number(quads);
    if (suits_warps(n, t, {q, k, v, out})) {
      if (is_plain(n) && has_groups(q)) {
        static Kernels<dtypes * 3> by_groups(groups_file, groups_options);
        Kernel& kernel =
            by_groups.get(number, [&] { return text("attend_by_groups<", type_name(t), ", ", quads, ">"); });
        if (lamella_status st = launch(kernel, q.get(), blocks(n.batch * n.heads, n.queries, 128), {256},
                                       tile_bytes(1, 6 * quads) + 1024, heads_of(q), heads_of(k), heads_of(v),
                                       heads_of(out), logsumexp.data(), n))
          return st;
        return logsumexp.close();
      }
      static Kernels<dtypes * 6> by_warps(warps_file, warps_options);
      constexpr int rows = 128;
      Kernel& kernel = by_warps.get(warps_number(n, t), [&] { return warps_name("attend_by_warps", n, t); });
      if (lamella_status st = launch(kernel, q.get(), blocks(n.batch * n.heads, n.queries, rows), {128},
                                     tile_bytes(quads, rows / tile_side + 4), heads_of(q), heads_of(k), heads_of(v),
                                     heads_of(out), logsumexp.data(), n))
        return st;
      return logsumexp.close();
    }
    Kernel& kernel = kernels.get(number, [&] { return text("attend<", type_name(t), ", ", quads, ">"); });
    if (lamella_status st = launch(kernel, q.get(), blocks(n.batch * n.heads, n.queries), {256}, shared_bytes(t),
                                   heads_of(q), heads_of(k), heads_of(v), heads_of(out), logsumexp.data(), n))
      return st;
    return logsumexp.close();
  });
}

// _attention_backward(grad_out, grad_logsumexp, query, key, value, attn_mask, out, logsumexp, is_causal, scale,
// output_mask, words, dropout_p) -> (query's, key's, value's)
lamella_status attention_backward(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return lamella::guarded([&]() -> lamella_status {
    static Kernels<dtypes> shift_kernels("attention.cu", "-fmad=true");
    static Kernels<dtypes * 3> of_query("attention.cu", "-fmad=true"), of_key("attention.cu", "-fmad=true");
    const bool drops = f->num_args > 12 && args[11].tag == LAMELLA_TENSOR && lamella::as_double(args[12]) > 0;
    if (drops || too_wide(args[2], args[4])) return by_composite(f, args, rets);
    const Tensor g = borrowed(args[0]), q = borrowed(args[2]), k = borrowed(args[3]), v = borrowed(args[4]),
                 out = borrowed(args[6]);
    const int t = q.get()->dtype;
    const Tensor of_sums = plain(borrowed(args[1])), logsumexp = plain(borrowed(args[7]));
    const Tensor dq = borrowed(rets[0]), dk = borrowed(rets[1]), dv = borrowed(rets[2]);
    const AttentionSizes n = sizes_of(q, k, v, borrowed(args[5]), args[8].as.i != 0, lamella::as_double(args[9]));
    const int64_t rows = n.batch * n.heads * n.queries;
    const Tensor shifts = empty_on(q.get(), {rows}, wide_of(t));
    const char* type = type_name(t);
    if (rows) {
      Kernel& kernel = shift_kernels.get(t, [&] { return text("attention_shifts<", type, ">"); });
      if (lamella_status st = launch(kernel, q.get(), grid_for(q.get(), rows * 32), {256}, 0, heads_of(g),
                                     heads_of(out), data_of<void>(of_sums), shifts.data_ptr(), n))
        return st;
    }
    const int quads = quads_of(n), number = t * 3 + quad_number(quads);
    if (suits_warps(n, t, {q, k, v, g, dq, dk, dv})) {
      const bool grouped = has_groups(q);
      Kernels<dtypes* 6>&of_query = grouped ? gradients_of_query : gradients_of_query_by_warps,
                      &of_key = grouped ? gradients_of_key : gradients_of_key_by_warps;
      const auto *sums = logsumexp.data_ptr(), *less = shifts.data_ptr();
      if (dq.defined() && rows) {
        Kernel& kernel = of_query.get(warps_number(n, t), [&] { return warps_name("backward_query_by_groups", n, t); });
        if (lamella_status st =
                launch(kernel, q.get(), blocks(n.batch * n.heads, n.queries), {128}, tile_bytes(quads, 6) + 1024,
                       heads_of(g), heads_of(q), heads_of(k), heads_of(v), sums, less, heads_of(dq), n))
          return st;
      }
      if (!dk.defined() && !dv.defined()) return LAMELLA_OK;
      Kernel& kernel = of_key.get(warps_number(n, t), [&] { return warps_name("backward_key_by_groups", n, t); });
      return launch(kernel, q.get(), blocks(n.batch * k.size(1), n.keys), {128}, tile_bytes(quads, 6) + 2048,
                    heads_of(g), heads_of(q), heads_of(k), heads_of(v), sums, less, heads_of(dk), heads_of(dv), n);
    }
    if (dq.defined() && rows) {
      Kernel& kernel = of_query.get(number, [&] { return text("attend_backward_query<", type, ", ", quads, ">"); });
      if (lamella_status st =
              launch(kernel, q.get(), blocks(n.batch * n.heads, n.queries), {256}, shared_bytes(t), heads_of(g),
                     heads_of(q), heads_of(k), heads_of(v), logsumexp.data_ptr(), shifts.data_ptr(), heads_of(dq), n))
        return st;
    }
    if (dk.defined() || dv.defined()) {
      Kernel& kernel = of_key.get(number, [&] { return text("attend_backward_key<", type, ", ", quads, ">"); });
      return launch(kernel, q.get(), blocks(n.batch * k.size(1), n.keys), {256}, shared_bytes(t), heads_of(g),
                    heads_of(q), heads_of(k), heads_of(v), logsumexp.data_ptr(), shifts.data_ptr(), heads_of(dk),
                    heads_of(dv), n);
    }
    return LAMELLA_OK;
  });
}

}  // namespace

void add_attention(lamella::Library& m) {
  m.impl("_attention", "cuda", attention, nullptr, LAMELLA_KERNEL_CALLS_OPERATORS);
  m.impl("_attention_backward", "cuda", attention_backward, nullptr, LAMELLA_KERNEL_CALLS_OPERATORS);
}

}  // namespace cuda
