// Inertias regrouped onto base parameters (Gautier and Khalil, 1990): with fewer entries, the same torques.
#pragma once

#include "chain.hpp"

namespace thunder {

/// What is known when bodies are regrouped. A link gives and takes only where its ten inertial parameters are numbers, and
/// across a joint only where the step to it (alpha, p, the angle of a prismatic joint) is one.
struct KnownNumbers {
  const bool* bodies;  // one per link
  const bool* steps;   // one per link; that of the first is not read
  bool gravity;        // and the root's orientation
};

/// Bodies with as many zeros as possible and, for every q, dq and ddq, the same M, C, G and inverse dynamics. Energies are
/// others, and bodies need not be physical. A revolute joint leaves its link no m, mcz and second moment J_zz, so that
/// I_zz = I_xx + I_yy; a prismatic one no inertia. Rotors and armature stay as they are.
void minimal_bodies(const ChainView<double>& chain, const KnownNumbers& known, Joints<BodyInertia, double>& bodies);

}  // namespace thunder
