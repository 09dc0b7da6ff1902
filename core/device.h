// Device: the table of backends that live in this process. A backend gets an id when its name is registered first; no
// other name ever gets that id. 0 is meta.
#pragma once

#include <lamella/c_api.h>

#include <string>

namespace lamella::core {

inline constexpr int32_t meta_backend = 0;
inline constexpr int32_t max_backends = 4096;

inline bool same_device(lamella_device a, lamella_device b) { return a.backend == b.backend && a.index == b.index; }

// Adds a backend, or raises if a live backend has its name or no id is left. A backend that is registered again gets
// its old id.
lamella_status add_backend(const lamella_backend& desc, const std::string& owner, int32_t* id);
void remove_backend(int32_t id);

const lamella_backend* backend(int32_t id);  // null if withdrawn or never registered
int32_t backend_id(const char* name);        // -1 if there is none
int32_t backend_count();                     // ids given so far
const char* backend_name(int32_t id);        // a withdrawn backend keeps its name
std::string backend_owner(int32_t id);
std::string device_name(lamella_device d);  // "bank:1"; "cpu", since its backend has no device_count

// An internal flag beside those of enum lamella_backend_flags: the backend declared its `dtypes`, so some may be
// missing.
inline constexpr uint32_t declares_dtypes = uint32_t{1} << 31;
// has_dtype() returns whether a device may hold tensors of a dtype; lacks_dtype() raises the error that it may not.
inline bool has_dtype(const lamella_backend* b, uint8_t dtype) { return b->dtypes[dtype >> 6] >> (dtype & 63) & 1; }
lamella_status lacks_dtype(const lamella_backend* b, uint8_t dtype);

// Sets `index` to the thread's current device of a backend: the device that "bank" without an index means; 0 if
// the backend has no `device_current`.
lamella_status current_index(int32_t backend, int32_t* index);

// Splits "bank:1" into name and index; the index is -1 if the text has no colon. Returns false if the part after the
// colon is not a number of one to four digits; does not check that the backend exists.
bool split_device(const std::string& text, std::string* name, int32_t* index);

// Returns the status of a backend's function. If the function failed, this adds a note that names the device to its
// error, unless the error names the device already. If it failed without an error, this raises a LAMELLA_RUNTIME_ERROR
// and returns that kind.
lamella_status from_backend(lamella_status st, lamella_device d, const std::string& doing);

// Raises unless the device exists. `who` opens the message: the operator, or the entry of the C ABI, that got the
// device.
lamella_status check_device(const std::string& who, lamella_device d);

bool is_host(int32_t id);
int32_t host_backend();  // the first live host backend (usually cpu), or -1

}  // namespace lamella::core
