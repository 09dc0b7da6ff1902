/* An extension in plain C99: the operator demo::twice with its shape rule and its kernel for the CPU. It includes the
 * public headers, links nothing, and works for every Lattis whose C ABI is at least that of the headers. */
#include <lattis/c_api.h>

static const lattis_api* api;

/* One result, as self. */
static lattis_status infer(lattis_frame* frame, const lattis_value* args, lattis_meta* out) {
  const lattis_tensor* self = args[0].as.tensor;
  int32_t i;
  (void)frame;
  if (self->dtype != LATTIS_FLOAT32) return api->raise(LATTIS_TYPE_ERROR, "twice: argument 'self' must be float32");
  out->dtype = self->dtype;
  out->ndim = self->dl.ndim;
  for (i = 0; i < out->ndim; i++) out->sizes[i] = self->dl.shape[i];
  return LATTIS_OK;
}

/* The share of one thread; see parallel_for. */
static lattis_status body(void* context, int64_t begin, int64_t end) {
  float** data = (float**)context;
  int64_t i;
  for (i = begin; i < end; i++) data[0][i] = 2 * data[1][i];
  return LATTIS_OK;
}

static lattis_status kernel(lattis_frame* frame, const lattis_value* args, lattis_value* rets) {
  const lattis_tensor* self = args[0].as.tensor;
  float* data[2];
  (void)frame;
  if (!(self->flags & LATTIS_CONTIGUOUS))
    return api->raise(LATTIS_NOT_IMPLEMENTED, "twice: argument 'self' must be contiguous; call .contiguous()");
  data[0] = (float*)rets[0].as.tensor->dl.data;
  data[1] = (float*)self->dl.data;
  return api->parallel_for(0, self->numel, 4096, body, data);
}

lattis_status lattis_plugin_init(const lattis_api* table) {
  lattis_library* library;
  lattis_library_def demo = {sizeof demo, LATTIS_TARGET_VERSION, "demo", "twice.c", LATTIS_DEFINES, 0};
  lattis_operator_def twice = {sizeof twice};
  lattis_kernel_def computes = {sizeof computes, 0, kernel, NULL, __FILE__, __LINE__, 1};
  lattis_status st;
  api = table;
  twice.schema = "twice(Tensor self) -> Tensor";
  twice.infer = infer;
  twice.forms = LATTIS_FORM_FUNCTION | LATTIS_FORM_OUT;
  twice.file = __FILE__;
  twice.line = __LINE__;
  if ((st = api->library_open(&demo, &library))) return st;
  if ((st = api->define(library, &twice, NULL))) return st;
  return api->kernel(library, "twice", "cpu", &computes, NULL);
}
