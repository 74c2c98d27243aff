// A chain under other parameters, as the columns of regressors order them.
#pragma once

#include "inertia.hpp"

namespace thunder {

/// Memory for what a chain holds of its parameters.
template <class P>
struct ParameterMemory {
  Link<P>* links;
  Rotor<P>* rotors;
  P* friction;
  Joints<BodyInertia, P> bodies;
};

template <class P>
THUNDER_INLINE ParameterMemory<P> parameter_memory(const ChainView<P>& chain, Workspace& work) {
  const Joints<BodyInertia, P> bodies(work, chain.n);
  if constexpr (LaneTraits<P>::block > 1)
    for (int i = chain.n; i < padded_joints(chain.n); ++i) bodies.clear(i);
  return {work.take<Link<P>>(chain.n), work.take<Rotor<P>>(chain.rotor_count), work.take<P>(chain.n * chain.friction_count), bodies};
}

/// The chain with these p parameters in place of its own, held in `memory`.
template <class P>
THUNDER_INLINE ChainView<P> with_parameters(ChainView<P> chain, const P* parameters, const ParameterMemory<P>& memory) {
  for (int i = 0; i < chain.n; ++i) {
    const P* pi = parameters + kLinkParameters * i;
    const Link<P>& link = chain.links[i];
    const BodyInertia<P> body{pi[0], {pi[1], pi[2], pi[3]}, {pi[4], pi[5], pi[6], pi[7], pi[8], pi[9]}};
    memory.bodies.set(i, link.has_offset ? moved(body, link.offset) : body);
    if (!chain.has_armature) continue;
    memory.links[i] = link;
    memory.links[i].armature = parameters[chain.armature_column(i)];
  }
  for (int k = 0; k < chain.rotor_count; ++k) {
    memory.rotors[k] = chain.rotors[k];
    memory.rotors[k].inertia = parameters[chain.rotor_column(k)];
  }
  for (int k = 0; k < chain.n * chain.friction_count; ++k) memory.friction[k] = parameters[chain.friction_column(0, 0) + k];
  if (chain.has_armature) chain.links = memory.links;
  chain.bodies = memory.bodies;
  chain.rotors = memory.rotors;
  chain.friction = memory.friction;
  return chain;
}

}  // namespace thunder
