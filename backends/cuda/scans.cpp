// cumsum and cumprod: the launches of kernels/scan.cu.
#include "kernels/scan.h"
#include "layout.h"
#include "operands.h"

namespace cuda {
namespace {

using lamella::Status, lamella::Tensor, lamella::ScalarType;

template <bool Product>
Status scan(const Tensor& self, int64_t dim, std::optional<ScalarType>, const Tensor& result) {
  const lamella_tensor *in = self.get(), *out = result.get();
  const int n = in->dl.ndim;
  const int64_t along = dim < 0 ? dim + (n ? n : 1) : dim;
  lamella::Dimensions<2> kept;
  ScanLines s{};
  s.length = 1;
  for (int d = 0; d < n; d++) {
    const int64_t from = in->dl.strides[d] * item_sizes[in->dtype], to = out->dl.strides[d] * item_sizes[out->dtype];
    if (d == along) {
      s.length = in->dl.shape[d];
      s.in_step = from;
      s.out_step = to;
    } else {
      kept.add(in->dl.shape[d], {from, to});
    }
  }
  if (!kept.elements() || !s.length) return LAMELLA_OK;
  kept.sort();
  kept.join();
  s.lines = kept.elements();
  static Kernels columns("scan.cu"), totals_of("scan.cu"), before("scan.cu"), by_lines("scan.cu");
  const int t = out->dtype;
  const std::initializer_list<int> numbers = {in->dtype, t};
  const char *wide = wide_name(t), *join = Product ? "Times<" : "Plus<";
  const auto name = [&](const char* kernel, const char* more) {
    return text(kernel, "<", join, wide, ">, ", wide, ", ", type_name(t), ", ", type_name(in->dtype), ", ",
                type_name(t), more, ">");
  };
  const Layout at = layout_of(kept, "a scan");
  const char* from = static_cast<const char*>(in->dl.data);
  char* to = static_cast<char*>(out->dl.data);
  void* totals = nullptr;
  // Of many lines side by side in memory, a thread scans each, so that neighbouring threads read neighbouring elements.
  if (kept.count() && kept.end()[-1].steps[0] == item_sizes[in->dtype] && s.in_step != item_sizes[in->dtype] &&
      s.lines >= 1024)
    return launch(columns.get(numbers, [&] { return name("scan_columns", ""); }), out, blocks_for(out, s.lines, 128),
                  {128}, 0, from, to, at, s);
  constexpr int64_t chunk = 1 << 16;
  s.chunks = static_cast<int32_t>((s.length + chunk - 1) / chunk);
  s.chunk = chunk;
  const Dim grid = {static_cast<unsigned>(std::min<int64_t>(s.lines * s.chunks, 1 << 20))};
  Tensor scratch;
  if (s.chunks > 1) {
    scratch = space_on(out, s.lines * s.chunks * 16);
    totals = scratch.get()->dl.data;
    if (const lamella_status st = launch(totals_of.get(numbers, [&] { return name("scan_lines", ", true"); }), out,
                                         grid, {256}, 0, from, to, totals, at, s))
      return st;
    if (const lamella_status st =
            launch(before.get({t}, [&] { return text("scan_totals<", join, wide, ">, ", wide, ">"); }), out,
                   blocks_for(out, s.lines, 128), {128}, 0, totals, s.lines, s.chunks))
      return st;
  }
  return launch(by_lines.get(numbers, [&] { return name("scan_lines", ", false"); }), out, grid, {256}, 0, from, to,
                totals, at, s);
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  m.impl<scan<false>>("cumsum", "cuda");
  m.impl<scan<true>>("cumprod", "cuda");
}

}  // namespace cuda
