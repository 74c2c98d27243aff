#include "thunder/planning/primitives/dmp.hpp"

#include <cmath>
#include <stdexcept>

#include "thunder/math/matrices.hpp"

namespace thunder {

namespace {

using Number = Dual<double>;

double value(double x) { return x; }
double value(const Number& x) { return x.a; }

template <class S>
S dot(const S* a, const S* b, int size) {
  S sum(0.0);
  for (int i = 0; i < size; ++i) sum = sum + a[i] * b[i];
  return sum;
}

/// The unit vector at right angles to u, by the axis that u is farthest from: for the choice at half a turn.
template <class S>
void perpendicular(const S* u, int size, S* v) {
  using std::abs, std::sqrt;
  int least = 0;
  for (int i = 1; i < size; ++i)
    if (abs(value(u[i])) < abs(value(u[least]))) least = i;
  for (int i = 0; i < size; ++i) v[i] = S(i == least ? 1.0 : 0.0) - u[least] * u[i];
  const S length = sqrt(dot(v, v, size));
  for (int i = 0; i < size; ++i) v[i] = v[i] / length;
}

/// f turned by the rotation that takes the unit vector u to w in their plane and keeps the part orthogonal to both.
template <class S>
void rotate(const S* u, const S* w, int size, S* f) {
  const S cosine = dot(u, w, size), fu = dot(f, u, size);
  if (value(cosine) > -1.0 + 1e-12) {
    const S part = (dot(f, w, size) + fu) / (cosine + 1.0);
    for (int i = 0; i < size; ++i) f[i] = f[i] - (u[i] + w[i]) * part + w[i] * fu * 2.0;
    return;
  }
  S v[Dmp::kMaxDimension];  // half a turn; in one dimension, the reflection
  if (size > 1) perpendicular(u, size, v);
  const S fv = size > 1 ? dot(f, v, size) : S(0.0);
  for (int i = 0; i < size; ++i) f[i] = f[i] - u[i] * fu * 2.0 - (size > 1 ? v[i] * fv * 2.0 : S(0.0));
}

}  // namespace

Dmp::Dmp(DmpBasis basis, const Settings& settings, const Eigen::MatrixXd& weights, const Eigen::VectorXd& displacement)
    : basis_(std::move(basis)), settings_(settings), dimension_(static_cast<int>(weights.cols())) {
  if (weights.rows() != basis_.count() || displacement.size() != weights.cols())
    throw std::invalid_argument("weights must be functions x dimension, and displacement as long as the dimension");
  if (dimension_ < 1 || dimension_ > kMaxDimension) throw std::invalid_argument("dimension must be from 1 to 16");
  if (!(settings.K > 0.0) || !(settings.D > 0.0)) throw std::invalid_argument("K and D must be positive");
  if (basis_.periodic() != (settings.scaling == Scaling::rhythmic))
    throw std::invalid_argument("a rhythmic primitive must have a periodic basis, and a discrete one must not");
  if (settings.rotodilatation && !(displacement.norm() > 0.0))
    throw std::invalid_argument("start and goal must differ: a rotation of the motion needs a direction");
  for (Eigen::Index i = 0; i < weights.rows(); ++i)
    for (Eigen::Index d = 0; d < weights.cols(); ++d) weights_.push_back(weights(i, d));
  displacement_ = displacement;
  const Vector zero = Vector::Zero(dimension_);
  y_ = z_ = start_ = goal_ = target_ = raw_ = amplitude_ = amplitude_target_ = zero;
  reset(zero.data(), zero.data(), 1.0, nullptr);
}

void Dmp::reset(const double* start, const double* goal, double tau, const double* velocity, const double* amplitude,
                double angle) noexcept {
  for (int d = 0; d < dimension_; ++d) {
    y_[d] = start_[d] = start[d];
    goal_[d] = target_[d] = goal[d];
    z_[d] = velocity ? tau * velocity[d] : 0.0;
    amplitude_[d] = amplitude_target_[d] = amplitude ? amplitude[d] : 1.0;
  }
  tau_ = tau;
  time_ = 0.0;
  elapsed_ = basis_.periodic() ? angle : 0.0;
  x_ = basis_.phase(elapsed_);
  basis_.forcing(weights_.data(), dimension_, x_, raw_.data());
}

void Dmp::archive(StateArchive& state) {
  state(y_, z_, start_, goal_, target_, raw_, amplitude_, amplitude_target_, tau_, time_, elapsed_, x_, filter_);
  state(field_.gain, field_.beta, field_.least_distance, field_.tie_break);
  state.numbers(field_.side, 3);
  spheres_.resize(state.count(spheres_.size(), 7));
  for (RepellingSphere& sphere : spheres_) {
    state.numbers(sphere.center, 3);
    state.numbers(sphere.velocity, 3);
    state(sphere.radius);
  }
}

void Dmp::set_goal(const double* goal) noexcept {
  for (int d = 0; d < dimension_; ++d) target_[d] = goal[d];
  if (!(filter_ > 0.0)) goal_ = target_;
}

void Dmp::set_amplitude(const double* amplitude) noexcept {
  for (int d = 0; d < dimension_; ++d) amplitude_target_[d] = amplitude[d];
  if (!(filter_ > 0.0)) amplitude_ = amplitude_target_;
}

void Dmp::set_tau(double tau) noexcept {
  z_ *= tau / tau_;
  tau_ = tau;
}

void Dmp::set_obstacles(const DynamicPotential& field, std::vector<RepellingSphere> spheres) {
  field_ = field;
  spheres_ = std::move(spheres);
}

Dmp::Vector Dmp::filtered(const Vector& current, const Vector& target, double dt) const noexcept {
  if (!(filter_ > 0.0)) return target;
  return target + std::exp(-dt / filter_) * (current - target);
}

template <class S>
void Dmp::turn(const S* goal, S* f) const noexcept {
  using std::sqrt;
  S u[kMaxDimension], w[kMaxDimension];
  for (int d = 0; d < dimension_; ++d) u[d] = S(displacement_[d]), w[d] = goal[d] - start_[d];
  const S before = sqrt(dot(u, u, dimension_)), now = sqrt(dot(w, w, dimension_) + 1e-200);
  for (int d = 0; d < dimension_; ++d) u[d] = u[d] / before, w[d] = w[d] / now;
  rotate(u, w, dimension_, f);
  for (int d = 0; d < dimension_; ++d) f[d] = f[d] * (now / before);
}

template <class S>
void Dmp::drive(const S& x, const S* raw, const S* goal, const S* amplitude, S* N) const noexcept {
  S f[kMaxDimension];
  for (int d = 0; d < dimension_; ++d) f[d] = raw[d];
  if (settings_.rotodilatation) turn(goal, f);
  for (int d = 0; d < dimension_; ++d) {
    if (settings_.scaling == Scaling::rhythmic) {
      N[d] = (goal[d] + amplitude[d] * f[d]) * settings_.K;
      continue;
    }
    const S way = goal[d] - start_[d];
    N[d] = settings_.scaling == Scaling::paper ? goal[d] * settings_.K + way * f[d]
                                               : (goal[d] - way * x + f[d]) * settings_.K;
  }
}

template <class S>
void Dmp::couple(const S* y, const S* z, const S& t, S* N) const noexcept {
  const int size = dimension_ < 3 ? dimension_ : 3;
  for (const RepellingSphere& sphere : spheres_) {
    S r[3]{S(0.0), S(0.0), S(0.0)}, relative[3]{S(0.0), S(0.0), S(0.0)}, force[3]{S(0.0), S(0.0), S(0.0)};
    for (int k = 0; k < size; ++k) {
      r[k] = y[k] - (t * sphere.velocity[k] + sphere.center[k]);
      relative[k] = z[k] - tau_ * sphere.velocity[k];
    }
    field_.add_force(r, relative, sphere.radius, force);
    for (int k = 0; k < size; ++k) N[k] = N[k] + force[k];
  }
}

Dmp::Vector Dmp::coupled(const Vector& N, const Vector& y, const Vector& z, double t) const noexcept {
  Vector sum = N;
  couple(y.data(), z.data(), t, sum.data());
  return sum;
}

void Dmp::advance(const Vector (&N)[3]) noexcept {
  for (int d = 0; d < dimension_; ++d) {
    const double each[3] = {N[0][d], N[1][d], N[2][d]};
    step_.advance(y_[d], z_[d], each, y_[d], z_[d]);
  }
}

void Dmp::advance_among_obstacles(const Vector (&N)[3], double dt) noexcept {
  Vector ya(dimension_), za(dimension_), yb(dimension_), zb(dimension_), yc(dimension_), zc(dimension_);
  const double middle = time_ + 0.5 * dt;
  const Vector N0 = coupled(N[0], y_, z_, time_);
  for (int d = 0; d < dimension_; ++d) step_.advance_half(y_[d], z_[d], N0[d], ya[d], za[d]);
  const Vector Na = coupled(N[1], ya, za, middle);
  for (int d = 0; d < dimension_; ++d) step_.advance_half(y_[d], z_[d], Na[d], yb[d], zb[d]);
  const Vector Nb = coupled(N[1], yb, zb, middle);
  for (int d = 0; d < dimension_; ++d) step_.advance_half(ya[d], za[d], 2.0 * Nb[d] - N0[d], yc[d], zc[d]);
  advance({N0, 0.5 * (Na + Nb), coupled(N[2], yc, zc, time_ + dt)});
}

void Dmp::step(double dt) noexcept {
  if (!(dt > 0.0)) return;
  const double h = dt / tau_;
  step_.prepare(settings_.K, settings_.D, h);
  const Vector middle = filtered(goal_, target_, 0.5 * dt), end = filtered(goal_, target_, dt);
  const Vector r_middle = filtered(amplitude_, amplitude_target_, 0.5 * dt), r_end = filtered(amplitude_, amplitude_target_, dt);
  Vector N[3] = {Vector(dimension_), Vector(dimension_), Vector(dimension_)};
  drive(x_, raw_.data(), goal_.data(), amplitude_.data(), N[0].data());
  const double xm = basis_.phase(elapsed_ + 0.5 * h);
  basis_.forcing(weights_.data(), dimension_, xm, raw_.data());
  drive(xm, raw_.data(), middle.data(), r_middle.data(), N[1].data());
  elapsed_ += h;
  if (basis_.periodic()) elapsed_ = std::fmod(elapsed_, 2.0 * kPi);
  x_ = basis_.phase(elapsed_);
  basis_.forcing(weights_.data(), dimension_, x_, raw_.data());
  drive(x_, raw_.data(), end.data(), r_end.data(), N[2].data());
  spheres_.empty() ? advance(N) : advance_among_obstacles(N, dt);
  goal_ = end;
  amplitude_ = r_end;
  time_ += dt;
}

Dmp::Vector Dmp::acceleration() const noexcept {
  Vector N(dimension_);
  drive(x_, raw_.data(), goal_.data(), amplitude_.data(), N.data());
  couple(y_.data(), z_.data(), time_, N.data());
  return (N - settings_.K * y_ - settings_.D * z_) / (tau_ * tau_);
}

Dmp::Vector Dmp::jerk() const noexcept {
  const Vector ddy = acceleration();
  const Number x(x_, basis_.phase_rate(x_) / tau_), t(time_, 1.0);
  Number raw[kMaxDimension], goal[kMaxDimension], amplitude[kMaxDimension], y[kMaxDimension], z[kMaxDimension], N[kMaxDimension];
  basis_.forcing(weights_.data(), dimension_, x, raw);
  for (int d = 0; d < dimension_; ++d) {
    goal[d] = Number(goal_[d], filter_ > 0.0 ? (target_[d] - goal_[d]) / filter_ : 0.0);
    amplitude[d] = Number(amplitude_[d], filter_ > 0.0 ? (amplitude_target_[d] - amplitude_[d]) / filter_ : 0.0);
    y[d] = Number(y_[d], z_[d] / tau_);
    z[d] = Number(z_[d], tau_ * ddy[d]);
  }
  drive(x, raw, goal, amplitude, N);
  couple(y, z, t, N);
  Vector result(dimension_);
  for (int d = 0; d < dimension_; ++d)
    result[d] = (N[d].b - settings_.K * y[d].b - settings_.D * z[d].b) / (tau_ * tau_);
  return result;
}

}  // namespace thunder
