#pragma once

// Everything of nn: modules, their stateless forms (nn::functional), initialisation, utilities.

#include "taper/nn/any.h"
#include "taper/nn/functional.h"
#include "taper/nn/init.h"
#include "taper/nn/module.h"
#include "taper/nn/modules.h"
#include "taper/nn/options.h"
#include "taper/nn/utils.h"
