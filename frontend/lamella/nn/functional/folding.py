"""Windows of images as columns, and back."""

from __future__ import annotations

from lamella.nn.functional._operators import op

__all__ = ["fold", "unfold"]

_im2col, _col2im = op("im2col"), op("col2im")


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Returns the windows of images (N, C, H, W), or without N, as columns: (N, C * elements of a window, windows).

    The rows of a column are the elements of its window, channel by channel; the windows are in row-major order.

    Raises:
        RuntimeError: a window does not fit

    >>> lamella.nn.functional.unfold(lamella.arange(6.0).view(1, 1, 2, 3), (2, 2))
    tensor([[[0., 1.],
             [1., 2.],
             [3., 4.],
             [4., 5.]]])
    """
    return _im2col(input, kernel_size, dilation, padding, stride)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Columns (N, C * elements of a window, windows), or without N, added up to images of ``output_size``.

    Where windows overlap, the result is the sum of what they have there.

    Raises:
        RuntimeError: the columns are not those of the windows over such an image

    >>> lamella.nn.functional.fold(lamella.ones(1, 4, 2), (2, 3), (2, 2))
    tensor([[[[1., 2., 1.],
              [1., 2., 1.]]]])
    """
    return _col2im(input, output_size, kernel_size, dilation, padding, stride)
