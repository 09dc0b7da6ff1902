// The library of the plugin: operators of the namespace c10d, and the interface "distributed".
#include <lamella/distributed.h>

#include "ddp/reducer.h"
#include "group/group.h"
#include "group/recorder.h"
#include "operators.h"
#include "store/store.h"

namespace lamella::distributed {
namespace {

lamella_status give(StoreRef made, lamella_store** out) {
  *out = made.take();
  return LAMELLA_OK;
}

const lamella_distributed interface = {
    sizeof interface,
    0,
    [](lamella_store** out) { return guarded([&] { return give(make_hash_store(), out); }); },
    [](const char* prefix, lamella_store* inner, lamella_store** out) {
      return guarded([&] { return give(make_prefix_store(prefix, StoreRef::borrow(inner)), out); });
    },
    [](const char* path, int32_t world_size, lamella_store** out) {
      return guarded([&] { return give(make_file_store(path, world_size), out); });
    },
    [](const lamella_tcp_store* o, lamella_store** out, int32_t* port) {
      return guarded([&] {
        const TcpOptions options = {o->host,
                                    o->port,
                                    o->world_size,
                                    o->server != 0,
                                    o->wait_for_workers != 0,
                                    std::chrono::nanoseconds(o->timeout)};
        return give(make_tcp_store(options, port), out);
      });
    },
    [](const lamella_group_options* o, lamella_store* store) {
      return guarded([&] { return Group::open(*o, store), LAMELLA_OK; });
    },
    [](const char* name) { return guarded([&] { return Group::close(name), LAMELLA_OK; }); },
    [](lamella_tensor* t, lamella_object** out) -> lamella_status {
      *out = work_of(t).take();
      return LAMELLA_OK;
    },
    [](lamella_tensor* t, int32_t writes) { return guarded([&] { return settle(t, writes != 0), LAMELLA_OK; }); },
    [](lamella_object* work, int64_t timeout) {
      return guarded([&] { return Work::of(work).wait(std::chrono::nanoseconds(timeout)), LAMELLA_OK; });
    },
    [](lamella_object* work, int32_t* done) {
      return guarded([&] { return *done = Work::of(work).done(), LAMELLA_OK; });
    },
    [](lamella_object* work, int32_t* rank) {
      return guarded([&] { return *rank = Work::of(work).sender(), LAMELLA_OK; });
    },
    [](const char* group, int64_t bytes, lamella_tensor** out) {
      return guarded([&] { return *out = Group::find(group)->window(bytes).release(), LAMELLA_OK; });
    },
    [](const char* path, int32_t rank, int32_t num_ranks, Recorder::Where where) {
      return guarded([&] { return Recorder::open(path, rank, num_ranks, where), LAMELLA_OK; });
    },
    [](lamella_tensor* const* leaves, int32_t n, const lamella_reducer_options* options, lamella_object** out) {
      return guarded([&] {
        std::vector<Tensor> all;
        for (int32_t i = 0; i < n; i++) all.push_back(Tensor(TensorRef::borrow(leaves[i])));
        *out = &Reducer::make(std::move(all), *options)->object;
        return LAMELLA_OK;
      });
    },
    [](lamella_object* reducer, int32_t on) {
      return guarded([&] { return Reducer::of(reducer).set_sync(on != 0), LAMELLA_OK; });
    },
    [](lamella_object* reducer, double factor) {
      return guarded([&] { return Reducer::of(reducer).set_factor(factor), LAMELLA_OK; });
    },
    [](lamella_object* reducer, const lamella_bucket_hook* hook) {
      return guarded([&] { return Reducer::of(reducer).set_hook(*hook), LAMELLA_OK; });
    },
    [](lamella_object* reducer) { return guarded([&] { return Reducer::of(reducer).shadow(), LAMELLA_OK; }); },
    [](lamella_object* reducer, int32_t bucket, lamella_tensor** gradients, const int32_t** leaves, int32_t* n) {
      return guarded([&] {
        const Reducer& r = Reducer::of(reducer);
        *gradients = nullptr;
        if (bucket >= 0 && bucket < r.num_buckets()) *gradients = Tensor(r.bucket(bucket, leaves, n)).release();
        return LAMELLA_OK;
      });
    },
};

}  // namespace
}  // namespace lamella::distributed

LAMELLA_LIBRARY(c10d, m) {
  using namespace lamella::distributed;
  register_errors(m);
  register_layer(m);
  register_operators(m);
  register_gradients(m);
  m.interface("distributed", 1, &interface);
}
