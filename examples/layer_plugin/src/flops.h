/* The interface "flops", version 1, in plain C: functions of the native layer for programs and other plugins.
 *
 *   const lamella_flops* flops = api->find_interface("flops", 1);
 *   flops->enable(1);
 */
#ifndef LAMELLA_FLOPS_H
#define LAMELLA_FLOPS_H

#include <stdint.h>

typedef struct {
  uint32_t size;
  int32_t layer;                      /* the bit that the layer was given */
  int32_t (*enable)(int32_t on);      /* for the calling thread; returns what it was before */
  void (*enable_process)(int32_t on); /* for every thread */
  int32_t (*entries)(void);           /* operators seen since the library was loaded */
  const char* (*name)(int32_t entry); /* "aten::mm"; null out of range */
  int64_t (*flops)(int32_t entry);    /* since the last reset */
  void (*reset)(void);
} lamella_flops;

#endif
