// cat and stack: tensors joined along a dimension.
#include "backends/cpu/gather.h"
#include "backends/cpu/parts.h"

namespace lamella::cpu {
namespace {

template <int64_t Bytes>
void copy_fixed(int64_t n, char* dst, int64_t ds, const char* src, int64_t ss) {
  for (int64_t i = 0; i < n; i++) std::memcpy(dst + i * ds, src + i * ss, Bytes);
}

// Copies n pieces of `bytes` bytes; ds and ss are the strides of destination and source.
void copy_pieces(int64_t n, char* dst, int64_t ds, const char* src, int64_t ss, int64_t bytes) {
  switch (bytes) {
    case 4:
      return copy_fixed<4>(n, dst, ds, src, ss);
    case 8:
      return copy_fixed<8>(n, dst, ds, src, ss);
    case 16:
      return copy_fixed<16>(n, dst, ds, src, ss);
    case 32:
      return copy_fixed<32>(n, dst, ds, src, ss);
    case 64:
      return copy_fixed<64>(n, dst, ds, src, ss);
    case 128:
      return copy_fixed<128>(n, dst, ds, src, ss);
    default:
      for (int64_t i = 0; bytes > 0 && i < n; i++) std::memcpy(dst + i * ds, src + i * ss, bytes);
  }
}

bool passed_over(const lamella_tensor* t) { return t->dl.ndim == 1 && t->numel == 0; }

// Copies tensors one after another along dimension d of out. With `stacked`, each tensor is one position of dimension
// d.
lamella_status join(TensorList list, int d, bool stacked, const lamella_tensor* out) {
  if (out->numel == 0) return LAMELLA_OK;
  bool plain = is_contiguous(out);
  for (size_t i = 0; i < list.size() && plain; i++)
    plain = list[i].is_contiguous() && list[i].get()->dtype == out->dtype;
  if (!plain) {
    int64_t at = 0;
    for (const Tensor& each : list) {
      const lamella_tensor* t = each.get();
      if (!stacked && passed_over(t)) continue;
      const int64_t n = stacked ? 1 : t->dl.shape[d];
      Part to(out);
      to.narrow(d, at, n);
      if (stacked) to.drop(d);
      if (lamella_status st = copy_into(&to.t, t)) return st;
      at += n;
    }
    return LAMELLA_OK;
  }
  int64_t outer = 1;
  for (int k = 0; k < d; k++) outer *= out->dl.shape[k];
  auto* to = static_cast<char*>(out->dl.data);
  const int64_t bytes = out->numel * itemsize(out), row = bytes / outer;
  if (outer == 1) {
    for (const Tensor& each : list) {
      const lamella_tensor* t = each.get();
      const int64_t n = t->numel * itemsize(t);
      if (lamella_status st = copy_bytes(to, static_cast<const char*>(t->dl.data), n)) return st;
      to += n;
    }
    return LAMELLA_OK;
  }
  auto some = [&](int64_t b, int64_t e) -> lamella_status {
    char* at = to + b * row;
    for (const Tensor& each : list) {
      const lamella_tensor* t = each.get();
      const int64_t piece = t->numel * itemsize(t) / outer;
      copy_pieces(e - b, at, row, static_cast<const char*>(t->dl.data) + b * piece, piece, piece);
      at += piece;
    }
    return LAMELLA_OK;
  };
  return bytes < 2 * copy_grain ? some(0, outer) : parallel_for(0, outer, std::max<int64_t>(copy_grain / row, 1), some);
}

Status cat(TensorList tensors, int64_t dim, const Tensor& out) {
  return join(tensors, wrapped_dim(dim, out.dim()), false, out.get());
}
Status stack(TensorList tensors, int64_t dim, const Tensor& out) {
  return join(tensors, wrapped_dim(dim, out.dim()), true, out.get());
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add<cat>(m, "cat");
  add<stack>(m, "stack");
}

}  // namespace lamella::cpu
