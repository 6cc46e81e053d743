#pragma once

#include "torch/cuda.h"
