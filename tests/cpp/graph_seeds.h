// Texts of programs for the fuzzer of graphs: between them they have every primitive, many builtins, and all literals.
#pragma once

#include <string>
#include <vector>

inline const std::vector<std::string> graph_seeds = {
    R"(graph(%x : Float(2, 3), %n : int) {
  %one : int = prim::Constant[value=1]()
  %m : int = aten::add.int(%n, %one)  # f.py:3:4
  %y : Tensor = aten::mul.Scalar(%x, %m)
  %z : Tensor = aten::add.Tensor(%y, %y, alpha=1)
  return (%z)
})",
    R"(graph(%n : int, %b : bool) {
  %true : bool = prim::Constant[value=True]()
  %zero : int = prim::Constant[value=0]()
  %l : int[] = prim::ListConstruct(%n, %zero)
  %r : int, %s : int[] = prim::Loop(%n, %true, %zero, %l)
    block0(%i : int, %acc : int, %k : int[]) {
      %two : int = prim::Constant[value=2]()
      %odd : int = aten::remainder.int(%i, %two)
      %is : bool = aten::eq.int(%odd, %zero)
      %next : int = prim::If(%is)
        block0() {
          %p : int = aten::add.int(%acc, %i)
          -> (%p)
        }
        block1() {
          %q : int[] = aten::append.t(%k, %acc)
          %t : int = aten::mul.int(%acc, %two)
          -> (%t)
        }
      -> (%true, %next, %k)
    }
  %len : int = aten::len.t(%s)
  %u : (int, int) = prim::TupleConstruct(%r, %len)
  %v : int = prim::TupleIndex[index=1](%u)
  %w : int, %x : int = prim::TupleUnpack(%u)
  return (%v, %s)
})",
    R"(class Net {
  w : Tensor
  n : int
  next : Net?
}
graph(%self : Net, %x : Tensor) {
  %y : Tensor = prim::CallMethod[name="forward"](%self, %x)
  %f : Future(Tensor) = prim::fork[name="twice"](%y)
  %c : Net = prim::CreateObject()
  prim::SetAttr[name="w"](%c, %y)
  %v : Tensor = prim::GetAttr[name="w"](%c)
  %z : Tensor = aten::wait(%f)
  return (%z, %v)
}
with Net.forward = graph(%self : Net, %x : Tensor) {
  %w : Tensor = prim::GetAttr[name="w"](%self)
  %n : int = prim::GetAttr[name="n"](%self)
  %m : int = aten::sub.int(%n, 1)
  prim::SetAttr[name="n"](%self, %m)
  %go : bool = aten::gt.int(%m, 0)
  %r : Tensor = prim::If(%go)
    block0() {
      %a : Tensor = prim::CallMethod[name="forward"](%self, %w)
      -> (%a)
    }
    block1() {
      %b : Tensor = aten::mul.Tensor(%x, %w)
      -> (%b)
    }
  return (%r)
}
with twice = graph(%x : Tensor) {
  %a : Tensor = aten::abs(%x)
  %b : Tensor = aten::abs(%x)
  %c : Tensor = aten::add_.Tensor(%a, %b, alpha=2)
  return (%c)
})",
    R"(graph(%s : str, %d : Dict(str, int), %f : float, %z : complex) {
  %k : str = prim::Constant[value="a\n\"\\\x01"]()
  %t : str = aten::add.str(%s, %k)
  %p : str[] = aten::split.str(%t, "a", -1)
  %j : str = aten::join(%k, %p)
  aten::_set_item.Dict(%d, %j, 7)
  %has : bool = aten::__contains__.Dict(%d, %k)
  %e : Dict(str, float) = prim::DictConstruct(%s, %f)
  %g : float? = aten::get.Dict(%e, %j)
  %is : bool = aten::__isnot__(%g, None)
  %h : float = prim::If(%is)
    block0() {
      %q : float = prim::unchecked_cast(%g)
      -> (%q)
    }
    block1() {
      %inf : float = prim::Constant[value=-inf]()
      -> (%inf)
    }
  %y : bool = prim::isinstance[types=["float", "int[]", "Tensor?"]](%g)
  prim::Print(%h, %y, %e, %z)
  %form : str = aten::format("{} {:>5} {}", %h, %s, %d)
  %rep : str = aten::repr(%p)
  %u : Tensor = prim::Uninitialized()
  return (%form, %rep, %e)
})",
    R"(graph(%x : Tensor, %l : Tensor[], %o : int?) {
  %a : Tensor = aten::t(%x)
  %b : Tensor = aten::t(%a)
  %c : Tensor = aten::relu(%b)
  %d : Tensor = aten::relu(%c)
  %e : Tensor[] = aten::chunk(%d, 2, 1)
  %f : Tensor, %g : Tensor = prim::ListUnpack(%e)
  %h : Tensor[] = prim::ListConstruct(%d, %x, %d)
  %i : Tensor = aten::cat(%h, 0)
  %sh : int[] = aten::size(%i)
  %n : int = aten::__getitem__.t(%sh, -1)
  %v : Tensor = aten::view(%i, [-1])
  %s : Tensor = aten::sum(%v, dtype=None)
  %m : Tensor = aten::to.dtype(%s, ScalarType("float64"), False, False, memory_format=None)
  %it : Scalar = aten::item(%m)
  %k : Tensor = prim::Constant[value=<data/0>]()
  %w : Tensor = aten::mul_.Tensor(%k, %d)
  %q : Tensor = aten::zeros([2, 3], None, layout=None, device=Device("cpu"))
  %nan : float[] = prim::Constant[value=[nan, 0., -0., 1e-300]]()
  %srt : float[] = aten::sorted.t(%nan)
  return (%n, %it, %k, %srt, %q)
})",
    R"(graph(%n : int) {
  %t : bool = prim::Constant[value=1]()
  %four : int = prim::Constant[value=4]()
  %r : int = prim::Loop(%four, %t, %n)
    block0(%i : int, %a : int) {
      %s : int = prim::Loop(%n, %t, %a)
        block0(%j : int, %b : int) {
          %c : int = prim::CallFunction[name="f"](%b, %j)
          %d : bool = aten::lt.int(%c, 100)
          -> (%d, %c)
        }
      -> (%t, %s)
    }
  %q : int = prim::CallFunction[name="down"](%r)
  %m : str = prim::Constant[value="big"]()
  %bad : bool = aten::gt.int(%q, 1000)
  prim::If(%bad)
    block0() {
      prim::RaiseException[kind="ValueError"](%m)
      -> ()
    }
    block1() {
      -> ()
    }
  return (%q)
}
with f = graph(%a : int, %b : int) {
  %c : int = aten::mul.int(%a, 2)
  %e : int = aten::add.int(%b, 1)
  %d : int = aten::floordiv.int(%c, %e)
  return (%d)
}
with down = graph(%n : int) {
  %go : bool = aten::gt.int(%n, 0)
  %r : int = prim::If(%go)
    block0() {
      %m : int = aten::sub.int(%n, 1)
      %k : int = prim::CallFunction[name="down"](%m)
      -> (%k)
    }
    block1() {
      -> (%n)
    }
  return (%r)
})",
    R"(graph(%x : Float(10, 4)
      %w_ih : Float(12, 4, strides=[4, 1], requires_grad=0, device=cpu)):
  %5 : Float(4!, 12!) = aten::t(%w_ih), scope: cell/t # net.py:4:2
  %6 : Float(10, 12) = aten::mm(%x, %5)
  %n : NamedTuple[P](a : int, b : Future(int[])?)? = prim::Constant()
  return (%6);)",
};
