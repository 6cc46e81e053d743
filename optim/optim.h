#pragma once

#include "taper/optim/adagrad.h"
#include "taper/optim/adam.h"
#include "taper/optim/adamw.h"
#include "taper/optim/optimizer.h"
#include "taper/optim/reduce_on_plateau.h"
#include "taper/optim/rmsprop.h"
#include "taper/optim/schedulers.h"
#include "taper/optim/sgd.h"
