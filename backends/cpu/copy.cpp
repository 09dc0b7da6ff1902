// copy_ on the CPU: copies of any layout, with conversion of the dtype.
#include "backends/cpu/kernels.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/strips.h"

namespace lamella::cpu {

namespace {

// Returns the description of a dtype, which exists: the dispatcher raises for other dtypes.
const lamella_dtype_def& described(int dtype) { return *api().dtype_info(dtype); }

// Returns a dtype of as many bytes, in which elements of `dtype` are moved unchanged.
int stand_in(int dtype) {
  if (dtype == LAMELLA_BOOL) return LAMELLA_UINT8;  // a move keeps the bytes: decision 0047
  if (dtype < LAMELLA_PLAIN_DTYPES) return dtype;
  constexpr int by_size[] = {LAMELLA_UINT8, LAMELLA_UINT16, LAMELLA_UINT32, LAMELLA_UINT64, LAMELLA_COMPLEX128};
  return by_size[__builtin_ctz(described(dtype).itemsize)];
}

// One side of a conversion through float32.
struct Side {
  int dtype;
  const lamella_dtype_def* other;  // null for a plain dtype
  CastLoop same;

  explicit Side(int t) : dtype(t), other(t < LAMELLA_PLAIN_DTYPES ? nullptr : &described(t)), same(same_loop(t)) {}

  void read(int64_t n, const char* from, int64_t step, char* elements, float* to) const {
    if (!other) return loops().cast[dtype][LAMELLA_FLOAT32](n, reinterpret_cast<char*>(to), 4, from, step);
    same(n, elements, other->itemsize, from, step);
    other->to_float32(n, elements, to);
  }
  void write(int64_t n, const float* from, char* elements, char* to, int64_t step) const {
    if (!other) return loops().cast[LAMELLA_FLOAT32][dtype](n, to, step, reinterpret_cast<const char*>(from), 4);
    other->from_float32(n, from, elements);
    same(n, to, step, elements, other->itemsize);
  }
};

lamella_status convert(const lamella_tensor* dst, const lamella_tensor* src) {
  const Side to(dst->dtype), from(src->dtype);
  Strips s(dst);
  s.add(src);
  return s.run(grain, [=](int64_t n, char* const* at, const int64_t* step) -> lamella_status {
    constexpr int64_t tile = 512;
    float numbers[tile];
    alignas(16) char elements[16 * tile];
    for (int64_t i = 0; i < n; i += tile) {
      const int64_t some = std::min(tile, n - i);
      from.read(some, at[1] + i * step[1], step[1], elements, numbers);
      to.write(some, numbers, elements, at[0] + i * step[0], step[0]);
    }
    return LAMELLA_OK;
  });
}

}  // namespace

CastLoop same_loop(int dtype) {
  const int same = stand_in(dtype);
  return loops().cast[same][same];
}

void store_number(const lamella_value& v, int dtype, void* to) {
  if (dtype >= LAMELLA_PLAIN_DTYPES) {
    float x;
    store_number(v, LAMELLA_FLOAT32, &x);
    return described(dtype).from_float32(1, &x, to);
  }
  if (v.tag == LAMELLA_COMPLEX) {
    loops().cast[LAMELLA_COMPLEX128][dtype](1, static_cast<char*>(to), 0, reinterpret_cast<const char*>(v.as.doubles),
                                            0);
  } else if (v.tag == LAMELLA_FLOAT) {
    loops().cast[LAMELLA_FLOAT64][dtype](1, static_cast<char*>(to), 0, reinterpret_cast<const char*>(&v.as.d), 0);
  } else {
    const int from = v.tag == LAMELLA_UINT ? LAMELLA_UINT64 : LAMELLA_INT64;
    loops().cast[from][dtype](1, static_cast<char*>(to), 0, reinterpret_cast<const char*>(&v.as.i), 0);
  }
}

// Copies of at least `streamed_from` bytes are written past the caches; those of at least `later_streamed_from` bytes
// are, too, if the caller reads the result later. A store through the caches first reads the line of the destination,
// which costs a third of the bandwidth.
constexpr int64_t streamed_from = 16 << 20, later_streamed_from = 2 << 20;
constexpr int64_t tile_bytes = 8192;

// Copies a block of one dtype whose destination has no gaps along the columns.
static void move_block(const Block& b, int64_t item, bool streams) {
  const PackLoop pack = pack_of(item);
  const bool along = b.col_step[1] == item;
  if (along && streams && b.cols * item >= 256) {
    for (int64_t r = 0; r < b.rows; r++)
      loops().stream(b.at[0] + r * b.row_step[0], b.at[1] + r * b.row_step[1], b.cols * item);
  } else if (!streams || along) {
    pack(b.rows, b.cols, b.at[0], b.row_step[0], b.at[1], b.row_step[1], b.col_step[1]);
  } else {
    alignas(64) char packed[tile_bytes];
    const int64_t n = std::min(b.cols, tile_bytes / item), m = tile_bytes / item / n;
    for (int64_t r = 0; r < b.rows; r += m)
      for (int64_t c = 0; c < b.cols; c += n) {
        const Block t = b.part(2, r, std::min(m, b.rows - r), c, std::min(n, b.cols - c));
        pack(t.rows, t.cols, packed, t.cols * item, t.at[1], t.row_step[1], t.col_step[1]);
        for (int64_t k = 0; k < t.rows; k++)
          loops().stream(t.at[0] + k * t.row_step[0], packed + k * t.cols * item, t.cols * item);
      }
  }
}

// Converts a block row by row; if rows are short or crossed, the block is packed first.
static void convert_block(const Block& b, CastLoop cast, int64_t to, int64_t from) {
  if (b.rows == 1 || (b.cols >= 32 && std::abs(b.col_step[1]) <= std::abs(b.row_step[1]))) {
    for (int64_t r = 0; r < b.rows; r++)
      cast(b.cols, b.at[0] + r * b.row_step[0], b.col_step[0], b.at[1] + r * b.row_step[1], b.col_step[1]);
    return;
  }
  alignas(64) char packed[tile_bytes];
  const int64_t n = std::min(b.cols, tile_bytes / from), m = tile_bytes / from / n;
  for (int64_t r = 0; r < b.rows; r += m)
    for (int64_t c = 0; c < b.cols; c += n) {
      const Block t = b.part(2, r, std::min(m, b.rows - r), c, std::min(n, b.cols - c));
      pack_of(from)(t.rows, t.cols, packed, t.cols * from, t.at[1], t.row_step[1], t.col_step[1]);
      if (t.col_step[0] == to && t.row_step[0] == t.cols * to)
        cast(t.rows * t.cols, t.at[0], to, packed, from);
      else
        for (int64_t k = 0; k < t.rows; k++)
          cast(t.cols, t.at[0] + k * t.row_step[0], t.col_step[0], packed + k * t.cols * from, from);
    }
}

lamella_status copy_into(const lamella_tensor* dst, const lamella_tensor* src, bool later) {
  if (dst->numel == 0 || (dst->dl.data == src->dl.data && dst->dtype == src->dtype && dst->numel == 1))
    return LAMELLA_OK;
  const bool same = dst->dtype == src->dtype;
  if (!same && std::max(dst->dtype, src->dtype) >= LAMELLA_PLAIN_DTYPES) return convert(dst, src);
  const CastLoop cast = same ? same_loop(src->dtype) : loops().cast[src->dtype][dst->dtype];
  const int64_t to = itemsize(dst), from = itemsize(src);
  if (dst->numel <= grain && dst->numel == src->numel && (dst->flags & src->flags & LAMELLA_CONTIGUOUS)) {
    cast(dst->numel, static_cast<char*>(dst->dl.data), to, static_cast<const char*>(src->dl.data), from);
    return LAMELLA_OK;
  }
  const bool streams = dst->numel * to >= (later ? later_streamed_from : streamed_from);
  Strips s(dst);
  s.add(src);
  return s.run_blocks(grain, tile_bytes / std::max(to, from), [=](const Block& b) -> lamella_status {
    if (!same || b.col_step[0] != to) {
      convert_block(b, cast, to, from);
    } else {
      move_block(b, to, streams);
      if (streams) loops().fence();
    }
    return LAMELLA_OK;
  });
}

// Returns whether two tensors share a storage and their address ranges intersect, so that a copy needs a temporary.
static bool overlap(const lamella_tensor* a, const lamella_tensor* b) {
  if (a->storage != b->storage || a->numel == 0) return false;
  auto end = [](const lamella_tensor* t) {
    int64_t last = 0;
    for (int i = 0; i < t->dl.ndim; i++) last += (t->dl.shape[i] - 1) * t->dl.strides[i];
    return static_cast<char*>(t->dl.data) + (last + 1) * itemsize(t);
  };
  return static_cast<char*>(a->dl.data) < end(b) && static_cast<char*>(b->dl.data) < end(a);
}

static Status copy(const Tensor&, const Tensor& source, bool non_blocking, const Tensor& out) {
  const lamella_tensor *dst = out.get(), *src = source.get();
  if (!overlap(dst, src)) return copy_into(dst, src, non_blocking);
  const Operand beside(src, src->dtype, false);
  return copy_into(dst, beside.get());
}

static Status clone(const Tensor& self, std::optional<MemoryFormat>, const Tensor& out) {
  return copy_into(out.get(), self.get());
}

LAMELLA_LIBRARY_IMPL(aten, cpu, m) {
  add_for_any_dtype<copy>(m, "copy_");
  add_for_any_dtype<clone>(m, "clone");
}

}  // namespace lamella::cpu
