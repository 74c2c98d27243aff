// Prediction arguments of adaptive controllers.
#pragma once

#include <tuple>

#include "control.hpp"
#include "thunder/control/prediction_error.hpp"

namespace thunder::python {

/// Route ("acceleration" or "regressor"), cutoff [rad/s], gamma and R_t; gamma 0 for none.
using PredictionArguments = std::tuple<std::string, double, double, py::object>;

inline std::unique_ptr<Prediction> make_prediction(const std::shared_ptr<Model>& model, const std::string& route,
                                                   double cutoff) {
  if (route == "acceleration") return std::make_unique<FilteredAcceleration>(model, cutoff);
  return std::make_unique<FilteredRegressor>(model, cutoff);
}

inline PredictionError make_prediction_error(const std::shared_ptr<Model>& model, const PredictionArguments& a) {
  const auto& [route, cutoff, gamma, R_t] = a;
  if (!(gamma >= 0.0)) throw py::value_error("gamma must not be negative, got " + std::to_string(gamma));
  const Eigen::MatrixXd weight = read_gain(R_t, "R_t", model->n());
  return {gamma > 0.0 ? make_prediction(model, route, cutoff) : nullptr, gamma, weight};
}

}  // namespace thunder::python
