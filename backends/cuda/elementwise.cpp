// Makes, finds and launches the kernels that compute one element at a time.
#include "elementwise.h"

#include <array>
#include <cstring>
#include <mutex>

#include "kernels/elementwise.h"
#include "numbers.h"

namespace cuda {
namespace {

// The kernels of one Element, for three ways to walk. `chains` holds the entries by key(), until the process ends.
struct Entry {
  Entry(const Element& e, const std::string& text)
      : element(e),
        words(e.text ? e.text : ""),
        flat(text, "pointwise.cu", "flat<Op>", options_of_element(e)),
        near(text, "pointwise.cu", "strided<Op, uint32_t>", options_of_element(e)),
        far(text, "pointwise.cu", "strided<Op, uint64_t>", options_of_element(e)) {}
  Element element;
  const std::string words;
  int32_t code = 0;  // the code by which the kernels report the element's fault
  Kernel flat, near, far;
  Entry* next = nullptr;
};
std::atomic<Entry*> chains[4096];

bool same(const Entry& a, const Element& b) {
  return a.element.text == b.text && a.element.fault == b.fault && a.element.compute == b.compute &&
         a.element.result == b.result && a.element.condition == b.condition &&
         !std::memcmp(a.element.dtypes, b.dtypes, sizeof b.dtypes) && (!b.text || a.words == b.text);
}

size_t key(const Element& e) {
  size_t h = reinterpret_cast<size_t>(e.text) >> 3;
  for (const int d : e.dtypes) h = h * 31 + static_cast<size_t>(d);
  h = (h * 31 + static_cast<size_t>(e.compute)) * 3 + static_cast<size_t>(e.result);
  return (h ^ h >> 13) % std::size(chains);
}

Entry& find(const Element& e, const lamella_frame* who, const char* fault_text) {
  std::atomic<Entry*>& chain = chains[key(e)];
  for (Entry* at = chain.load(std::memory_order_acquire); at; at = at->next)
    if (same(*at, e)) return *at;
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  for (Entry* at = chain.load(std::memory_order_acquire); at; at = at->next)
    if (same(*at, e)) return *at;
  auto* made = new Entry(e, text_of_element(e, "Op"));
  if (e.fault && who)
    made->code = add_fault(LAMELLA_ZERO_DIVISION, lamella::title(who) + ": argument 'other': " + fault_text);
  made->next = chain.load(std::memory_order_relaxed);
  chain.store(made, std::memory_order_release);
  return *made;
}

}  // namespace

std::string options_of_element(const Element& e) {
  const std::string t = type_name(computed_in(e.compute));
  const auto define = [](const char* name, const std::string& value) {
    return std::string(" -DLAMELLA_") + name + "=" + value;
  };
  switch (lamella::dtype_class(lamella::ScalarType(e.compute))) {
    case LAMELLA_CLASS_BOOL:
      return define("T_BOOL", t);
    case LAMELLA_CLASS_INTEGRAL:
      return define("T_INTEGRAL", t);
    case LAMELLA_CLASS_FLOATING:
      return define("T_FLOATING", t) + (computed_in(e.compute) != e.compute
                                            ? define("OWN_NORMAL_CDF", "brief_normal_cdf")
                                        : t == "float" ? define("OWN_NORMAL_CDF", "float_normal_cdf")
                                                       : "");
    default:
      return define("T_COMPLEX", e.compute == LAMELLA_COMPLEX64 ? "float" : "double");
  }
}

std::string text_of_element(const Element& e, const std::string& name) {
  std::string s = "#include \"elementwise.cuh\"\n#include \"words.cuh\"\nstruct " + name + " {\n";
  int widest = 1, operands = 1;
  for (int k = 0; k < layout_operands; k++) {
    const bool there = e.dtypes[k] != number_operand;
    s += std::string("  typedef ") + (there ? type_name(e.dtypes[k]) : "Nothing") + " " +
         (k ? "In" + std::to_string(k - 1) : "Out") + ";\n";
    if (!there) continue;
    widest = std::max(widest, item_sizes[e.dtypes[k]]);
    operands = k + 1;
  }
  s += "  static const int width = " + std::to_string(16 / widest) + ", operands = " + std::to_string(operands) +
       ";\n" + "  T numbers[6];\n  int code;\n  DEVICE Out operator()(In0 a, In1 b, In2 c, Fault* fault) const {\n";
  const char *names = "xyz", *memory = "abc", *parameters = "pqr";
  for (int k = 0; k < 3; k++) {
    const std::string type = e.condition && k == 0 ? "bool" : "T";
    const std::string from =
        e.dtypes[k + 1] == number_operand ? "numbers[" + std::to_string(k) + "]" : std::string(1, memory[k]);
    s += "    const " + type + " " + names[k] + " = convert<" + type + ">(" + from + ");\n";
  }
  for (int k = 0; k < 3; k++)
    s += std::string("    const T ") + parameters[k] + " = numbers[" + std::to_string(3 + k) + "];\n";
  s += "    (void)x, (void)y, (void)z, (void)p, (void)q, (void)r, (void)a, (void)b, (void)c, (void)fault;\n";
  if (e.fault) s += std::string("    if (") + e.fault + ") report(fault, code);\n";
  const char* result = e.result == LAMELLA_RESULT_BOOL ? "bool" : e.result == LAMELLA_RESULT_REAL ? "R" : "T";
  s += std::string("    return convert<Out>(static_cast<") + result + ">(" + (e.text ? e.text : "x") + "));\n  }\n};\n";
  return s;
}

lamella_status run_elementwise(const Element& e, const lamella_tensor* out, const lamella_tensor* const* inputs,
                               int count, const Numbers& numbers, const lamella_frame* who, const char* fault_text) {
  const Plan plan(out, inputs, count);
  if (!plan.count()) return LAMELLA_OK;
  Entry& entry = find(e, who, fault_text);
  Fault* fault = e.fault ? fault_of(out) : nullptr;
  // `bytes` is the kernel's first argument, the struct Op of its source: the numbers, then the code of the fault.
  Numbers op = numbers;
  const int item = item_sizes[computed_in(e.compute)];
  std::array<unsigned char, sizeof(Numbers) + 16> bytes{};
  std::memcpy(bytes.data(), op.bytes, sizeof op.bytes);
  std::memcpy(bytes.data() + (6 * item + 3) / 4 * 4, &entry.code, sizeof entry.code);
  Pointers p;
  for (int k = 0; k < layout_operands; k++) p.data[k] = k <= count ? plan.data(k) : nullptr;
  int widest = 1;
  for (const int d : e.dtypes)
    if (d != number_operand) widest = std::max(widest, item_sizes[d]);
  const int width = 16 / widest;
  const int64_t n = plan.count();
  if (plan.is_flat()) {
    const int moving = plan.moving(), packed = plan.packs(width);
    const void* addresses[] = {bytes.data(), &p, &n, &moving, &packed, &fault};
    return launch(entry.flat, out, blocks_for(out, packed ? (n + width - 1) / width : n, 256), {256}, 0,
                  const_cast<void**>(addresses));
  }
  const int64_t part = plan.part();
  Kernel& kernel = part >> 31 ? entry.far : entry.near;
  const Dim grid = blocks_for(out, part, 256);
  return plan.parts([&](const int64_t* offsets) {
    Pointers here = p;
    for (int k = 0; k <= count; k++)
      if (here.data[k]) here.data[k] += offsets[k];
    const void* addresses[] = {bytes.data(), &here, &plan.layout(), &part, &fault};
    return launch(kernel, out, grid, {256}, 0, const_cast<void**>(addresses));
  });
}

}  // namespace cuda
