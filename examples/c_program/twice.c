/* An extension in plain C99: the operator demo::twice with its shape rule and its kernel for the CPU. It includes the
 * public headers, links nothing, and works for every Lamella whose C ABI is at least that of the headers. */
#include <lamella/c_api.h>

static const lamella_api* api;

/* The shape rule: one result with the dtype and sizes of self. */
static lamella_status infer(lamella_frame* frame, const lamella_value* args, lamella_meta* out) {
  const lamella_tensor* self = args[0].as.tensor;
  int32_t i;
  (void)frame;
  if (self->dtype != LAMELLA_FLOAT32) return api->raise(LAMELLA_TYPE_ERROR, "twice: argument 'self' must be float32");
  out->dtype = self->dtype;
  out->ndim = self->dl.ndim;
  for (i = 0; i < out->ndim; i++) out->sizes[i] = self->dl.shape[i];
  return LAMELLA_OK;
}

/* Computes the elements of one thread; parallel_for calls it. */
static lamella_status body(void* context, int64_t begin, int64_t end) {
  float** data = (float**)context;
  int64_t i;
  for (i = begin; i < end; i++) data[0][i] = 2 * data[1][i];
  return LAMELLA_OK;
}

static lamella_status kernel(lamella_frame* frame, const lamella_value* args, lamella_value* rets) {
  const lamella_tensor* self = args[0].as.tensor;
  float* data[2];
  (void)frame;
  if (!(self->flags & LAMELLA_CONTIGUOUS))
    return api->raise(LAMELLA_NOT_IMPLEMENTED, "twice: argument 'self' must be contiguous; call .contiguous()");
  data[0] = (float*)rets[0].as.tensor->dl.data;
  data[1] = (float*)self->dl.data;
  return api->parallel_for(0, self->numel, 4096, body, data);
}

lamella_status lamella_plugin_init(const lamella_api* table) {
  lamella_library* library;
  lamella_library_def demo = {sizeof demo, LAMELLA_TARGET_VERSION, "demo", "twice.c", LAMELLA_DEFINES, 0};
  lamella_operator_def twice = {sizeof twice};
  lamella_kernel_def computes = {sizeof computes, 0, kernel, NULL, __FILE__, __LINE__, 1};
  lamella_status st;
  api = table;
  twice.schema = "twice(Tensor self) -> Tensor";
  twice.infer = infer;
  twice.forms = LAMELLA_FORM_FUNCTION | LAMELLA_FORM_OUT;
  twice.file = __FILE__;
  twice.line = __LINE__;
  if ((st = api->library_open(&demo, &library))) return st;
  if ((st = api->define(library, &twice, NULL))) return st;
  return api->kernel(library, "twice", "cpu", &computes, NULL);
}
