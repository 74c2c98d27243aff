// Dual numbers over a scalar of our own whose parameters are of that scalar too, as a recording scalar's are.
#include <cmath>
#include <cstring>
#include <vector>

#include "arms.hpp"
#include "check.hpp"
#include "thunder/kernels/quantities.hpp"

using namespace thunder;

namespace {

/// A double that nothing converts to or from by itself, and that knows no operator with a double.
struct Plain {
  double v;
  Plain() = default;
  explicit Plain(double value) : v(value) {}
};
Plain operator+(const Plain& a, const Plain& b) { return Plain(a.v + b.v); }
Plain operator-(const Plain& a, const Plain& b) { return Plain(a.v - b.v); }
Plain operator*(const Plain& a, const Plain& b) { return Plain(a.v * b.v); }
Plain operator/(const Plain& a, const Plain& b) { return Plain(a.v / b.v); }
Plain operator-(const Plain& a) { return Plain(-a.v); }
Plain operator*(const Plain& a, double k) { return Plain(a.v * k); }  // literals in kernels
Plain& operator+=(Plain& a, const Plain& b) { return a = a + b; }
Plain& operator-=(Plain& a, const Plain& b) { return a = a - b; }
Plain abs(const Plain& a) { return Plain(std::abs(a.v)); }
Plain copysign(const Plain& a, const Plain& x) { return Plain(std::copysign(a.v, x.v)); }
Plain sqrt(const Plain& a) { return Plain(std::sqrt(a.v)); }
void sincos(const Plain& x, Plain& s, Plain& c) {
  s = Plain(std::sin(x.v));
  c = Plain(std::cos(x.v));
}

/// What lies in memory as a T with doubles, as a U with Plain in their place.
template <class U, class T>
U as_plain(const T& value) {
  static_assert(sizeof(U) == sizeof(T));
  U result;
  std::memcpy(static_cast<void*>(&result), &value, sizeof result);
  return result;
}
template <class U, class T>
std::vector<U> as_plain(const T* values, int count) {
  static_assert(sizeof(U) == sizeof(T));
  std::vector<U> result(count);
  if (count > 0) std::memcpy(static_cast<void*>(result.data()), values, count * sizeof(T));
  return result;
}

/// A chain with parameters that are Plain.
struct PlainChain {
  ChainView<Plain> view;
  std::vector<Link<Plain>> links;
  OwnedJoints<BodyInertia, Plain> bodies;
  std::vector<Rotor<Plain>> rotors;
  std::vector<Plain> friction, K, D, Dm, Mm;

  explicit PlainChain(const ChainView<double>& c)
      : view(as_plain<ChainView<Plain>>(c)),
        links(as_plain<Link<Plain>>(c.links, c.n)),
        bodies(c.n),
        rotors(as_plain<Rotor<Plain>>(c.rotors, c.rotor_count)),
        friction(as_plain<Plain>(c.friction, c.n * c.friction_count)),
        K(as_plain<Plain>(c.elastic.K, c.elastic.count * c.elastic.K_order)),
        D(as_plain<Plain>(c.elastic.D, c.elastic.count * c.elastic.D_order)),
        Dm(as_plain<Plain>(c.elastic.Dm, c.elastic.count * c.elastic.Dm_order)),
        Mm(as_plain<Plain>(c.elastic.Mm, c.elastic.count)) {
    view.links = links.data();
    view.bodies = bodies.view();
    for (int i = 0; i < c.n; ++i) {
      BodyInertia<double> from = c.bodies.get(i);
      BodyInertia<Plain> to;
      std::memcpy(static_cast<void*>(&to), &from, sizeof to);
      view.bodies.set(i, to);
    }
    view.theta = view.revolute = nullptr;  // for packs of joints
    view.rotors = rotors.data();
    view.friction = friction.data();
    view.elastic.K = K.data();
    view.elastic.D = D.data();
    view.elastic.Dm = Dm.data();
    view.elastic.Mm = Mm.data();
  }
};

bool close(const std::vector<double>& a, const std::vector<Plain>& b) {
  double scale = 1.0, error = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    scale = std::max(scale, std::abs(a[i]));
    error = std::max(error, std::abs(a[i] - b[i].v));
  }
  return error < 1e-12 * scale;
}

template <class Quantity>
void check_quantity(const Model& model) {
  const ChainView<double> chain = model.view();
  const Frame<double>& frame = model.frame(model.end_effector());
  const Selection<double> selection{frame, TaskRows{}};
  const PlainChain plain(chain);
  const Selection<Plain> plain_selection{as_plain<Frame<Plain>>(frame), TaskRows{}};
  Eigen::VectorXd x = Eigen::VectorXd::Constant(chain.parameters(), 0.4);  // as many numbers as any input has
  x.head(chain.n) = arms::posture();
  std::vector<Plain> y;
  for (const double value : x) y.emplace_back(value);
  const double* in[] = {x.data(), x.data(), x.data(), x.data(), x.data()};
  const Plain* plain_in[] = {y.data(), y.data(), y.data(), y.data(), y.data()};
  const int size = Quantity::shape(sizes(chain, 6)).size();
  std::vector<double> expected(size);
  std::vector<Plain> actual(size);
  const WorkspaceMemory memory(workspace_bytes(chain.n, sizeof(double)));
  Quantity::evaluate(chain, memory.view(), in, selection, expected.data());
  Quantity::evaluate(plain.view, memory.view(), plain_in, plain_selection, actual.data());
  if (!CHECK(close(expected, actual))) std::fprintf(stderr, "  in %s\n", Quantity::name);
}

using D1 = Dual<Plain>;
using D2 = Dual<D1>;

/// x = 2 along a path of velocity 3 and acceleration 5.
D2 variable() { return {{Plain(2), Plain(3)}, {Plain(3), Plain(5)}}; }

bool is(const D2& x, double value, double first, double second) {
  return std::abs(x.a.a.v - value) + std::abs(x.a.b.v - first) + std::abs(x.b.a.v - first) +
             std::abs(x.b.b.v - second) < 1e-12;
}

void check_arithmetic() {
  const D2 x = variable();
  const Plain k(7);
  const D1 inner{Plain(7), Plain(0)};
  for (const D2& product : {x * k, k * x, x * 7.0, 7.0 * x, x * inner}) CHECK(is(product, 14, 21, 35));
  for (const D2& sum : {x + k, k + x, inner + x}) CHECK(is(sum, 9, 3, 5));
  CHECK(is(x - k, -5, 3, 5));
  CHECK(is(k - x, 5, -3, -5));
  CHECK(is(x / Plain(2), 1, 1.5, 2.5));
  CHECK(is(k / x, 3.5, -5.25, 7 * (2 * 9 / 8.0 - 5 / 4.0)));
  CHECK(is(x * x, 4, 12, 2 * (9 + 10)));
  CHECK(is(abs(-x), 2, 3, 5));
  CHECK(is(copysign(x, Plain(-1) * x), -2, -3, -5));
  CHECK(is(sqrt(x * x), 2, 3, 5));
  D2 s, c;
  sincos(x, s, c);
  CHECK(is(s, std::sin(2), 3 * std::cos(2), 5 * std::cos(2) - 9 * std::sin(2)));
  CHECK(is(c, std::cos(2), -3 * std::sin(2), -5 * std::sin(2) - 9 * std::cos(2)));
}

}  // namespace

int main() {
  check_arithmetic();
  const auto model = arms::everything();
  check_quantity<quantities::CoriolisMatrixDdot>(*model);
  check_quantity<quantities::GravityVectorDdot>(*model);
  check_quantity<quantities::JacobianDdot>(*model);
  check_quantity<quantities::ElasticForwardDynamics>(*model);
  return check::result();
}
