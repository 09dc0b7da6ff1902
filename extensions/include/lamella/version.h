/* Versions of the C ABI: the version that these headers describe, the oldest version that a library is built for, and
 * the stamp in the library's file that records the latter. docs/abi.md says what is promised. */
#ifndef LAMELLA_VERSION_H
#define LAMELLA_VERSION_H

#include <stdint.h>

#define LAMELLA_MAKE_VERSION(major, minor) ((major) << 16 | (minor))

/* A library whose LAMELLA_TARGET_VERSION is N.M runs on every Lamella N.x with x >= M. */
#define LAMELLA_ABI_MAJOR 1
#define LAMELLA_ABI_MINOR 0
#define LAMELLA_ABI_VERSION (LAMELLA_ABI_MAJOR << 16 | LAMELLA_ABI_MINOR) /* bindgen cannot read calls of macros */

/* The oldest Lamella that must run the built library: define it before the first include, or with -D, to hide every
 * newer entry. -DLAMELLA_TARGET_VERSION='LAMELLA_MAKE_VERSION(1,0)' */
#ifndef LAMELLA_TARGET_VERSION
#define LAMELLA_TARGET_VERSION LAMELLA_ABI_VERSION
#endif
#if LAMELLA_TARGET_VERSION > LAMELLA_ABI_VERSION
#error "LAMELLA_TARGET_VERSION is newer than these headers"
#endif
#if LAMELLA_TARGET_VERSION < LAMELLA_MAKE_VERSION(LAMELLA_ABI_MAJOR, 0)
#error "LAMELLA_TARGET_VERSION is of an older major version than these headers: use the headers of that version"
#endif

/* Note [Stamp]  Every library that includes these headers carries an ELF note that names the version it was built for.
 *   The loader reads it from the file, before any of the library's code runs. */
typedef struct {
  uint32_t name_size, size, type;
  char name[8];
  uint32_t major, minor;
} lamella_stamp;

#if defined(__ELF__) && !defined(__CUDA_ARCH__)
#if defined(__clang__)
__attribute__((no_sanitize("address"))) /* clang's AddressSanitizer would put zeros after the note; gcc's does not */
#endif
static const lamella_stamp lamella_stamp_of_this_file __attribute__((used, aligned(4), section(".note.lamella"))) = {
    8, 8, 1, "Lamella", LAMELLA_TARGET_VERSION >> 16, LAMELLA_TARGET_VERSION & 0xffff};
#endif

#endif
