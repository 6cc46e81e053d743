#pragma once

#include "taper/nn/module.h"
#include "taper/nn/serialize/archive.h"
