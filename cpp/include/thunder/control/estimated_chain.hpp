// The chain of a model under other parameters, for quantities that a regressor would give only column by column.
#pragma once

#include <algorithm>
#include <vector>

#include "../model/inertia.hpp"
#include "../model/model.hpp"

namespace thunder {

class EstimatedChain {
 public:
  explicit EstimatedChain(const Model& model) : bodies_(model.n()) {
    const ChainView<double> chain = model.view();
    links_.assign(chain.links, chain.links + chain.n);
    rotors_.assign(chain.rotors, chain.rotors + chain.rotor_count);
    friction_.assign(chain.friction, chain.friction + chain.n * chain.friction_count);
  }

  /// The chain with these p parameters in place of the model's; valid until the next call.
  ChainView<double> with(const Model& model, const double* parameters) noexcept {
    ChainView<double> chain = model.view();
    for (int i = 0; i < chain.n; ++i) {
      const double* pi = parameters + kLinkParameters * i;
      const BodyInertia<double> body{pi[0], {pi[1], pi[2], pi[3]}, {pi[4], pi[5], pi[6], pi[7], pi[8], pi[9]}};
      bodies_.view().set(i, links_[i].has_offset ? moved(body, links_[i].offset) : body);
      if (chain.has_armature) links_[i].armature = parameters[chain.armature_column(i)];
    }
    for (int k = 0; k < chain.rotor_count; ++k) rotors_[k].inertia = parameters[chain.rotor_column(k)];
    std::copy_n(parameters + chain.friction_column(0, 0), friction_.size(), friction_.begin());
    chain.links = links_.data();
    chain.bodies = bodies_.view();
    chain.rotors = rotors_.data();
    chain.friction = friction_.data();
    return chain;
  }

 private:
  std::vector<Link<double>> links_;
  std::vector<Rotor<double>> rotors_;
  std::vector<double> friction_;
  OwnedJoints<BodyInertia, double> bodies_;
};

}  // namespace thunder
