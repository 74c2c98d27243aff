// Release of the GIL and check for Ctrl-C, in one place.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

namespace thunder::python {

/// Base of every part of a computation that calls Python, and therefore needs the GIL.
class CallsPython {
 protected:
  CallsPython() = default;
  virtual ~CallsPython() = default;
};

/// Releases the GIL for as long as it lives, unless one of the parts of the computation calls Python.
class GilRelease {
 public:
  template <class... Parts>
  explicit GilRelease(const Parts*... parts) {
    if (!(... || (dynamic_cast<const CallsPython*>(parts) != nullptr))) release_.emplace();
  }

 private:
  std::optional<pybind11::gil_scoped_release> release_;
};

/// Throws what a signal handler raised: KeyboardInterrupt for Ctrl-C. Needs no GIL; an `Interruption`.
inline void check_signals() {
  const pybind11::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
}

}  // namespace thunder::python
