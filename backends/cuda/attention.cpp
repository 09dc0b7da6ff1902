// Attention and its gradients. kernels/attention_warps.cu and attention_groups.cu compute the operands that
// suits_matrices() accepts by matrix instructions: two-byte floats of widths up to 256, and float32 of widths up to
// 128. kernels/attention.cu computes all other operands of widths up to 256, and the gradient of a mask for any width;
// the composite computes the rest.
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
// Sets the dropout of the weights. `words` points to the seed and the place of the first random word.
void drop(AttentionSizes& n, const int64_t* words, double p) {
  n.words = words;
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
  LAMELLA_CHECK_NOT_IMPLEMENTED(count >> 31 == 0,
                                "cuda: attention over 2^31 or more tiles of rows is not supported, got ", count,
                                "; split the batch");
  return {static_cast<unsigned>(count)};
}

// Returns the bytes of `tiles` tiles, each of 64 rows of 64 * quads elements.
unsigned tile_bytes(int dtype, int quads, int tiles) {
  return static_cast<unsigned>(tiles * tile_side * 64 * quads * item_of(dtype));
}
constexpr unsigned aligned_to_group = 1024;  // the alignment of Note [Groups] in kernels/groups.cuh
// Returns the bytes of shared memory for the gradient of keys, the kernel that needs most: six tiles, the room to align
// them, and two numbers for each query of two tiles.
unsigned most_bytes(int dtype, int quads) { return tile_bytes(dtype, quads, 6) + 2 * aligned_to_group; }

// Returns whether the kernels of matrix instructions can compute the operands: two-byte floats or float32, on a device
// of compute capability 8.0 or more, with widths that are multiples of 8 up to `widest` and for which shared memory has
// room, and with rows that can be read 16 bytes at a time. An undefined operand is a result that the caller does not
// need.
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

// Returns whether attention has neither a mask nor dropout, and a scale above 0. It may be causal.
bool is_plain(const AttentionSizes& n) { return !n.mask && n.scale > 0 && !n.words; }

// The variants of one kernel of matrix instructions, by dtype, width and is_plain(). get() returns a variant that uses
// the instruction of four warps if `groups` is true, else one that only uses the instruction of one warp.
class MatrixKernels {
 public:
  // `more` has further arguments of the template.
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

// Throws Declined if rows are wider than the kernels support, so that the composite computes them.
void require_width(const Tensor& query, const Tensor& value) {
  if (query.size(3) > widest || value.size(3) > widest) throw lamella::Declined();
}

lamella_status attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionSizes& n, const Tensor& out,
                      const Tensor& sums) {
  if (!sums.numel()) return LAMELLA_OK;
  const Result logsumexp(sums);
  const int t = q.get()->dtype, quads = quads_of(n);
  const auto run = [&](Kernel& kernel, int64_t rows, unsigned threads, unsigned shared) -> lamella_status {
    if (lamella_status st = launch(kernel, q.get(), blocks(n.batch * n.heads, n.queries, rows), {threads}, shared,
                                   heads_of(q), heads_of(k), heads_of(v), heads_of(out), logsumexp.data(), n))
      return st;
    return logsumexp.finish();
  };
  if (!suits_matrices(n, t, {q, k, v, out})) {
    static Kernels kernels("attention.cu", "-fmad=true");
    Kernel& kernel = kernels.get({t, quads}, [&] { return text("attend<", type_name(t), ", ", quads, ">"); });
    return run(kernel, tile_side, 256, shared_bytes(t));
  }
  // Shared memory holds two tiles of queries, two of keys and two of values.
  if (!is_half(t) || quads == 4 || (is_plain(n) && has_groups(q))) {
    static MatrixKernels kernels("attend_by_groups", "attention_groups.cu");
    return run(kernels.get(n, t, has_groups(q)), 128, 256, tile_bytes(t, quads, 6) + aligned_to_group);
  }
  static MatrixKernels kernels("attend_by_warps", "attention_warps.cu");
  return run(kernels.get(n, t, false), 128, 128, tile_bytes(t, quads, 6));
}

Status attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask, bool is_causal,
                 double scale, const Tensor& out, const Tensor& logsumexp) {
  require_width(query, value);
  return attend(query, key, value, sizes_of(query, key, value, attn_mask, is_causal, scale), out, logsumexp);
}

Status attention_dropout(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask,
                         bool is_causal, double scale, double dropout_p, const lamella::Generator& generator,
                         const Tensor& out, const Tensor& logsumexp, const Tensor& words) {
  require_width(query, value);
  AttentionSizes n = sizes_of(query, key, value, attn_mask, is_causal, scale);
  const Result place(words);
  ReservedWords reserved;
  const int64_t count = n.batch * n.heads * n.queries * n.keys;
  if (lamella_status st = reserve_words(query.get(), generator, static_cast<uint64_t>(count), &reserved)) return st;
  if (lamella_status st = write_place(place.get(), reserved)) return st;
  if (dropout_p > 0) drop(n, place.data<int64_t>(), dropout_p);
  if (lamella_status st = attend(query, key, value, n, out, logsumexp)) return st;
  return place.finish();
}

lamella_status set_zeros(const Tensor& t) {
  const Result to(t);
  if (lamella_status st = clear(to.get())) return st;
  return to.finish();
}

// Launches attention_shifts of kernels/attention.cu, whose result all gradients read.
lamella_status shifts_of(const Tensor& g, const Tensor& out, const void* of_sums, const AttentionSizes& n,
                         Tensor* shifts) {
  static Kernels kernels("attention.cu", "-fmad=true");
  const int64_t rows = n.batch * n.heads * n.queries;
  const int t = g.get()->dtype;
  *shifts = empty_on(g.get(), {rows}, wide_of(t));
  Kernel& kernel = kernels.get({t}, [&] { return text("attention_shifts<", type_name(t), ">"); });
  return launch(kernel, g.get(), grid_for(g.get(), rows * 32), {256}, 0, heads_of(g), heads_of(out), of_sums,
                shifts->data_ptr(), n);
}

// The operands of the gradients' kernels, and the gradients. A gradient that the caller does not need is undefined.
struct Backward {
  const Tensor &g, &q, &k, &v;
  const void *sums, *shifts;
  Tensor dq, dk, dv;
  int dtype() const { return q.get()->dtype; }
};

lamella_status backward_by_matrices(const Backward& b, const AttentionSizes& n) {
  constexpr const char *file = "attention_groups.cu", *by_key = "backward_key_by_groups";
  static MatrixKernels of_query("backward_query_by_groups", file), of_both(by_key, file, ", true, true"),
      of_keys(by_key, file, ", true, false"), of_values(by_key, file, ", false, true");
  const int t = b.dtype(), quads = quads_of(n);
  const bool groups = has_groups(b.q);
  if (b.dq.defined())
    if (lamella_status st = launch(of_query.get(n, t, groups), b.q.get(), blocks(n.batch * n.heads, n.queries), {128},
                                   tile_bytes(t, quads, 6) + aligned_to_group, heads_of(b.g), heads_of(b.q),
                                   heads_of(b.k), heads_of(b.v), b.sums, b.shifts, heads_of(b.dq), n))
      return st;
  const auto run = [&](MatrixKernels& kernels) {
    return launch(kernels.get(n, t, groups), b.q.get(), blocks(n.batch * b.k.size(1), n.keys), {128},
                  most_bytes(t, quads), heads_of(b.g), heads_of(b.q), heads_of(b.k), heads_of(b.v), b.sums, b.shifts,
                  heads_of(b.dk), heads_of(b.dv), n);
  };
  if (quads < 4) return b.dk.defined() || b.dv.defined() ? run(of_both) : LAMELLA_OK;
  if (b.dk.defined())
    if (lamella_status st = run(of_keys)) return st;
  return b.dv.defined() ? run(of_values) : LAMELLA_OK;
}

lamella_status backward_by_tiles(const Backward& b, const AttentionSizes& n) {
  static Kernels of_query("attention.cu", "-fmad=true"), of_key("attention.cu", "-fmad=true");
  const int t = b.dtype(), quads = quads_of(n);
  const char* type = type_name(t);
  if (b.dq.defined()) {
    Kernel& kernel = of_query.get({t, quads}, [&] { return text("attend_backward_query<", type, ", ", quads, ">"); });
    if (lamella_status st =
            launch(kernel, b.q.get(), blocks(n.batch * n.heads, n.queries), {256}, shared_bytes(t), heads_of(b.g),
                   heads_of(b.q), heads_of(b.k), heads_of(b.v), b.sums, b.shifts, heads_of(b.dq), n))
      return st;
  }
  if (!b.dk.defined() && !b.dv.defined()) return LAMELLA_OK;
  Kernel& kernel = of_key.get({t, quads}, [&] { return text("attend_backward_key<", type, ", ", quads, ">"); });
  return launch(kernel, b.q.get(), blocks(n.batch * b.k.size(1), n.keys), {256}, shared_bytes(t), heads_of(b.g),
                heads_of(b.q), heads_of(b.k), heads_of(b.v), b.sums, b.shifts, heads_of(b.dk), heads_of(b.dv), n);
}

Status attention_backward(const Tensor& grad_out, const Tensor& grad_logsumexp, const Tensor& query, const Tensor& key,
                          const Tensor& value, const Tensor& attn_mask, const Tensor& out, const Tensor& logsumexp,
                          bool is_causal, double scale, lamella::ArrayRef<bool>, const Tensor& words, double dropout_p,
                          const std::optional<Tensor>& of_query, const std::optional<Tensor>& of_key,
                          const std::optional<Tensor>& of_value) {
  require_width(query, value);
  const Operand of_sums(grad_logsumexp), sums(logsumexp), place(words);
  AttentionSizes n = sizes_of(query, key, value, attn_mask, is_causal, scale);
  if (dropout_p > 0) drop(n, place.data<int64_t>(), dropout_p);
  Backward b = {grad_out, query, key, value, sums.data(), nullptr};
  b.dq = of_query.value_or(Tensor()), b.dk = of_key.value_or(Tensor()), b.dv = of_value.value_or(Tensor());
  if (!n.batch || !n.heads || !n.queries) {  // no query attends to any key
    for (const Tensor* t : {&b.dk, &b.dv})
      if (t->defined() && t->numel())
        if (lamella_status st = set_zeros(*t)) return st;
    return LAMELLA_OK;
  }
  Tensor shifts;
  if (lamella_status st = shifts_of(grad_out, out, of_sums.data(), n, &shifts)) return st;
  b.shifts = shifts.data_ptr();
  const bool suits = suits_matrices(n, b.dtype(), {query, key, value, grad_out, b.dq, b.dk, b.dv});
  return suits ? backward_by_matrices(b, n) : backward_by_tiles(b, n);
}

Status attention_mask_backward(const Tensor& grad_out, const Tensor& grad_logsumexp, const Tensor& query,
                               const Tensor& key, const Tensor& value, const Tensor& attn_mask, const Tensor& out,
                               const Tensor& logsumexp, bool is_causal, double scale, const Tensor& words,
                               double dropout_p, const Tensor& result) {
  static Kernels kernels("attention.cu", "-fmad=true");
  if (!result.numel()) return LAMELLA_OK;
  AttentionSizes n = sizes_of(query, key, value, attn_mask, is_causal, scale);
  const Operand place(words), sums(logsumexp), of_sums(grad_logsumexp);
  if (dropout_p > 0) drop(n, place.data<int64_t>(), dropout_p);
  if (!n.batch || !n.heads || !n.queries) return set_zeros(result);  // the mask broadcasts over no scores
  const Result to(result);
  Tensor shifts;
  if (lamella_status st = shifts_of(grad_out, out, of_sums.data(), n, &shifts)) return st;
  MaskSizes of;
  int64_t* const sizes[] = {&of.keys, &of.queries, &of.heads, &of.batch};
  for (int64_t d = 0; d < result.dim(); d++) *sizes[d] = result.size(result.dim() - 1 - d);
  const int t = query.get()->dtype, m = result.get()->dtype;
  Kernel& kernel =
      kernels.get({t, m}, [&] { return text("attend_backward_mask<", type_name(t), ", ", type_name(m), ">"); });
  const int64_t columns = (of.keys + tile_side - 1) / tile_side;
  if (lamella_status st = launch(kernel, query.get(), blocks(of.batch * of.heads * columns, of.queries), {256},
                                 shared_bytes(t), heads_of(grad_out), heads_of(query), heads_of(key), heads_of(value),
                                 sums.data(), shifts.data_ptr(), to.data(), of, n))
    return st;
  return to.finish();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  add<attention>(m, "_attention");
  add<attention_dropout>(m, "_attention_dropout");
  add<attention_backward>(m, "_attention_backward");
  add<attention_mask_backward>(m, "_attention_mask_backward");
}

}  // namespace cuda
