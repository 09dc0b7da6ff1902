// Attention and its gradients. Two-byte floats of widths up to 256 and float32 of widths up to 128 go by matrix
// instructions where shared memory has room, kernels/attention_warps.cu and attention_groups.cu; others of widths up to
// 256 by kernels/attention.cu; wider ones take the composite.
#include "kernels/attention.h"

#include "operands.h"
#include "random.h"

namespace cuda {
namespace {

constexpr int64_t widest = 256;

Heads<char> heads_of(const Tensor& t) {
  if (!t.defined()) return {};
  const lamella_tensor* x = t.get();
  return {data_of(x), x->dl.strides[0], x->dl.strides[1], x->dl.strides[2], x->dl.strides[3]};
}

AttentionSizes sizes_of(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask, bool causal,
                        double scale) {
  AttentionSizes n{};
  n.batch = query.size(0), n.heads = query.size(1), n.queries = query.size(2), n.keys = key.size(2);
  n.width = query.size(3), n.value_width = value.size(3);
  n.shared = key.size(1) ? query.size(1) / key.size(1) : 1;
  n.causal = causal, n.scale = scale;
  if (!mask.defined()) return n;
  const lamella_tensor* m = mask.get();
  n.mask = m->dtype == LAMELLA_BOOL ? 1 : m->dtype == query.get()->dtype ? 2 : 3;
  n.mask_data = m->dl.data;
  const int shift = 4 - m->dl.ndim;
  for (int d = 0; d < m->dl.ndim; d++) n.mask_strides[shift + d] = m->dl.shape[d] == 1 ? 0 : m->dl.strides[d];
  return n;
}
// Dropout of the weights by the words of a stream, whose seed and place are `words`.
void drop(AttentionSizes& n, const Tensor& words, double p) {
  n.words = data_of<const int64_t>(words);
  n.stay = 1 - p;
  n.factor = p == 1 ? 0 : 1 / (1 - p);
}

int quads_of(const AttentionSizes& n) {
  const int64_t most = std::max(n.width, n.value_width);
  return most <= 64 ? 1 : most <= 128 ? 2 : 4;
}

unsigned shared_bytes(int dtype) {
  return wide_of(dtype) == LAMELLA_FLOAT64 ? sizeof(AttentionSpace<double>) : sizeof(AttentionSpace<float>);
}

Dim blocks(int64_t heads, int64_t rows, int64_t side = tile_side) {
  const int64_t count = heads * ((rows + side - 1) / side);
  LAMELLA_CHECK_NOT_IMPLEMENTED(count >> 31 == 0, "cuda: attention over more than 2^31 tiles");
  return {static_cast<unsigned>(count)};
}

// Tiles of 64 rows of 64 * quads elements each.
unsigned tile_bytes(int dtype, int quads, int tiles) {
  return static_cast<unsigned>(tiles * tile_side * 64 * quads * item_of(dtype));
}
constexpr unsigned aligned_to_group = 1024;  // Note [Groups] of kernels/groups.cuh
// What the gradient of keys has in shared memory, which is the most: six tiles, and numbers of two tiles' queries.
unsigned most_bytes(int dtype, int quads) { return tile_bytes(dtype, quads, 6) + 2 * aligned_to_group; }

// Whether the matrix instruction serves: rows of two-byte floats or of float32 that can be read 16 bytes at a time.
// Undefined operands are results that are not wanted.
bool suits_matrices(const AttentionSizes& n, int dtype, std::initializer_list<Tensor> operands) {
  const Properties& device = properties_of(index_of(operands.begin()->get()));
  if (device.capability < 80 || (!is_half(dtype) && dtype != LAMELLA_FLOAT32)) return false;
  if (n.width % 8 || n.value_width % 8 || n.width > widest || n.value_width > widest) return false;
  if (most_bytes(dtype, quads_of(n)) > static_cast<unsigned>(device.most_shared_bytes)) return false;
  for (const Tensor& t : operands) {
    if (!t.defined()) continue;
    const lamella_tensor* x = t.get();
    if (x->dl.strides[3] != 1 || reinterpret_cast<uintptr_t>(x->dl.data) % 16) return false;
    for (int d = 0; d < 3; d++)
      if (x->dl.shape[d] > 1 && x->dl.strides[d] * item_of(dtype) % 16) return false;
  }
  return true;
}

// Whether scores are products as they are, times a scale above 0, and all weights stay.
bool is_plain(const AttentionSizes& n) { return !n.mask && n.scale > 0 && !n.words; }

// A kernel of matrix instructions, by dtype, width, and whether scores are plain: for devices that have the instruction
// of four warps, and for others and float32, which do without.
class MatrixKernels {
 public:
  // `more`: further arguments of the template.
  constexpr MatrixKernels(const char* name, const char* file, const char* more = "")
      : name_(name), more_(more), by_warps_(file, "-fmad=true"), by_groups_(file, "-fmad=true -arch=sm_90a") {}
  Kernel& get(const AttentionSizes& n, int dtype, bool groups) {
    const int quads = quads_of(n);
    return (groups ? by_groups_ : by_warps_).get({dtype, quads, is_plain(n)}, [&] {
      return text(name_, "<", type_name(dtype), ", ", quads, is_plain(n) ? ", true" : ", false", more_, ">");
    });
  }

 private:
  const char *name_, *more_;
  Kernels by_warps_, by_groups_;
};
bool has_groups(const Tensor& t) {
  return is_half(t.get()->dtype) && properties_of(index_of(t.get())).capability == 90;
}

bool too_wide(const lamella_value& query, const lamella_value& value) {
  const lamella_tensor *q = query.as.tensor, *v = value.as.tensor;
  return q->dl.shape[3] > widest || v->dl.shape[3] > widest;
}
Tensor borrowed(const lamella_value& v) { return v.tag == LAMELLA_TENSOR ? Tensor::borrow(v.as.tensor) : Tensor(); }

lamella_status attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionSizes& n, const Tensor& out,
                      const Tensor& sums) {
  if (!sums.numel()) return LAMELLA_OK;
  const PlainOutput logsumexp(sums);
  const int t = q.get()->dtype, quads = quads_of(n);
  const auto run = [&](Kernel& kernel, int64_t rows, unsigned threads, unsigned shared) -> lamella_status {
    if (lamella_status st = launch(kernel, q.get(), blocks(n.batch * n.heads, n.queries, rows), {threads}, shared,
                                   heads_of(q), heads_of(k), heads_of(v), heads_of(out), logsumexp.data(), n))
      return st;
    return logsumexp.close();
  };
  if (!suits_matrices(n, t, {q, k, v, out})) {
    static Kernels kernels("attention.cu", "-fmad=true");
    Kernel& kernel = kernels.get({t, quads}, [&] { return text("attend<", type_name(t), ", ", quads, ">"); });
    return run(kernel, tile_side, 256, shared_bytes(t));
  }
  // Two tiles of queries, and two of keys and of values each.
  if (!is_half(t) || quads == 4 || (is_plain(n) && has_groups(q))) {
    static MatrixKernels kernels("attend_by_groups", "attention_groups.cu");
    return run(kernels.get(n, t, has_groups(q)), 128, 256, tile_bytes(t, quads, 6) + aligned_to_group);
  }
  static MatrixKernels kernels("attend_by_warps", "attention_warps.cu");
  return run(kernels.get(n, t, false), 128, 128, tile_bytes(t, quads, 6));
}

// _attention(query, key, value, attn_mask, is_causal, scale) -> (out, logsumexp)
lamella_status attention(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return lamella::guarded([&]() -> lamella_status {
    if (too_wide(args[0], args[2])) return by_composite(f, args, rets);
    const Tensor q = borrowed(args[0]), k = borrowed(args[1]), v = borrowed(args[2]);
    const AttentionSizes n = sizes_of(q, k, v, borrowed(args[3]), args[4].as.i != 0, lamella::as_double(args[5]));
    return attend(q, k, v, n, borrowed(rets[0]), borrowed(rets[1]));
  });
}

// _attention_dropout(query, key, value, attn_mask, is_causal, scale, dropout_p, generator) -> (out, logsumexp, words)
lamella_status attention_dropout(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return lamella::guarded([&]() -> lamella_status {
    if (too_wide(args[0], args[2])) return by_composite(f, args, rets);
    const Tensor q = borrowed(args[0]), k = borrowed(args[1]), v = borrowed(args[2]);
    AttentionSizes n = sizes_of(q, k, v, borrowed(args[3]), args[4].as.i != 0, lamella::as_double(args[5]));
    const double p = lamella::as_double(args[6]);
    const auto generator = lamella::Generator::borrow(args[7].tag == LAMELLA_OBJECT ? args[7].as.object : nullptr);
    const PlainOutput words(borrowed(rets[2]));
    ReservedWords reserved;
    const int64_t count = n.batch * n.heads * n.queries * n.keys;
    if (lamella_status st = reserve_words(q.get(), generator, static_cast<uint64_t>(count), &reserved)) return st;
    if (lamella_status st = write_place(words.tensor().get(), reserved)) return st;
    if (p > 0) drop(n, words.tensor(), p);
    if (lamella_status st = attend(q, k, v, n, borrowed(rets[0]), borrowed(rets[1]))) return st;
    return words.close();
  });
}

lamella_status set_zeros(const Tensor& t) {
  const PlainOutput to(t);
  if (lamella_status st = clear(to.tensor().get())) return st;
  return to.close();
}

// What gradients have in common: attention_shifts of kernels/attention.cu.
lamella_status shifts_of(const Tensor& g, const Tensor& out, const Tensor& of_sums, const AttentionSizes& n,
                         Tensor* shifts) {
  static Kernels kernels("attention.cu", "-fmad=true");
  const int64_t rows = n.batch * n.heads * n.queries;
  const int t = g.get()->dtype;
  *shifts = empty_on(g.get(), {rows}, wide_of(t));
  Kernel& kernel = kernels.get({t}, [&] { return text("attention_shifts<", type_name(t), ">"); });
  return launch(kernel, g.get(), grid_for(g.get(), rows * 32), {256}, 0, heads_of(g), heads_of(out),
                data_of<void>(of_sums), shifts->data_ptr(), n);
}

// _attention_backward(grad_out, grad_logsumexp, query, key, value, attn_mask, out, logsumexp, is_causal, scale,
// output_mask, words, dropout_p) -> (query's, key's, value's)
lamella_status attention_backward(lamella_frame* f, const lamella_value* args, lamella_value* rets) {
  return lamella::guarded([&]() -> lamella_status {
    static Kernels of_query("attention.cu", "-fmad=true"), of_key("attention.cu", "-fmad=true");
    if (too_wide(args[2], args[4])) return by_composite(f, args, rets);
    const Tensor g = borrowed(args[0]), q = borrowed(args[2]), k = borrowed(args[3]), v = borrowed(args[4]),
                 out = borrowed(args[6]);
    const int t = q.get()->dtype;
    const Tensor of_sums = plain(borrowed(args[1])), logsumexp = plain(borrowed(args[7]));
    const Tensor dq = borrowed(rets[0]), dk = borrowed(rets[1]), dv = borrowed(rets[2]);
    AttentionSizes n = sizes_of(q, k, v, borrowed(args[5]), args[8].as.i != 0, lamella::as_double(args[9]));
    const Tensor words = plain(borrowed(args[11]));
    if (const double p = lamella::as_double(args[12]); p > 0) drop(n, words, p);
    const int64_t rows = n.batch * n.heads * n.queries;
    const char* type = type_name(t);
    if (!rows) {  // nothing asks for any key
      for (const Tensor* t : {&dk, &dv})
        if (t->defined() && t->numel())
          if (lamella_status st = set_zeros(*t)) return st;
      return LAMELLA_OK;
    }
    Tensor shifts;
    if (lamella_status st = shifts_of(g, out, of_sums, n, &shifts)) return st;
    const int quads = quads_of(n);
    if (suits_matrices(n, t, {q, k, v, g, dq, dk, dv})) {
      constexpr const char *file = "attention_groups.cu", *by_key = "backward_key_by_groups";
      static MatrixKernels of_query("backward_query_by_groups", file), of_both(by_key, file, ", true, true"),
          of_keys(by_key, file, ", true, false"), of_values(by_key, file, ", false, true");
      const auto *sums = logsumexp.data_ptr(), *less = shifts.data_ptr();
      if (dq.defined())
        if (lamella_status st = launch(of_query.get(n, t, has_groups(q)), q.get(), blocks(n.batch * n.heads, n.queries),
                                       {128}, tile_bytes(t, quads, 6) + aligned_to_group, heads_of(g), heads_of(q),
                                       heads_of(k), heads_of(v), sums, less, heads_of(dq), n))
          return st;
      const auto run = [&](MatrixKernels& kernels) {
        return launch(kernels.get(n, t, has_groups(q)), q.get(), blocks(n.batch * k.size(1), n.keys), {128},
                      most_bytes(t, quads), heads_of(g), heads_of(q), heads_of(k), heads_of(v), sums, less,
                      heads_of(dk), heads_of(dv), n);
      };
      if (quads < 4) return dk.defined() || dv.defined() ? run(of_both) : LAMELLA_OK;
      if (dk.defined())
        if (lamella_status st = run(of_keys)) return st;
      return dv.defined() ? run(of_values) : LAMELLA_OK;
    }
    if (dq.defined()) {
      Kernel& kernel = of_query.get({t, quads}, [&] { return text("attend_backward_query<", type, ", ", quads, ">"); });
      if (lamella_status st =
              launch(kernel, q.get(), blocks(n.batch * n.heads, n.queries), {256}, shared_bytes(t), heads_of(g),
                     heads_of(q), heads_of(k), heads_of(v), logsumexp.data_ptr(), shifts.data_ptr(), heads_of(dq), n))
        return st;
    }
    if (dk.defined() || dv.defined()) {
      Kernel& kernel = of_key.get({t, quads}, [&] { return text("attend_backward_key<", type, ", ", quads, ">"); });
      return launch(kernel, q.get(), blocks(n.batch * k.size(1), n.keys), {256}, shared_bytes(t), heads_of(g),
                    heads_of(q), heads_of(k), heads_of(v), logsumexp.data_ptr(), shifts.data_ptr(), heads_of(dk),
                    heads_of(dv), n);
    }
    return LAMELLA_OK;
  });
}

Status attention_mask_backward(const Tensor& grad_out, const Tensor& grad_logsumexp, const Tensor& query,
                               const Tensor& key, const Tensor& value, const Tensor& attn_mask, const Tensor& out,
                               const Tensor& logsumexp, bool is_causal, double scale, const Tensor& words,
                               double dropout_p, const Tensor& result) {
  static Kernels kernels("attention.cu", "-fmad=true");
  if (!result.numel()) return LAMELLA_OK;
  AttentionSizes n = sizes_of(query, key, value, attn_mask, is_causal, scale);
  const Tensor place = plain(words), sums = plain(logsumexp), of_sums = plain(grad_logsumexp);
  if (dropout_p > 0) drop(n, place, dropout_p);
  if (!n.batch || !n.heads || !n.queries) return set_zeros(result);  // it broadcasts over nothing
  const PlainOutput to(result);
  Tensor shifts;
  if (lamella_status st = shifts_of(grad_out, out, of_sums, n, &shifts)) return st;
  MaskSizes of;
  int64_t* const sizes[] = {&of.keys, &of.queries, &of.heads, &of.batch};
  for (int64_t d = 0; d < result.dim(); d++) *sizes[d] = result.size(result.dim() - 1 - d);
  const int t = query.get()->dtype, m = result.get()->dtype;
  Kernel& kernel =
      kernels.get({t, m}, [&] { return text("attend_backward_mask<", type_name(t), ", ", type_name(m), ">"); });
  const int64_t columns = (of.keys + tile_side - 1) / tile_side;
  if (lamella_status st = launch(kernel, query.get(), blocks(of.batch * of.heads * columns, of.queries), {256},
                                 shared_bytes(t), heads_of(grad_out), heads_of(query), heads_of(key), heads_of(value),
                                 sums.data_ptr(), shifts.data_ptr(), to.data(), of, n))
    return st;
  return to.close();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  m.impl("_attention", "cuda", attention, nullptr, LAMELLA_KERNEL_CALLS_OPERATORS);
  m.impl("_attention_dropout", "cuda", attention_dropout, nullptr, LAMELLA_KERNEL_CALLS_OPERATORS);
  m.impl("_attention_backward", "cuda", attention_backward, nullptr, LAMELLA_KERNEL_CALLS_OPERATORS);
  add<attention_mask_backward>(m, "_attention_mask_backward");
}

}  // namespace cuda
