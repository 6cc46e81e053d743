#pragma once

// Datasets, transforms, samplers, loaders and file formats.

#include "taper/data/atomic_file.h"
#include "taper/data/dataloader.h"
#include "taper/data/datasets.h"
#include "taper/data/formats/idx.h"
#include "taper/data/formats/npy.h"
#include "taper/data/formats/safetensors.h"
#include "taper/data/samplers.h"
#include "taper/data/transforms.h"
