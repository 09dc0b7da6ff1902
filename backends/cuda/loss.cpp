// Cross entropy and negative log-likelihood. A group of threads computes the loss of a sample of logits, and the
// gradient of any sample; one thread computes the loss of a sample of log-probabilities. Totals are added in one order.
#include "kernels/loss.h"

#include "rows.h"

namespace cuda {
namespace {

Classes classes_of(const lamella_tensor* input, int64_t ignored) {
  const int n = input->dl.ndim, d = n == 1 ? 0 : 1;
  const int64_t area = count_of(input, d + 1, n);
  return {count_of(input, 0, d) * area, input->dl.shape[d], area, ignored};
}

int32_t class_fault() {
  static const int32_t code =
      add_fault(LAMELLA_INDEX_ERROR,
                "nll_loss: argument 'target': {value} is not one of the {size} classes, which are counted from 0");
  return code;
}

enum class How { none, mean, sum };

// Input, targets and weights in the dtypes and layouts that the kernels read.
struct Samples {
  int dtype;
  Operand x, targets, weights;
  Classes classes;
  Samples(const Tensor& input, const Tensor& target, const Tensor& weight, int64_t ignored)
      : dtype(input.get()->dtype),
        x(input),
        targets(target.get(), LAMELLA_INT64),
        weights(weight),
        classes(classes_of(input.get(), ignored)) {}
};

// Computes the loss and the weight of each sample, in dtype `r`.
lamella_status each(const Samples& s, bool logits, int r, void* loss, void* weights) {
  static Kernels picks("loss.cu"), from_logits("loss.cu");
  if (!s.classes.count) return LAMELLA_OK;
  Kernel& kernel = (logits ? from_logits : picks).get({s.dtype, r}, [&] {
    return text(logits ? "pick_logits<" : "pick<", type_name(s.dtype), ", ", type_name(r), ">");
  });
  const RowLaunch rows(s.x.get(), s.classes.count, s.classes.classes, 1, 0);
  return launch(kernel, s.x.get(), logits ? rows.grid : grid_for(s.x.get(), s.classes.count),
                logits ? rows.block : Dim{256}, 0, s.x.data(), s.targets.data(), s.weights.data(), s.classes, loss,
                weights, fault_of(s.x.get()), class_fault());
}

Status nll_pick(const Tensor& input, const Tensor& target, const Tensor& weight, int64_t ignore_index,
                const Tensor& loss, const Tensor& weights) {
  const Samples s(input, target, weight, ignore_index);
  const Result l(loss), w(weights);
  if (lamella_status st = each(s, false, loss.get()->dtype, l.data(), w.data())) return st;
  if (lamella_status st = l.finish()) return st;
  return w.finish();
}

Status class_loss(const Tensor& input, const Tensor& target, const Tensor& weight, int64_t ignore_index,
                  int64_t reduction, bool logits, const Tensor& out) {
  static Kernels totals("loss.cu");
  const Samples s(input, target, weight, ignore_index);
  const How how = static_cast<How>(reduction);
  const int wide = wide_of(s.dtype);
  const Tensor weights = empty_on(s.x.get(), {s.classes.count}, how == How::none ? s.dtype : wide);
  const Result to(out);
  if (how == How::none) {
    if (lamella_status st = each(s, logits, s.dtype, to.data(), weights.data_ptr())) return st;
    return to.finish();
  }
  const Tensor losses = empty_on(s.x.get(), {s.classes.count}, wide);
  if (lamella_status st = each(s, logits, wide, losses.data_ptr(), weights.data_ptr())) return st;
  const int r = out.get()->dtype;
  Kernel& kernel = totals.get({wide, r}, [&] { return text("total<", type_name(wide), ", ", type_name(r), ">"); });
  if (lamella_status st = launch(kernel, s.x.get(), {1}, {1024}, 0, losses.data_ptr(), weights.data_ptr(),
                                 s.classes.count, how == How::mean, to.data()))
    return st;
  return to.finish();
}

Status class_loss_backward(const Tensor& grad_output, const Tensor& input, const Tensor& target, const Tensor& weight,
                           int64_t ignore_index, int64_t reduction, bool logits, const Tensor& out) {
  static Kernels weights("loss.cu");
  static Kernels kernels("loss.cu");
  const Samples s(input, target, weight, ignore_index);
  if (!out.numel()) return LAMELLA_OK;
  const How how = static_cast<How>(reduction);
  const Operand g(grad_output.get(), s.dtype);
  const Result to(out);
  Tensor whole;
  if (how == How::mean) {
    whole = empty_on(s.x.get(), {1}, wide_of(s.dtype));
    Kernel& kernel = weights.get({s.dtype}, [&] { return text("total_weight<", type_name(s.dtype), ">"); });
    if (lamella_status st = launch(kernel, s.x.get(), {1}, {1024}, 0, s.targets.data(), s.weights.data(), s.classes,
                                   whole.data_ptr(), fault_of(s.x.get()), class_fault()))
      return st;
  }
  Kernel& kernel = kernels.get({s.dtype, logits}, [&] {
    return text("class_backward<", type_name(s.dtype), ", ", logits ? "true" : "false", ">");
  });
  const RowLaunch rows(s.x.get(), s.classes.count, s.classes.classes, 1, 0);
  if (lamella_status st =
          launch(kernel, s.x.get(), rows.grid, rows.block, 0, g.data(), how == How::none ? int64_t{1} : int64_t{0},
                 s.x.data(), s.targets.data(), s.weights.data(), data_of<void>(whole), s.classes, to.data(),
                 fault_of(s.x.get()), class_fault()))
    return st;
  return to.finish();
}

}  // namespace

LAMELLA_LIBRARY_IMPL(aten, cuda, m) {
  add<nll_pick>(m, "_nll_pick");
  add<class_loss>(m, "_class_loss");
  add<class_loss_backward>(m, "_class_loss_backward");
}

}  // namespace cuda
