// Interface between the kernels and numeric callers: one table of functions for each instruction set, of which
// one is chosen when the library is loaded. Controllers, plants, inverse kinematics, planners and Python call through it;
// nothing but src/kernels/kernels_<instruction set>.cpp instantiates a kernel for numbers.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "../model/chain.hpp"
#include "../threads/parallel_for.hpp"

namespace thunder {

inline constexpr int kMaxInputs = 5;

using Chain = ChainView<double>;

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

  // typed entries for C++
  void (*mass_matrix)(const Chain&, Workspace, const double* q, double* M);
  void (*mass_coriolis)(const Chain&, Workspace, const double* q, const double* dq, double* M, double* C);
  void (*gravity_vector)(const Chain&, Workspace, const double* q, double* G);
  void (*friction_torque)(const Chain&, const double* dq, double* tau);
  /// Of joints, then of motors of elastic ones: at velocities w, and the largest slope over speeds from slow to fast.
  void (*friction_and_slope)(const Chain&, const double* w, double* tau, double* slope);
  void (*friction_slope)(const Chain&, const double* slow, const double* fast, double* slope);
  void (*inverse_dynamics)(const Chain&, Workspace, const double* q, const double* dq, const double* ddq, double* tau);
  /// Time derivatives of the inverse dynamics along a motion.
  void (*inverse_dynamics_dot)(const Chain&, Workspace, const double* q, const double* dq, const double* ddq,
                               const double* d3q, double* tau_dot);
  void (*inverse_dynamics_ddot)(const Chain&, Workspace, const double* q, const double* dq, const double* ddq,
                                const double* d3q, const double* d4q, double* tau_ddot);
  void (*forward_dynamics)(const Chain&, Workspace, const double* q, const double* dq, const double* tau, double* ddq);
  void (*elastic_forward_dynamics)(const Chain&, Workspace, const double* q, const double* dq, const double* x,
                                   const double* dx, const double* tau, double* out, const double* external);
  void (*regressor)(const Chain&, Workspace, const double* q, const double* dq, const double* ddq, double* Y);
  void (*slotine_li_regressor)(const Chain&, Workspace, const double* q, const double* dq, const double* dq_r,
                               const double* ddq_r, double* Y);
  void (*slotine_li_torque)(const Chain&, Workspace, const double* q, const double* dq, const double* dq_r,
                            const double* ddq_r, double* tau);
  /// p = M dq and drift = C' dq
  void (*momentum_and_drift)(const Chain&, Workspace, const double* q, const double* dq, double* p, double* drift);
  /// P pi = M dq, D pi = C' dq and G pi = G + friction.
  void (*momentum_regressors)(const Chain&, Workspace, const double* q, const double* dq, double* P, double* D, double* G);
  void (*jacobian)(const Chain&, Workspace, const double* q, const Frame<double>&, double* J);
  /// Pose, Jacobian and its time derivative of one frame.
  void (*frame_kinematics)(const Chain&, Workspace, const double* q, const double* dq, const Frame<double>&,
                           Pose<double>*, double* J, double* J_dot);
  /// Poses of several frames and, unless J is null, their Jacobians one after the other.
  void (*frame_poses)(const Chain&, Workspace, const double* q, const Frame<double>* frames, int count,
                      Pose<double>* poses, double* J);
  /// Poses of the n joint frames.
  void (*joint_poses)(const Chain&, Workspace, const double* q, Pose<double>* poses);
  double (*manipulability)(const Chain&, Workspace, const double* q, const Frame<double>&, TaskRows);
  /// Manipulability and its gradient by q.
  void (*manipulability_gradient)(const Chain&, Workspace, const double* q, const Frame<double>&, TaskRows,
                                  double* value, double* gradient);
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
