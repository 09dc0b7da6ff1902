// Feeds damaged texts to the plugin of graphs: `fuzz_graph LIBLAMELLA_CPU.SO COUNT [SEED] [FOLDER]`. FOLDER has further
// texts. A text that is read must be printed and read alike; a graph that passes the verifier must pass it behind each
// pass, and give the same results. AddressSanitizer ends the program at a fault of memory; a case that takes more time
// or memory than its text allows ends it, too.
#include <lamella/program.h>
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <random>
#include <sstream>

#include "graph_seeds.h"
#include "ir/verify.h"
#include "passes/effects.h"
#include "passes/passes.h"
#include "run/host.h"
#include "run/machine.h"
#include "signatures/builtins.h"
#include "text/text.h"

using namespace lamella::graph;
using lamella::Error;
using lamella::none;

// The bytes that are allocated. More than `most_bytes` raise std::bad_alloc: a program that doubles a text ends.
namespace {
constexpr int64_t most_bytes = 200 << 20;
std::atomic<int64_t> bytes{0}, peak{0};
}  // namespace
extern "C" const char* __asan_default_options();  // read by AddressSanitizer: tensors have a bound, too
extern "C" const char* __asan_default_options() { return "max_allocation_size_mb=400"; }
void* operator new(size_t n, const std::nothrow_t&) noexcept {
  const int64_t now = bytes += static_cast<int64_t>(n);
  void* p = now < most_bytes ? std::malloc(n) : nullptr;
  if (!p) bytes -= static_cast<int64_t>(n);
  int64_t before = peak;
  while (p && before < now && !peak.compare_exchange_weak(before, now)) {
  }
  return p;
}
void* operator new(size_t n) {
  if (void* p = operator new(n, std::nothrow)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
  if (p) bytes -= static_cast<int64_t>(malloc_usable_size(p));
  std::free(p);
}
void operator delete(void* p, size_t) noexcept { operator delete(p); }

namespace {

std::string now_running;  // the text of the case

[[noreturn]] void end(const std::string& what) {
  std::fprintf(stderr, "fuzz_graph: %s:\n%s\n", what.c_str(), now_running.c_str());
  std::_Exit(2);
}
void require(bool holds, const char* what) {
  if (!holds) end(what);
}

// ---- values for parameters, and results as text ----

lamella_tensor* new_tensor(int seed) {
  static const int32_t cpu = [] {
    int32_t backend = 0;
    lamella::check(lamella::api().find_backend("cpu", &backend));
    return backend;
  }();
  const int64_t sizes[] = {2, 3};
  lamella_tensor* t = nullptr;
  lamella::check(lamella::api().tensor_empty(2, sizes, nullptr, LAMELLA_FLOAT32, {cpu, 0}, &t));
  for (int i = 0; i < 6; i++) static_cast<float*>(t->dl.data)[i] = static_cast<float>((i * 7 + seed) % 11 - 5);
  return t;
}

struct Unknown {};  // a type that no value is made of

lamella_value made(const Type& t, const Program& p, int depth) {
  switch (t.kind) {
    case Kind::tensor:
      return lamella::value(new_tensor(depth));
    case Kind::integer:
    case Kind::number:
      return lamella::value(int64_t{3 + depth});
    case Kind::floating:
      return lamella::value(2.5);
    case Kind::complex:
      return new_complex(1, -2);
    case Kind::boolean:
      return lamella::value(depth == 0);
    case Kind::string:
      return new_string("text a");
    case Kind::none:
    case Kind::optional:
      return none();
    case Kind::list: {
      std::vector<lamella_value> items;
      if (depth < 3)
        for (int i = 0; i < 2; i++) items.push_back(made(*t.inner[0], p, depth + 1 + i));
      return new_list(std::move(items));
    }
    case Kind::tuple: {
      if (depth > 3) throw Unknown();
      std::vector<lamella_value> items;
      for (const TypePtr& part : t.inner) items.push_back(made(*part, p, depth + 1));
      return new_tuple(std::move(items));
    }
    case Kind::dict: {
      auto* d = new Dict;
      d->set(made(*t.inner[0], p, depth + 1), made(*t.inner[1], p, depth + 1));
      return value_of(d);
    }
    case Kind::object: {
      const auto found = p.classes.find(t.name);
      if (found == p.classes.end() || depth > 3) throw Unknown();
      auto* made_here = new Instance;
      made_here->type = found->second;
      for (const auto& [name, type] : found->second->attributes)
        made_here->attributes.push_back(made(*type, p, depth + 1));
      return value_of(made_here);
    }
    default:
      throw Unknown();
  }
}

// Shows shape and bits of a float tensor.
std::string text_of_tensor(lamella_tensor* t) {
  std::string out = "tensor";
  int64_t n = 1;
  for (int i = 0; i < t->dl.ndim; i++) {
    out += " " + std::to_string(t->dl.shape[i]);
    n *= t->dl.shape[i];
  }
  const bool plain = t->dl.dtype.code == kDLFloat && t->dl.dtype.bits == 32 && !t->dl.strides;
  for (int64_t i = 0; plain && i < n && i < 100; i++) {
    uint32_t bits;
    std::memcpy(&bits, static_cast<const char*>(t->dl.data) + t->dl.byte_offset + 4 * i, 4);
    out += " " + std::to_string(bits);
  }
  return out;
}

// ---- one case ----

// Returns whether each run of the program gives the same results.
bool is_repeatable(const Program& p) {
  bool same = true;
  for (const auto& [name, g] : p.graphs)
    each_node(g->top(), [&](const Node* n) {
      const Signature* s = is_primitive(*n) ? nullptr : signature_of(*n);
      const bool by_address = n->op == "prim::id" || n->op == "aten::hash" || n->op == "aten::initial_seed";
      const bool memory = n->op == "aten::empty" || n->op == "aten::resize_" || n->op == "aten::empty_like";
      same = same && !(s && s->has_state) && !by_address && !memory && n->op != "prim::fork";
    });
  return same;
}

// Runs the main graph; returns its results as text, or nothing if it fails.
std::string results(const Program& p) {
  std::vector<lamella_value> constants = {lamella::value(new_tensor(1)), lamella::value(new_tensor(2))}, args;
  std::string out;
  try {
    const std::shared_ptr<Executable> exe = compile(p, constants);
    exe->host.assign(exe->host_names.size(), nullptr);
    if (const Code* code = exe->find("")) {
      for (const Parameter& q : code->parameters) args.push_back(made(*q.type, p, 0));
      std::vector<lamella_value> rets(code->results.size() + 1);
      Machine machine(*exe, {40, 300});
      std::vector<lamella_value> given = args;
      args.clear();
      machine.run(*code, given.data(), rets.data());
      for (size_t i = 0; i < code->results.size(); i++) {
        out += repr_of(rets[i]).substr(0, 10000) + "\n";
        release(rets[i]);
      }
      for (const lamella_value& c : constants) out += repr_of(c) + "\n";
    }
  } catch (const Error&) {
    lamella::api().error_clear();
    out.clear();
  } catch (const Malformed&) {  // only the compiler knows
    out.clear();
  } catch (const std::bad_alloc&) {
    out.clear();
  } catch (const Unknown&) {
    out.clear();
  }
  for (lamella_value& v : args) release(v);
  for (lamella_value& v : constants) release(v);
  return out;
}

long long shown(int64_t n) { return n; }

struct Counts {
  int64_t read = 0, verified = 0, ran = 0;
} counts;

void run_case(const std::string& text) {
  now_running = text;
  alarm(60);                                                   // ends the program if the case hangs
  const std::unique_ptr<char[]> exact(new char[text.size()]);  // of this size, so that a read past the end is reported
  std::memcpy(exact.get(), text.data(), text.size());
  const int64_t before = bytes;
  peak = before;
  try {
    Program p = parse_program({exact.get(), text.size()});
    counts.read++;
    const std::string printed = p.text();
    const Program again = parse_program(printed);
    require(again == p, "the printed text is another program");
    require(again.text() == printed, "the text changes when it is read and printed again");
    require(p.copy() == p, "a copy differs");
    const auto size = static_cast<int64_t>(text.size());
    require(peak - before < 65536 + 1500 * size, "reading takes more memory than the text allows");
    verify(p);
    counts.verified++;
    const std::string first = results(p);
    counts.ran += !first.empty();
    const bool compare = !first.empty() && is_repeatable(p);
    if (compare) require(results(p) == first, "a second run gives another result");
    for (const NamedPass& pass : own_passes()) {
      Program changed = p.copy();
      for (const auto& [name, g] : changed.graphs) pass.run(changed, *g);
      try {
        verify(changed);
      } catch (const Malformed& e) {
        end(std::string(pass.name) + " breaks the program: " + e.what() + "\n" + changed.text());
      }
      if (compare && results(changed) != first)
        end(std::string(pass.name) + " changes a result:\n" + first + "now\n" + results(changed) + changed.text());
      if (pass.run != inline_calls) p = std::move(changed);  // the passes behind it see its results, too
    }
    require(!compare || results(p) == first, "all passes change a result");
  } catch (const SyntaxError&) {
  } catch (const Malformed&) {
  } catch (const std::bad_alloc&) {
    end("a text of " + std::to_string(text.size()) + " bytes takes too much memory");
  }
  alarm(0);
}

// ---- changes of texts ----

class Mutator {
 public:
  Mutator(uint64_t seed, std::vector<std::string> seeds) : random_(seed), seeds_(std::move(seeds)) {
    words_ = {"int",
              "float",
              "bool",
              "str",
              "Tensor",
              "int[]",
              "Any",
              "Scalar",
              "complex",
              "int?",
              "(int, str)",
              "0",
              "1",
              "-1",
              "2.5",
              "nan",
              "True",
              "None",
              "7",
              "[]",
              "[1]",
              "%n",
              "%x",
              "{",
              "}",
              "(",
              ")",
              "->",
              ",",
              "\"\"",
              "<data/1>",
              "9223372036854775807",
              "-9223372036854775808",
              "Future(int)",
              "Dict(str, int)",
              "Net",
              "aten::abs",
              "aten::neg_",
              "aten::zeros",
              "aten::stack",
              "aten::sum",
              "aten::matmul",
              "aten::index_select",
              "aten::squeeze_"};
    for (const std::string& schema : builtin_schemas()) {
      const size_t open = schema.find('(');
      words_.push_back(schema.substr(0, open));
      std::string& place = builtins_[words_.back()];
      for (size_t i = open; i < schema.size(); i++)  // "(int a, int b) -> int" without the names
        if (schema[i] != ' ' || !std::islower(static_cast<unsigned char>(schema[i + 1])) || schema[i - 1] == ',' ||
            schema[i - 1] == '>')
          place += schema[i];
        else
          i = schema.find_first_of(",)=", i) - 1;
    }
  }

  std::string next() {
    std::string s = seeds_[below(seeds_.size())];
    for (uint64_t n = 1 + below(3); n; n--) change(s);
    return s.substr(0, 20000);
  }

 private:
  size_t below(size_t n) { return n ? random_() % n : 0; }

  static bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("_%:.\"", c); }
  // Returns where a word begins, and its length.
  std::pair<size_t, size_t> some_word(const std::string& s) {
    size_t at = below(s.size()), n = 0;
    while (at < s.size() && !in_word(s[at])) at++;
    while (at && in_word(s[at - 1])) at--;
    while (at + n < s.size() && in_word(s[at + n])) n++;
    return {at, n};
  }
  // Returns a number for what a word may be: a value, an operator, a literal, a type or a mark.
  static int kind_of(const std::string& word) {
    if (word.empty()) return 0;
    if (word[0] == '%') return 1;
    if (word.find("::") != std::string::npos) return 2;
    return std::isdigit(static_cast<unsigned char>(word[0])) || word[0] == '-' || word[0] == '"' ? 3 : 4;
  }
  std::pair<size_t, size_t> some_line(const std::string& s) {
    const size_t at = s.rfind('\n', below(s.size())), begin = at == std::string::npos ? 0 : at + 1;
    const size_t end = s.find('\n', begin);
    return {begin, (end == std::string::npos ? s.size() : end + 1) - begin};
  }

  void change(std::string& s) {
    if (s.empty()) return;
    const size_t how = below(40);
    if (how == 0) {
      s[below(s.size())] = static_cast<char>(below(256));
    } else if (how == 1) {
      s.erase(below(s.size()), 1 + below(20));
    } else if (how == 2) {
      const std::string copy = s.substr(below(s.size()), below(200));
      s.insert(below(s.size()), copy);
    } else if (how == 3) {
      const std::string& other = seeds_[below(seeds_.size())];
      s.insert(below(s.size()), other.substr(below(other.size()), below(300)));
    } else if (how < 8) {  // removes, copies or moves a line
      const auto [at, n] = some_line(s);
      const std::string line = s.substr(at, n);
      if (how != 4) s.erase(at, n);
      if (how < 7) s.insert(some_line(s).first, line);
    } else {  // puts a word for another one: of any kind, mostly of the same kind, and often one that fits, too
      const auto [at, n] = some_word(s);
      const std::string old = s.substr(at, n), place = place_of(s, old);
      std::string word = old;
      for (int tries = 0; tries < 60 && (word == old || (how > 9 && kind_of(word) != kind_of(old)) ||
                                         (how > 15 && place_of(s, word) != place));
           tries++) {
        const auto [from, length] = some_word(s);
        word = kind_of(old) == 2 || how % 2 ? words_[below(words_.size())] : s.substr(from, length);
        if (kind_of(old) == 1) word = s.substr(from, length);
      }
      s.replace(at, n, word);
    }
  }
  // Returns what decides where a word fits: the type of a value, the kinds of a builtin's arguments and its result.
  std::string place_of(const std::string& s, const std::string& word) const {
    if (kind_of(word) == 2) {
      const auto found = builtins_.find(word);
      return found == builtins_.end() ? word : found->second;
    }
    const size_t at = kind_of(word) == 1 ? s.find(word + " : ") : std::string::npos;
    if (at == std::string::npos) return {};
    return s.substr(at + word.size(), s.find_first_of(",)=", at) - at - word.size());
  }

  std::mt19937_64 random_;
  std::vector<std::string> seeds_, words_;
  std::map<std::string, std::string> builtins_;
};

// ---- graphs that no text has ----

template <class Damage>
void refused(const char* message, Damage damage) {
  now_running = message;
  Program p = parse_program(
      "graph(%b : bool, %x : int) { %y : int = aten::neg(%x) prim::If(%b) block0() { -> () } block1() { -> () } "
      "%z : int = aten::neg(%y) return (%z) }");
  verify(p);
  Node* n = p.main()->top().first();
  damage(n, n->behind);
  try {
    verify(p);
  } catch (const Malformed& e) {
    return require(std::strstr(e.what(), message), e.what());
  }
  end("the verifier accepts a damaged graph");
}

void damaged_graphs() {
  refused("%y has no type", [](Node* n, Node*) { n->outputs[0]->type = nullptr; });
  refused("%y names another definition", [](Node* n, Node* branch) { n->outputs[0]->definition = branch; });
  refused("%x is the name of another value, too", [](Node* n, Node*) { n->outputs[0]->name = "x"; });
  refused("a block names another owner",
          [](Node* n, Node* branch) { branch->blocks[0] = std::make_unique<Block>(n->block->graph(), n); });
  refused("the node is not linked to its block", [](Node* n, Node* branch) {
    branch->before = branch;
    (void)n;
  });
  refused("input 0 is missing", [](Node* n, Node*) {
    n->inputs[0]->uses.clear();
    n->inputs[0] = nullptr;
  });
  refused("%x does not list this use", [](Node* n, Node*) { n->inputs[0]->uses.clear(); });
  refused(" deep within each other", [](Node*, Node* branch) {
    for (int i = 0; i < 300; i++) {
      Node* inner = branch->blocks[0]->append("prim::If");
      inner->add_input(branch->inputs[0]);
      inner->add_block();
      inner->add_block();
      branch = inner;
    }
  });
  refused("%x lists a use that is none", [](Node* n, Node*) { n->inputs[0]->uses.push_back({n, 7}); });
}

// Texts that ask for much work or memory, each of which has to end at once.
std::vector<std::string> large_texts() {
  std::vector<std::string> all;
  std::ostringstream chain, ifs, loops, uses;
  chain << "graph(%x : int) { %r : int = prim::CallFunction[name=\"f10\"](%x) return (%r) }";
  for (int i = 10; i < 50; i++)
    chain << "\nwith f" << i << " = graph(%x : int) { %a : int = prim::CallFunction[name=\"f" << i + 1
          << "\"](%x) %b : int = prim::CallFunction[name=\"f" << i + 1 << "\"](%a) return (%b) }";
  chain << "\nwith f50 = graph(%x : int) { %y : int = aten::neg.int(%x) return (%y) }";
  all.push_back(chain.str());
  ifs << "graph(%x : int) { %c : bool = prim::Constant[value=True]() ";
  for (int i = 0; i < 150; i++) ifs << "prim::If(%c) block0() { %a" << i << " : int = aten::neg.int(%x) ";
  for (int i = 0; i < 150; i++) ifs << "-> () } block1() { -> () } ";
  all.push_back(ifs.str() + "return (%x) }");
  loops << "graph(%x : int) { %c : bool = prim::Constant[value=True]() %n : int = prim::Constant[value=8]() ";
  for (int i = 0; i < 60; i++) loops << "prim::Loop(%n, %c) block0(%i" << i << " : int) { prim::Print(%i" << i << ") ";
  for (int i = 0; i < 60; i++) loops << "-> (%c) } ";
  all.push_back(loops.str() + "return (%x) }");
  uses << "graph(%x : int) { ";
  for (int i = 0; i < 5000; i++) uses << "%y" << i << " : int = aten::add.int(%x, 1) ";
  all.push_back(uses.str() + "return (%y0, %y4999) }");
  all.push_back(
      "graph() { %s : str = prim::Constant[value=\"abc\"]() %n : int = prim::Constant[value=1000000000]() "
      "%r : str = aten::mul.str_int(%s, %n) return (%r) }");
  for (const char* open : {"(", "Dict(str, ", "Future(", "NamedTuple(a : "})
    all.push_back("graph(%x : " + std::string(open) + std::string(open));
  all.push_back("graph(%x : int" + [] {
    std::string s;
    for (int i = 0; i < 3000; i++) s += i % 2 ? "?" : "[]";
    return s;
  }() + ") { return (%x) }");
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 1;
  lamella::Api::table() = lamella_get_api(LAMELLA_TARGET_VERSION);
  if (lamella_load_plugin(argv[1])) end(lamella::api().error_message());
  tensor_text = text_of_tensor;
  print = [](std::string_view) {};
  warn = print;
  const int64_t count = std::atoll(argv[2]);
  std::vector<std::string> seeds = graph_seeds;
  if (argc > 4)
    for (const auto& entry : std::filesystem::directory_iterator(argv[4])) {
      std::ifstream file(entry.path());
      std::stringstream text;
      text << file.rdbuf();
      seeds.push_back(text.str());
    }
  for (const std::string& s : seeds) run_case(s);
  require(counts.read >= static_cast<int64_t>(graph_seeds.size()), "an undamaged text is refused");
  const Counts undamaged = counts;
  damaged_graphs();
  for (const std::string& s : large_texts()) run_case(s);
  Mutator mutator(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1, seeds);
  for (int64_t i = 0; i < count; i++) run_case(mutator.next());
  require(undamaged.ran >= 5 && counts.ran > count / 100, "few programs run");
  std::printf("ok  fuzz_graph: %lld changed texts, %lld of them read, %lld verified, %lld ran\n", shown(count),
              shown(counts.read), shown(counts.verified), shown(counts.ran));
  std::fflush(stdout);
  std::_Exit(0);  // threads of futures may run
}
