// SPDX-License-Identifier: MIT
// What differs between releases of PyTorch: before 2.0 a backend is a c10d::ProcessGroup, since
// then a c10d::Backend that process groups have. What later releases added to it (shutdown,
// reduce_scatter_tensor_coalesced) overrides nothing in earlier ones, so nobody says `override`
// there.
#pragma once

#include <torch/version.h>

#if TORCH_VERSION_MAJOR >= 2
#include <torch/csrc/distributed/c10d/Backend.hpp>
#else
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#endif
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>

namespace tacos::torch_backend {

#if TORCH_VERSION_MAJOR >= 2
using BackendBase = c10d::Backend;
#else
using BackendBase = c10d::ProcessGroup;
#endif

}  // namespace tacos::torch_backend
