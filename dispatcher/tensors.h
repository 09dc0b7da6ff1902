// The functions of the C ABI for tensors and storages, which api.cpp puts into the table; and other sizes in place.
#pragma once

#include <lamella/c_api.h>

#include "core/tensor.h"

namespace lamella::dispatcher {

lamella_status tensor_empty(int32_t ndim, const int64_t* sizes, const int64_t* strides, int32_t dtype, lamella_device d,
                            lamella_tensor** out);
lamella_status tensor_from_blob(void* data, int32_t ndim, const int64_t* sizes, const int64_t* strides, int32_t dtype,
                                lamella_device d, void (*deleter)(void*), void* context, lamella_tensor** out);
lamella_status tensor_opaque(int32_t ndim, const int64_t* sizes, const int64_t* strides, int32_t dtype,
                             lamella_device d, lamella_tensor** out);
lamella_status tensor_opaque_over(lamella_storage* s, int32_t ndim, const int64_t* sizes, const int64_t* strides,
                                  int32_t dtype, lamella_tensor** out);
lamella_status tensor_set_storage(lamella_tensor* t, lamella_storage* s);
lamella_status tensor_over(lamella_storage* s, int32_t ndim, const int64_t* sizes, const int64_t* strides,
                           int64_t offset, int32_t dtype, lamella_tensor** out);
lamella_status tensor_view(lamella_tensor* of, int32_t ndim, const int64_t* sizes, const int64_t* strides,
                           int64_t offset, lamella_tensor** out);
lamella_tensor* tensor_base(const lamella_tensor* t);
uint64_t tensor_version(const lamella_tensor* t);
lamella_status tensor_update_keys(lamella_tensor* t, uint64_t set, uint64_t clear);
void* storage_data(const lamella_storage* s);
int64_t storage_bytes(const lamella_storage* s);
lamella_status storage_add_sticky(lamella_storage* s, uint64_t keys);
void storage_retain(lamella_storage* s);
void storage_release(lamella_storage* s);
int64_t storage_use_count(const lamella_storage* s);
lamella_status tensor_detach(lamella_tensor* t, uint64_t drop_keys, lamella_tensor** out);
lamella_status tensor_assign(lamella_tensor* to, lamella_tensor* from);
lamella_status tensor_resize(lamella_tensor* t, int32_t ndim, const int64_t* sizes, const int64_t* strides);
lamella_status tensor_carry(lamella_tensor* from, lamella_tensor* to, int32_t how);

// resize() is tensor_resize; `name`, the operator's, begins the messages. restride() gives a tensor a geometry over its
// storage, or over `memory`, which the tensor then retains; the caller has checked the bounds. Both carry the states of
// slots (LAMELLA_CARRY_RESIZE) and count the version.
lamella_status resize(const char* name, core::Tensor* t, int32_t ndim, const int64_t* sizes, const int64_t* strides);
lamella_status restride(const char* name, core::Tensor* t, int32_t ndim, const int64_t* sizes, const int64_t* strides,
                        int64_t offset, core::Storage* memory = nullptr);

}  // namespace lamella::dispatcher
