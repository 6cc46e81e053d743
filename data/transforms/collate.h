#pragma once

#include "taper/data/transforms/lambda.h"  // Collation and Collate are aliases of what stands there
