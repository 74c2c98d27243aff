// The chain of a model under other parameters, for quantities that a regressor would give only column by column.
#pragma once

#include <vector>

#include "../model/model.hpp"
#include "../model/parameters.hpp"

namespace thunder {

class EstimatedChain {
 public:
  explicit EstimatedChain(const Model& model)
      : links_(model.n()), rotors_(model.view().rotor_count), friction_(model.n() * model.view().friction_count), bodies_(model.n()) {}

  /// The chain with these p parameters in place of the model's; valid until the next call.
  ChainView<double> with(const Model& model, const double* parameters) noexcept {
    return with_parameters(model.view(), parameters, {links_.data(), rotors_.data(), friction_.data(), bodies_.view()});
  }

 private:
  std::vector<Link<double>> links_;
  std::vector<Rotor<double>> rotors_;
  std::vector<double> friction_;
  OwnedJoints<BodyInertia, double> bodies_;
};

}  // namespace thunder
