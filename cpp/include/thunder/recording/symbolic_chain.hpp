// A chain whose parameters are expressions: symbols where the generated code takes an argument, numbers where it is baked.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../model/minimal_inertia.hpp"
#include "../model/model.hpp"
#include "expression.hpp"

namespace thunder {

/// Parameters by group. A group that is empty is baked as the model has it.
///   dh: 4n, rows a alpha d theta; inertial: 10n, REG or DYN; friction: n x terms; gravity: 3; base, tool: x y z, yaw pitch roll;
///   rotor, armature: one for each; elastic_K, elastic_D, elastic_Dm: joint after joint; elastic_Mm: one for each elastic joint
using ParameterGroups = std::map<std::string, std::vector<Expression>>;

class SymbolicChain {
 public:
  /// Throws std::invalid_argument for a group of another size or name.
  /// `modified`: the convention of the table, where dh is given. `dyn`: inertial rows are about the centers of mass.
  SymbolicChain(std::shared_ptr<const Model> model, ParameterGroups groups, bool modified, bool dyn);
  SymbolicChain(const SymbolicChain&) = delete;
  SymbolicChain& operator=(const SymbolicChain&) = delete;

  const Model& model() const { return *model_; }
  ChainView<Expression> view() const;
  /// The same M, C, G, inverse and forward dynamics from fewer numbers, where parameters are baked.
  ChainView<Expression> torque_view() const;
  /// Frame of the model by index.
  Frame<Expression> frame(int index) const;

  /// A quantity of the list on expressions; inputs in its order, entry by entry.
  std::vector<Expression> evaluate(const std::string& quantity, const std::vector<std::vector<Expression>>& inputs,
                                   int frame, TaskRows rows) const;

 private:
  void check_groups() const;
  const std::vector<Expression>* group(const std::string& name) const;
  void build_links();
  void build_links_from_dh(const std::vector<Expression>& dh);
  void build_bodies();
  void build_drives();
  Vec3<Expression> rotor_axis(int k) const;
  void build_minimal();

  std::shared_ptr<const Model> model_;
  ParameterGroups groups_;
  bool modified_, dyn_;
  ChainView<double> numbers_;
  std::vector<Link<Expression>> links_;
  OwnedJoints<BodyInertia, Expression> bodies_;
  std::vector<Rotor<Expression>> rotors_;
  std::vector<Expression> friction_, elastic_K_, elastic_D_, elastic_Dm_, elastic_Mm_;
  Pose<Expression> base_, root_, tool_;
  Vec3<Expression> gravity_;

  std::vector<Link<Expression>> minimal_links_;
  OwnedJoints<BodyInertia, Expression> minimal_bodies_;
  Vec3<Expression> minimal_gravity_;
};

}  // namespace thunder
