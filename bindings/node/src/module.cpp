// Class ScriptModule in JavaScript: a program from a file, and calls of its methods, at once or by a promise.
//
// Note [Off the loop]  A call by a promise converts its arguments on the thread of JavaScript, runs on a thread of
//   Node's pool, and converts the result on the thread of JavaScript again. A Job holds the program and all values in
//   between, so that neither needs an object of JavaScript to live. Tensors are passed and not copied.
#include <memory>
#include <optional>

#include "napi.h"
#include "values.h"

namespace lamella::node {
namespace {

Program program_of(napi_env env, napi_value v) {
  if (!is_tagged(env, v, MODULE_TAG))
    throw Error(LAMELLA_TYPE_ERROR, "'this' must be a ScriptModule, got " + described(env, v));
  void* module;
  must(env, napi_unwrap(env, v, &module));
  return Program::of(module);
}

Program loaded(napi_env env, napi_value from) {
  if (type_of(env, from) == napi_string) return Program::load(string_of(env, from));
  bool is = false;
  must(env, napi_is_buffer(env, from, &is));
  LAMELLA_CHECK_TYPE(is, "ScriptModule: argument 'path' must be a string or a Buffer, got ", described(env, from));
  void* data;
  size_t bytes;
  must(env, napi_get_buffer_info(env, from, &data, &bytes));
  return Program::load(data, bytes);
}

napi_value construct(Call& c) {
  LAMELLA_CHECK_TYPE(c.is_new, "ScriptModule: is a class; call it with 'new', or call load()");
  Program program = loaded(c.env, c.arg(0));
  const auto end = [](napi_env, void* module, void*) { lamella_run_release(static_cast<lamella_module*>(module)); };
  must(c.env, napi_type_tag_object(c.env, c.self, &MODULE_TAG));
  must(c.env, napi_wrap(c.env, c.self, program.get(), end, nullptr, nullptr));
  (void)program.release();
  return c.self;
}

napi_value methods(Call& c) {
  const std::vector<std::string> names = program_of(c.env, c.self).methods();
  napi_value out;
  must(c.env, napi_create_array_with_length(c.env, names.size(), &out));
  for (size_t i = 0; i < names.size(); i++)
    must(c.env, napi_set_element(c.env, out, static_cast<uint32_t>(i), text(c.env, names[i])));
  return out;
}

// A call with its arguments converted: Note [Off the loop].
struct Job {
  Program program;
  std::string method;
  Values args, result;
  std::optional<Error> error;
  napi_async_work work = nullptr;
  napi_deferred promise = nullptr;

  // The method's name is what the function was defined with, or else the first argument.
  explicit Job(Call& c) : program(program_of(c.env, c.self)) {
    size_t first = 0;
    if (c.data) {
      method = static_cast<const char*>(c.data);
    } else {
      LAMELLA_CHECK_TYPE(type_of(c.env, c.arg(0)) == napi_string, "callMethod: argument 'name' must be a string, got ",
                         described(c.env, c.arg(0)));
      method = string_of(c.env, c.arg(0));
      first = 1;
    }
    args.all.reserve(c.args.size());
    for (size_t i = first; i < c.args.size(); i++)
      args.all.push_back(value_of(c.env, c.args[i], {&method, nullptr, i - first}));
  }

  void run() { result.all.push_back(program.call(method, args.all)); }
};

napi_value call_now(Call& c) {
  Job job(c);
  job.run();
  return from_value(c.env, job.program, job.result.all[0]);
}

void execute(napi_env, void* data) {
  Job& job = *static_cast<Job*>(data);
  try {
    job.run();
  } catch (const Error& e) {
    job.error.emplace(e);
  } catch (const std::exception& e) {
    job.error.emplace(LAMELLA_RUNTIME_ERROR, e.what());
  }
}

// Rejects a promise by the exception of the catch block that calls it.
void reject(napi_env env, napi_deferred promise) {
  if (napi_value exception = caught(env)) napi_reject_deferred(env, promise, exception);
}

void complete(napi_env env, napi_status status, void* data) {
  const std::unique_ptr<Job> job(static_cast<Job*>(data));
  napi_delete_async_work(env, job->work);
  if (status == napi_cancelled) return;  // JavaScript ends
  try {
    if (job->error) throw Error(*job->error);
    const napi_value result = from_value(env, job->program, job->result.all[0]);
    must(env, napi_resolve_deferred(env, job->promise, result));
  } catch (...) {
    reject(env, job->promise);
  }
}

// Returns a promise, which every failure rejects.
napi_value call_later(Call& c) {
  napi_deferred deferred;
  napi_value promise;
  must(c.env, napi_create_promise(c.env, &deferred, &promise));
  try {
    auto job = std::make_unique<Job>(c);
    job->promise = deferred;
    const napi_value resource = text(c.env, "lamella");
    must(c.env, napi_create_async_work(c.env, nullptr, resource, execute, complete, job.get(), &job->work));
    must(c.env, napi_queue_async_work(c.env, job->work));
    (void)job.release();
  } catch (...) {
    reject(c.env, deferred);
  }
  return promise;
}

// train(on): without an argument it is on, as in torch.
napi_value train(Call& c) {
  bool on = true;
  if (type_of(c.env, c.arg(0)) != napi_undefined) {
    LAMELLA_CHECK_TYPE(type_of(c.env, c.arg(0)) == napi_boolean, "train: argument 'mode' must be a boolean, got ",
                       described(c.env, c.arg(0)));
    must(c.env, napi_get_value_bool(c.env, c.arg(0), &on));
  }
  check(lamella_run_train(program_of(c.env, c.self).get(), on));
  return c.self;
}

napi_value eval(Call& c) {
  check(lamella_run_train(program_of(c.env, c.self).get(), 0));
  return c.self;
}

napi_value extra_file(Call& c) {
  LAMELLA_CHECK_TYPE(type_of(c.env, c.arg(0)) == napi_string, "extraFile: argument 'name' must be a string, got ",
                     described(c.env, c.arg(0)));
  Values found;
  found.all.push_back(none());
  check(lamella_run_extra(program_of(c.env, c.self).get(), string_of(c.env, c.arg(0)).c_str(), &found.all[0]));
  napi_value out;
  if (found.all[0].tag == LAMELLA_NONE)
    must(c.env, napi_get_null(c.env, &out));
  else
    must(c.env, napi_create_buffer_copy(c.env, found.all[0].length, found.all[0].as.string, nullptr, &out));
  return out;
}

}  // namespace

void define_module(napi_env env, napi_value exports) {
  const napi_property_descriptor members[] = {
      getter<methods>("methods"),
      method<call_later>("forward", "forward"),
      method<call_now>("forwardSync", "forward"),
      method<call_later>("callMethod"),
      method<call_now>("callMethodSync"),
      method<train>("train"),
      method<eval>("eval"),
      method<extra_file>("extraFile"),
  };
  napi_value made;
  must(env, napi_define_class(env, "ScriptModule", NAPI_AUTO_LENGTH, entry<construct>, nullptr, std::size(members),
                              members, &made));
  must(env, napi_set_named_property(env, exports, "ScriptModule", made));
}

}  // namespace lamella::node
