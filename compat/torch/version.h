#pragma once

// The LibTorch whose names and rules Taper follows.
#define TORCH_VERSION_MAJOR 2
#define TORCH_VERSION_MINOR 15
#define TORCH_VERSION_PATCH 0
#define TORCH_VERSION "2.15.0"
