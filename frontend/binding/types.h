// The small Python types: dtype, device, Size, layout, memory_format, Generator. All but Generator are immutable
// values.
#pragma once

#include "frontend/binding/python.h"

namespace lamella::binding {

extern PyTypeObject *dtype_type, *device_type, *size_type, *layout_type, *memory_format_type, *generator_type;

PyObject* dtype_object(core::DType t);  // borrowed; made at the first use
PyObject* new_device(lamella_device d);
PyObject* new_size(const int64_t* sizes, Py_ssize_t n);
PyObject* new_tuple(const int64_t* values, Py_ssize_t n);
PyObject* new_generator_object(lamella_object* owned);

// Readers return false, and read_device 0, without an exception for an object of another type or an unknown dtype;
// only read_seed sets an exception. For a device that does not exist, read_device returns -1 with an exception.
bool read_dtype(PyObject* o, core::DType* out);     // a dtype, float/int/bool/complex, or a name
int read_device(PyObject* o, lamella_device* out);  // a device, "cpu", "bank:1"; loads the backend
bool read_seed(PyObject* o, uint64_t* out);         // an int of 64 bits, signed or unsigned
bool read_generator(PyObject* o, lamella_object** borrowed);
bool read_enum(PyObject* o, PyTypeObject* type, int64_t* out);
// The object of a layout or memory format; the int itself for an unknown value.
PyObject* enumerator(PyTypeObject* type, int64_t value);

// Sets the function that is called with a device name that no loaded backend has; the plugin manager's loads the
// backend or raises.
void set_backend_loader(PyObject* callable);

int init_types(PyObject* module);

}  // namespace lamella::binding
