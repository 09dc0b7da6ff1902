// Packs and unpacks matrices of four bits, and multiplies by them.
#include "packed.h"

namespace packed {
namespace {

using lamella::kFloat;
using lamella::kUInt8;

int64_t groups_of(int64_t columns) { return (columns + group - 1) / group; }

bool on_host(const Tensor& x) { return x.device().is_cpu(); }

int nibble(const uint8_t* row, int64_t c) { return (row[c / 2] >> (c % 2 * 4) & 15) - 8; }

// Writes the integers of a row's group to `out`; returns their number.
int64_t read_group(const uint8_t* row, int64_t begin, int64_t columns, float* out) {
  const int64_t end = std::min(begin + group, columns);
  for (int64_t c = begin; c < end; c++) out[c - begin] = static_cast<float>(nibble(row, c));
  return end - begin;
}

Tensor flat(const Tensor& x, int64_t columns) {
  LAMELLA_CHECK(x.dtype() == kFloat && x.dim() >= 1 && x.size(-1) == columns, "packed: expected float32 with ", columns,
                " elements in the last dimension, got shape ", x.sizes(), " of ", x.dtype());
  int64_t rows = 1;
  for (int64_t d = 0; d + 1 < x.dim(); d++) rows *= x.size(d);
  return x.reshape({rows, columns}).contiguous();
}

lamella::DimVector sizes_with_last(const Tensor& x, int64_t last) {
  lamella::DimVector sizes(x.sizes());
  sizes[sizes.size() - 1] = last;
  return sizes;
}

}  // namespace

Packed pack(const Tensor& x) {
  LAMELLA_CHECK(x.dim() == 2 && x.dtype() == kFloat && x.size(1) > 0,
                "expected a float32 matrix with columns, got shape ", x.sizes(), " of ", x.dtype());
  const int64_t rows = x.size(0), columns = x.size(1), groups = groups_of(columns), padding = groups * group - columns;
  const Tensor wide = padding ? lamella::cat({x, lamella::zeros({rows, padding}, x.options())}, 1) : x.contiguous();
  const Tensor grouped = wide.reshape({rows, groups, group});
  const Tensor largest = grouped.abs().amax({2}, true);
  const Tensor scales = lamella::where(largest == 0, lamella::ones_like(largest), largest / 7);
  const Tensor nibbles = (grouped / scales).round().clamp(-7, 7) + 8;
  const Tensor pairs = nibbles.reshape({rows, groups * group / 2, 2});
  const Tensor bytes = (pairs.select(2, 0) + pairs.select(2, 1) * 16).narrow(1, 0, (columns + 1) / 2).to(kUInt8);
  return {bytes.contiguous(), scales.reshape({rows, groups}).contiguous(), rows, columns};
}

Tensor unpack(const Packed& p) {
  const Tensor bytes = p.bytes.to(kFloat), high = (bytes / 16).floor(), low = bytes - high * 16;
  const Tensor nibbles =
      lamella::stack({low, high}, 2).reshape({p.rows, 2 * p.bytes.size(1)}).narrow(1, 0, p.columns) - 8;
  const Tensor scales =
      p.scales.unsqueeze(2).expand({p.rows, p.scales.size(1), group}).reshape({p.rows, p.scales.size(1) * group});
  return nibbles * scales.narrow(1, 0, p.columns);
}

Packed copied(const Packed& p, const lamella::Device& device) {
  if (p.bytes.device() == device) return {p.bytes.clone(), p.scales.clone(), p.rows, p.columns};
  return {p.bytes.to(device), p.scales.to(device), p.rows, p.columns};
}

Packed rows_of(const Packed& p, const Tensor& from, const Tensor& view) {
  const int64_t offset = view.storage_offset() - from.storage_offset(), first = offset / p.columns;
  LAMELLA_CHECK_NOT_IMPLEMENTED(view.dtype() == kFloat && view.dim() == 2 && view.size(1) == p.columns &&
                                    (view.size(0) <= 1 || view.stride(0) == p.columns) &&
                                    (p.columns == 1 || view.stride(1) == 1) && offset >= 0 && offset % p.columns == 0 &&
                                    first + view.size(0) <= p.rows,
                                "packed: groups of ", group,
                                " elements of a row share a scale, so that there are no views but of whole rows in "
                                "their order; take one of x.unpack_int4()");
  const int64_t rows = view.size(0);
  return {p.bytes.narrow(0, first, rows), p.scales.narrow(0, first, rows), rows, p.columns};
}

Tensor times_transposed(const Tensor& x, const Packed& p) {
  if (!on_host(p.bytes)) return lamella::matmul(x, unpack(p).t());
  const Tensor in = flat(x, p.columns), out = lamella::empty({in.size(0), p.rows}, in.options());
  const float *a = in.data_ptr<float>(), *scales = p.scales.data_ptr<float>();
  const uint8_t* bytes = p.bytes.data_ptr<uint8_t>();
  float* y = out.data_ptr<float>();
  const int64_t n = in.size(0), row_bytes = p.bytes.size(1), groups = p.scales.size(1);
  lamella::parallel_for(0, p.rows, 16, [&](int64_t begin, int64_t end) {
    float numbers[group];
    for (int64_t r = begin; r < end; r++) {
      for (int64_t i = 0; i < n; i++) y[i * p.rows + r] = 0;
      for (int64_t g = 0; g < groups; g++) {
        const int64_t many = read_group(bytes + r * row_bytes, g * group, p.columns, numbers);
        for (int64_t i = 0; i < n; i++) {
          const float* row = a + i * p.columns + g * group;
          float sum = 0;
          for (int64_t c = 0; c < many; c++) sum += row[c] * numbers[c];
          y[i * p.rows + r] += sum * scales[r * groups + g];
        }
      }
    }
  });
  return out.reshape(sizes_with_last(x, p.rows));
}

Tensor times(const Tensor& x, const Packed& p) {
  if (!on_host(p.bytes)) return lamella::matmul(x, unpack(p));
  const Tensor in = flat(x, p.rows), out = lamella::zeros({in.size(0), p.columns}, in.options());
  const float *a = in.data_ptr<float>(), *scales = p.scales.data_ptr<float>();
  const uint8_t* bytes = p.bytes.data_ptr<uint8_t>();
  float* y = out.data_ptr<float>();
  const int64_t n = in.size(0), row_bytes = p.bytes.size(1), groups = p.scales.size(1);
  lamella::parallel_for(0, groups, 1, [&](int64_t begin, int64_t end) {
    float numbers[group];
    for (int64_t g = begin; g < end; g++)
      for (int64_t r = 0; r < p.rows; r++) {
        const int64_t many = read_group(bytes + r * row_bytes, g * group, p.columns, numbers);
        for (int64_t i = 0; i < n; i++) {
          const float factor = a[i * p.rows + r] * scales[r * groups + g];
          float* row = y + i * p.columns + g * group;
          for (int64_t c = 0; c < many; c++) row[c] += factor * numbers[c];
        }
      }
  });
  return out.reshape(sizes_with_last(x, p.columns));
}

Packed loaded(const Tensor& bytes, const Tensor& scales, const Tensor& to) {
  LAMELLA_CHECK_VALUE(to.dim() == 2 && to.dtype() == kFloat, "packed: what was saved is a float32 matrix");
  const int64_t rows = to.size(0), columns = to.size(1);
  const int64_t byte_sizes[] = {rows, (columns + 1) / 2}, scale_sizes[] = {rows, groups_of(columns)};
  LAMELLA_CHECK_VALUE(columns > 0 && bytes.dtype() == kUInt8 && scales.dtype() == kFloat &&
                          bytes.sizes() == lamella::IntArrayRef(byte_sizes, 2) &&
                          scales.sizes() == lamella::IntArrayRef(scale_sizes, 2) && bytes.device() == to.device() &&
                          scales.device() == to.device(),
                      "packed: what was saved does not fit a matrix of shape (", rows, ", ", columns, ") on ",
                      to.device());
  return {bytes.contiguous(), scales.contiguous(), rows, columns};
}

}  // namespace packed
