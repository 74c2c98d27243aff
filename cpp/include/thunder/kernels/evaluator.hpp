// A model with the scratch that evaluating it takes: what controllers, plants and planners own to ask for numbers.
#pragma once

#include <memory>

#include "../model/model.hpp"
#include "kernels.hpp"

namespace thunder {

/// Every call goes through the table in use and neither allocates nor throws. One thread at a time.
class Evaluator {
 public:
  explicit Evaluator(std::shared_ptr<const Model> model) : model_(std::move(model)), memory_(bytes()) {}

  const Model& model() const noexcept { return *model_; }
  const std::shared_ptr<const Model>& shared_model() const noexcept { return model_; }
  int n() const noexcept { return model_->n(); }
  Chain chain() const noexcept { return model_->view(); }
  Workspace work() const noexcept { return memory_.view(); }

  void mass_matrix(const double* q, double* M) const noexcept { kernels().mass_matrix(chain(), work(), q, M); }
  void mass_coriolis(const double* q, const double* dq, double* M, double* C) const noexcept {
    kernels().mass_coriolis(chain(), work(), q, dq, M, C);
  }
  void gravity_vector(const double* q, double* G) const noexcept { kernels().gravity_vector(chain(), work(), q, G); }
  void friction_torque(const double* dq, double* tau) const noexcept { kernels().friction_torque(chain(), dq, tau); }
  void inverse_dynamics(const double* q, const double* dq, const double* ddq, double* tau) const noexcept {
    kernels().inverse_dynamics(chain(), work(), q, dq, ddq, tau);
  }
  void inverse_dynamics_dot(const double* q, const double* dq, const double* ddq, const double* d3q,
                            double* tau_dot) const noexcept {
    kernels().inverse_dynamics_dot(chain(), work(), q, dq, ddq, d3q, tau_dot);
  }
  void inverse_dynamics_ddot(const double* q, const double* dq, const double* ddq, const double* d3q, const double* d4q,
                             double* tau_ddot) const noexcept {
    kernels().inverse_dynamics_ddot(chain(), work(), q, dq, ddq, d3q, d4q, tau_ddot);
  }
  void forward_dynamics(const double* q, const double* dq, const double* tau, double* ddq) const noexcept {
    kernels().forward_dynamics(chain(), work(), q, dq, tau, ddq);
  }
  void elastic_forward_dynamics(const double* q, const double* dq, const double* x, const double* dx,
                                const double* tau, const double* external, double* out) const noexcept {
    kernels().elastic_forward_dynamics(chain(), work(), q, dq, x, dx, tau, out, external);
  }
  void regressor(const double* q, const double* dq, const double* ddq, double* Y) const noexcept {
    kernels().regressor(chain(), work(), q, dq, ddq, Y);
  }
  void slotine_li_regressor(const double* q, const double* dq, const double* dq_r, const double* ddq_r,
                            double* Y) const noexcept {
    kernels().slotine_li_regressor(chain(), work(), q, dq, dq_r, ddq_r, Y);
  }
  void slotine_li_torque(const double* q, const double* dq, const double* dq_r, const double* ddq_r,
                         double* tau) const noexcept {
    kernels().slotine_li_torque(chain(), work(), q, dq, dq_r, ddq_r, tau);
  }
  void momentum_and_drift(const double* q, const double* dq, double* p, double* drift) const noexcept {
    kernels().momentum_and_drift(chain(), work(), q, dq, p, drift);
  }
  void momentum_regressors(const double* q, const double* dq, double* P, double* D, double* G) const noexcept {
    kernels().momentum_regressors(chain(), work(), q, dq, P, D, G);
  }
  void jacobian(const double* q, const Frame<double>& frame, double* J) const noexcept {
    kernels().jacobian(chain(), work(), q, frame, J);
  }
  void frame_kinematics(const double* q, const double* dq, const Frame<double>& frame, Pose<double>* pose, double* J,
                        double* J_dot) const noexcept {
    kernels().frame_kinematics(chain(), work(), q, dq, frame, pose, J, J_dot);
  }
  void frame_poses(const double* q, const Frame<double>* frames, int count, Pose<double>* poses,
                   double* J = nullptr) const noexcept {
    kernels().frame_poses(chain(), work(), q, frames, count, poses, J);
  }
  void joint_poses(const double* q, Pose<double>* poses) const noexcept {
    kernels().joint_poses(chain(), work(), q, poses);
  }
  double manipulability(const double* q, const Frame<double>& frame, TaskRows rows) const noexcept {
    return kernels().manipulability(chain(), work(), q, frame, rows);
  }

 private:
  std::size_t bytes() const { return workspace_bytes(model_->n(), sizeof(double)); }

  std::shared_ptr<const Model> model_;
  WorkspaceMemory memory_;
};

}  // namespace thunder
