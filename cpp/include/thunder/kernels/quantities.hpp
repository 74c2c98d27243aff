// The list of everything the kernels compute. One entry, listed in the tuple `All` as well, gives a quantity its name,
// inputs and shape, and with them its scalar, batched and derived forms and its Python method.
#pragma once

#include <array>
#include <tuple>

#include "../dynamics/derivatives.hpp"
#include "../dynamics/elastic.hpp"
#include "../dynamics/energy.hpp"
#include "../dynamics/energy_regressors.hpp"
#include "../dynamics/matrix_algebra.hpp"
#include "../dynamics/operational_space.hpp"
#include "../dynamics/regressor_products.hpp"
#include "../dynamics/slotine_li_torque.hpp"

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

/// Dimensions of shapes: joints, parameters, chosen rows, elastic joints and their numbers of coefficients.
struct Sizes {
  int n, p, m, e, K, D, Dm;
};
template <class P>
THUNDER_INLINE Sizes sizes(const ChainView<P>& c, int rows) {
  return {c.n, c.parameters(), rows, c.elastic.count, c.elastic.K_order, c.elastic.D_order, c.elastic.Dm_order};
}

/// Is an input of this name a vector of motors, with an entry for each elastic joint (x, dx, ddx)? Others have n.
THUNDER_INLINE constexpr bool is_of_motors(const char* input) {
  while (*input == 'd') ++input;
  return input[0] == 'x' && input[1] == '\0';
}
/// Is it a vector of parameters, with p entries (pi)?
THUNDER_INLINE constexpr bool is_of_parameters(const char* input) { return input[0] == 'p' && input[1] == 'i'; }
/// The inputs of a kind as bits.
template <int N>
constexpr unsigned input_bits(const char* const (&inputs)[N], bool (*is_of_kind)(const char*)) {
  unsigned bits = 0;
  for (int k = 0; k < N; ++k) bits |= is_of_kind(inputs[k]) ? 1u << k : 0u;
  return bits;
}

// NAME: struct; TEXT: Python name; INPUTS: names of the vectors; SHAPE: of one sample, from the names of `Sizes`;
// CALL: the kernel on (c, in[0], in[1], ..., out), with `w` the workspace and `s` the selection.
#define THUNDER_QUANTITY(NAME, TEXT, FRAME, ROWS, VECTORIZED, SHAPE, CALL, ...)                    \
  struct NAME {                                                                                   \
    static constexpr const char* name = TEXT;                                                     \
    static constexpr const char* inputs[] = {__VA_ARGS__};                                        \
    static constexpr int input_count = sizeof(inputs) / sizeof(inputs[0]);                        \
    static constexpr bool takes_frame = FRAME, takes_rows = ROWS, vectorized = VECTORIZED;        \
    static constexpr unsigned motor_inputs = input_bits(inputs, is_of_motors);                    \
    static constexpr unsigned parameter_inputs = input_bits(inputs, is_of_parameters);            \
    THUNDER_INLINE static constexpr int input_size(int k, const Sizes& s) {                       \
      return (motor_inputs >> k & 1) != 0 ? s.e : (parameter_inputs >> k & 1) != 0 ? s.p : s.n;   \
    }                                                                                             \
    THUNDER_INLINE static Shape shape(const Sizes& s) {                                           \
      [[maybe_unused]] const auto [n, p, m, e, K, D, Dm] = s;                                     \
      return Shape SHAPE;                                                                         \
    }                                                                                             \
    template <class S, class P>                                                                   \
    static void evaluate(const ChainView<P>& c, [[maybe_unused]] Workspace w, const S* const* in, \
                         [[maybe_unused]] const Selection<P>& s, S* out) {                        \
      CALL;                                                                                       \
    }                                                                                             \
  };

#define THUNDER_VECTOR ({1, {n}})
#define THUNDER_MATRIX ({2, {n, n}})
#define THUNDER_REGRESSOR ({2, {n, p}})
#define THUNDER_MOTORS ({1, {e}})
#define THUNDER_TENSOR ({3, {n, n, n}})

namespace quantities {
// clang-format off
THUNDER_QUANTITY(ForwardKinematics, "forward_kinematics", true, false, true, ({2, {4, 4}}), forward_kinematics(c, w, in[0], s.frame, out), "q")
THUNDER_QUANTITY(Jacobian, "jacobian", true, false, true, ({2, {6, n}}), jacobian(c, w, in[0], s.frame, out), "q")
THUNDER_QUANTITY(JacobianDot, "jacobian_dot", true, false, true, ({2, {6, n}}), jacobian_dot(c, w, in[0], in[1], s.frame, out), "q", "dq")
THUNDER_QUANTITY(MassMatrix, "mass_matrix", false, false, true, THUNDER_MATRIX, mass_matrix(c, w, in[0], out), "q")
THUNDER_QUANTITY(CoriolisMatrix, "coriolis_matrix", false, false, true, THUNDER_MATRIX, coriolis_matrix(c, w, in[0], in[1], out), "q", "dq")
THUNDER_QUANTITY(MassAndCoriolis, "mass_and_coriolis", false, false, true, ({3, {3, n, n}}), mass_and_coriolis(c, w, in[0], in[1], out), "q", "dq")
THUNDER_QUANTITY(GravityVector, "gravity_vector", false, false, true, THUNDER_VECTOR, gravity_vector(c, w, in[0], out), "q")
THUNDER_QUANTITY(FrictionTorque, "friction_torque", false, false, true, THUNDER_VECTOR, friction_torque(c, in[0], out), "dq")
THUNDER_QUANTITY(MassMatrixDot, "mass_matrix_dot", false, false, true, THUNDER_MATRIX, mass_matrix_dot(c, w, in[0], in[1], out), "q", "dq")
THUNDER_QUANTITY(CoriolisMatrixDot, "coriolis_matrix_dot", false, false, true, THUNDER_MATRIX, coriolis_matrix_dot(c, w, in[0], in[1], in[2], out), "q", "dq", "ddq")
THUNDER_QUANTITY(GravityVectorDot, "gravity_vector_dot", false, false, true, THUNDER_VECTOR, gravity_vector_dot(c, w, in[0], in[1], out), "q", "dq")
THUNDER_QUANTITY(JacobianDdot, "jacobian_ddot", true, false, true, ({2, {6, n}}), jacobian_ddot(c, w, in[0], in[1], in[2], s.frame, out), "q", "dq", "ddq")
THUNDER_QUANTITY(MassMatrixDdot, "mass_matrix_ddot", false, false, true, THUNDER_MATRIX, mass_matrix_ddot(c, w, in[0], in[1], in[2], out), "q", "dq", "ddq")
THUNDER_QUANTITY(CoriolisMatrixDdot, "coriolis_matrix_ddot", false, false, false, THUNDER_MATRIX, coriolis_matrix_ddot(c, w, in[0], in[1], in[2], in[3], out), "q", "dq", "ddq", "d3q")
THUNDER_QUANTITY(GravityVectorDdot, "gravity_vector_ddot", false, false, true, THUNDER_VECTOR, gravity_vector_ddot(c, w, in[0], in[1], in[2], out), "q", "dq", "ddq")
THUNDER_QUANTITY(InverseDynamics, "inverse_dynamics", false, false, true, THUNDER_VECTOR, inverse_dynamics(c, w, in[0], in[1], in[2], out), "q", "dq", "ddq")
THUNDER_QUANTITY(ForwardDynamics, "forward_dynamics", false, false, true, THUNDER_VECTOR, forward_dynamics(c, w, in[0], in[1], in[2], out), "q", "dq", "tau")
THUNDER_QUANTITY(InverseDynamicsDot, "inverse_dynamics_dot", false, false, true, THUNDER_VECTOR, inverse_dynamics_dot(c, w, in[0], in[1], in[2], in[3], out), "q", "dq", "ddq", "d3q")
THUNDER_QUANTITY(InverseDynamicsDdot, "inverse_dynamics_ddot", false, false, false, THUNDER_VECTOR, inverse_dynamics_ddot(c, w, in[0], in[1], in[2], in[3], in[4], out), "q", "dq", "ddq", "d3q", "d4q")
THUNDER_QUANTITY(ChristoffelSymbols, "christoffel_symbols", false, false, true, THUNDER_TENSOR, christoffel_symbols(c, w, in[0], out), "q")
THUNDER_QUANTITY(Regressor, "regressor", false, false, true, THUNDER_REGRESSOR, regressor(c, w, in[0], in[1], in[2], out), "q", "dq", "ddq")
THUNDER_QUANTITY(SlotineLiRegressor, "slotine_li_regressor", false, false, true, THUNDER_REGRESSOR, slotine_li_regressor(c, w, in[0], in[1], in[2], in[3], out), "q", "dq", "dq_r", "ddq_r")
THUNDER_QUANTITY(MassRegressor, "mass_regressor", false, false, true, THUNDER_REGRESSOR, mass_regressor(c, w, in[0], in[1], out), "q", "ddq_r")
THUNDER_QUANTITY(CoriolisRegressor, "coriolis_regressor", false, false, true, THUNDER_REGRESSOR, coriolis_regressor(c, w, in[0], in[1], in[2], out), "q", "dq", "dq_r")
THUNDER_QUANTITY(GravityRegressor, "gravity_regressor", false, false, true, THUNDER_REGRESSOR, gravity_regressor(c, w, in[0], out), "q")
THUNDER_QUANTITY(FrictionRegressor, "friction_regressor", false, false, true, THUNDER_REGRESSOR, friction_regressor(c, in[0], out), "dq")
THUNDER_QUANTITY(KineticEnergy, "kinetic_energy", false, false, true, ({0, {}}), kinetic_energy(c, w, in[0], in[1], out), "q", "dq")
THUNDER_QUANTITY(PotentialEnergy, "potential_energy", false, false, true, ({0, {}}), potential_energy(c, w, in[0], out), "q")
THUNDER_QUANTITY(SlotineLiTorque, "slotine_li_torque", false, false, true, THUNDER_VECTOR, slotine_li_torque(c, w, in[0], in[1], in[2], in[3], out), "q", "dq", "dq_r", "ddq_r")
THUNDER_QUANTITY(GeneralizedMomentum, "generalized_momentum", false, false, true, THUNDER_VECTOR, generalized_momentum(c, w, in[0], in[1], out), "q", "dq")
THUNDER_QUANTITY(MomentumDrift, "momentum_drift", false, false, true, THUNDER_VECTOR, momentum_drift(c, w, in[0], in[1], out), "q", "dq")
THUNDER_QUANTITY(MomentumRegressor, "momentum_regressor", false, false, true, THUNDER_REGRESSOR, mass_regressor(c, w, in[0], in[1], out), "q", "dq")
THUNDER_QUANTITY(KineticEnergyRegressor, "kinetic_energy_regressor", false, false, true, ({1, {p}}), kinetic_energy_regressor(c, w, in[0], in[1], out), "q", "dq")
THUNDER_QUANTITY(PotentialEnergyRegressor, "potential_energy_regressor", false, false, true, ({1, {p}}), potential_energy_regressor(c, w, in[0], out), "q")
THUNDER_QUANTITY(OperationalSpaceInertia, "operational_space_inertia", true, true, true, ({2, {m, m}}), operational_space_inertia(c, w, in[0], s.frame, s.rows, out), "q")
THUNDER_QUANTITY(Manipulability, "manipulability", true, true, true, ({0, {}}), manipulability(c, w, in[0], s.frame, s.rows, out), "q")
THUNDER_QUANTITY(ElasticTorque, "elastic_torque", false, false, true, THUNDER_MOTORS, elastic_torque(c, in[0], in[1], out), "q", "x")
THUNDER_QUANTITY(ElasticDampingTorque, "elastic_damping_torque", false, false, true, THUNDER_MOTORS, elastic_damping_torque(c, in[0], in[1], out), "dq", "dx")
THUNDER_QUANTITY(MotorDampingTorque, "motor_damping_torque", false, false, true, THUNDER_MOTORS, motor_damping_torque(c, in[0], out), "dx")
THUNDER_QUANTITY(MotorInertiaTorque, "motor_inertia_torque", false, false, true, THUNDER_MOTORS, motor_inertia_torque(c, in[0], out), "ddx")
THUNDER_QUANTITY(ElasticRegressor, "elastic_regressor", false, false, true, ({2, {e, e * K}}), elastic_regressor(c, in[0], in[1], out), "q", "x")
THUNDER_QUANTITY(ElasticDampingRegressor, "elastic_damping_regressor", false, false, true, ({2, {e, e * D}}), elastic_damping_regressor(c, in[0], in[1], out), "dq", "dx")
THUNDER_QUANTITY(MotorDampingRegressor, "motor_damping_regressor", false, false, true, ({2, {e, e * Dm}}), motor_damping_regressor(c, in[0], out), "dx")
THUNDER_QUANTITY(MotorInertiaRegressor, "motor_inertia_regressor", false, false, true, ({2, {e, e}}), motor_inertia_regressor(c, in[0], out), "ddx")
THUNDER_QUANTITY(ElasticForwardDynamics, "elastic_forward_dynamics", false, false, true, ({1, {n + e}}), elastic_forward_dynamics(c, w, in[0], in[1], in[2], in[3], in[4], out), "q", "dq", "x", "dx", "tau")
THUNDER_QUANTITY(InverseDynamicsDerivatives, "inverse_dynamics_derivatives", false, false, true, ({3, {3, n, n}}), inverse_dynamics_derivatives(c, w, in[0], in[1], in[2], out), "q", "dq", "ddq")
THUNDER_QUANTITY(ForwardDynamicsDerivatives, "forward_dynamics_derivatives", false, false, true, ({3, {3, n, n}}), forward_dynamics_derivatives(c, w, in[0], in[1], in[2], out), "q", "dq", "tau")
THUNDER_QUANTITY(InverseDynamicsSecondDerivatives, "inverse_dynamics_second_derivatives", false, false, true, ({4, {4, n, n, n}}), inverse_dynamics_second_derivatives(c, w, in[0], in[1], in[2], out), "q", "dq", "ddq")
THUNDER_QUANTITY(ForwardDynamicsSecondDerivatives, "forward_dynamics_second_derivatives", false, false, true, ({4, {4, n, n, n}}), forward_dynamics_second_derivatives(c, w, in[0], in[1], in[2], out), "q", "dq", "tau")
THUNDER_QUANTITY(JacobianDerivative, "jacobian_derivative", true, false, true, ({3, {6, n, n}}), jacobian_derivative(c, w, in[0], s.frame, out), "q")
THUNDER_QUANTITY(CoriolisMatrixDerivative, "coriolis_matrix_derivative", false, false, true, THUNDER_TENSOR, coriolis_matrix_derivative(c, w, in[0], in[1], out), "q", "dq")
THUNDER_QUANTITY(OperationalSpaceInertiaDerivative, "operational_space_inertia_derivative", true, true, true, ({3, {m, m, n}}), operational_space_inertia_derivative(c, w, in[0], s.frame, s.rows, out), "q")
THUNDER_QUANTITY(RegressorProductDerivatives, "regressor_product_derivatives", false, false, false, ({3, {3, n, n}}), regressor_product_derivatives(c, w, in[0], in[1], in[2], in[3], out), "q", "dq", "ddq", "pi")
THUNDER_QUANTITY(SlotineLiProductDerivatives, "slotine_li_product_derivatives", false, false, false, ({3, {4, n, n}}), slotine_li_product_derivatives(c, w, in[0], in[1], in[2], in[3], in[4], out), "q", "dq", "dq_r", "ddq_r", "pi")
THUNDER_QUANTITY(TransposedRegressorDerivatives, "transposed_regressor_derivatives", false, false, true, ({3, {3, p, n}}), transposed_regressor_derivatives(c, w, in[0], in[1], in[2], in[3], out), "q", "dq", "ddq", "s")
THUNDER_QUANTITY(TransposedSlotineLiDerivatives, "transposed_slotine_li_derivatives", false, false, true, ({3, {4, p, n}}), transposed_slotine_li_derivatives(c, w, in[0], in[1], in[2], in[3], in[4], out), "q", "dq", "dq_r", "ddq_r", "s")
THUNDER_QUANTITY(MassMatrixDerivative, "mass_matrix_derivative", false, false, true, THUNDER_TENSOR, mass_matrix_derivative(c, w, in[0], out), "q")
THUNDER_QUANTITY(CoriolisMatrixAlgebra, "coriolis_matrix_algebra", false, false, false, THUNDER_MATRIX, coriolis_matrix_algebra(c, w, in[0], in[1], out), "q", "dq")
THUNDER_QUANTITY(CoriolisMatrixChristoffel, "coriolis_matrix_christoffel", false, false, false, THUNDER_MATRIX, coriolis_matrix_christoffel(c, w, in[0], in[1], out), "q", "dq")
THUNDER_QUANTITY(MassBlocks, "mass_blocks", false, false, false, ({4, {n, 10, n, n}}), mass_blocks(c, w, in[0], out), "q")
THUNDER_QUANTITY(CoriolisBlocks, "coriolis_blocks", false, false, false, ({4, {n, 10, n, n}}), coriolis_blocks(c, w, in[0], in[1], out), "q", "dq")
THUNDER_QUANTITY(GravityBlocks, "gravity_blocks", false, false, false, ({3, {n, 4, n}}), gravity_blocks(c, w, in[0], out), "q")
// clang-format on
}  // namespace quantities

#undef THUNDER_VECTOR
#undef THUNDER_MATRIX
#undef THUNDER_REGRESSOR
#undef THUNDER_MOTORS
#undef THUNDER_TENSOR
#undef THUNDER_QUANTITY

namespace quantities {
using All = std::tuple<ForwardKinematics, Jacobian, JacobianDot, MassMatrix, CoriolisMatrix, MassAndCoriolis, GravityVector,
                       FrictionTorque, MassMatrixDot, CoriolisMatrixDot, GravityVectorDot, JacobianDdot,
                       MassMatrixDdot, CoriolisMatrixDdot, GravityVectorDdot, InverseDynamics, ForwardDynamics, InverseDynamicsDot, InverseDynamicsDdot, ChristoffelSymbols, Regressor, SlotineLiRegressor, MassRegressor,
                       CoriolisRegressor, GravityRegressor, FrictionRegressor, KineticEnergy, PotentialEnergy,
                       SlotineLiTorque, GeneralizedMomentum, MomentumDrift, MomentumRegressor, KineticEnergyRegressor,
                       PotentialEnergyRegressor, OperationalSpaceInertia, Manipulability, ElasticTorque, ElasticDampingTorque, MotorDampingTorque,
                       MotorInertiaTorque, ElasticRegressor, ElasticDampingRegressor, MotorDampingRegressor,
                       MotorInertiaRegressor, ElasticForwardDynamics, InverseDynamicsDerivatives, ForwardDynamicsDerivatives,
                       InverseDynamicsSecondDerivatives, ForwardDynamicsSecondDerivatives, JacobianDerivative,
                       CoriolisMatrixDerivative, OperationalSpaceInertiaDerivative, RegressorProductDerivatives,
                       SlotineLiProductDerivatives, TransposedRegressorDerivatives, TransposedSlotineLiDerivatives,
                       MassMatrixDerivative, CoriolisMatrixAlgebra,
                       CoriolisMatrixChristoffel, MassBlocks, CoriolisBlocks, GravityBlocks>;
}  // namespace quantities

inline constexpr std::size_t kQuantityCount = std::tuple_size_v<quantities::All>;

/// Description of a quantity, for callers that take any of them.
struct QuantityInfo {
  const char* name;
  const char* const* inputs;
  int input_count;
  bool takes_frame, takes_rows;
  unsigned motor_inputs;
  Shape (*shape)(const Sizes&);
  int (*input_size)(int, const Sizes&);
};
template <class Q>
constexpr QuantityInfo quantity_info() {
  return {Q::name, Q::inputs, Q::input_count, Q::takes_frame, Q::takes_rows, Q::motor_inputs, Q::shape, Q::input_size};
}

template <class... Q>
constexpr std::array<QuantityInfo, kQuantityCount> list_quantities(std::tuple<Q...>*) {
  return {quantity_info<Q>()...};
}
/// All entries, in the order of the list.
inline constexpr std::array<QuantityInfo, kQuantityCount> kQuantities =
    list_quantities(static_cast<quantities::All*>(nullptr));

/// Place of a quantity in the list.
template <class Q, std::size_t I = 0>
constexpr std::size_t find_quantity() {
  if constexpr (std::is_same_v<Q, std::tuple_element_t<I, quantities::All>>)
    return I;
  else
    return find_quantity<Q, I + 1>();
}
template <class Q>
inline constexpr std::size_t quantity_index = find_quantity<Q>();

}  // namespace thunder
