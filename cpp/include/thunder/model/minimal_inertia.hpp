// A chain with fewer numbers and the same torques: inertias regrouped onto base parameters (Gautier and Khalil, 1990),
// origins moved along joint axes.
#pragma once

#include <vector>

#include "chain.hpp"

namespace thunder {

/// Known data for regrouping bodies. A link exchanges inertia only where its ten inertial parameters are numbers, and
/// across a joint only where the step to it (alpha, p, the angle of a prismatic joint) is one.
struct KnownNumbers {
  const bool* bodies;  // one per link
  const bool* steps;   // one per link; that of the first is not read
  bool gravity;        // and the root's orientation
};

/// Bodies with as many zeros as possible and, for every q, dq and ddq, the same M, C, G and inverse dynamics. Energies are
/// others, and bodies need not be physical. A revolute joint leaves its link no m, mcz and second moment J_zz, so that
/// I_zz = I_xx + I_yy; a prismatic one no inertia. Rotors and armature stay as they are.
void minimal_bodies(const ChainView<double>& chain, const KnownNumbers& known, const Joints<BodyInertia, double>& bodies);

/// A chain equivalent in M, C, G, inverse and forward dynamics, and in nothing else: not in poses, Jacobians, regressors and
/// energies. Joint frames stand elsewhere on their axes, so that most translations have one entry; bodies are minimal; and if
/// all joints are revolute and all is known, lengths are counted in the one that is there most often.
struct MinimalChain {
  std::vector<Link<double>> links;
  OwnedJoints<BodyInertia, double> bodies;
  Vec3<double> gravity;

  MinimalChain(const ChainView<double>& chain, const KnownNumbers& known);
  /// `chain` with the links, bodies and gravity of this.
  ChainView<double> view(const ChainView<double>& chain) const;

 private:
  void slide_origins(const KnownNumbers& known);
  void choose_length_unit();
};

}  // namespace thunder
