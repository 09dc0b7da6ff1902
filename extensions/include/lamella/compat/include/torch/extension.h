/* For sources that were written for torch: with what a module of Python needs, where the builder makes one. */
#include <lamella/compat/torch.h>
#ifdef LAMELLA_COMPAT_PYTHON
#include <lamella/pybind.h>
namespace py = pybind11;
#endif
