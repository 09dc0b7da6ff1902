// The functions of the interface that record.
#include <lamella/given.h>

#include "trace/layer.h"
#include "trace/recorder.h"
#include "trace/sizes.h"

namespace lamella::graph {
namespace {

Recorder& recorder_of(lamella_object* o) {
  LAMELLA_CHECK_TYPE(o && o->type == &recorder_type, "expected a recorder, got another object");
  return *reinterpret_cast<Recorder*>(o);
}

lamella_status recorder_new(lamella_object* program, const char* name, int32_t strict, int32_t by_shape,
                            lamella_graph_place place, void* context, lamella_object** out) {
  return guarded([&] {
    ProgramObject& p = program_of(program);
    LAMELLA_CHECK_VALUE(p.program.find(name), "the program has no graph '", name, "'");
    p.changes++;
    *out = &(new Recorder(program, name, strict != 0, by_shape != 0, place, context))->object;
    return LAMELLA_OK;
  });
}
lamella_status recorder_start(lamella_object* o) {
  return guarded([&] { return recorder_of(o).start(), LAMELLA_OK; });
}
lamella_status recorder_stop(lamella_object* o) {
  return guarded([&] { return recorder_of(o).stop(), LAMELLA_OK; });
}
lamella_status recorder_end(lamella_object* o) {
  return guarded([&] { return recorder_of(o).end(), LAMELLA_OK; });
}
lamella_status recorder_input(lamella_object* o, lamella_tensor* real, lamella_graph_value* v, lamella_tensor** out) {
  return guarded([&] {
    value_of(v).type = type_of_tensor(*real);
    return *out = recorder_of(o).stand_in(Tensor::borrow(real), &value_of(v)).release(), LAMELLA_OK;
  });
}
lamella_status recorder_attribute(lamella_object* o, lamella_tensor* t, lamella_graph_value* self,
                                  const char* const* path, int32_t n) {
  return guarded([&] {
    return recorder_of(o).add_attribute(Tensor::borrow(t), value_of(self), {path, path + n}), LAMELLA_OK;
  });
}
lamella_status recorder_value(lamella_object* o, const lamella_value* v, lamella_graph_value** out) {
  return guarded([&] { return *out = handle_of(recorder_of(o).value_for(*v)), LAMELLA_OK; });
}
lamella_status recorder_real(lamella_tensor* t, lamella_tensor** out) {
  return guarded([&] {
    const StandIn* s = stand_ins.get(t);
    Tensor real = s ? s->real : Tensor::borrow(t);
    return *out = real.release(), LAMELLA_OK;
  });
}
lamella_status recorder_warnings(lamella_object* o, lamella_value* out) {
  return guarded([&] {
    std::vector<lamella_value> all;
    for (const std::string& w : recorder_of(o).warnings()) all.push_back(new_string(w));
    return *out = new_list(std::move(all)), LAMELLA_OK;
  });
}

lamella_status recorder_by_shape(lamella_object* o, lamella_object** program, lamella_object** out) {
  return guarded([&] {
    Recorder* made = recorder_of(o).by_other_shape();
    api().retain(made->program());
    *program = made->program();
    return *out = &made->object, LAMELLA_OK;
  });
}
lamella_status replace_sizes_of(lamella_graph* graph, lamella_graph_value* const* inputs, const char* const* names,
                                int32_t num_inputs, const lamella_graph_other_sizes* const* others, int32_t num_others,
                                lamella_value* reports) {
  return guarded([&] {
    Graph& g = graph_of(graph);
    std::vector<SizedInput> own;
    for (int32_t i = 0; i < num_inputs; i++) {
      const Block* block = value_of(inputs[i]).definition->block;
      LAMELLA_CHECK_VALUE(block && &block->graph() == &g, "input '", names[i], "': the value is of another graph");
      own.push_back({&value_of(inputs[i]), names[i]});
    }
    std::vector<OtherSizes> all;
    for (int32_t i = 0; i < num_others; i++) {
      lamella_graph_other_sizes o;
      const std::string wrong = copy_given(*others[i], &o);
      LAMELLA_CHECK_VALUE(wrong.empty(), "replace_sizes: ", wrong);
      LAMELLA_CHECK_INDEX(o.input >= 0 && o.input < num_inputs, "a size of input ", o.input, ", of ", num_inputs);
      LAMELLA_CHECK_VALUE(o.length > 0, "a size has to be positive, got ", o.length);
      all.push_back({static_cast<size_t>(o.input), o.dim, o.length, &graph_of(o.twice), &graph_of(o.thrice)});
    }
    std::vector<lamella_value> texts;
    for (const std::string& text : replace_sizes(g, own, all)) texts.push_back(new_string(text));
    return *reports = new_list(std::move(texts)), LAMELLA_OK;
  });
}

}  // namespace

void add_tracing(lamella_graph_table& t) {
  t.recorder_new = recorder_new;
  t.recorder_start = recorder_start;
  t.recorder_stop = recorder_stop;
  t.recorder_end = recorder_end;
  t.recorder_input = recorder_input;
  t.recorder_attribute = recorder_attribute;
  t.recorder_value = recorder_value;
  t.recorder_real = recorder_real;
  t.recorder_warnings = recorder_warnings;
  t.recorder_by_shape = recorder_by_shape;
  t.replace_sizes = replace_sizes_of;
}

}  // namespace lamella::graph
