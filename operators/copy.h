// The copies that the dispatcher needs, made by operators of the catalogue.
#pragma once

#include "dispatcher/transfer.h"

namespace lamella::operators {

const dispatcher::Copying& copying_by_operators();

}  // namespace lamella::operators
