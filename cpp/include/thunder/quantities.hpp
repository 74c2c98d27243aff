// The list of everything the kernels compute. One entry gives a quantity its name, inputs and shape, and with them
// its scalar, batched and derived forms and its Python method: whoever adds an entry gets all of them.
#pragma once

#include <tuple>

#include "dynamics/christoffel.hpp"
#include "dynamics/derivatives.hpp"
#include "dynamics/forward_dynamics.hpp"
#include "dynamics/matrix_algebra.hpp"
#include "dynamics/regressor.hpp"
#include "dynamics/task_space.hpp"

namespace thunder {

/// Shape of one sample of an output.
struct Shape {
  int rank;
  int dims[4];
  THUNDER_INLINE int size() const {
    int product = 1;
    for (int i = 0; i < rank; ++i) product *= dims[i];
    return product;
  }
};

/// What a call chooses besides its vectors.
template <class P>
struct Selection {
  Frame<P> frame;
  TaskRows rows;
};

// NAME: struct; TEXT: Python name; INPUTS: names of the vectors of length n; SHAPE: of one sample, from n, p and rows;
// CALL: the kernel on (c, in[0], in[1], ..., out), with `s` the selection.
#define THUNDER_QUANTITY(NAME, TEXT, FRAME, ROWS, VECTORISED, SHAPE, CALL, ...)                    \
  struct NAME {                                                                                   \
    static constexpr const char* name = TEXT;                                                     \
    static constexpr const char* inputs[] = {__VA_ARGS__};                                        \
    static constexpr int input_count = sizeof(inputs) / sizeof(inputs[0]);                        \
    static constexpr bool takes_frame = FRAME, takes_rows = ROWS, vectorised = VECTORISED;        \
    THUNDER_INLINE static Shape shape([[maybe_unused]] int n, [[maybe_unused]] int p, [[maybe_unused]] int m) {  \
      return Shape SHAPE;                                                                         \
    }                                                                                             \
    template <class S, class P>                                                                   \
    static void evaluate(const ChainView<P>& c, const S* const* in,                               \
                         [[maybe_unused]] const Selection<P>& s, S* out) {                        \
      CALL;                                                                                       \
    }                                                                                             \
  };

#define THUNDER_VECTOR ({1, {n}})
#define THUNDER_MATRIX ({2, {n, n}})
#define THUNDER_REGRESSOR ({2, {n, p}})

namespace quantities {
// clang-format off
THUNDER_QUANTITY(ForwardKinematics, "forward_kinematics", true, false, true, ({2, {4, 4}}), forward_kinematics(c, in[0], s.frame, out), "q")
THUNDER_QUANTITY(Jacobian, "jacobian", true, false, true, ({2, {6, n}}), jacobian(c, in[0], s.frame, out), "q")
THUNDER_QUANTITY(JacobianDot, "jacobian_dot", true, false, true, ({2, {6, n}}), jacobian_dot(c, in[0], in[1], s.frame, out), "q", "dq")
THUNDER_QUANTITY(MassMatrix, "mass_matrix", false, false, true, THUNDER_MATRIX, mass_matrix(c, in[0], out), "q")
THUNDER_QUANTITY(CoriolisMatrix, "coriolis_matrix", false, false, true, THUNDER_MATRIX, coriolis_matrix(c, in[0], in[1], out), "q", "dq")
THUNDER_QUANTITY(GravityVector, "gravity_vector", false, false, true, THUNDER_VECTOR, gravity_vector(c, in[0], out), "q")
THUNDER_QUANTITY(FrictionTorque, "friction_torque", false, false, true, THUNDER_VECTOR, friction_torque(c, in[0], out), "dq")
THUNDER_QUANTITY(MassMatrixDot, "mass_matrix_dot", false, false, true, THUNDER_MATRIX, mass_matrix_dot(c, in[0], in[1], out), "q", "dq")
THUNDER_QUANTITY(CoriolisMatrixDot, "coriolis_matrix_dot", false, false, true, THUNDER_MATRIX, coriolis_matrix_dot(c, in[0], in[1], in[2], out), "q", "dq", "ddq")
THUNDER_QUANTITY(GravityVectorDot, "gravity_vector_dot", false, false, true, THUNDER_VECTOR, gravity_vector_dot(c, in[0], in[1], out), "q", "dq")
THUNDER_QUANTITY(InverseDynamics, "inverse_dynamics", false, false, true, THUNDER_VECTOR, inverse_dynamics(c, in[0], in[1], in[2], out), "q", "dq", "ddq")
THUNDER_QUANTITY(ForwardDynamics, "forward_dynamics", false, false, true, THUNDER_VECTOR, forward_dynamics(c, in[0], in[1], in[2], out), "q", "dq", "tau")
THUNDER_QUANTITY(ChristoffelSymbols, "christoffel_symbols", false, false, true, ({3, {n, n, n}}), christoffel_symbols(c, in[0], out), "q")
THUNDER_QUANTITY(Regressor, "regressor", false, false, true, THUNDER_REGRESSOR, regressor(c, in[0], in[1], in[2], out), "q", "dq", "ddq")
THUNDER_QUANTITY(SlotineLiRegressor, "slotine_li_regressor", false, false, true, THUNDER_REGRESSOR, slotine_li_regressor(c, in[0], in[1], in[2], in[3], out), "q", "dq", "dq_r", "ddq_r")
THUNDER_QUANTITY(MassRegressor, "mass_regressor", false, false, true, THUNDER_REGRESSOR, mass_regressor(c, in[0], in[1], out), "q", "ddq_r")
THUNDER_QUANTITY(CoriolisRegressor, "coriolis_regressor", false, false, true, THUNDER_REGRESSOR, coriolis_regressor(c, in[0], in[1], in[2], out), "q", "dq", "dq_r")
THUNDER_QUANTITY(GravityRegressor, "gravity_regressor", false, false, true, THUNDER_REGRESSOR, gravity_regressor(c, in[0], out), "q")
THUNDER_QUANTITY(FrictionRegressor, "friction_regressor", false, false, true, THUNDER_REGRESSOR, friction_regressor(c, in[0], out), "dq")
THUNDER_QUANTITY(KineticEnergy, "kinetic_energy", false, false, true, ({0, {}}), kinetic_energy(c, in[0], in[1], out), "q", "dq")
THUNDER_QUANTITY(PotentialEnergy, "potential_energy", false, false, true, ({0, {}}), potential_energy(c, in[0], out), "q")
THUNDER_QUANTITY(OperationalSpaceInertia, "operational_space_inertia", true, true, true, ({2, {m, m}}), operational_space_inertia(c, in[0], s.frame, s.rows, out), "q")
THUNDER_QUANTITY(Manipulability, "manipulability", true, true, true, ({0, {}}), manipulability(c, in[0], s.frame, s.rows, out), "q")
THUNDER_QUANTITY(MassMatrixDerivative, "mass_matrix_derivative", false, false, false, ({3, {n, n, n}}), mass_matrix_derivative(c, in[0], out), "q")
THUNDER_QUANTITY(CoriolisMatrixAlgebra, "coriolis_matrix_algebra", false, false, false, THUNDER_MATRIX, coriolis_matrix_algebra(c, in[0], in[1], out), "q", "dq")
THUNDER_QUANTITY(CoriolisMatrixChristoffel, "coriolis_matrix_christoffel", false, false, false, THUNDER_MATRIX, coriolis_matrix_christoffel(c, in[0], in[1], out), "q", "dq")
THUNDER_QUANTITY(MassBlocks, "mass_blocks", false, false, false, ({4, {n, 10, n, n}}), mass_blocks(c, in[0], out), "q")
THUNDER_QUANTITY(CoriolisBlocks, "coriolis_blocks", false, false, false, ({4, {n, 10, n, n}}), coriolis_blocks(c, in[0], in[1], out), "q", "dq")
THUNDER_QUANTITY(GravityBlocks, "gravity_blocks", false, false, false, ({3, {n, 4, n}}), gravity_blocks(c, in[0], out), "q")
// clang-format on
}  // namespace quantities

#undef THUNDER_VECTOR
#undef THUNDER_MATRIX
#undef THUNDER_REGRESSOR
#undef THUNDER_QUANTITY

namespace quantities {
using All = std::tuple<ForwardKinematics, Jacobian, JacobianDot, MassMatrix, CoriolisMatrix, GravityVector,
                       FrictionTorque, MassMatrixDot, CoriolisMatrixDot, GravityVectorDot, InverseDynamics,
                       ForwardDynamics, ChristoffelSymbols, Regressor, SlotineLiRegressor, MassRegressor,
                       CoriolisRegressor, GravityRegressor, FrictionRegressor, KineticEnergy, PotentialEnergy,
                       OperationalSpaceInertia, Manipulability, MassMatrixDerivative, CoriolisMatrixAlgebra,
                       CoriolisMatrixChristoffel, MassBlocks, CoriolisBlocks, GravityBlocks>;
}  // namespace quantities

}  // namespace thunder
