/* For sources that were written for torch. */
#include <lamella/compat/torch.h>
