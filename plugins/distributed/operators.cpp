// The operators of collectives. A kernel makes a job of contiguous host memory, and gives it to the group; memory of
// another device, or with gaps, is copied before and after.
#include "operators.h"

#include <lamella/operators.h>
#include <lamella/kernel.h>

#include <map>
#include <numeric>

#include "group/group.h"
#include "group/recorder.h"

namespace lamella::distributed {
namespace {

using Text = std::string_view;

struct Reduction {
  int kind;
  bool mean = false;
};

Reduction reduction_of(Text name, ScalarType dtype) {
  const uint32_t dtype_class = api().dtype_info(static_cast<int32_t>(dtype))->dtype_class;
  const bool integral = dtype_class & (LAMELLA_CLASS_BOOL | LAMELLA_CLASS_INTEGRAL);
  const bool ordered = !(dtype_class & LAMELLA_CLASS_COMPLEX);
  const auto takes = [&](bool good, const char* what) {
    LAMELLA_CHECK_VALUE(good, "argument 'op': '", name, "' takes ", what, ", got ", dtype);
  };
  if (name == "sum") return {LAMELLA_REDUCE_SUM};
  if (name == "avg") return takes(!integral, "floating-point and complex tensors"), Reduction{LAMELLA_REDUCE_SUM, true};
  if (name == "product") return {LAMELLA_REDUCE_PRODUCT};
  if (name == "min" || name == "max") {
    takes(ordered, "tensors whose elements have an order");
    return {name == "min" ? LAMELLA_REDUCE_MIN : LAMELLA_REDUCE_MAX};
  }
  for (const auto& [bits, kind] :
       {std::pair{"band", LAMELLA_REDUCE_BAND}, {"bor", LAMELLA_REDUCE_BOR}, {"bxor", LAMELLA_REDUCE_BXOR}})
    if (name == bits) return takes(integral, "tensors of whole numbers"), Reduction{kind};
  throw Error(LAMELLA_VALUE_ERROR,
              detail::text("argument 'op': expected sum, avg, product, min, max, band, bor or bxor, "
                           "got '",
                           name, "'"));
}

int rank_in(const Group& g, int64_t rank, const char* argument) {
  LAMELLA_CHECK_VALUE(rank >= 0 && rank < g.size(), "argument '", argument, "': expected a rank of group '", g.name(),
                      "' from 0 to ", g.size() - 1, ", got ", rank);
  return static_cast<int>(rank);
}

// Returns a tensor over the same memory that has no key of its own: the group's thread calls operators on it.
Tensor bare(const Tensor& t) {
  lamella_tensor* out = nullptr;
  check(api().tensor_over(t.get()->storage, static_cast<int32_t>(t.dim()), t.sizes().data(), t.strides().data(),
                          t.storage_offset(), static_cast<int32_t>(t.dtype()), &out));
  return Tensor::steal(out);
}

bool direct(const Tensor& t) { return t.is_cpu() && t.is_contiguous(); }
Tensor on_host(const Tensor& t) { return direct(t) ? bare(t) : bare(t.cpu().contiguous()); }

// Makes a job that reads `in` and writes `out`, either of which may be undefined. `shown` is the tensor whose shape the
// ranks compare.
Job make_job(int kind, const Tensor& in, const Tensor& out, const Tensor& shown, int64_t count) {
  Job job;
  lamella_collective& c = job.collective;
  c.size = sizeof c;
  c.kind = kind;
  c.dtype = static_cast<int32_t>(shown.dtype());
  c.itemsize = static_cast<int32_t>(shown.itemsize());
  c.count = count;
  job.ndim = static_cast<int>(shown.dim());
  std::copy_n(shown.sizes().data(), job.ndim, job.shape);
  if (in.defined()) job.input = on_host(in);
  if (out.defined() && direct(out)) {
    job.output = bare(out);
  } else if (out.defined()) {
    job.output = bare(lamella::empty(out.sizes(), out.dtype()));
    job.target = bare(out);
  }
  c.in = job.input.defined() ? job.input.data_ptr() : nullptr;
  c.out = job.output.defined() ? job.output.data_ptr() : nullptr;
  return job;
}

// Carries the job out, or starts it and notes the memory that it reads and writes. Returns the sender of a receipt that was
// carried out, else -1. A job that ends with a copy to another device is carried out, since the copy has to follow the
// streams of this thread.
int hand_over(Group& g, Job job, bool async_op, const Tensor& reads, const Tensor& writes) {
  int sender = -1;
  Recorder::locate(job);
  if (!async_op || (job.target.defined() && !job.target.is_cpu())) {
    without_host_lock([&] { sender = g.run(std::move(job)); });
    return sender;
  }
  const WorkRef work = g.start(std::move(job));
  if (reads.defined() && !reads.is_same(writes)) mark(reads, work, false);
  if (writes.defined()) mark(writes, work, true);
  return -1;
}

Job reducing(Job job, Text op, ScalarType dtype) {
  const Reduction r = reduction_of(op, dtype);
  job.collective.reduction = r.kind;
  job.mean = r.mean;
  return job;
}
Job rooted(Job job, int root) {
  job.collective.peer = root;
  return job;
}

// ---- shapes --------------------------------------------------------------------------------------------------------

std::vector<int64_t> with_rows(const Tensor& t, int64_t rows) {
  std::vector<int64_t> sizes(t.sizes().begin(), t.sizes().end());
  if (sizes.empty()) sizes.push_back(1);
  sizes[0] = rows;
  return sizes;
}
int64_t rows_of(const Tensor& t) { return t.dim() ? t.size(0) : 1; }

void check_splits(const Group& g, IntArrayRef splits, const char* name) {
  if (splits.empty()) return;
  LAMELLA_CHECK_VALUE(static_cast<int>(splits.size()) == g.size(), "argument '", name, "': expected ", g.size(),
                      " sizes, one for each rank, got ", splits.size());
  for (const int64_t n : splits)
    LAMELLA_CHECK_VALUE(n >= 0, "argument '", name, "': sizes must not be negative, got ", n);
}
int64_t total(IntArrayRef splits) { return std::accumulate(splits.begin(), splits.end(), int64_t{0}); }

void infer_all_reduce(const Tensor& self, Text op, Text group, bool, Output out) {
  Group::find(group);
  reduction_of(op, self.dtype());
  out.like(self);
}
void infer_reduce(const Tensor& self, int64_t dst, Text op, Text group, bool, Output out) {
  rank_in(*Group::find(group), dst, "dst");
  reduction_of(op, self.dtype());
  out.like(self);
}
void infer_broadcast(const Tensor& self, int64_t src, Text group, bool, Output out) {
  rank_in(*Group::find(group), src, "src");
  out.like(self);
}
void infer_all_gather(const Tensor& self, Text group, bool, Output out) {
  out.set(with_rows(self, rows_of(self) * Group::find(group)->size()), self.dtype());
}
void infer_reduce_scatter(const Tensor& self, Text op, Text group, bool, Output out) {
  const auto g = Group::find(group);
  reduction_of(op, self.dtype());
  LAMELLA_CHECK_VALUE(self.dim() && self.size(0) % g->size() == 0, "argument 'self': the first size of shape ",
                      self.sizes(), " must be a multiple of the number of ranks, ", g->size());
  out.set(with_rows(self, self.size(0) / g->size()), self.dtype());
}
void infer_all_to_all(const Tensor& self, IntArrayRef gets, IntArrayRef gives, Text group, bool, Output out) {
  const auto g = Group::find(group);
  LAMELLA_CHECK_VALUE(self.dim(), "argument 'self': expected at least one dimension");
  check_splits(*g, gets, "output_split_sizes");
  check_splits(*g, gives, "input_split_sizes");
  if (gives.empty())
    LAMELLA_CHECK_VALUE(self.size(0) % g->size() == 0, "argument 'self': the first size of shape ", self.sizes(),
                        " must be a multiple of the number of ranks, ", g->size(), ", or give input_split_sizes");
  else
    LAMELLA_CHECK_VALUE(total(gives) == self.size(0), "argument 'input_split_sizes': expected the sum ", self.size(0),
                        ", the first size of 'self', got ", total(gives));
  if (gets.empty())
    LAMELLA_CHECK_VALUE(self.size(0) % g->size() == 0, "argument 'output_split_sizes': without it the first size of ",
                        "shape ", self.sizes(), " must be a multiple of the number of ranks, ", g->size());
  out.set(with_rows(self, gets.empty() ? self.size(0) : total(gets)), self.dtype());
}
void infer_gather(const Tensor& self, int64_t dst, Text group, bool, Output out) {
  const auto g = Group::find(group);
  out.set(with_rows(self, rank_in(*g, dst, "dst") == g->rank() ? rows_of(self) * g->size() : 0), self.dtype());
}
void infer_scatter(const Tensor& self, const std::optional<Tensor>& parts, int64_t src, Text group, bool, Output out) {
  const auto g = Group::find(group);
  const bool gives = rank_in(*g, src, "src") == g->rank();
  LAMELLA_CHECK_VALUE(gives == parts.has_value(), "argument 'parts': rank ", src,
                      ", the source, gives it, and no other rank does; this is rank ", g->rank());
  if (gives)
    LAMELLA_CHECK_VALUE(parts->dtype() == self.dtype() && parts->numel() == self.numel() * g->size(),
                        "argument 'parts': expected ", g->size(), " parts of ", self.numel(), " elements of ",
                        self.dtype(), " each, got shape ", parts->sizes(), " of ", parts->dtype());
  out.like(self);
}

// ---- kernels -------------------------------------------------------------------------------------------------------

void all_reduce(const Tensor& self, Text op, Text group, bool async_op, const Tensor& out) {
  const auto g = Group::find(group);
  Job job = reducing(make_job(LAMELLA_ALL_REDUCE, self, out, self, self.numel()), op, self.dtype());
  hand_over(*g, std::move(job), async_op, self, out);
}

// Works that the caller waits for, and no layer: by numbers, since operators return no other objects.
struct Started {
  std::mutex mutex;
  std::map<int64_t, WorkRef> works;
  int64_t last = 0;
};
Started& started() {
  static auto* all = new Started;
  return *all;
}

int64_t start_all_reduce(const Tensor& self, Text op, Text group) {
  const auto g = Group::find(group);
  Job job = reducing(make_job(LAMELLA_ALL_REDUCE, self, self, self, self.numel()), op, self.dtype());
  Recorder::locate(job);
  if (job.target.defined() && !job.target.is_cpu()) {
    without_host_lock([&] { g->run(std::move(job)); });
    return 0;
  }
  const WorkRef work = g->start(std::move(job));
  Started& s = started();
  const std::lock_guard lock(s.mutex);
  s.works.emplace(++s.last, work);
  return s.last;
}
void finish(int64_t work) {
  WorkRef found(nullptr);
  {
    Started& s = started();
    const std::lock_guard lock(s.mutex);
    const auto at = s.works.find(work);
    if (at == s.works.end()) {
      LAMELLA_CHECK_VALUE(!work, "argument 'work': there is no work ", work, ", or it was finished");
      return;
    }
    found = at->second;
    s.works.erase(at);
  }
  without_host_lock([&] { found->wait(std::chrono::nanoseconds(-1)); });
}

void reduce(const Tensor& self, int64_t dst, Text op, Text group, bool async_op, const Tensor& out) {
  const auto g = Group::find(group);
  const bool gets = dst == g->rank();
  if (!gets && out.get() != self.get()) out.copy_(self);  // the other ranks' results are their arguments
  Job job = make_job(LAMELLA_REDUCE, self, gets ? out : Tensor(), self, self.numel());
  job = rooted(reducing(std::move(job), op, self.dtype()), static_cast<int>(dst));
  hand_over(*g, std::move(job), async_op, self, gets ? out : Tensor());
}

void broadcast(const Tensor& self, int64_t src, Text group, bool async_op, const Tensor& out) {
  const auto g = Group::find(group);
  Job job = make_job(LAMELLA_BROADCAST, src == g->rank() ? self : Tensor(), out, self, self.numel());
  hand_over(*g, rooted(std::move(job), static_cast<int>(src)), async_op, self, out);
}

void all_gather(const Tensor& self, Text group, bool async_op, const Tensor& out) {
  hand_over(*Group::find(group), make_job(LAMELLA_ALL_GATHER, self, out, self, self.numel()), async_op, self, out);
}

void reduce_scatter(const Tensor& self, Text op, Text group, bool async_op, const Tensor& out) {
  Job job = make_job(LAMELLA_REDUCE_SCATTER, self, out, self, out.numel());
  hand_over(*Group::find(group), reducing(std::move(job), op, self.dtype()), async_op, self, out);
}

void all_to_all(const Tensor& self, IntArrayRef gets, IntArrayRef gives, Text group, bool async_op, const Tensor& out) {
  const auto g = Group::find(group);
  Job job = make_job(LAMELLA_ALL_TO_ALL, self, out, self, 0);
  const int64_t row = self.size(0) ? self.numel() / self.size(0) : out.size(0) ? out.numel() / out.size(0) : 0;
  const auto counts = [&](IntArrayRef splits, int64_t rows) {
    std::vector<int64_t> all(static_cast<size_t>(g->size()), rows / g->size() * row);
    for (size_t i = 0; i < splits.size(); i++) all[i] = splits[i] * row;
    return all;
  };
  job.gives = counts(gives, self.size(0));
  job.gets = counts(gets, out.size(0));
  hand_over(*g, std::move(job), async_op, self, out);
}

void gather(const Tensor& self, int64_t dst, Text group, bool async_op, const Tensor& out) {
  const auto g = Group::find(group);
  const Tensor all = dst == g->rank() ? out : Tensor();
  Job job = make_job(LAMELLA_GATHER, self, all, self, self.numel());
  hand_over(*g, rooted(std::move(job), static_cast<int>(dst)), async_op, self, all);
}

void scatter(const Tensor& self, const std::optional<Tensor>& parts, int64_t src, Text group, bool async_op,
             const Tensor& out) {
  Job job = make_job(LAMELLA_SCATTER, parts ? *parts : Tensor(), out, self, self.numel());
  hand_over(*Group::find(group), rooted(std::move(job), static_cast<int>(src)), async_op, parts ? *parts : Tensor(),
            out);
}

void barrier(Text group) {
  Job job;
  job.collective.size = sizeof(lamella_collective);
  job.collective.kind = LAMELLA_BARRIER;
  Recorder::locate(job);
  without_host_lock([&] { Group::find(group)->run(std::move(job)); });
}

Job message(int kind, const Tensor& in, const Tensor& out, const Tensor& self, int64_t peer, int64_t tag) {
  LAMELLA_CHECK_VALUE(tag >= 0 && tag < 32768, "argument 'tag': expected a number from 0 to 32767, got ", tag);
  Job job = make_job(kind, in, out, self, self.numel());
  job.collective.peer = static_cast<int32_t>(peer);
  job.collective.tag = static_cast<int32_t>(tag);
  return job;
}

void send(const Tensor& self, int64_t dst, int64_t tag, Text group, bool async_op) {
  const auto g = Group::find(group);
  LAMELLA_CHECK_VALUE(rank_in(*g, dst, "dst") != g->rank(), "argument 'dst': rank ", dst,
                      " is this process, which cannot send to itself");
  hand_over(*g, message(LAMELLA_SEND, self, Tensor(), self, dst, tag), async_op, self, Tensor());
}

// Returns the sender's rank; -1 if the receipt was started.
int64_t recv(const Tensor& self, int64_t src, int64_t tag, Text group, bool async_op) {
  const auto g = Group::find(group);
  if (src != -1)
    LAMELLA_CHECK_VALUE(rank_in(*g, src, "src") != g->rank(), "argument 'src': rank ", src,
                        " is this process, which cannot receive from itself");
  return hand_over(*g, message(LAMELLA_RECV, Tensor(), self, self, src, tag), async_op, Tensor(), self);
}

// Waits for the collective that is under way in a tensor's memory, as any other operator does: the layer waits.
Tensor wait_tensor(const Tensor& self) { return self; }

constexpr uint32_t flags = LAMELLA_KERNEL_CALLS_OPERATORS | LAMELLA_KERNEL_FAILS_LATE | LAMELLA_KERNEL_ANY_DTYPE;
constexpr uint32_t forms = LAMELLA_FORM_FUNCTION | LAMELLA_FORM_OUT;

// The shape rule of a form that writes into `self`, by that of the form with a result. Such forms are operators of their
// own: one that the dispatcher derives computes into other memory and copies, since elsewhere an operator must not write
// what it still reads.
template <class... P>
auto in_place(std::type_identity_t<void (*)(const Tensor&, P..., Output)> rule) {
  return [rule](lamella_frame* f, const Tensor& self, P... rest, Output out) {
    lamella_meta unused{};
    rule(self, rest..., Output(f, nullptr, &unused));
    out.same(self);
  };
}

}  // namespace

void drop_work(int64_t work) {
  Started& s = started();
  const std::lock_guard lock(s.mutex);
  s.works.erase(work);
}

void register_operators(Library& m) {
  m.effects(LAMELLA_EFFECT_STATE);
  const auto define = [&](const char* schema, uint32_t its_forms, const char* dims, const char* doc) {
    lamella_operator_def d{};
    d.size = sizeof d;
    d.schema = schema;
    d.forms = its_forms;
    d.dims = dims;
    d.doc = doc;
    d.file = __FILE__;
    d.line = __LINE__;
    m.define(d);
  };
  define("all_reduce(Tensor self, str op, str group, bool async_op=False) -> Tensor", forms, "... -> ...",
         "Reduces the tensors of all ranks; every rank gets the result.");
  m.infer("all_reduce", infer_all_reduce);
  m.impl<all_reduce>("all_reduce", "backend", flags);
  define("reduce(Tensor self, int dst, str op, str group, bool async_op=False) -> Tensor", forms, "... -> ...",
         "Reduces the tensors of all ranks; rank `dst` gets the result, the others get their own tensor.");
  m.infer("reduce", infer_reduce);
  m.impl<reduce>("reduce", "backend", flags);
  define("broadcast(Tensor self, int src, str group, bool async_op=False) -> Tensor", forms, "... -> ...",
         "Every rank gets the tensor of rank `src`.");
  m.infer("broadcast", infer_broadcast);
  m.impl<broadcast>("broadcast", "backend", flags);
  define("all_reduce_(Tensor(a!) self, str op, str group, bool async_op=False) -> Tensor(a!)", LAMELLA_FORM_FUNCTION,
         nullptr, "Reduces the tensors of all ranks into each of them.");
  m.infer("all_reduce_", in_place<Text, Text, bool>(infer_all_reduce));
  m.impl<all_reduce>("all_reduce_", "backend", flags);
  define(
      "start_all_reduce(Tensor(a!) self, str op, str group) -> int", LAMELLA_FORM_FUNCTION, nullptr,
      "Starts to reduce the tensors of all ranks into each of them. No operator waits for that: `finish` does, by the "
      "number that is returned.");
  m.impl<start_all_reduce>("start_all_reduce", "backend", flags);
  define("finish(int work) -> ()", LAMELLA_FORM_FUNCTION, nullptr,
         "Waits for the work that `start_all_reduce` started.");
  m.impl<finish>("finish", "composite");
  define("reduce_(Tensor(a!) self, int dst, str op, str group, bool async_op=False) -> Tensor(a!)",
         LAMELLA_FORM_FUNCTION, nullptr, "Reduces the tensors of all ranks into that of rank `dst`.");
  m.infer("reduce_", in_place<int64_t, Text, Text, bool>(infer_reduce));
  m.impl<reduce>("reduce_", "backend", flags);
  define("broadcast_(Tensor(a!) self, int src, str group, bool async_op=False) -> Tensor(a!)", LAMELLA_FORM_FUNCTION,
         nullptr, "Every rank's tensor becomes that of rank `src`.");
  m.infer("broadcast_", in_place<int64_t, Text, bool>(infer_broadcast));
  m.impl<broadcast>("broadcast_", "backend", flags);
  define("scatter_(Tensor(a!) self, Tensor? parts, int src, str group, bool async_op=False) -> Tensor(a!)",
         LAMELLA_FORM_FUNCTION, nullptr, "Every rank's tensor becomes one of the parts of rank `src`.");
  m.infer("scatter_", in_place<const std::optional<Tensor>&, int64_t, Text, bool>(infer_scatter));
  m.impl<scatter>("scatter_", "backend", flags);
  define("all_gather(Tensor self, str group, bool async_op=False) -> Tensor", forms & ~LAMELLA_FORM_INPLACE, nullptr,
         "Joins the tensors of all ranks along the first dimension.");
  m.infer("all_gather", infer_all_gather);
  m.impl<all_gather>("all_gather", "backend", flags);
  define("reduce_scatter(Tensor self, str op, str group, bool async_op=False) -> Tensor", forms & ~LAMELLA_FORM_INPLACE,
         nullptr, "Reduces the tensors of all ranks; each rank gets its part along the first dimension.");
  m.infer("reduce_scatter", infer_reduce_scatter);
  m.impl<reduce_scatter>("reduce_scatter", "backend", flags);
  define(
      "all_to_all(Tensor self, int[] output_split_sizes, int[] input_split_sizes, str group, bool async_op=False) -> "
      "Tensor",
      forms & ~LAMELLA_FORM_INPLACE, nullptr,
      "Sends each rank a part along the first dimension, and joins the parts that come; without sizes all are equal.");
  m.infer("all_to_all", infer_all_to_all);
  m.impl<all_to_all>("all_to_all", "backend", flags);
  define("gather(Tensor self, int dst, str group, bool async_op=False) -> Tensor", forms & ~LAMELLA_FORM_INPLACE,
         nullptr,
         "Joins the tensors of all ranks along the first dimension on rank `dst`; the others get an empty tensor.");
  m.infer("gather", infer_gather);
  m.impl<gather>("gather", "backend", flags);
  define("scatter(Tensor self, Tensor? parts, int src, str group, bool async_op=False) -> Tensor", forms, nullptr,
         "Gives each rank one of the parts, which follow one another in `parts` on rank `src`; `self` says shape and "
         "dtype.");
  m.infer("scatter", infer_scatter);
  m.impl<scatter>("scatter", "backend", flags);
  define("barrier(str group) -> ()", LAMELLA_FORM_FUNCTION, nullptr, "Waits until all ranks have come.");
  m.impl<barrier>("barrier", "backend", flags);
  define("send(Tensor self, int dst, int tag, str group, bool async_op=False) -> ()", LAMELLA_FORM_FUNCTION, nullptr,
         "Sends a tensor to rank `dst`, which receives with an equal tag.");
  m.impl<send>("send", "backend", flags);
  define("recv_(Tensor(a!) self, int src, int tag, str group, bool async_op=False) -> int", LAMELLA_FORM_FUNCTION,
         nullptr,
         "Receives a tensor of equal shape and dtype from rank `src`, or from any for -1; returns the sender's rank.");
  m.impl<recv>("recv_", "backend", flags);
  define("wait_tensor(Tensor(a) self) -> Tensor(a)", LAMELLA_FORM_FUNCTION, nullptr,
         "Waits for the collective that is under way in the tensor's memory.");
  m.impl<wait_tensor>("wait_tensor", "composite");
}

}  // namespace lamella::distributed
