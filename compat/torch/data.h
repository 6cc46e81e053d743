#pragma once

#include "taper/data/data.h"
#include "torch/types.h"

namespace torch::data {

using ::taper::data::DataLoader, ::taper::data::DataLoaderBase, ::taper::data::DataLoaderOptions,
    ::taper::data::Example, ::taper::data::FullDataLoaderOptions, ::taper::data::Iterator,
    ::taper::data::LoaderOptions, ::taper::data::make_data_loader, ::taper::data::random_split,
    ::taper::data::StatelessDataLoader, ::taper::data::Subset, ::taper::data::TensorExample,
    ::taper::data::WorkerException;
using ::taper::data::datasets::BatchDataset, ::taper::data::datasets::Dataset;

namespace example = ::taper::data::example;

namespace datasets {
using namespace ::taper::data::datasets;
}
namespace samplers {
using namespace ::taper::data::samplers;
}
namespace transforms {
using namespace ::taper::data::transforms;
}

}  // namespace torch::data
