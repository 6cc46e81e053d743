#pragma once

#include "taper/data/transforms/base.h"
#include "taper/data/transforms/collate.h"
#include "taper/data/transforms/compose.h"
#include "taper/data/transforms/image.h"
#include "taper/data/transforms/lambda.h"
#include "taper/data/transforms/stack.h"
#include "taper/data/transforms/tensor.h"
