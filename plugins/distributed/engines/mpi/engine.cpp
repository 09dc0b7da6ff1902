// The engine "mpi": each collective is MPI's call without waiting, and a look at its request.
#include <lamella/process_group.h>

#include <climits>
#include <cstring>
#include <vector>

#include "start.h"

namespace lamella::mpi {
namespace {

struct Group {
  Handle comm;
};

struct Work {
  Handle request;
  int receives = -1;        // of a receipt: how many bytes it takes
  std::vector<int> counts;  // of all_to_all, which MPI reads until the end
};

int as_int(int64_t n) {
  LAMELLA_CHECK_VALUE(n <= INT_MAX, "process group 'mpi': a call of ", n,
                      " elements, or bytes where none are reduced, is too long: it takes ", INT_MAX,
                      "; make several calls");
  return static_cast<int>(n);
}

Handle reduction_of(const lamella_collective& c) {
  if (c.dtype != LAMELLA_BOOL) return mpi().reductions[c.reduction];
  switch (c.reduction) {  // of bools MPI has logical operations alone
    case LAMELLA_REDUCE_SUM:
    case LAMELLA_REDUCE_MAX:
    case LAMELLA_REDUCE_BOR:
      return mpi().logical_or;
    case LAMELLA_REDUCE_PRODUCT:
    case LAMELLA_REDUCE_MIN:
    case LAMELLA_REDUCE_BAND:
      return mpi().logical_and;
    default:
      return mpi().logical_xor;
  }
}

lamella_status open(void*, lamella_store* store, int32_t rank, int32_t size, int64_t timeout, void** out) {
  return guarded([&] {
    start(store, rank, size, timeout);
    Handle comm = nullptr;  // ordered by the group's ranks, which a launcher may have given in another order than MPI's
    mpi().check("Comm_split", mpi().Comm_split(mpi().world, 0, rank, &comm));
    mpi().check("Comm_set_errhandler", mpi().Comm_set_errhandler(comm, mpi().errors_return));
    *out = new Group{comm};
    return LAMELLA_OK;
  });
}

lamella_status split(void* group, const int32_t* ranks, int32_t n, int32_t number, void** out) {
  return guarded([&] {
    Handle whole = nullptr, part = nullptr, comm = nullptr;
    mpi().check("Comm_group", mpi().Comm_group(static_cast<Group*>(group)->comm, &whole));
    mpi().check("Group_incl", mpi().Group_incl(whole, n, ranks, &part));
    const int code = mpi().Comm_create_group(static_cast<Group*>(group)->comm, part, number & 0x7fff, &comm);
    mpi().Group_free(&part);
    mpi().Group_free(&whole);
    mpi().check("Comm_create_group", code);
    mpi().check("Comm_set_errhandler", mpi().Comm_set_errhandler(comm, mpi().errors_return));
    *out = new Group{comm};
    return LAMELLA_OK;
  });
}

void begin(const lamella_collective& c, Handle comm, Work& w) {
  const Mpi& m = mpi();
  const bool reduces = c.kind == LAMELLA_ALL_REDUCE || c.kind == LAMELLA_REDUCE || c.kind == LAMELLA_REDUCE_SCATTER;
  // Other calls move bytes, whatever the dtype.
  const Handle type = reduces ? m.dtypes[c.dtype] : m.byte;
  const int n = as_int(reduces ? c.count : c.count * c.itemsize);
  const void* in = c.in == c.out && c.in ? in_place() : c.in;
  Handle* request = &w.request;
  switch (c.kind) {
    case LAMELLA_ALL_REDUCE:
      return m.check("Iallreduce", m.Iallreduce(in, c.out, n, type, reduction_of(c), comm, request));
    case LAMELLA_REDUCE:
      return m.check("Ireduce", m.Ireduce(in, c.out, n, type, reduction_of(c), c.peer, comm, request));
    case LAMELLA_REDUCE_SCATTER:
      return m.check("Ireduce_scatter_block",
                     m.Ireduce_scatter_block(c.in, c.out, n, type, reduction_of(c), comm, request));
    case LAMELLA_BROADCAST:
      if (c.in && c.in != c.out && n) std::memcpy(c.out, c.in, static_cast<size_t>(n));
      return m.check("Ibcast", m.Ibcast(c.out, n, type, c.peer, comm, request));
    case LAMELLA_ALL_GATHER:
      return m.check("Iallgather", m.Iallgather(c.in, n, type, c.out, n, type, comm, request));
    case LAMELLA_GATHER:
      return m.check("Igather", m.Igather(c.in, n, type, c.out, n, type, c.peer, comm, request));
    case LAMELLA_SCATTER:
      return m.check("Iscatter", m.Iscatter(c.in, n, type, c.out, n, type, c.peer, comm, request));
    case LAMELLA_ALL_TO_ALL: {
      int size = 0;
      m.check("Comm_size", m.Comm_size(comm, &size));
      w.counts.resize(4 * static_cast<size_t>(size));
      int* const counts[] = {&w.counts[0], &w.counts[size], &w.counts[2 * size], &w.counts[3 * size]};
      int64_t sent = 0, got = 0;
      for (int r = 0; r < size; r++) {
        counts[0][r] = as_int(c.in_counts[r] * c.itemsize);
        counts[1][r] = as_int(std::exchange(sent, sent + counts[0][r]));
        counts[2][r] = as_int(c.out_counts[r] * c.itemsize);
        counts[3][r] = as_int(std::exchange(got, got + counts[2][r]));
      }
      return m.check("Ialltoallv",
                     m.Ialltoallv(c.in, counts[0], counts[1], type, c.out, counts[2], counts[3], type, comm, request));
    }
    case LAMELLA_SEND:
      return m.check("Isend", m.Isend(c.in, n, type, c.peer, c.tag, comm, request));
    case LAMELLA_RECV:
      w.receives = n;
      return m.check("Irecv", m.Irecv(c.out, n, type, c.peer < 0 ? m.any_source : c.peer, c.tag, comm, request));
    case LAMELLA_BARRIER:
      return m.check("Ibarrier", m.Ibarrier(comm, request));
    default:
      throw Error(LAMELLA_NOT_IMPLEMENTED, detail::text("process group 'mpi': there is no collective ", c.kind));
  }
}

lamella_status submit(void* group, const lamella_collective* c, void** out) {
  return guarded([&] {
    auto* work = new Work{mpi().null_request, -1, {}};
    *out = work;
    try {
      begin(*c, static_cast<Group*>(group)->comm, *work);
    } catch (...) {
      delete work;
      throw;
    }
    return LAMELLA_OK;
  });
}

lamella_status test(void* work, int32_t* done, int32_t* peer) {
  return guarded([&] {
    auto* w = static_cast<Work*>(work);
    Status status{};
    int flag = 0;
    mpi().check("Test", mpi().Test(&w->request, &flag, &status));
    *done = flag;
    if (!flag || w->receives < 0) return LAMELLA_OK;
    *peer = status.source;
    int got = 0;
    mpi().check("Get_count", mpi().Get_count(&status, mpi().byte, &got));
    LAMELLA_CHECK(got == w->receives, "rank ", status.source, " has sent ", got, " bytes, and the receipt takes ",
                  w->receives, ": shape and dtype of both must be equal");
    return LAMELLA_OK;
  });
}

// A request that is not done stays MPI's, with the counts that it reads.
void release(void* work) {
  auto* w = static_cast<Work*>(work);
  if (w->request == mpi().null_request) delete w;
}

void close(void* group, int32_t orderly) {
  auto* g = static_cast<Group*>(group);
  if (orderly)
    mpi().Comm_free(&g->comm);
  else
    note_failure();
  delete g;
}

lamella_process_group engine = {
    sizeof engine, LAMELLA_ENGINE_HOST_MEMORY, 0, nullptr, open, split, submit, test, release, close};

}  // namespace
}  // namespace lamella::mpi

LAMELLA_LIBRARY_FRAGMENT(c10d, m) {
  lamella::mpi::engine.reduces = lamella::mpi::reduced_dtypes();
  m.interface("process_group.mpi", 1, &lamella::mpi::engine);
}
