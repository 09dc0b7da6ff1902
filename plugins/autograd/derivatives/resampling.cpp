// Derivatives of resampling operators and of their *_backward operators, all of which are linear in the image.
#include "derivatives/derivatives.h"

namespace lamella::autograd {
namespace {

constexpr Line resizing[] = {
    {"_resample", "self: _resample_backward(grad, output_size, self.shape, taps, index, weight); index, weight: none"},
    {"_resample_backward", "grad_output: _resample(grad, output_size, taps, index, weight); index, weight: none"},
    {"upsample_nearest1d", "self: upsample_nearest1d_backward(grad, output_size, self.shape, scales)"},
    {"upsample_nearest1d_backward", "grad_output: upsample_nearest1d(grad, output_size, scales)"},
    {"_upsample_nearest_exact1d", "self: _upsample_nearest_exact1d_backward(grad, output_size, self.shape, scales)"},
    {"_upsample_nearest_exact1d_backward", "grad_output: _upsample_nearest_exact1d(grad, output_size, scales)"},
    {"upsample_nearest2d", "self: upsample_nearest2d_backward(grad, output_size, self.shape, scales_h, scales_w)"},
    {"upsample_nearest2d_backward", "grad_output: upsample_nearest2d(grad, output_size, scales_h, scales_w)"},
    {"_upsample_nearest_exact2d",
     "self: _upsample_nearest_exact2d_backward(grad, output_size, self.shape, scales_h, scales_w)"},
    {"_upsample_nearest_exact2d_backward",
     "grad_output: _upsample_nearest_exact2d(grad, output_size, scales_h, scales_w)"},
    {"upsample_nearest3d",
     "self: upsample_nearest3d_backward(grad, output_size, self.shape, scales_d, scales_h, scales_w)"},
    {"upsample_nearest3d_backward", "grad_output: upsample_nearest3d(grad, output_size, scales_d, scales_h, scales_w)"},
    {"_upsample_nearest_exact3d",
     "self: _upsample_nearest_exact3d_backward(grad, output_size, self.shape, scales_d, scales_h, scales_w)"},
    {"_upsample_nearest_exact3d_backward",
     "grad_output: _upsample_nearest_exact3d(grad, output_size, scales_d, scales_h, scales_w)"},
    {"upsample_linear1d", "self: upsample_linear1d_backward(grad, output_size, self.shape, align_corners, scales)"},
    {"upsample_linear1d_backward", "grad_output: upsample_linear1d(grad, output_size, align_corners, scales)"},
    {"upsample_bilinear2d",
     "self: upsample_bilinear2d_backward(grad, output_size, self.shape, align_corners, scales_h, scales_w)"},
    {"upsample_bilinear2d_backward",
     "grad_output: upsample_bilinear2d(grad, output_size, align_corners, scales_h, scales_w)"},
    {"upsample_trilinear3d",
     "self: upsample_trilinear3d_backward(grad, output_size, self.shape, align_corners, scales_d, scales_h, scales_w)"},
    {"upsample_trilinear3d_backward",
     "grad_output: upsample_trilinear3d(grad, output_size, align_corners, scales_d, scales_h, scales_w)"},
    {"upsample_bicubic2d",
     "self: upsample_bicubic2d_backward(grad, output_size, self.shape, align_corners, scales_h, scales_w)"},
    {"upsample_bicubic2d_backward",
     "grad_output: upsample_bicubic2d(grad, output_size, align_corners, scales_h, scales_w)"},
    {"_upsample_bilinear2d_aa",
     "self: _upsample_bilinear2d_aa_backward(grad, output_size, self.shape, align_corners, scales_h, scales_w)"},
    {"_upsample_bilinear2d_aa_backward",
     "grad_output: _upsample_bilinear2d_aa(grad, output_size, align_corners, scales_h, scales_w)"},
    {"_upsample_bicubic2d_aa",
     "self: _upsample_bicubic2d_aa_backward(grad, output_size, self.shape, align_corners, scales_h, scales_w)"},
    {"_upsample_bicubic2d_aa_backward",
     "grad_output: _upsample_bicubic2d_aa(grad, output_size, align_corners, scales_h, scales_w)"},
    {"_upsample_lanczos2d_aa",
     "self: _upsample_lanczos2d_aa_backward(grad, output_size, self.shape, align_corners, scales_h, scales_w)"},
    {"_upsample_lanczos2d_aa_backward",
     "grad_output: _upsample_lanczos2d_aa(grad, output_size, align_corners, scales_h, scales_w)"},
};

}  // namespace

LAMELLA_LIBRARY_FRAGMENT(autograd, m) { add_derivatives(m, resizing); }

}  // namespace lamella::autograd
