#include "thunder/control/length_model.hpp"

#include <stdexcept>

#include "thunder/math/rotations.hpp"

namespace thunder {

using Eigen::Map;
using Eigen::VectorXd;

LengthModel::LengthModel(Data data) : data_(std::move(data)) {
  const auto k = static_cast<std::size_t>(data_.nominal.size()), a = data_.factors.size();
  if (data_.names.size() != k || static_cast<std::size_t>(data_.scale.size()) != k || data_.affine.size() != k + 1 ||
      data_.nodes.size() != a || static_cast<std::size_t>(data_.weights.rows()) != a ||
      static_cast<std::size_t>(data_.weights.cols()) != a || a == 0)
    throw std::invalid_argument("the arms of a length model must agree with its lengths and monomials");
  for (const auto* arms : {&data_.affine, &data_.nodes})
    for (const auto& arm : *arms)
      if (!arm || arm->n() != data_.affine.front()->n() || arm->parameter_count() != data_.affine.front()->parameter_count())
        throw std::invalid_argument("the arms of a length model must have the same joints and parameters");
  for (const std::vector<int>& factors : data_.factors)
    for (const int i : factors)
      if (i < 0 || i >= lengths()) throw std::invalid_argument("factors must be numbers of unknown lengths, got " + std::to_string(i));
  if (!(data_.scale.array() > 0.0).all()) throw std::invalid_argument("scale must be positive");
  known_ = data_.affine.front()->parameters();
  if (data_.unknown.size() != static_cast<std::size_t>(known_.size()))
    throw std::invalid_argument("unknown must have one entry for each inertial parameter");
  for (int i = 0; i < known_.size(); ++i) {
    if (!data_.unknown[i]) continue;
    unknown_.push_back(i);
    known_[i] = 0.0;
  }
  for (const auto& model : data_.affine) affine_.emplace_back(model);
  for (const auto& model : data_.nodes) nodes_.emplace_back(model);
  const auto u = static_cast<Eigen::Index>(unknown_.size());
  columns_.assign(a, RowMajor::Zero(n(), 1 + u));
  Y_ = RowMajor::Zero(n(), known_.size());
  at_nodes_ = RowMajor::Zero(monomials(), 1 + u);
  J_.assign(k + 1, Jacobian::Zero(6, n()));
  J_dot_ = J_;
}

std::vector<std::string> LengthModel::product_names() const {
  std::vector<std::string> result;
  for (const std::vector<int>& factors : data_.factors) {
    std::string monomial;
    for (const int i : factors) monomial += (monomial.empty() ? "" : " ") + data_.names[i];
    result.push_back(monomial);
    for (const int i : unknown_) result.push_back((monomial.empty() ? "" : monomial + " ") + arm()->parameter_names()[i]);
  }
  return result;
}

LengthModel::Kinematics LengthModel::blank_kinematics() const {
  const Jacobian zero = Jacobian::Zero(6, n());
  return {Eigen::Vector3d::Zero(), Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero(), Eigen::Matrix3Xd::Zero(3, lengths()), zero,
          zero, std::vector<Jacobian>(lengths(), zero), Eigen::Matrix<double, 6, Eigen::Dynamic>::Zero(6, lengths())};
}

void LengthModel::kinematics(const double* q, const double* dq, const double* lengths, Kinematics& o) noexcept {
  const Map<const VectorXd> velocity(dq, n());
  Pose<double> pose;
  for (std::size_t j = 0; j < affine_.size(); ++j) {
    const Model& model = affine_[j].model();
    affine_[j].frame_kinematics(q, dq, model.frame(model.end_effector()), &pose, J_[j].data(), J_dot_[j].data());
    if (j > 0) {
      const double scale = data_.scale[j - 1], change = lengths[j - 1] - data_.nominal[j - 1];
      J_dot_[j] -= J_dot_[0];
      o.dJ[j - 1] = (J_[j] - J_[0]) / scale;
      o.J += change * o.dJ[j - 1];
      o.J_dot += (change / scale) * J_dot_[j];
      o.W.col(j - 1) = o.dJ[j - 1].lazyProduct(velocity);
      o.P.col(j - 1) = to_eigen(pose.p);  // of the displaced arm
    } else {
      o.p = to_eigen(pose.p);
      o.R = to_eigen(pose.R);
      o.J = J_[0];
      o.J_dot = J_dot_[0];
      o.w = o.J.bottomRows<3>().lazyProduct(velocity);
    }
  }
  o.P.colwise() -= o.p;
  for (int j = 0; j < o.P.cols(); ++j) o.P.col(j) /= data_.scale[j];
  for (int j = 0; j < o.P.cols(); ++j) o.p += (lengths[j] - data_.nominal[j]) * o.P.col(j);
}

void LengthModel::products(const double* lengths, const double* parameters, RowMajor& result) const noexcept {
  for (int a = 0; a < monomials(); ++a) {
    double monomial = 1.0;
    for (const int i : data_.factors[a]) monomial *= (lengths[i] - data_.nominal[i]) / data_.scale[i];
    result(a, 0) = monomial;
    for (std::size_t j = 0; j < unknown_.size(); ++j) result(a, 1 + j) = monomial * parameters[unknown_[j]];
  }
}

void LengthModel::regress(const double* q, const double* dq, const double* dq_r, const double* ddq_r) noexcept {
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    nodes_[k].slotine_li_regressor(q, dq, dq_r, ddq_r, Y_.data());
    columns_[k].col(0) = Y_.lazyProduct(known_);
    for (std::size_t j = 0; j < unknown_.size(); ++j) columns_[k].col(1 + j) = Y_.col(unknown_[j]);
  }
}

void LengthModel::torque(const RowMajor& products, double* tau) noexcept {
  Map<VectorXd> result(tau, n());
  at_nodes_ = data_.weights.transpose().lazyProduct(products);
  result.setZero();
  for (int k = 0; k < monomials(); ++k) result += columns_[k].lazyProduct(at_nodes_.row(k).transpose());
}

void LengthModel::gradient(const VectorXd& s, RowMajor& result) noexcept {
  for (int k = 0; k < monomials(); ++k) at_nodes_.row(k) = s.transpose().lazyProduct(columns_[k]);
  result = data_.weights.lazyProduct(at_nodes_);
}

RowMajor LengthModel::regressor_row(int i) const {
  RowMajor rows(monomials(), at_nodes_.cols());
  for (int k = 0; k < monomials(); ++k) rows.row(k) = columns_[k].row(i);
  return data_.weights.lazyProduct(rows);
}

}  // namespace thunder
