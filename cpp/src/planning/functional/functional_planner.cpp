#include "thunder/planning/functional/functional_planner.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "thunder/planning/functional/motion_frame.hpp"
#include "thunder/planning/functional/score_solver.hpp"

namespace thunder {

namespace {

using Mode = PlannerSettings::Mode;

/// A derivative that no component changes by more than this fraction of the usual size is not a constraint on them.
constexpr double kStill = 1e-9;

[[noreturn]] void refuse(const FunctionalModel& model, int order, bool too_few, int dof = 0) {
  constexpr const char* kOf[] = {"", "position", "position and velocity", "position, velocity and acceleration"};
  const int need = (2 * order - 1) * (model.joint ? model.dimension : 1);
  if (too_few)
    throw std::invalid_argument(std::string(kOf[order]) + " at both ends need at least " + std::to_string(need) +
                                " components, the model has " + std::to_string(model.components));
  throw std::invalid_argument(
      std::string("the components cannot meet constraints on ") + kOf[order] +
      " at both ends" + (model.joint ? "" : " of degree of freedom " + std::to_string(dof)) +
      ": all demonstrations are alike there, or too few. Fewer constraints, more components or shrinkage help");
}

}  // namespace

FunctionalPlanner::FunctionalPlanner(FunctionalModel model, PlannerSettings settings)
    : model_(std::move(model)), settings_(settings) {
  if (settings_.order < 1 || settings_.order > 3)
    throw std::invalid_argument("order must be 1 to 3, got " + std::to_string(settings_.order));
  if (model_.degree < 1) throw std::invalid_argument("degree must be at least 1");
  measure_derivatives();
  const int need = (2 * settings_.order - 1) * (model_.joint ? model_.dimension : 1);
  if (model_.components < need) refuse(model_, settings_.order, true);
  if (model_.joint)
    add_system(0, model_.dimension);
  else
    for (int k = 0; k < model_.dimension; ++k) add_system(k, 1);
}

double FunctionalPlanner::deviation(int component, int dof) const noexcept {
  const double variance = model_.variances[static_cast<std::size_t>(model_.score(component, dof) - dimension())];
  return settings_.mode == Mode::exact ? (variance > 0.0 ? 1.0 : 0.0) : std::sqrt(variance);
}

void FunctionalPlanner::measure_derivatives() {
  const int d = dimension();
  std::vector<double> values(static_cast<std::size_t>((model_.components + 1) * d));
  for (int derivative = 0; derivative < 4; ++derivative) {
    double sum[kMaxDofs] = {};
    for (int p = 0; p < model_.pieces(); ++p) {
      const double middle = 0.5 * (model_.breaks[p] + model_.breaks[p + 1]);
      model_.functions_at(middle, derivative, values.data(), values.data() + model_.components * d);
      for (int i = 0; i < model_.components; ++i)
        for (int k = 0; k < d; ++k) sum[k] += std::pow(deviation(i, k) * values[i * d + k], 2);
    }
    for (int k = 0; k < d; ++k) least_[derivative][k] = kStill * std::sqrt(sum[k] / model_.pieces());
  }
}

Eigen::VectorXd FunctionalPlanner::score_scale(int first, int size, int constraints) const {
  const int share = model_.joint ? 1 : size;  // scores per component
  const int most = settings_.mode == Mode::map ? model_.components : (constraints - 1) * (model_.joint ? size : 1);
  Eigen::VectorXd scale = Eigen::VectorXd::Zero(model_.components * share);
  for (int i = 0; i < std::min(most, model_.components); ++i)
    for (int k = 0; k < share; ++k) scale[i * share + k] = deviation(i, first + k);
  return scale;
}

void FunctionalPlanner::constraint_rows(double tau, int derivative, int first, int size, Eigen::Ref<RowMajor> rows,
                                        double* mean) const {
  const int d = dimension(), share = model_.joint ? 1 : size;
  double values[FunctionalModel::kMaxComponents * kMaxDofs], all_means[kMaxDofs];
  model_.functions_at(tau, derivative, values, all_means);
  rows.setZero();
  for (int k = 0; k < size; ++k) {
    double squares = 0.0;
    for (int i = 0; i < model_.components; ++i) {
      const double value = values[i * d + first + k], moves = deviation(i, first + k) * value;
      rows(k, size + (model_.joint ? i : i * share + k)) = value;
      squares += moves * moves;
    }
    if (derivative == 0) rows(k, k) = 1.0;
    else if (squares <= least_[derivative][first + k] * least_[derivative][first + k]) rows.row(k).setZero();
    mean[k] = all_means[first + k];
  }
}

void FunctionalPlanner::add_system(int first, int size) {
  const int count = 2 * settings_.order, n = model_.joint ? model_.components : size * model_.components;
  RowMajor A(count * size, size + n);
  Eigen::VectorXd mean(count * size);
  for (int r = 0; r < count; ++r)
    constraint_rows(r % 2, r / 2, first, size, A.middleRows(r * size, size), mean.data() + r * size);
  Eigen::VectorXd scale = score_scale(first, size, count);
  if (settings_.mode == Mode::exact) scale = scale.cwiseProduct(equilibration(A, size));
  const ScoreSolver solver(A, size, scale, {});
  if (!solver.solvable()) refuse(model_, settings_.order, false, first);
  condition_ = std::max(condition_, solver.condition());
  Eigen::MatrixXd right(count * size, 1 + count * size);  // n: residual of the mean; M: each entry of b
  right << -mean, Eigen::MatrixXd::Identity(count * size, count * size);
  System system{first, size, {}, {}, {}, {}};
  const Eigen::MatrixXd unknowns = solver.solve(right);
  tabulate(system, unknowns);
  add_deviations(system, unknowns);
  add_costs(system);
  systems_.push_back(std::move(system));
}

void FunctionalPlanner::tabulate(System& system, const Eigen::MatrixXd& unknowns) const {
  const int d = dimension(), rows = model_.rows(), entries = static_cast<int>(unknowns.cols()) - 1;
  system.constant.resize(static_cast<std::size_t>(rows * system.size));
  system.response.resize(system.constant.size() * static_cast<std::size_t>(entries));
  for (int p = 0; p < rows; ++p)
    for (int k = 0; k < system.size; ++k) {
      Eigen::RowVectorXd features = Eigen::RowVectorXd::Zero(unknowns.rows());
      features[k] = 1.0;
      const std::size_t here = static_cast<std::size_t>(p * d + system.first + k);
      for (int i = 0; i < model_.components; ++i)
        features[system.size + (model_.joint ? i : i * system.size + k)] =
            model_.functions[static_cast<std::size_t>(i) * model_.mean.size() + here];
      const Eigen::RowVectorXd line = features * unknowns;
      const std::size_t at = static_cast<std::size_t>(p * system.size + k);
      system.constant[at] = model_.mean[here] + line[0];
      std::copy_n(line.data() + 1, entries, system.response.data() + at * static_cast<std::size_t>(entries));
    }
}

void FunctionalPlanner::add_deviations(System& system, const Eigen::MatrixXd& unknowns) const {
  Eigen::MatrixXd scores = unknowns.bottomRows(unknowns.rows() - system.size);
  const int share = model_.joint ? 1 : system.size;
  for (Eigen::Index i = 0; i < scores.rows(); ++i) {
    const auto number = model_.score(static_cast<int>(i) / share, system.first + static_cast<int>(i) % share);
    const double variance = model_.variances[static_cast<std::size_t>(number - dimension())];
    scores.row(i) *= variance > 0.0 ? 1.0 / std::sqrt(variance) : 0.0;
  }
  const Eigen::Index entries = std::min(scores.rows(), scores.cols());  // the same norms with fewer rows
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(scores);
  system.deviations = qr.matrixQR().topRows(entries).triangularView<Eigen::Upper>();
}

BezierPath FunctionalPlanner::blank(int segments) const {
  if (segments < 1) throw std::invalid_argument("segments must be at least 1, got " + std::to_string(segments));
  return {dimension(), model_.degree, segments * model_.pieces()};
}

/// b in the coordinates of the model, row by row.
void FunctionalPlanner::conditions(const MotionFrame& frame, const BoundaryState& from, const BoundaryState& to,
                                   double duration, double (&all)[6][kMaxDofs]) const noexcept {
  const DofVector* const given[] = {&from.x, &to.x, &from.v, &to.v, &from.a, &to.a};
  const double powers[] = {1.0, duration, duration * duration};
  for (int r = 0; r < 2 * settings_.order; ++r) {
    frame.to_model(*given[r], r >= 2, all[r]);
    for (int k = 0; k < dimension(); ++k) all[r][k] *= powers[r / 2];
  }
}

void FunctionalPlanner::connect(const BoundaryState& from, const BoundaryState& to, double t0, double duration,
                                BezierPath& path, int segment) const noexcept {
  const int d = dimension(), count = 2 * settings_.order;
  const MotionFrame frame(model_, from.x, to.x);
  double all[6][kMaxDofs], b[6 * kMaxDofs];
  conditions(frame, from, to, duration, all);
  double* const out = path.piece(segment * model_.pieces());
  for (const System& system : systems_) {
    const int size = system.size, entries = count * size;
    for (int r = 0; r < count; ++r) std::copy_n(all[r] + system.first, size, b + r * size);
    const double *n = system.constant.data(), *M = system.response.data();
    for (int p = 0; p < model_.rows(); ++p)
      for (int k = 0; k < size; ++k, M += entries) {
        double value = frame.mean_scale(system.first + k) * *n++;
        for (int e = 0; e < entries; ++e) value += M[e] * b[e];
        out[p * d + system.first + k] = value;
      }
  }
  for (int p = 0; frame.aligned && p < model_.rows(); ++p) frame.to_world(out + p * d);
  double* const breaks = path.breaks.data() + segment * model_.pieces();
  for (int p = 0; p <= model_.pieces(); ++p) breaks[p] = t0 + duration * model_.breaks[p];
}

double FunctionalPlanner::score_distance(const BoundaryState& from, const BoundaryState& to,
                                         double duration) const noexcept {
  const MotionFrame frame(model_, from.x, to.x);
  double all[6][kMaxDofs], sum = 0.0;
  conditions(frame, from, to, duration, all);
  Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 1 + 6 * kMaxDofs, 1> b;
  for (const System& system : systems_) {
    b.resize(system.deviations.cols());
    b[0] = frame.mean_scale(system.first);
    for (int r = 0; r < 2 * settings_.order; ++r)
      for (int k = 0; k < system.size; ++k) b[1 + r * system.size + k] = all[r][system.first + k];
    for (Eigen::Index i = 0; i < system.deviations.rows(); ++i) {
      const double score = system.deviations.row(i).dot(b);
      sum += score * score;
    }
  }
  return std::sqrt(sum);
}

}  // namespace thunder
