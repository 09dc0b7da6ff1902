#include "frontend/binding/drawing.h"

#include <memory>
#include <utility>
#include <vector>

#include "dispatcher/generator.h"
#include "frontend/binding/python.h"
#include "frontend/binding/types.h"

namespace py = pybind11;

namespace lamella::binding {
namespace {

using Block = std::shared_ptr<dispatcher::GeneratorBlock>;
using Generator = core::Ref<lamella_object>;

Generator read(const py::object& generator) {
  lamella_object* g;
  if (!read_generator(generator.ptr(), &g))
    throw py::type_error("drawing_from: argument 'generator' must be a Generator, got " + type_name(generator.ptr()));
  return Generator::borrow(g);
}

// A `with` block in which the thread draws from the block's own generator in place of the device's default one. It is a
// class in C++, because Python handles signals between the bytecodes of a Python method: an exception there would leave
// the block begun and not ended.
class Drawing {
 public:
  explicit Drawing(const py::object& generator) : own_(read(generator)) {}
  py::object enter() {
    begun_.push_back(dispatcher::begin_generator_block(own_.get()));
    return py::reinterpret_steal<py::object>(new_generator_object(Generator::borrow(own_.get()).take()));
  }
  void exit(const py::args&) {
    if (begun_.empty()) throw std::runtime_error("drawing_from: the block has not begun; enter it by 'with'");
    const Block last = std::move(begun_.back());
    begun_.pop_back();
    dispatcher::end_generator_block(*last);
  }

 private:
  Generator own_;
  std::vector<Block> begun_;  // the open blocks, innermost last
};

// A block for work that is done in turns, such as a dataset's generator function. Blocks that the work began in one
// turn and has not ended are set aside at the end of the turn, and put back in the next one.
class DrawingInTurns {
 public:
  explicit DrawingInTurns(const py::object& generator) : own_(read(generator)) {}
  void enter() {
    if (depth_++) return;  // nested: the turn has begun already
    if (!first_)
      first_ = dispatcher::begin_generator_block(own_.get());
    else
      dispatcher::put_generator_blocks_back(std::exchange(aside_, {}));
  }
  void exit(const py::args&) {
    if (depth_ && !--depth_) aside_ = dispatcher::set_generator_blocks_aside(*first_);
  }

 private:
  Generator own_;
  int depth_ = 0;
  Block first_;
  dispatcher::GeneratorBlocks aside_;
};

}  // namespace

void add_drawing(py::module_& m) {
  py::class_<Drawing>(m, "_Drawing")
      .def(py::init<const py::object&>())
      .def("__enter__", &Drawing::enter)
      .def("__exit__", &Drawing::exit);
  py::class_<DrawingInTurns>(m, "_DrawingInTurns")
      .def(py::init<const py::object&>())
      .def("__enter__", &DrawingInTurns::enter)
      .def("__exit__", &DrawingInTurns::exit);
}

}  // namespace lamella::binding
