// The functions of the interface for programs, and their runs.
#include <algorithm>

#include <lamella/given.h>
#include <lamella/operators.h>

#include "interface/program.h"
#include "ir/verify.h"
#include "run/forks.h"
#include "run/shared_state.h"
#include "text/text.h"

namespace lamella::graph {
namespace {

void destroy_program(lamella_object* o) { delete reinterpret_cast<ProgramObject*>(o); }

// A function of the host that came through the table.
struct TableFunction : HostFunction {
  lamella_graph_host_function given;
};
void destroy_function(lamella_object* o) {
  auto* f = reinterpret_cast<TableFunction*>(o);
  if (f->given.release) f->given.release(f->given.context);
  delete f;
}
const lamella_object_type function_type = {sizeof function_type, 0, "graph.HostFunction", destroy_function};

lamella_status call_given(HostFunction* f, const lamella_value* args, int32_t n, lamella_value* result) {
  const lamella_graph_host_function& given = static_cast<TableFunction*>(f)->given;
  return given.call(given.context, args, n, result);
}

// Errors of this plugin become the library's.
template <class F>
lamella_status reported(F f) {
  try {
    f();
    return LAMELLA_OK;
  } catch (const Malformed& e) {
    return fail(LAMELLA_VALUE_ERROR, e.what());
  } catch (const SyntaxError& e) {
    return fail(LAMELLA_VALUE_ERROR, e.what());
  } catch (...) {
    return detail::raise_thrown();
  }
}

lamella_status parse(const char* text, int64_t length, lamella_tensor* const* constants, int32_t n,
                     lamella_object** out) {
  return reported([&] {
    auto p = std::make_unique<ProgramObject>();
    p->program = parse_program({text, static_cast<size_t>(length)});
    p->watch();
    for (int32_t i = 0; i < n; i++) p->constants.push_back(copy_of(value(constants[i])));
    *out = &p.release()->object;
  });
}

lamella_status program_text(lamella_object* o, lamella_value* out) {
  return reported([&] { *out = new_string(program_of(o).program.text()); });
}

lamella_status copy(lamella_object* o, lamella_object** out) {
  return reported([&] { *out = &program_of(o).copy().release()->object; });
}

int32_t same_programs(lamella_object* a, lamella_object* b) {
  return guarded_or(int32_t{-1}, [&] {
    const ProgramObject &x = program_of(a), &y = program_of(b);
    const bool same = x.program == y.program &&
                      std::equal(x.constants.begin(), x.constants.end(), y.constants.begin(), y.constants.end(),
                                 [](const lamella_value& c, const lamella_value& d) {
                                   return c.as.tensor == d.as.tensor ||
                                          lamella::equal(Tensor::borrow(c.as.tensor), Tensor::borrow(d.as.tensor));
                                 });
    return int32_t{same};
  });
}

lamella_status verify_program(lamella_object* o) {
  return reported([&] { verify(program_of(o).program); });
}

lamella_status compile_program(lamella_object* o) {
  return reported([&] { program_of(o).executable(); });
}

int32_t constants(lamella_object* o, lamella_tensor** out, int32_t room) {
  return guarded_or(int32_t{-1}, [&] {
    return write_items(program_of(o).constants, out, room, [](const lamella_value& v) { return v.as.tensor; });
  });
}

lamella_status add_constant(lamella_object* o, lamella_tensor* t, int32_t* number) {
  return reported([&] {
    ProgramObject& p = program_of(o);
    *number = static_cast<int32_t>(p.constants.size());
    p.constants.push_back(copy_of(value(t)));
    p.changes++;
  });
}

lamella_status add_host_function(lamella_object* o, const lamella_graph_host_function* given) {
  return reported([&] {
    lamella_graph_host_function own;
    const std::string wrong = copy_given(*given, &own);
    LAMELLA_CHECK_VALUE(wrong.empty(), "add_host_function: ", wrong);
    ProgramObject& p = program_of(o);
    auto* f = new TableFunction{{{1, &function_type}, call_given}, own};
    p.host_functions.emplace_back(own.name, f);
    p.changes++;
  });
}

int32_t graphs(lamella_object* o, const char** out, int32_t room) {
  return guarded_or(int32_t{-1}, [&] {
    return write_items(program_of(o).program.graphs, out, room, [](const auto& x) { return x.first.c_str(); });
  });
}
int32_t classes(lamella_object* o, const char** out, int32_t room) {
  return guarded_or(int32_t{-1}, [&] {
    return write_items(program_of(o).program.classes, out, room, [](const auto& x) { return x.first.c_str(); });
  });
}
lamella_graph* find_graph(lamella_object* o, const char* name) {
  return guarded_or(static_cast<lamella_graph*>(nullptr), [&] { return handle_of(program_of(o).program.find(name)); });
}

lamella_status attributes(lamella_object* o, const char* class_name, lamella_value* names, lamella_value* types,
                          int32_t room, int32_t* count) {
  return reported([&] {
    int32_t i = 0;
    for (const auto& [name, type] : class_named(program_of(o), class_name)->attributes) {
      if (i < room) {
        names[i] = new_string(name);
        if (types) types[i] = new_string(type->text());
      }
      i++;
    }
    *count = i;
  });
}

lamella_status run(lamella_object* o, const char* name, const lamella_value* args, int32_t n, lamella_value* result) {
  std::optional<Machine> machine;
  lamella_thread& thread = *api().thread();
  const uint64_t exclude = thread.exclude;  // the program may switch gradients off
  const lamella_status status = reported([&] {
    const Executable& exe = program_of(o).executable();
    const Code* code = exe.find(name);
    LAMELLA_CHECK_VALUE(code, "the program has no graph '", name, "'");
    const SharedState state(exe.uses_shared);
    const std::string title = code->name.empty() ? "graph" : code->name;
    LAMELLA_CHECK_TYPE(static_cast<size_t>(n) == code->parameters.size(), title, ": takes ", code->parameters.size(),
                       " arguments, got ", n);
    lamella_value own[LAMELLA_MAX_ARGUMENTS], rets[LAMELLA_MAX_RETURNS];
    std::vector<lamella_value> more;
    lamella_value* all = own;
    if (n > LAMELLA_MAX_ARGUMENTS) {
      more.resize(static_cast<size_t>(n));
      all = more.data();
    }
    for (int32_t i = 0; i < n; i++) {
      try {
        const Parameter& p = code->parameters[static_cast<size_t>(i)];
        all[i] = is_of(args[i], *p.type) ? copy_of(args[i])
                                         : converted(args[i], *p.type, title + ": argument '" + p.name + "'");
      } catch (...) {
        while (i-- > 0) release(all[i]);
        throw;
      }
    }
    std::vector<lamella_value> many(std::max(code->results.size(), size_t{1}));
    lamella_value* out = code->results.size() <= LAMELLA_MAX_RETURNS ? rets : many.data();
    machine.emplace(exe);
    machine->run(*code, all, out);
    if (code->results.size() == 1)
      *result = out[0];
    else if (code->results.empty())
      *result = none();
    else
      *result = new_tuple({out, out + code->results.size()});
  });
  if (status) thread.exclude = exclude;
  if (status && machine)
    for (const std::string& line : machine->trace()) api().add_note(line.c_str());
  return status;
}

}  // namespace

const lamella_object_type program_type = {sizeof program_type, 0, "graph.Program", destroy_program};

ProgramObject& program_of(lamella_object* o) {
  LAMELLA_CHECK_TYPE(o && o->type == &program_type, "expected a program, got another object");
  return *reinterpret_cast<ProgramObject*>(o);
}

const std::shared_ptr<const Class>& class_named(const ProgramObject& p, const char* name) {
  const auto found = p.program.classes.find(name);
  LAMELLA_CHECK_VALUE(found != p.program.classes.end(), "the program has no class '", name, "'");
  return found->second;
}

std::unique_ptr<ProgramObject> ProgramObject::copy() const {
  auto p = std::make_unique<ProgramObject>();
  p->program = program.copy();
  p->watch();
  for (const lamella_value& v : constants) p->constants.push_back(copy_of(v));
  for (const auto& [name, f] : host_functions) {
    api().retain(f);
    p->host_functions.emplace_back(name, f);
  }
  return p;
}

ProgramObject::~ProgramObject() {
  for (lamella_value& v : constants) release(v);
  for (const auto& [name, f] : host_functions) api().release(f);
}

namespace {
ForkMutex compile_lock;  // of all programs
}

const Executable& ProgramObject::executable() {
  if (is_compiled()) return *now_.load(std::memory_order_acquire)->exe;
  const std::lock_guard<std::mutex> guard(compile_lock);
  const Version* now = now_.load(std::memory_order_relaxed);
  if (now && now->changes == changes) return *now->exe;
  const uint64_t seen = changes;  // one that comes while this compiles is compiled by the next call
  verify(program);
  const std::shared_ptr<Executable> exe = compile(program, constants);
  for (const std::string& name : exe->host_names) {
    HostFunction* found = nullptr;
    for (const auto& [own, f] : host_functions)
      if (own == name) found = f;
    if (found) api().retain(found);
    exe->host.push_back(found);
  }
  versions_.push_back(std::make_unique<const Version>(Version{seen, exe}));
  now_.store(versions_.back().get(), std::memory_order_release);
  return *exe;
}

void add_programs(lamella_graph_table& t) {
  t.parse = parse;
  t.text = program_text;
  t.copy = copy;
  t.same = same_programs;
  t.verify = verify_program;
  t.compile = compile_program;
  t.constants = constants;
  t.add_constant = add_constant;
  t.add_host_function = add_host_function;
  t.graphs = graphs;
  t.classes = classes;
  t.graph = find_graph;
  t.attributes = attributes;
  t.run = run;
}

}  // namespace lamella::graph
