// Short-time Fourier transforms: transforms of windows of a signal, and the signal back from them.
#include "operators/fourier.h"

namespace lamella::operators {
namespace {

// Returns a window of n_fft elements, with zeros at both sides of the given one; of ones, if there is none.
Tensor whole_window(const Tensor& window, int64_t win_length, int64_t n_fft, const TensorOptions& options) {
  LAMELLA_CHECK(!window.defined() || (window.dim() == 1 && window.size(0) == win_length), argument("window"),
                ": expected a 1D window tensor of size equal to win_length=", win_length, ", got shape ",
                window.defined() ? shape_text(window) : "");
  if (!window.defined() && win_length == n_fft) return Tensor();
  const Tensor w = window.defined() ? window : lamella::ones({win_length}, options);
  const int64_t left = (n_fft - win_length) / 2;
  return win_length == n_fft ? w : lamella::constant_pad_nd(w, {left, n_fft - win_length - left}, 0);
}

Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
            const std::optional<Tensor>& window, bool center, std::string_view pad_mode, bool normalized,
            std::optional<bool> onesided, std::optional<bool> return_complex, std::optional<bool> align_to_window) {
  const Tensor given = window.value_or(Tensor());
  const bool complex = self.is_complex() || (given.defined() && given.is_complex());
  LAMELLA_CHECK(is_floating_point(self.dtype()) || self.is_complex(), argument("self"),
                ": expected a tensor of floating point or complex values, got ", self.dtype());
  LAMELLA_CHECK(self.dim() == 1 || self.dim() == 2, argument("self"), ": expected a 1D or 2D tensor, got shape ",
                shape_text(self));
  LAMELLA_CHECK(!(center && align_to_window.has_value()), argument("align_to_window"),
                ": it should only be set when center is False");
  LAMELLA_CHECK(
      return_complex.has_value() || complex, argument("return_complex"),
      ": it must be given for real inputs; pass return_complex=True, and view_as_real() of the result for parts");
  const bool half = onesided.value_or(!complex);
  LAMELLA_CHECK(!half || !complex, argument("onesided"), ": Cannot have onesided output if window or input is complex");
  LAMELLA_CHECK(n_fft > 0, argument("n_fft"), ": expected more than 0, got ", n_fft);
  const int64_t hop = hop_length.value_or(n_fft / 4), length = win_length.value_or(n_fft);
  LAMELLA_CHECK(hop > 0, argument("hop_length"), ": expected hop_length > 0, got ", hop);
  LAMELLA_CHECK(length > 0 && length <= n_fft, argument("win_length"), ": expected 0 < win_length <= n_fft=", n_fft,
                ", got ", length);
  const Tensor w = whole_window(given, length, n_fft, self.options());
  Tensor x = self.dim() == 1 ? self.unsqueeze(0) : self;
  LAMELLA_CHECK(x.numel() > 0, argument("self"), ": it must not be empty, got shape ", shape_text(self));
  int64_t before = 0, after = 0;
  if (center) {
    before = after = n_fft / 2;
    LAMELLA_CHECK(pad_mode != "reflect" || before < x.size(1), argument("self"), ": the signal of ", x.size(1),
                  " elements is too short to be reflected by n_fft / 2 = ", before, " elements");
    x = lamella::pad(x.unsqueeze(1), {before, after}, std::string(pad_mode)).squeeze(1);
  } else if (align_to_window.value_or(false)) {
    before = (n_fft - length) / 2;
    x = lamella::constant_pad_nd(x, {before, n_fft - length - before}, 0);
  }
  LAMELLA_CHECK(n_fft <= x.size(1), argument("n_fft"), ": expected 0 < n_fft <= ", x.size(1), ", the signal's length",
                before ? " with its padding" : "", "; got ", n_fft);
  Tensor frames = x.unfold(-1, n_fft, hop);
  if (w.defined()) frames = frames * w;
  if (frames.dtype() == kHalf || frames.dtype() == kBFloat16) frames = frames.to(kFloat);
  const int64_t scale = normalized ? by_root : unscaled;
  const Tensor y =
      frames.is_complex() ? lamella::_fft_c2c(frames, {2}, scale, true) : lamella::_fft_r2c(frames, {2}, scale, half);
  const Tensor turned = self.dim() == 1 ? y.squeeze(0).transpose(0, 1) : y.transpose(1, 2);
  return return_complex.value_or(true) ? turned : lamella::view_as_real(turned);
}

// Adds windows that begin `hop` elements apart: frames of (batch, count, n) give (batch, n + (count - 1) hop).
Tensor overlapped(const Tensor& frames, int64_t hop) {
  const int64_t batch = frames.size(0), count = frames.size(1), n = frames.size(2);
  const TensorOptions whole = TensorOptions(frames.device()).dtype(kLong);
  const Tensor places = (lamella::arange(0, count, 1, whole) * hop).unsqueeze(1) + lamella::arange(0, n, 1, whole);
  const Tensor sums = lamella::zeros({batch, n + (count - 1) * hop}, frames.options());
  return sums.scatter_add(1, places.reshape({1, -1}).expand({batch, -1}), frames.reshape({batch, -1}));
}

Tensor istft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length, std::optional<int64_t> win_length,
             const std::optional<Tensor>& window, bool center, bool normalized, std::optional<bool> onesided,
             std::optional<int64_t> length, bool return_complex) {
  const Tensor given = window.value_or(Tensor());
  LAMELLA_CHECK(self.is_complex(), argument("self"),
                ": istft requires a complex-valued input tensor, as stft gives with return_complex=True; got ",
                self.dtype());
  const int64_t batch = self.dim() - 2;
  LAMELLA_CHECK_INDEX(batch >= 0, argument("self"), ": expected 2 or 3 dimensions, got shape ", shape_text(self));
  LAMELLA_CHECK(batch <= 1, argument("self"), ": expected 2 or 3 dimensions, got shape ", shape_text(self));
  LAMELLA_CHECK(self.numel() > 0, argument("self"), ": input tensor cannot be empty, got shape ", shape_text(self));
  const int64_t hop = hop_length.value_or(n_fft / 4), span = win_length.value_or(n_fft), rows = self.size(batch);
  const bool half = onesided.value_or(rows != n_fft);
  LAMELLA_CHECK(!half || rows == n_fft / 2 + 1, argument("self"), ": expected n_fft // 2 + 1 = ", n_fft / 2 + 1,
                " frequencies in dimension -2, since onesided is True; got ", rows);
  LAMELLA_CHECK(half || rows == n_fft, argument("self"), ": expected n_fft = ", n_fft,
                " frequencies in dimension -2, since onesided is False; got ", rows);
  LAMELLA_CHECK(hop > 0 && hop <= span, argument("hop_length"), ": expected 0 < hop_length <= win_length=", span,
                ", got ", hop);
  LAMELLA_CHECK(span > 0 && span <= n_fft, argument("win_length"), ": expected 0 < win_length <= n_fft=", n_fft,
                ", got ", span);
  LAMELLA_CHECK(!(given.defined() && given.is_complex()) || return_complex, argument("window"),
                ": Complex windows are incompatible with return_complex=False");
  LAMELLA_CHECK(!return_complex || !half, argument("onesided"),
                ": Cannot have onesided output if window or input is complex");
  LAMELLA_CHECK(!length || *length > 0, argument("length"), ": expected more than 0, got ", length.value_or(0));
  Tensor w = whole_window(given, span, n_fft, TensorOptions(self.device()).dtype(real_of(self.dtype())));
  if (!w.defined()) w = lamella::ones({n_fft}, TensorOptions(self.device()).dtype(real_of(self.dtype())));
  const Tensor x = (batch ? self : self.unsqueeze(0)).transpose(1, 2);
  const int64_t scale = normalized ? by_root : by_length, count = x.size(1);
  const Tensor frames = return_complex ? lamella::_fft_c2c(x, {2}, scale, false)
                                       : lamella::_fft_c2r(half ? x : slice(x, 2, 0, n_fft / 2 + 1), {2}, scale, n_fft);
  const int64_t whole = n_fft + hop * (count - 1), start = center ? n_fft / 2 : 0;
  const int64_t wanted = length ? start + *length : center ? whole - n_fft / 2 : whole, end = std::min(wanted, whole);
  LAMELLA_CHECK(start < end, argument("self"), ": ", count,
                " windows leave nothing of the signal between the halves "
                "of windows at its ends; pass center=False");
  const Tensor sums = slice(overlapped(frames * w, hop), 1, start, end);
  const Tensor weights = slice(overlapped((w * w).expand({1, count, n_fft}), hop), 1, start, end);
  const bool covered = self.device().type() == "meta" || weights.abs().min().item().toDouble() > 1e-11;
  LAMELLA_CHECK(covered, argument("window"), ": window overlap add min: the windows do not cover all of the signal");
  Tensor y = sums / weights;
  if (!batch) y = y.squeeze(0);
  return wanted > whole ? lamella::constant_pad_nd(y, {0, wanted - whole}, 0) : y;
}

}  // namespace

LAMELLA_FAMILY(stft, .category = "fft", .forms = function | method) {
  return {
      {.schema = "stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, "
                 "bool center=True, str pad_mode='reflect', bool normalized=False, bool? onesided=None, bool? "
                 "return_complex=None, bool? align_to_window=None) -> Tensor",
       .composite = composite<stft>,
       .doc = R"(The Fourier transforms of overlapping windows of a signal: a column for each window.

The signal has the shape (length,) or (batch, length); the result (n_fft // 2 + 1, windows), or (n_fft, windows) if not
`onesided`, with the batch before.

Args:
    n_fft: the length of a transform
    hop_length: how far apart windows begin; n_fft // 4 by default
    win_length: the length of the window, around which zeros fill n_fft elements; n_fft by default
    window: the factors of a window; ones by default
    center: whether the middle of window i, and not its first element, lies at element i * hop_length of the signal,
        which is then continued at both ends by n_fft // 2 elements
    pad_mode: how the signal is continued, as in `nn.functional.pad`
    normalized: whether transforms are divided by the root of n_fft
    onesided: whether the other half of the frequencies is left out; the default for real signals
    return_complex: whether the result is complex; else its parts are a last dimension of two
    align_to_window: without `center`, whether the first window lies at the begin of the signal, and not its zeros

Raises:
    RuntimeError: the signal is shorter than a window, sizes are not positive, or the window has another length

>>> lamella.stft(lamella.ones(8), 4, 4, window=lamella.ones(4), return_complex=True)
tensor([[4.+0.j, 4.+0.j, 4.+0.j],
        [0.+0.j, 0.+0.j, 0.+0.j],
        [0.+0.j, 0.+0.j, 0.+0.j]])
)"},
      {.schema =
           "istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool "
           "center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) "
           "-> Tensor",
       .composite = composite<istft>,
       .doc = R"(The signal of which `stft` gave the transforms, by Griffin and Lim's sum of windows (1984), which is
the signal of the least squared error if no signal has these transforms.

Args:
    n_fft, hop_length, win_length, window, center, normalized, onesided: as in `stft`
    length: the length of the signal, which is cut or continued by zeros
    return_complex: whether the signal is complex

Raises:
    RuntimeError: the windows do not cover the signal, or sizes do not fit

>>> columns = lamella.stft(lamella.arange(8.), 4, window=lamella.hann_window(4), return_complex=True)
>>> lamella.istft(columns, 4, window=lamella.hann_window(4))
tensor([0., 1., 2., 3., 4., 5., 6., 7.])
)"},
  };
}

}  // namespace lamella::operators
