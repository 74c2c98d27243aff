#include "thunder/recording/symbolic_chain.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <stdexcept>

#include "thunder/kernels/quantities.hpp"
#include "thunder/model/inertia.hpp"
#include "thunder/recording/outliner.hpp"

namespace thunder {

namespace {

using PoseX = Pose<Expression>;

std::size_t scratch_bytes(int n) { return workspace_bytes(n, sizeof(Expression)); }

using Vec3X = Vec3<Expression>;

constexpr double kSnap = 1e-11;  // angles this near to a quarter turn are one: exact zeros drop whole terms

void cos_sin(const Expression& angle, Expression& c, Expression& s) {
  if (angle.is_constant()) {
    const double quarter = std::nearbyint(angle.value / M_PI_2);
    if (std::abs(angle.value - quarter * M_PI_2) <= kSnap * std::max(1.0, std::abs(quarter))) {
      const int k = static_cast<int>(std::fmod(std::fmod(quarter, 4.0) + 4.0, 4.0));
      c = std::array<double, 4>{1.0, 0.0, -1.0, 0.0}[k];
      s = std::array<double, 4>{0.0, 1.0, 0.0, -1.0}[k];
      return;
    }
  }
  c = cos(angle);
  s = sin(angle);
}

Expression number(double x) { return x + 0.0; }

PoseX to_expressions(const Pose<double>& pose) { return {as<Expression>(pose.R), as<Expression>(pose.p)}; }

Link<Expression> to_expressions(const Link<double>& l) {
  return {l.type,               number(l.cos_alpha), number(l.sin_alpha), as<Expression>(l.p), number(l.theta),
          number(l.cos_theta), number(l.sin_theta), number(l.armature), l.has_offset,         to_expressions(l.offset)};
}

Pose<double> inverse(const Pose<double>& pose) {
  const Mat3<double>& R = pose.R;
  const Vec3<double> p = transposed_times(R, pose.p);
  return {{R.xx, R.yx, R.zx, R.xy, R.yy, R.zy, R.xz, R.yz, R.zz}, {-p.x, -p.y, -p.z}};
}

/// R = Rz(yaw) Ry(pitch) Rx(roll)
PoseX pose_of(const std::vector<Expression>& v) {
  Expression cy, sy, cp, sp, cr, sr;
  cos_sin(v[3], cy, sy);
  cos_sin(v[4], cp, sp);
  cos_sin(v[5], cr, sr);
  return {{cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr, sy * cp, sy * sp * sr + cy * cr,
           sy * sp * cr - cy * sr, -sp, cp * sr, cp * cr},
          {v[0], v[1], v[2]}};
}

BodyInertia<Expression> body_of(const Expression* row, bool dyn) {
  const Expression& m = row[0];
  if (!dyn) return {m, {row[1], row[2], row[3]}, {row[4], row[5], row[6], row[7], row[8], row[9]}};
  const Vec3X c{row[1], row[2], row[3]};  // parallel axes: I = I_c + m (c.c 1 - c c')
  const Vec3X h = c * m;
  return {m, h,
          {row[4] + (h.y * c.y + h.z * c.z), row[5] - h.x * c.y, row[6] - h.x * c.z,
           row[7] + (h.x * c.x + h.z * c.z), row[8] - h.y * c.z, row[9] + (h.x * c.x + h.y * c.y)}};
}

}  // namespace

SymbolicChain::SymbolicChain(std::shared_ptr<const Model> model, ParameterGroups groups, bool modified, bool dyn)
    : model_(std::move(model)), groups_(std::move(groups)), modified_(modified), dyn_(dyn), numbers_(model_->view()) {
  check_groups();
  const auto& data = model_->data();
  base_ = group("base") ? pose_of(*group("base")) : to_expressions(to_pose(data.base));
  tool_ = group("tool") ? pose_of(*group("tool")) : to_expressions(to_pose(data.tool));
  if (const auto* g = group("gravity"))
    gravity_ = {(*g)[0], (*g)[1], (*g)[2]};
  else
    gravity_ = as<Expression>(numbers_.gravity);
  if (const auto* dh = group("dh")) {
    build_links_from_dh(*dh);
  } else {
    build_links();
  }
  build_bodies();
  build_drives();
  build_minimal();
}

void SymbolicChain::check_groups() const {
  const int n = numbers_.n;
  const ElasticView<double>& e = numbers_.elastic;
  const std::map<std::string, int> sizes{{"dh", 4 * n}, {"inertial", kLinkParameters * n}, {"friction", n * numbers_.friction_count},
                                         {"gravity", 3}, {"base", 6}, {"tool", 6}, {"rotor", numbers_.rotor_count}, {"armature", n},
                                         {"elastic_K", e.count * e.K_order}, {"elastic_D", e.count * e.D_order},
                                         {"elastic_Dm", e.count * e.Dm_order}, {"elastic_Mm", e.count}};
  for (const auto& [name, values] : groups_) {
    const auto size = sizes.find(name);
    if (size == sizes.end()) throw std::invalid_argument("there is no group of parameters called " + name);
    if (!values.empty() && static_cast<int>(values.size()) != size->second)
      throw std::invalid_argument("group " + name + " must have " + std::to_string(size->second) + " entries, got " +
                                  std::to_string(values.size()));
  }
}

const std::vector<Expression>* SymbolicChain::group(const std::string& name) const {
  const auto found = groups_.find(name);
  return found == groups_.end() || found->second.empty() ? nullptr : &found->second;
}

/// The numbers of the model; a symbolic base keeps the constant way from it to the root.
void SymbolicChain::build_links() {
  for (int i = 0; i < numbers_.n; ++i) {
    const Link<double>& l = numbers_.links[i];
    links_.push_back(to_expressions(l));
  }
  root_ = to_expressions(numbers_.root);
  if (!group("base")) return;
  const Pose<double> from_base = inverse(to_pose(model_->data().base));
  root_ = base_ * to_expressions(from_base * numbers_.root);
}

/// Modified: the table is the normal form. Standard: a row's a and alpha, and the d before them, come with the next joint.
void SymbolicChain::build_links_from_dh(const std::vector<Expression>& dh) {
  root_ = base_;
  Expression ca = 1.0, sa = 0.0, a = 0.0, d_before = 0.0;
  for (int i = 0; i < numbers_.n; ++i) {
    const Expression* row = &dh[4 * i];
    Link<Expression> link{};
    link.type = numbers_.links[i].type;
    link.theta = row[3];
    cos_sin(row[3], link.cos_theta, link.sin_theta);
    link.armature = number(numbers_.links[i].armature);
    link.offset = to_expressions({{1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, {0.0, 0.0, 0.0}});
    if (modified_) {
      cos_sin(row[1], link.cos_alpha, link.sin_alpha);
      link.p = {row[0], -(row[2] * link.sin_alpha), row[2] * link.cos_alpha};
    } else {
      link.cos_alpha = ca;
      link.sin_alpha = sa;
      link.p = {a, 0.0, d_before};
      a = row[0];
      d_before = row[2];
      cos_sin(row[1], ca, sa);
      link.has_offset = true;  // Tr_z(d) Tr_x(a) Rot_x(alpha)
      link.offset.p = {a, 0.0, d_before};
      link.offset.R.yy = link.offset.R.zz = ca;
      link.offset.R.zy = sa;
      link.offset.R.yz = -sa;
    }
    links_.push_back(link);
  }
}

void SymbolicChain::build_bodies() {
  bodies_ = OwnedJoints<BodyInertia, Expression>(numbers_.n);
  const auto* rows = group("inertial");
  for (int i = 0; i < numbers_.n; ++i) {
    BodyInertia<Expression> body;
    if (rows) {
      body = body_of(&(*rows)[kLinkParameters * i], dyn_);
    } else {
      Expression reg[kLinkParameters];
      for (int k = 0; k < kLinkParameters; ++k) reg[k] = number(model_->data().inertial(i, k));
      body = body_of(reg, false);
    }
    bodies_.view().set(i, links_[i].has_offset ? moved(body, links_[i].offset) : body);
  }
}

/// With bodies and table all numbers the whole chain is minimal; else the bodies that are numbers are regrouped.
void SymbolicChain::build_minimal() {
  minimal_links_ = links_;
  minimal_bodies_ = bodies_;
  minimal_gravity_ = gravity_;
  if (group("dh")) return;
  const auto* rows = group("inertial");
  const int n = numbers_.n;
  const std::unique_ptr<bool[]> bodies(new bool[n]), steps(new bool[n]);
  bool all = true;
  for (int i = 0; i < n; ++i) {
    bodies[i] = steps[i] = true;
    for (int k = 0; rows && k < kLinkParameters; ++k) bodies[i] = bodies[i] && (*rows)[kLinkParameters * i + k].is_constant();
    all = all && bodies[i];
  }
  const KnownNumbers known{bodies.get(), steps.get(), !group("gravity") && !group("base")};
  const auto take_body = [&](int i, BodyInertia<double> body) {
    std::vector<double> entries;
    each(body, [&](double x) { entries.push_back(x); });
    BodyInertia<Expression> baked;
    std::size_t next = 0;
    each(baked, [&](Expression& x) { x = number(entries[next++]); });
    minimal_bodies_.view().set(i, baked);
  };
  if (all) {
    const MinimalChain chain(numbers_, known);
    for (int i = 0; i < n; ++i) {
      const Expression armature = links_[i].armature;
      minimal_links_[i] = to_expressions(chain.links[i]);
      minimal_links_[i].armature = armature;
      take_body(i, chain.bodies.view().get(i));
    }
    if (known.gravity) minimal_gravity_ = as<Expression>(chain.gravity);
    return;
  }
  const OwnedJoints<BodyInertia, double> regrouped(n);
  minimal_bodies(numbers_, known, regrouped.view());
  for (int i = 0; i < n; ++i)
    if (bodies[i]) take_body(i, regrouped.view().get(i));
}

void SymbolicChain::build_drives() {
  if (const auto* armature = group("armature"))
    for (int i = 0; i < numbers_.n; ++i) links_[i].armature = (*armature)[i];
  const auto* inertia = group("rotor");
  for (int k = 0; k < numbers_.rotor_count; ++k) {
    const Rotor<double>& r = numbers_.rotors[k];
    Vec3X axis = as<Expression>(r.axis);
    if (group("dh")) axis = rotor_axis(k);
    rotors_.push_back({r.joint, r.carrier, axis, r.ratio, inertia ? (*inertia)[k] : number(r.inertia)});
  }
  const auto* friction = group("friction");
  for (int k = 0; k < numbers_.n * numbers_.friction_count; ++k)
    friction_.push_back(friction ? (*friction)[k] : number(numbers_.friction[k]));
  const ElasticView<double>& e = numbers_.elastic;
  const auto fill = [this](const char* name, const double* values, int count, std::vector<Expression>& to) {
    const auto* own = group(name);
    for (int k = 0; k < count; ++k) to.push_back(own ? (*own)[k] : number(values[k]));
  };
  fill("elastic_K", e.K, e.count * e.K_order, elastic_K_);
  fill("elastic_D", e.D, e.count * e.D_order, elastic_D_);
  fill("elastic_Dm", e.Dm, e.count * e.Dm_order, elastic_Dm_);
  fill("elastic_Mm", e.Mm, e.count, elastic_Mm_);
}

/// Axis of a rotor in the joint frame of its carrier, where the table may move the axes: see Model::build_rotors.
Vec3X SymbolicChain::rotor_axis(int k) const {
  const auto& data = model_->data().rotors[k];
  if (data.has_axis) {
    const Vec3X axis{data.axis.x(), data.axis.y(), data.axis.z()};
    return (data.carrier == 0 ? base_ : links_[data.carrier - 1].offset).R * axis;
  }
  std::vector<Expression> rest(numbers_.n, Expression(0.0));
  const WorkspaceMemory memory(scratch_bytes(numbers_.n));
  Workspace work = memory.view();
  Joints<Pose, Expression> poses(work, numbers_.n);
  joint_frames(view(), work, rest.data(), numbers_.n, poses);
  const Vec3X axis = z_axis(poses.get(data.joint - 1).R);
  return data.carrier > 0 ? transposed_times(poses.get(data.carrier - 1).R, axis) : axis;
}

ChainView<Expression> SymbolicChain::view() const {
  ChainView<Expression> chain{};
  chain.n = numbers_.n;
  chain.links = links_.data();
  chain.bodies = bodies_.view();
  chain.all_revolute = numbers_.all_revolute;
  chain.root = root_;
  chain.gravity = gravity_;
  chain.rotor_count = static_cast<int>(rotors_.size());
  chain.rotors = rotors_.data();
  chain.friction_count = numbers_.friction_count;
  chain.friction_terms = numbers_.friction_terms;
  chain.friction = friction_.data();
  chain.delta = numbers_.delta;
  chain.has_armature = numbers_.has_armature;
  const ElasticView<double>& e = numbers_.elastic;
  chain.elastic = {e.count, e.joints, e.K_order, e.D_order, e.Dm_order, elastic_K_.data(), elastic_D_.data(), elastic_Dm_.data(), elastic_Mm_.data()};
  return chain;
}

ChainView<Expression> SymbolicChain::torque_view() const {
  ChainView<Expression> chain = view();
  chain.links = minimal_links_.data();
  chain.bodies = minimal_bodies_.view();
  chain.gravity = minimal_gravity_;
  return chain;
}

Frame<Expression> SymbolicChain::frame(int index) const {
  const int n = numbers_.n;
  if (index == 0) return {0, base_};
  if (index <= n) return {index, links_[index - 1].offset};
  if (index == model_->end_effector()) return {n, links_[n - 1].offset * tool_};
  const auto& named = model_->data().frames[index - n - 2];
  const PoseX pose = to_expressions(to_pose(named.pose));
  return {named.link, (named.link == 0 ? base_ : links_[named.link - 1].offset) * pose};
}

namespace {

/// Quantities of a minimal chain: all but poses, Jacobians, regressors and energies.
const std::set<std::string> kTorqueQuantities = {
    "mass_matrix", "coriolis_matrix", "gravity_vector", "mass_matrix_dot", "coriolis_matrix_dot", "gravity_vector_dot",
    "mass_matrix_ddot", "coriolis_matrix_ddot", "gravity_vector_ddot", "inverse_dynamics", "forward_dynamics",
    "elastic_forward_dynamics", "christoffel_symbols", "mass_matrix_derivative", "coriolis_matrix_algebra",
    "coriolis_matrix_christoffel", "inverse_dynamics_derivatives", "forward_dynamics_derivatives",
    "inverse_dynamics_second_derivatives", "forward_dynamics_second_derivatives", "coriolis_matrix_derivative"};

template <class Q>
bool evaluate_if(const std::string& name, const ChainView<Expression>& chain,
                 const std::vector<std::vector<Expression>>& inputs, const Selection<Expression>& selection,
                 std::vector<Expression>& out) {
  if (name != Q::name) return false;
  const Sizes all = sizes(chain, selection.rows.count());
  if (inputs.size() != static_cast<std::size_t>(Q::input_count))
    throw std::invalid_argument(name + " takes " + std::to_string(Q::input_count) + " inputs, got " +
                                std::to_string(inputs.size()));
  const Expression* in[Q::input_count];
  for (int k = 0; k < Q::input_count; ++k) {
    const auto size = static_cast<std::size_t>(Q::input_size(k, all));
    if (inputs[k].size() != size)
      throw std::invalid_argument(std::string(Q::inputs[k]) + " must have " + std::to_string(size) + " entries, got " +
                                  std::to_string(inputs[k].size()));
    in[k] = inputs[k].data();
  }
  out.assign(Q::shape(all).size(), Expression(0.0));
  const WorkspaceMemory memory(scratch_bytes(chain.n));
  Q::evaluate(chain, memory.view(), in, selection, out.data());
  return true;
}

template <class... Q>
bool evaluate_any(std::tuple<Q...>, const std::string& name, const ChainView<Expression>& chain,
                  const std::vector<std::vector<Expression>>& inputs, const Selection<Expression>& selection,
                  std::vector<Expression>& out) {
  return (evaluate_if<Q>(name, chain, inputs, selection, out) || ...);
}

}  // namespace

std::vector<Expression> SymbolicChain::evaluate(const std::string& quantity,
                                                const std::vector<std::vector<Expression>>& inputs, int frame,
                                                TaskRows rows) const {
  std::vector<Expression> out;
  if (frame < 0 || static_cast<std::size_t>(frame) >= model_->frame_names().size())
    throw std::invalid_argument("there is no frame " + std::to_string(frame));
  const Selection<Expression> selection{this->frame(frame), rows};
  const bool torques = kTorqueQuantities.count(quantity) != 0;
  if (!evaluate_any(quantities::All{}, quantity, torques ? torque_view() : view(), inputs, selection, out))
    throw std::invalid_argument("no quantity is called '" + quantity + "'");
  return out;
}

}  // namespace thunder
