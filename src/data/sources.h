#pragma once

#include <memory>

#include "subfleet/data.h"

// The functions in the table of sources.cpp, one per source.
namespace subfleet {

std::unique_ptr<Federation> open_cifar(const DataOptions& options);
std::unique_ptr<Federation> open_glyphs(const DataOptions& options);
std::unique_ptr<Federation> open_hdf5(const DataOptions& options);
std::unique_ptr<Federation> open_idx(const DataOptions& options);
std::unique_ptr<Federation> open_leaf(const DataOptions& options);
std::unique_ptr<Federation> open_text(const DataOptions& options);

}  // namespace subfleet
