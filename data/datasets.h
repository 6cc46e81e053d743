#pragma once

#include "taper/data/datasets/base.h"
#include "taper/data/datasets/map.h"
#include "taper/data/datasets/mnist.h"
#include "taper/data/datasets/subset.h"
#include "taper/data/datasets/tensor.h"
