// cumsum and cumprod.
#include <mutex>

#include "dimensions.h"

namespace cuda {
namespace {

using lamella::Status, lamella::Tensor, lamella::ScalarType;

// As `Lines` of kernels/scan.cu.
struct Lines {
  int64_t lines, length, chunk, in_step, out_step;
  int32_t chunks, reserved;
};

struct Kernels {
  Kernels(const std::string& join, const std::string& a, const std::string& types)
      : totals("scan.cu", "scan_lines<" + join + ", " + types + ", true>"),
        before("scan.cu", "scan_totals<" + join + ", " + a + ">"),
        lines("scan.cu", "scan_lines<" + join + ", " + types + ", false>"),
        columns("scan.cu", "scan_columns<" + join + ", " + types + ">") {}
  Kernel totals, before, lines, columns;
};
Kernels& kernels_of(bool product, int in, int as, int out) {
  constexpr int n = LAMELLA_PLAIN_DTYPES;
  static std::atomic<Kernels*>* table = new std::atomic<Kernels*>[2 * n * n * n]();
  std::atomic<Kernels*>& place = table[((product * n + in) * n + as) * n + out];
  if (Kernels* made = place.load(std::memory_order_acquire)) return *made;
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (Kernels* made = place.load(std::memory_order_acquire)) return *made;
  const std::string a = wide_name(as);
  auto* made = new Kernels((product ? "Times<" : "Plus<") + a + ">", a,
                           a + ", " + type_name(as) + ", " + type_name(in) + ", " + type_name(out));
  place.store(made, std::memory_order_release);
  return *made;
}

template <bool Product>
Status scan(const Tensor& self, int64_t dim, std::optional<ScalarType>, const Tensor& result) {
  const lamella_tensor *in = self.get(), *out = result.get();
  const int n = in->dl.ndim;
  const int64_t along = dim < 0 ? dim + (n ? n : 1) : dim;
  Dimensions kept;
  Lines s{};
  s.length = 1;
  for (int d = n - 1; d >= 0; d--) {
    const int64_t from = in->dl.strides[d] * item_sizes[in->dtype], to = out->dl.strides[d] * item_sizes[out->dtype];
    if (d == along) {
      s.length = in->dl.shape[d];
      s.in_step = from;
      s.out_step = to;
    } else {
      kept.add({in->dl.shape[d], {from, to, 0}});
    }
  }
  if (!kept.elements || !s.length) return LAMELLA_OK;
  kept.join(false);
  s.lines = kept.elements;
  Kernels& k = kernels_of(Product, in->dtype, out->dtype, out->dtype);
  const Layout at = kept.layout("a scan");
  const char* from = static_cast<const char*>(in->dl.data);
  char* to = static_cast<char*>(out->dl.data);
  void* totals = nullptr;
  // Lines side by side in memory, and enough of them: neighbouring threads read neighbouring elements.
  if (kept.count && kept.all[0].steps[0] == item_sizes[in->dtype] && s.in_step != item_sizes[in->dtype] &&
      s.lines >= 1024)
    return launch(k.columns, out, blocks_for(out, s.lines, 128), {128}, 0, from, to, at, s);
  constexpr int64_t chunk = 1 << 16;
  s.chunks = static_cast<int32_t>((s.length + chunk - 1) / chunk);
  s.chunk = chunk;
  const Dim grid = {static_cast<unsigned>(std::min<int64_t>(s.lines * s.chunks, 1 << 20))};
  Tensor scratch;
  if (s.chunks > 1) {
    scratch = scratch_of(out, s.lines * s.chunks * 16);
    totals = scratch.get()->dl.data;
    if (const lamella_status st = launch(k.totals, out, grid, {256}, 0, from, to, totals, at, s)) return st;
    if (const lamella_status st =
            launch(k.before, out, blocks_for(out, s.lines, 128), {128}, 0, totals, s.lines, s.chunks))
      return st;
  }
  return launch(k.lines, out, grid, {256}, 0, from, to, totals, at, s);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  m.impl<scan<false>>("cumsum", "cuda");
  m.impl<scan<true>>("cumprod", "cuda");
}

}  // namespace cuda
