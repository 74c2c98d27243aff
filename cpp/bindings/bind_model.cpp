// The run-time model: construction from plain arrays, names and parameters.
#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include "array.hpp"
#include "bindings.hpp"

namespace thunder::python {

namespace {

using Names = py::typing::Tuple<py::str, py::ellipsis>;
using RowMajor4 = Eigen::Matrix<double, 4, 4, Eigen::RowMajor>;

Eigen::Matrix4d matrix4(const double* data) { return Eigen::Map<const RowMajor4>(data); }

std::vector<Eigen::Matrix4d> read_transforms(py::handle value, const char* name, py::ssize_t n) {
  const auto array = read_array(value, name, {n, 4, 4});
  std::vector<Eigen::Matrix4d> result;
  for (py::ssize_t i = 0; i < n; ++i) result.push_back(matrix4(array.data() + 16 * i));
  return result;
}

/// (joint, carrier, axis or None, gear ratio, inertia)
ModelData::RotorData read_rotor(py::handle item) {
  const auto t = py::cast<py::tuple>(item);
  ModelData::RotorData rotor{py::cast<int>(t[0]), py::cast<int>(t[1]), !t[2].is_none(), Eigen::Vector3d::Zero(),
                             py::cast<double>(t[3]), py::cast<double>(t[4])};
  if (rotor.has_axis) rotor.axis = Eigen::Map<const Eigen::Vector3d>(read_array(t[2], "rotor axis", {3}).data());
  return rotor;
}

/// (joints, K, D, Dm, Mm), with a row of coefficients for each joint
ModelData::ElasticData read_elastic(const py::tuple& t) {
  ModelData::ElasticData elastic;
  elastic.joints = py::cast<std::vector<int>>(t[0]);
  const auto e = static_cast<py::ssize_t>(elastic.joints.size());
  const auto rows = [e](py::handle value, const char* name) {
    const auto array = read_array(value, name, {e, -1});
    return decltype(elastic.K)(Eigen::Map<const decltype(elastic.K)>(array.data(), e, array.shape(1)));
  };
  elastic.K = rows(t[1], "elastic K");
  elastic.D = rows(t[2], "elastic D");
  elastic.Dm = rows(t[3], "elastic Dm");
  elastic.Mm = py::cast<std::vector<double>>(t[4]);
  return elastic;
}

std::shared_ptr<Model> make_model(const std::string& name, const std::vector<bool>& prismatic, py::handle placements,
                                  py::handle axes, py::handle offsets, py::handle inertial, py::handle gravity,
                                  py::handle base, py::handle tool, const std::vector<int>& friction_terms,
                                  py::handle friction, double friction_delta, const std::vector<double>& armature,
                                  const std::vector<double>& lower, const std::vector<double>& upper,
                                  const py::typing::List<py::tuple>& rotors, const py::tuple& elastic,
                                  const std::vector<std::string>& joint_names,
                                  const std::vector<std::string>& link_names, const py::typing::List<py::tuple>& frames) {
  const auto n = static_cast<py::ssize_t>(prismatic.size());
  ModelData data;
  data.name = name;
  data.prismatic = prismatic;
  data.placements = read_transforms(placements, "placements", n);
  data.offsets = read_transforms(offsets, "offsets", n);
  const auto axis = read_array(axes, "axes", {n, 3});
  for (py::ssize_t i = 0; i < n; ++i) data.axes.emplace_back(axis.data() + 3 * i);
  const auto pi = read_array(inertial, "inertial", {n, kLinkParameters});
  data.inertial = Eigen::Map<const decltype(data.inertial)>(pi.data(), n, kLinkParameters);
  data.gravity = Eigen::Map<const Eigen::Vector3d>(read_array(gravity, "gravity", {3}).data());
  data.base = matrix4(read_array(base, "base", {4, 4}).data());
  data.tool = matrix4(read_array(tool, "tool", {4, 4}).data());
  for (const int term : friction_terms) data.friction_terms.push_back(read_enum<FrictionTerm>(term, kMaxFrictionTerms, "friction term"));
  const auto terms = static_cast<py::ssize_t>(friction_terms.size());
  const auto coefficients = read_array(friction, "friction", {n, terms});
  data.friction = Eigen::Map<const decltype(data.friction)>(coefficients.data(), n, terms);
  data.friction_delta = friction_delta;
  data.armature = armature;
  data.lower = lower;
  data.upper = upper;
  for (py::handle item : rotors) data.rotors.push_back(read_rotor(item));
  data.elastic = read_elastic(elastic);
  data.joint_names = joint_names;
  data.link_names = link_names;
  for (py::handle item : frames) {
    const auto t = py::cast<py::tuple>(item);
    data.frames.push_back({py::cast<std::string>(t[0]), py::cast<int>(t[1]), matrix4(read_array(t[2], "frame", {4, 4}).data())});
  }
  return std::make_shared<Model>(std::move(data));
}

py::array_t<double> parameters(const Model& model) {
  const auto& pi = model.parameters();
  py::array_t<double> array(pi.size(), pi.data());
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

}  // namespace

int find_frame_index(const Model& model, py::handle frame) {
  if (frame.is_none()) return model.end_effector();
  int index = -1;
  if (py::isinstance<py::str>(frame)) {
    index = model.find_frame(py::cast<std::string>(frame));
  } else if (const auto link = read_index(frame); link && !py::isinstance<py::bool_>(frame)) {
    index = *link >= 0 && *link <= model.n() ? static_cast<int>(*link) : -1;
  }
  if (index >= 0) return index;
  std::string known;
  for (const auto& name : model.frame_names()) known += (known.empty() ? "" : ", ") + name;
  throw py::value_error("frame must be a link index 0 to " + std::to_string(model.n()) + " or one of " + known +
                        "; got " + std::string(py::str(py::repr(frame))));
}

void require_motor_inertia(const Model& model) {
  const auto& elastic = model.data().elastic;
  for (std::size_t k = 0; k < elastic.Mm.size(); ++k) {
    if (elastic.Mm[k] > 0.0) continue;
    throw py::value_error("motor inertia Mm of " + model.data().joint_names[elastic.joints[k] - 1] +
                          " must be > 0 for forward dynamics, got " + std::string(py::str(py::float_(elastic.Mm[k]))));
  }
}

ModelClass bind_model(py::module_& module) {
  ModelClass model(module, "Model", "Serial arm of the compute core; use `thunder_py.Robot`.");
  model
      .def(py::init(&make_model), py::kw_only(), py::arg("name"), py::arg("prismatic"), py::arg("placements"),
           py::arg("axes"), py::arg("offsets"), py::arg("inertial"), py::arg("gravity"), py::arg("base"),
           py::arg("tool"), py::arg("friction_terms"), py::arg("friction"), py::arg("friction_delta"),
           py::arg("armature"), py::arg("lower"), py::arg("upper"), py::arg("rotors"), py::arg("elastic"), py::arg("joint_names"), py::arg("link_names"), py::arg("frames"))
      .def_property_readonly("n", &Model::n, "Number of joints.")
      .def_property_readonly("e", &Model::elastic_count, "Number of elastic joints.")
      .def_property_readonly("name", &Model::name, "Name, an identifier.")
      .def_property_readonly("p", &Model::parameter_count, "Number of parameters, the columns of the regressors.")
      .def_property_readonly("parameters", &parameters,
                             "(p,) array, read-only: REG inertial parameters of the links, then friction, rotor and "
                             "armature parameters.")
      .def_property_readonly(
          "parameter_names", [](const Model& m) { return Names(py::cast(m.parameter_names())); },
          "Names of the parameters, such as ``link3.mcx`` or ``joint2.viscous``.")
      .def_property_readonly(
          "frame_names", [](const Model& m) { return Names(py::cast(m.frame_names())); },
          "Names of the frames: ``base``, the links, ``tool`` (the end effector), then the named ones.");
  return model;
}

}  // namespace thunder::python
