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

  // every quantity of the list by its name: mass_matrix(q, M)
#define THUNDER_QUANTITY(NAME, FUNCTION, ...)                      \
  template <class... Inputs>                                      \
  void FUNCTION(Inputs*... numbers) const noexcept {               \
    kernels().FUNCTION(chain(), work(), numbers...);              \
  }
#include "quantity_list.inc"

  void mass_coriolis(const double* q, const double* dq, double* M, double* C) const noexcept {
    kernels().mass_coriolis(chain(), work(), q, dq, M, C);
  }
  void momentum_and_drift(const double* q, const double* dq, double* p, double* drift) const noexcept {
    kernels().momentum_and_drift(chain(), work(), q, dq, p, drift);
  }
  void momentum_regressors(const double* q, const double* dq, double* P, double* D, double* G) const noexcept {
    kernels().momentum_regressors(chain(), work(), q, dq, P, D, G);
  }
  void jacobian(const double* q, const Frame<double>& frame, double* J) const noexcept {
    kernels().compute(Quantity::Jacobian, chain(), work(), {q}, J, {frame, {}});
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
    double value;
    kernels().compute(Quantity::Manipulability, chain(), work(), {q}, &value, {frame, rows});
    return value;
  }

 private:
  std::size_t bytes() const { return workspace_bytes(model_->n(), sizeof(double)); }

  std::shared_ptr<const Model> model_;
  WorkspaceMemory memory_;
};

}  // namespace thunder
