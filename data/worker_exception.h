#pragma once

#include <exception>
#include <string>
#include <utility>

#include "taper/core/error.h"

namespace taper::data {

/// What a loader's worker threw, thrown again where the batch is taken. The message names the
/// worker, the sample and what the worker's exception said; the exception itself is in
/// `original_exception`.
class TAPER_API WorkerException : public Error {
 public:
  WorkerException(std::string message, std::exception_ptr original)
      : Error(std::move(message)), original_exception(std::move(original)) {}
  ~WorkerException() override;

  std::exception_ptr original_exception;
};

/// A batch that was not ready in time; its worker has been given up.
class TAPER_API TimeoutError : public Error {
 public:
  using Error::Error;
  ~TimeoutError() override;
};

}  // namespace taper::data
