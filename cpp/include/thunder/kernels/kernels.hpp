// Interface between the kernels and numeric callers: one table of functions for each instruction set, of which
// one is chosen when the library is loaded. Controllers, plants, inverse kinematics, planners and Python call through it;
// nothing but src/kernels/kernels_<instruction set>.cpp instantiates a kernel for numbers.
#pragma once

#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

#include "../model/chain.hpp"
#include "../threads/parallel_for.hpp"
#include "quantity.hpp"

namespace thunder {

inline constexpr int kMaxInputs = 5;

using Chain = ChainView<double>;
inline const Selection<double> kNothingSelected{};

/// Samples [first, last): sample b of input k starts at in[k] + b * stride[k], of the output at out + b * size.
struct BatchCall {
  Chain chain;
  Selection<double> selection;
  const double* in[kMaxInputs];
  std::ptrdiff_t stride[kMaxInputs];
  double* out;
  std::size_t first, last;
};

using EvaluateFunction = void (*)(const Chain&, Workspace, const double* const* in, const Selection<double>&, double* out);
using BatchFunction = void (*)(const BatchCall&, Workspace);

/// Matrices are row-major; J is 6 x n. The workspace has `workspace_bytes(n, sizeof(double))`.
struct Kernels {
  const char* name;  // as THUNDER_ISA spells it
  int state_lanes;   // states of a batch that are evaluated together

  // every quantity of the list by its index: one state, and a batch, whose workspace has state_lanes as much
  const EvaluateFunction* evaluate;
  const BatchFunction* evaluate_batch;

  // what is no quantity of the list
  void (*mass_coriolis)(const Chain&, Workspace, const double* q, const double* dq, double* M, double* C);
  /// Of joints, then of motors of elastic ones: at velocities w, and the largest slope over speeds from slow to fast.
  void (*friction_and_slope)(const Chain&, const double* w, double* tau, double* slope);
  void (*friction_slope)(const Chain&, const double* slow, const double* fast, double* slope);
  void (*loaded_elastic_dynamics)(const Chain&, Workspace, const double* q, const double* dq, const double* x,
                                  const double* dx, const double* tau, double* out, const double* external);
  /// p = M dq and drift = C' dq
  void (*momentum_and_drift)(const Chain&, Workspace, const double* q, const double* dq, double* p, double* drift);
  /// P pi = M dq, D pi = C' dq and G pi = G + friction.
  void (*momentum_regressors)(const Chain&, Workspace, const double* q, const double* dq, double* P, double* D, double* G);
  /// Pose, Jacobian and its time derivative of one frame.
  void (*frame_kinematics)(const Chain&, Workspace, const double* q, const double* dq, const Frame<double>&,
                           Pose<double>*, double* J, double* J_dot);
  /// Poses of several frames and, unless J is null, their Jacobians one after the other.
  void (*frame_poses)(const Chain&, Workspace, const double* q, const Frame<double>* frames, int count,
                      Pose<double>* poses, double* J);
  /// Poses of the n joint frames.
  void (*joint_poses)(const Chain&, Workspace, const double* q, Pose<double>* poses);
  /// Manipulability and its gradient by q.
  void (*manipulability_gradient)(const Chain&, Workspace, const double* q, const Frame<double>&, TaskRows,
                                  double* value, double* gradient);

  /// One state of any quantity.
  void compute(Quantity quantity, const Chain& chain, Workspace work, std::initializer_list<const double*> in, double* out,
               const Selection<double>& selection = kNothingSelected) const {
    evaluate[static_cast<std::size_t>(quantity)](chain, work, in.begin(), selection, out);
  }
  // the same by the quantity's name: mass_matrix(chain, work, q, M)
#define THUNDER_QUANTITY(NAME, FUNCTION, F, R, B, S, CALL, K, SUMMARY, RETURNS, NOTES, ...)               \
  template <class... Inputs>                                                                            \
  void FUNCTION(const Chain& chain, Workspace work, Inputs*... numbers) const {                          \
    static_assert(sizeof...(numbers) == std::initializer_list<const char*>{__VA_ARGS__}.size() + 1);     \
    compute(Quantity::NAME, chain, work, {numbers...}, last(numbers...));                                \
  }
#include "quantity_list.inc"

 private:
  template <class First, class... Rest>
  static auto last(First first, Rest... rest) {
    if constexpr (sizeof...(rest) == 0)
      return first;
    else
      return last(rest...);
  }
};

extern const Kernels kernels_baseline, kernels_avx2, kernels_avx512;  // the last two on x86-64 only

/// Tables of this build that this machine can run, from the narrowest.
std::vector<const Kernels*> available_kernels();

/// The table in use: the widest, or the one that the environment variable THUNDER_ISA names.
extern std::atomic<const Kernels*> kernels_in_use;
inline const Kernels& kernels() { return *kernels_in_use.load(std::memory_order_relaxed); }

/// Uses another table from now on: "best" or a name. Throws std::invalid_argument if this machine or build lacks it.
void use_kernels(const std::string& name);
/// Throws as `use_kernels` if THUNDER_ISA names a table that is not there; the widest is in use then.
void check_environment();

/// The whole batch of samples with `size` numbers each, on `threads` threads (0: one for each core), unless `interrupted`
/// ends it.
void evaluate_batch(std::size_t quantity, const BatchCall& call, int size, std::size_t count, int threads,
                    const Interruption& interrupted = {});

/// Bytes of a batch's workspace, with inputs and the result of `size` numbers for each of the lanes.
std::size_t batch_workspace_bytes(const Chain& chain, int size, int state_lanes);

/// Scratch of the calling thread for kernels on one state of a robot of n joints.
Workspace thread_workspace(int n);

}  // namespace thunder
