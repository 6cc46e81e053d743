#pragma once

#include "taper/nn/options/activation.h"
#include "taper/nn/options/convolution.h"
#include "taper/nn/options/layer.h"
#include "taper/nn/options/loss.h"
#include "taper/nn/options/pooling.h"
#include "taper/nn/options/rnn.h"
