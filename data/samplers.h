#pragma once

#include "taper/data/samplers/base.h"
#include "taper/data/samplers/random.h"
#include "taper/data/samplers/sequential.h"
