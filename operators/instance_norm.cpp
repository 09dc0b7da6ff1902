// Instance norm: batch norm over each channel of each sample.
#include "operators/normalization.h"

namespace lamella::operators {
namespace {

// Repeats a vector of the channels for each sample: batch norm gets the channels of all samples as one row.
Tensor for_each_sample(const Tensor& t, int64_t batch) { return t.defined() ? t.repeat({batch}) : t; }

Tensor instance_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                     const Tensor& running_var, bool use_input_stats, double momentum, double eps, bool cudnn_enabled) {
  check_channels(input);
  check_floating("input", input.dtype());
  const int64_t batch = input.size(0), channels = input.size(1);
  LAMELLA_CHECK_VALUE(running_mean.defined() == running_var.defined(),
                      argument(running_mean.defined() ? "running_var" : "running_mean"),
                      ": missing; pass both running_mean and running_var, or neither");
  LAMELLA_CHECK(use_input_stats || running_mean.defined(), argument("running_mean"),
                ": Expected running_mean and running_var to be defined when use_input_stats is false");
  for (const auto& [name, t] :
       {std::pair{"weight", &weight}, {"bias", &bias}, {"running_mean", &running_mean}, {"running_var", &running_var}})
    check_parameter(name, *t, input, channels);
  DimVector sizes(input.sizes());
  sizes[0] = 1;
  sizes[1] = batch * channels;
  const Tensor mean = for_each_sample(running_mean, batch), var = for_each_sample(running_var, batch);
  const Tensor made =
      lamella::batch_norm(input.reshape(sizes), for_each_sample(weight, batch), for_each_sample(bias, batch), mean, var,
                          use_input_stats, momentum, eps, cudnn_enabled);
  if (use_input_stats && mean.defined() && input.numel() > 0) {
    running_mean.copy_(mean.reshape({batch, channels}).mean(DimVector{0}));
    running_var.copy_(var.reshape({batch, channels}).mean(DimVector{0}));
  }
  return made.reshape(input.sizes());
}

}  // namespace

LAMELLA_FAMILY(instance_norm) {
  return {
      {.schema = "instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
                 "bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor",
       .dims = "n~ c ...~, c, c, c, c -> n~ c ...~",
       .category = "normalization",
       .forms = function,
       .composite = composite<instance_norm>,
       .doc = R"((input - mean) / sqrt(var + eps) * weight + bias, with the mean and the variance of each channel,
dimension 1, of each sample.

The running ones, if given, move by `momentum` towards the means over the samples; without
`use_input_stats` they are used. After Ulyanov et al. (2016).

>>> lamella.instance_norm(lamella.tensor([[[1., 3.]]]), None, None, None, None, True, 0.1, 0.0, False)
tensor([[[-1.,  1.]]])
)"},
  };
}

}  // namespace lamella::operators
