#include "calls.h"

#include <cmath>
#include <mutex>

namespace lamella::quantization {
namespace {

const char* const ways[] = {"native", "fused", "composite"};

struct Row {
  std::string op, way, scheme;
};
// The calls of a block, also those of other threads that have taken over its settings.
struct Trace {
  std::mutex guard;
  std::vector<Row> rows;
};

// The settings of a thread: those of the innermost block, which have those of the block around it in `outer`.
struct Settings {
  std::shared_ptr<const Settings> outer;
  bool strict = false;
  std::vector<std::shared_ptr<Trace>> traces;
  double scale = 0;                   // of results; 0: there is none
  const NumericType* type = nullptr;  // of results; null: that of the arguments
  int64_t zero = 0;
};
using Held = std::shared_ptr<const Settings>;

int32_t settings_slot = -1;

const Held& settings() {
  static const Held none = std::make_shared<Settings>();
  const auto* held = static_cast<const Held*>(api().thread_slot_get(settings_slot));
  return held ? *held : none;
}
void set(Held s) {
  auto* made = s->outer ? new Held(std::move(s)) : nullptr;
  if (lamella_status st = api().thread_slot_set(settings_slot, made)) {
    delete made;
    check(st);
  }
}
std::shared_ptr<Settings> inner_settings() {
  auto made = std::make_shared<Settings>(*settings());
  made->outer = settings();
  return made;
}

void check_zero_point(const NumericType& type, int64_t zero) {
  LAMELLA_CHECK_VALUE(type.is_integer() ? type.low <= zero && zero <= type.high : zero == 0,
                      "argument 'zero_point': ", zero, " is no zero point of ", type.name);
}

// ---- blocks of a program: each function that begins one has an end_block() -----------------------------------------

void begin_out(double scale, int64_t zero, const std::string& type) {
  auto s = inner_settings();
  s->type = type.empty() ? nullptr : &find_type(type);
  LAMELLA_CHECK_VALUE(static_cast<float>(scale) > 0 && std::isfinite(static_cast<float>(scale)),
                      "argument 'scale': expected a positive finite number of float32, got ", scale);
  if (s->type) check_zero_point(*s->type, zero);
  s->scale = scale;
  s->zero = zero;
  set(std::move(s));
}
void begin_strict(bool on) {
  auto s = inner_settings();
  s->strict = on;
  set(std::move(s));
}
void begin_trace() {
  auto s = inner_settings();
  s->traces.push_back(std::make_shared<Trace>());
  set(std::move(s));
}
// Returns the operator, the way and the scheme of each call since the innermost begin_trace, one after another.
std::vector<std::string> traced() {
  std::vector<std::string> all;
  if (settings()->traces.empty()) return all;
  Trace& t = *settings()->traces.back();
  std::lock_guard lock(t.guard);
  for (const Row& r : t.rows) all.insert(all.end(), {r.op, r.way, r.scheme});
  return all;
}
void end_block() {
  LAMELLA_CHECK(settings()->outer, "no block has begun on this thread");
  set(settings()->outer);
}

}  // namespace

void record(const lamella_operator* op, Way way, const Scheme& s) {
  const Settings& now = *settings();
  if (now.strict && way != Way::native)
    throw Error(LAMELLA_NOT_IMPLEMENTED, title(op) + ": strict: the quantized tensors (" + s.described() +
                                             ") would be dequantized (" + ways[static_cast<int>(way)] +
                                             "); call dequantize() where that is meant");
  for (const std::shared_ptr<Trace>& t : now.traces) {
    std::lock_guard lock(t->guard);
    t->rows.push_back({api().operator_name(op), ways[static_cast<int>(way)], s.described()});
  }
}

std::shared_ptr<Scheme> result_scheme(const Scheme& like) {
  const Settings& now = *settings();
  if (now.scale == 0) return nullptr;
  auto s = std::make_shared<Scheme>();
  s->type = now.type ? now.type : like.type;
  check_zero_point(*s->type, now.zero);
  s->low = s->type->low;
  s->high = s->type->high;
  s->scale = now.scale;
  s->zero = now.zero;
  return s;
}

void no_result_scheme(const lamella_operator* op, const Scheme& s) {
  throw Error(
      LAMELLA_RUNTIME_ERROR,
      title(op) + ": the arguments are quantized (" + s.described() +
          ") and nothing says the scale of the result: compute within `with lamella.quantization.out_scale(scale, "
          "zero_point):`, or dequantize() the arguments");
}

void no_rule(const lamella_operator* op, const char* argument, const Scheme& s, const std::string& hint) {
  throw Error(LAMELLA_NOT_IMPLEMENTED, title(op) + ": argument '" + argument + "' is quantized (" + s.described() +
                                           "), and there is no rule for it" + hint +
                                           "; x.dequantize() gives a tensor that every operator takes");
}

std::shared_ptr<Scheme> without_memory(const Scheme& s) {
  auto made = std::make_shared<Scheme>(s);
  made->kept = std::make_shared<RowSums>();
  made->memory = Tensor();
  made->first = 0;
  made->inner = 1;
  return made;
}

void register_calls(Library& m) {
  lamella_thread_slot_type t{};
  t.size = sizeof t;
  t.name = "quantization.settings";
  t.copy = [](void* state, void** out) -> lamella_status {
    return guarded([&]() -> lamella_status {
      *out = new Held(*static_cast<const Held*>(state));
      return LAMELLA_OK;
    });
  };
  t.destroy = [](void* state) { delete static_cast<Held*>(state); };
  if (!m.status()) check(api().thread_slot(m.handle(), &t, &settings_slot));
  m.def("begin_out(float scale, int zero_point, str dtype) -> ()", begin_out);
  m.def("begin_strict(bool on) -> ()", begin_strict);
  m.def("begin_trace() -> ()", begin_trace);
  m.def("traced() -> str[]", traced);
  m.def("end_block() -> ()", end_block);
}

}  // namespace lamella::quantization
