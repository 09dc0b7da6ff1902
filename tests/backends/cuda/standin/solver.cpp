// libcusolver.so.12 for tests: by LAPACK, over memory of the host. Like the library, it refuses leading sizes below the
// sizes that they lead, unknown numbers, types that do not go together, null pointers, and workspaces that are smaller
// than what it has answered or not aligned; it overwrites workspaces. The first STANDIN_SOLVER_LACKS handles have no
// memory. Compiled with STANDIN_OLD it is an older version, without Xgeev and XsyevBatched. solver_types.cpp has the
// functions that have a symbol for each dtype.
#include "solver.h"

using namespace standin;

namespace {
int handles = 0;
}

extern "C" __attribute__((visibility("default"))) int standin_solver_calls(const char* name) { return calls_of(name); }
API standin_solver_handles() { return handles; }
API cusolverDnCreate(Handle** out) {
  static int lacks = std::getenv("STANDIN_SOLVER_LACKS") ? std::atoi(std::getenv("STANDIN_SOLVER_LACKS")) : 0;
  if (lacks-- > 0) return alloc_failed;
  return handles++, *out = new Handle, success;
}
API cusolverGetVersion(int* out) { return *out = 12401, success; }
API cusolverDnDestroy(Handle* h) { return handles--, delete h, success; }
API cusolverDnSetStream(Handle* h, void* stream) { return h->stream = stream, success; }
API cusolverDnCreateParams(Params** out) { return *out = new Params, success; }
API cusolverDnCreateSyevjInfo(Jacobi** out) { return *out = new Jacobi{'e'}, success; }
API cusolverDnCreateGesvdjInfo(Jacobi** out) { return *out = new Jacobi{'s'}, success; }

// ---- generic functions ----

API cusolverDnXpotrf_bufferSize(Handle* h, Params* p, int uplo, int64_t n, int type, const void* a, int64_t lda,
                                int compute, size_t* device, size_t* host) {
  if (wrong(h, p) || wrong_bit(uplo) || n < 1 || lda < n || wrong_type(type) || compute != type || !a) return invalid;
  return answer(device, host, space_for(n, n), 0);
}
API cusolverDnXpotrf(Handle* h, Params* p, int uplo, int64_t n, int type, void* a, int64_t lda, int compute, void* data,
                     size_t bytes, void* on_host, size_t host_bytes, int* info) {
  calls_of("Xpotrf")++;
  const Space space{data, bytes, on_host, host_bytes};
  if (wrong(h, p) || wrong_bit(uplo) || n < 1 || lda < n || wrong_type(type) || compute != type || !a || !info ||
      space.wrong(space_for(n, n), 0))
    return invalid;
  return later(h->stream, [=] {
    space.overwrite();
    by_type(type, [&](auto x) {
      using T = decltype(x);
      cholesky(uplo, static_cast<int>(n), static_cast<T*>(a), static_cast<int>(lda), info);
    });
  });
}

API cusolverDnXgetrf_bufferSize(Handle* h, Params* p, int64_t m, int64_t n, int type, const void* a, int64_t lda,
                                int compute, size_t* device, size_t* host) {
  if (wrong(h, p) || m < 1 || n < 1 || lda < m || wrong_type(type) || compute != type || !a) return invalid;
  return answer(device, host, space_for(m, n), 0);
}
API cusolverDnXgetrf(Handle* h, Params* p, int64_t m, int64_t n, int type, void* a, int64_t lda, int64_t* pivots,
                     int compute, void* data, size_t bytes, void* on_host, size_t host_bytes, int* info) {
  calls_of("Xgetrf")++;
  const Space space{data, bytes, on_host, host_bytes};
  if (wrong(h, p) || m < 1 || n < 1 || lda < m || wrong_type(type) || compute != type || !a || !info ||
      reinterpret_cast<uintptr_t>(pivots) % 8 || space.wrong(space_for(m, n), 0))
    return invalid;
  return later(h->stream, [=] {
    space.overwrite();
    const int rows = static_cast<int>(m), columns = static_cast<int>(n), ld = static_cast<int>(lda);
    by_type(type, [&](auto x) {
      using T = decltype(x);
      std::vector<int> exchanged(static_cast<size_t>(m < n ? m : n));
      if (pivots)
        call(function<T>("getrf"), &rows, &columns, static_cast<T*>(a), &ld, exchanged.data(), info);
      else
        factor_unpivoted(rows, columns, static_cast<T*>(a), ld, info);
      if (pivots) std::copy(exchanged.begin(), exchanged.end(), pivots);
      spoil(static_cast<T*>(a));
    });
  });
}
API cusolverDnXgetrs(Handle* h, Params* p, int turn, int64_t n, int64_t k, int type, const void* a, int64_t lda,
                     const int64_t* pivots, int type_b, void* b, int64_t ldb, int* info) {
  calls_of("Xgetrs")++;
  if (wrong(h, p) || turn < 0 || turn > 2 || n < 1 || k < 1 || lda < n || ldb < n || wrong_type(type) ||
      type_b != type || !a || !b || !pivots || reinterpret_cast<uintptr_t>(pivots) % 8 || !info)
    return invalid;
  return later(h->stream, [=] {
    const int order = static_cast<int>(n), sides = static_cast<int>(k), ld = static_cast<int>(lda),
              ld_b = static_cast<int>(ldb);
    const std::vector<int> exchanged(pivots, pivots + n);
    by_type(type, [&](auto x) {
      using T = decltype(x);
      call(function<T>("getrs"),
           turn == 0   ? "N"
           : turn == 1 ? "T"
                       : "C",
           &order, &sides, static_cast<const T*>(a), &ld, exchanged.data(), static_cast<T*>(b), &ld_b, info,
           one_letter);
      spoil(static_cast<T*>(b));
    });
  });
}

API cusolverDnXgeqrf_bufferSize(Handle* h, Params* p, int64_t m, int64_t n, int type, const void* a, int64_t lda,
                                int type_tau, const void* tau, int compute, size_t* device, size_t* host) {
  if (wrong(h, p) || m < 1 || n < 1 || lda < m || wrong_type(type) || type_tau != type || compute != type || !a || !tau)
    return invalid;
  return answer(device, host, space_for(m, n), some_host);
}
API cusolverDnXgeqrf(Handle* h, Params* p, int64_t m, int64_t n, int type, void* a, int64_t lda, int type_tau,
                     void* tau, int compute, void* data, size_t bytes, void* on_host, size_t host_bytes, int* info) {
  calls_of("Xgeqrf")++;
  const Space space{data, bytes, on_host, host_bytes};
  if (wrong(h, p) || m < 1 || n < 1 || lda < m || wrong_type(type) || type_tau != type || compute != type || !a ||
      !tau || !info || space.wrong(space_for(m, n), some_host))
    return invalid;
  std::memset(on_host, 0xa5, host_bytes);
  return later(h->stream, [=] {
    Space{data, bytes, nullptr, 0}.overwrite();
    by_type(type, [&](auto x) {
      using T = decltype(x);
      factor_qr(static_cast<int>(m), static_cast<int>(n), static_cast<T*>(a), static_cast<int>(lda),
                static_cast<T*>(tau), info);
      spoil(static_cast<T*>(a));
    });
  });
}

API cusolverDnXsyevd_bufferSize(Handle* h, Params* p, int job, int uplo, int64_t n, int type, const void* a,
                                int64_t lda, int type_w, const void* w, int compute, size_t* device, size_t* host) {
  if (wrong(h, p) || wrong_bit(job) || wrong_bit(uplo) || n < 1 || lda < n || wrong_type(type) ||
      type_w != real_of(type) || compute != type || !a || !w)
    return invalid;
  return answer(device, host, space_for(n, n), some_host);
}
API cusolverDnXsyevd(Handle* h, Params* p, int job, int uplo, int64_t n, int type, void* a, int64_t lda, int type_w,
                     void* w, int compute, void* data, size_t bytes, void* on_host, size_t host_bytes, int* info) {
  calls_of("Xsyevd")++;
  const Space space{data, bytes, on_host, host_bytes};
  if (wrong(h, p) || wrong_bit(job) || wrong_bit(uplo) || n < 1 || lda < n || wrong_type(type) ||
      type_w != real_of(type) || compute != type || !a || !w || !info || space.wrong(space_for(n, n), some_host))
    return invalid;
  std::memset(on_host, 0xa5, host_bytes);
  return later(h->stream, [=] {
    Space{data, bytes, nullptr, 0}.overwrite();
    by_type(type, [&](auto x) {
      using T = decltype(x);
      eigh(job, uplo, static_cast<int>(n), static_cast<T*>(a), static_cast<int>(lda), static_cast<Real<T>*>(w), info);
    });
  });
}

API cusolverDnXgesvd_bufferSize(Handle* h, Params* p, signed char job_u, signed char job_vt, int64_t m, int64_t n,
                                int type, const void* a, int64_t lda, int type_s, const void* s, int type_u,
                                const void* u, int64_t ldu, int type_vt, const void* vt, int64_t ldvt, int compute,
                                size_t* device, size_t* host) {
  const bool vectors = job_u != 'N';
  if (wrong(h, p) || (job_u != 'A' && job_u != 'S' && job_u != 'N') || job_vt != job_u || m < n || n < 1 || lda < m ||
      wrong_type(type) || type_s != real_of(type) || type_u != type || type_vt != type || compute != type || !a || !s)
    return invalid;
  if (vectors && (!u || !vt || ldu < m || ldvt < n)) return invalid;
  return answer(device, host, space_for(m, n), some_host);
}
API cusolverDnXgesvd(Handle* h, Params* p, signed char job_u, signed char job_vt, int64_t m, int64_t n, int type,
                     void* a, int64_t lda, int type_s, void* s, int type_u, void* u, int64_t ldu, int type_vt, void* vt,
                     int64_t ldvt, int compute, void* data, size_t bytes, void* on_host, size_t host_bytes, int* info) {
  calls_of("Xgesvd")++;
  const Space space{data, bytes, on_host, host_bytes};
  size_t device, host;
  if (const int status = cusolverDnXgesvd_bufferSize(h, p, job_u, job_vt, m, n, type, a, lda, type_s, s, type_u, u, ldu,
                                                     type_vt, vt, ldvt, compute, &device, &host))
    return status;
  if (!info || space.wrong(device, host)) return invalid;
  std::memset(on_host, 0xa5, host_bytes);
  return later(h->stream, [=] {
    Space{data, bytes, nullptr, 0}.overwrite();
    by_type(type, [&](auto x) {
      using T = decltype(x);
      svd(static_cast<char>(job_u), static_cast<int>(m), static_cast<int>(n), static_cast<T*>(a), static_cast<int>(lda),
          static_cast<Real<T>*>(s), static_cast<T*>(u), static_cast<int>(ldu), static_cast<T*>(vt),
          static_cast<int>(ldvt), info);
    });
  });
}

API cusolverDnXsytrs_bufferSize(Handle* h, int uplo, int64_t n, int64_t k, int type, const void* a, int64_t lda,
                                const int64_t* pivots, int type_b, void* b, int64_t ldb, size_t* device, size_t* host) {
  if (wrong(h) || wrong_bit(uplo) || n < 1 || k < 1 || lda < n || ldb < n || wrong_type(type) || type_b != type || !a ||
      !b || !pivots || reinterpret_cast<uintptr_t>(pivots) % 8)
    return invalid;
  return answer(device, host, space_for(n, k), some_host);
}
API cusolverDnXsytrs(Handle* h, int uplo, int64_t n, int64_t k, int type, const void* a, int64_t lda,
                     const int64_t* pivots, int type_b, void* b, int64_t ldb, void* data, size_t bytes, void* on_host,
                     size_t host_bytes, int* info) {
  calls_of("Xsytrs")++;
  const Space space{data, bytes, on_host, host_bytes};
  size_t device, host;
  if (const int status =
          cusolverDnXsytrs_bufferSize(h, uplo, n, k, type, a, lda, pivots, type_b, b, ldb, &device, &host))
    return status;
  if (!info || space.wrong(device, host)) return invalid;
  std::memset(on_host, 0xa5, host_bytes);
  return later(h->stream, [=] {
    Space{data, bytes, nullptr, 0}.overwrite();
    const int order = static_cast<int>(n), sides = static_cast<int>(k), ld = static_cast<int>(lda),
              ld_b = static_cast<int>(ldb);
    const std::vector<int> exchanged(pivots, pivots + n);
    by_type(type, [&](auto x) {
      using T = decltype(x);
      call(function<T>("sytrs"), uplo ? "U" : "L", &order, &sides, static_cast<const T*>(a), &ld, exchanged.data(),
           static_cast<T*>(b), &ld_b, info, one_letter);
      spoil(static_cast<T*>(b));
    });
  });
}

#ifndef STANDIN_OLD
API cusolverDnXsyevBatched_bufferSize(Handle* h, Params* p, int job, int uplo, int64_t n, int type, const void* a,
                                      int64_t lda, int type_w, const void* w, int compute, size_t* device, size_t* host,
                                      int64_t count) {
  if (count < 1 || count > 32768) return invalid;
  const int status = cusolverDnXsyevd_bufferSize(h, p, job, uplo, n, type, a, lda, type_w, w, compute, device, host);
  return status ? status : answer(device, host, space_for(n * count, n), some_host);
}
API cusolverDnXsyevBatched(Handle* h, Params* p, int job, int uplo, int64_t n, int type, void* a, int64_t lda,
                           int type_w, void* w, int compute, void* data, size_t bytes, void* on_host, size_t host_bytes,
                           int* info, int64_t count) {
  calls_of("XsyevBatched")++;
  const Space space{data, bytes, on_host, host_bytes};
  size_t device, host;
  if (const int status = cusolverDnXsyevBatched_bufferSize(h, p, job, uplo, n, type, a, lda, type_w, w, compute,
                                                           &device, &host, count))
    return status;
  // The workspace may be one for a larger batch, but not for a smaller one.
  if (!info || space.wrong(device, host)) return invalid;
  std::memset(on_host, 0xa5, host_bytes);
  return later(h->stream, [=] {
    Space{data, bytes, nullptr, 0}.overwrite();
    by_type(type, [&](auto x) {
      using T = decltype(x);
      for (int64_t i = 0; i < count; i++)
        eigh(job, uplo, static_cast<int>(n), static_cast<T*>(a) + i * n * lda, static_cast<int>(lda),
             static_cast<Real<T>*>(w) + i * n, info + i);
    });
  });
}

API cusolverDnXgeev_bufferSize(Handle* h, Params* p, int job_l, int job_r, int64_t n, int type, const void* a,
                               int64_t lda, int type_w, const void* w, int type_l, const void*, int64_t ldl, int type_r,
                               const void* vr, int64_t ldr, int compute, size_t* device, size_t* host) {
  if (job_l) return unsupported;
  if (wrong(h, p) || wrong_bit(job_r) || n < 1 || lda < n || wrong_type(type) || type_w != complex_of(type) ||
      type_l != type || type_r != type || compute != type || !a || !w || ldl < 1 || ldr < (job_r ? n : 1))
    return invalid;
  if (job_r && !vr) return invalid;
  return answer(device, host, space_for(n, n), some_host);
}
API cusolverDnXgeev(Handle* h, Params* p, int job_l, int job_r, int64_t n, int type, void* a, int64_t lda, int type_w,
                    void* w, int type_l, void* vl, int64_t ldl, int type_r, void* vr, int64_t ldr, int compute,
                    void* data, size_t bytes, void* on_host, size_t host_bytes, int* info) {
  calls_of("Xgeev")++;
  const Space space{data, bytes, on_host, host_bytes};
  size_t device, host;
  if (const int status = cusolverDnXgeev_bufferSize(h, p, job_l, job_r, n, type, a, lda, type_w, w, type_l, vl, ldl,
                                                    type_r, vr, ldr, compute, &device, &host))
    return status;
  if (!info || space.wrong(device, host)) return invalid;
  std::memset(on_host, 0xa5, host_bytes);
  return later(h->stream, [=] {
    Space{data, bytes, nullptr, 0}.overwrite();
    const int order = static_cast<int>(n), ld = static_cast<int>(lda), ld_r = static_cast<int>(ldr), one = 1,
              size = 64 * order;
    by_type(type, [&](auto x) {
      using T = decltype(x);
      using C = std::complex<Real<T>>;
      std::vector<T> work(static_cast<size_t>(size)), parts(static_cast<size_t>(2 * n));
      std::vector<Real<T>> reals(static_cast<size_t>(2 * n));
      C* values = static_cast<C*>(w);
      if constexpr (is_complex<T>) {
        call(function<T>("geev"), "N", job_r ? "V" : "N", &order, static_cast<T*>(a), &ld, values, (T*)nullptr, &one,
             static_cast<T*>(vr), &ld_r, work.data(), &size, reals.data(), info, one_letter, one_letter);
      } else {
        call(function<T>("geev"), "N", job_r ? "V" : "N", &order, static_cast<T*>(a), &ld, parts.data(),
             parts.data() + n, (T*)nullptr, &one, static_cast<T*>(vr), &ld_r, work.data(), &size, info, one_letter,
             one_letter);
        for (int i = 0; i < order; i++) values[i] = {parts[static_cast<size_t>(i)], parts[static_cast<size_t>(n + i)]};
      }
      spoil(values);
    });
  });
}
#endif
