// The law with unknown lengths, for Python.
#include "task_law.hpp"
#include "thunder/control/adaptive_jacobian_backstepping.hpp"
#include "thunder/math/dense.hpp"

#include <exception>
#include <utility>

namespace thunder::python {

namespace {

/// `measure(q, dq)`, which returns position and velocity or None.
class PythonSensor final : public PositionSensor {
 public:
  PythonSensor(py::object measure, int n) : measure_(std::move(measure)), n_(n) {}
  PythonSensor(const PythonSensor&) = delete;
  PythonSensor& operator=(const PythonSensor&) = delete;
  ~PythonSensor() override {
    const py::gil_scoped_acquire acquire;
    error_ = nullptr;
    measure_ = py::object();
  }

  bool read(const double* q, const double* dq, Eigen::Vector3d& p, Eigen::Vector3d& v) noexcept override {
    const py::gil_scoped_acquire acquire;
    try {
      const py::object result = measure_(Array(n_, q), Array(n_, dq));
      if (result.is_none()) return false;
      if (!py::isinstance<py::sequence>(result) || py::len(result) != 2)
        throw py::value_error("measure must return position and velocity (3,) each or None, got " +
                              std::string(py::str(py::repr(result))).substr(0, 80));
      for (auto [k, out] : {std::pair{0, &p}, {1, &v}})
        *out = Eigen::Map<const Eigen::Vector3d>(read_measurement(result[py::int_(k)], "result of measure", 3).data());
      return true;
    } catch (...) {
      error_ = std::current_exception();
      return false;
    }
  }
  void rethrow() override {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  py::object measure_;
  int n_;
  std::exception_ptr error_;
};

std::unique_ptr<PositionSensor> position_sensor(const py::object& measure, int n) {
  if (!py::isinstance<Model>(measure)) return std::make_unique<PythonSensor>(measure, n);
  auto model = py::cast<std::shared_ptr<Model>>(measure);
  if (model->n() != n)
    throw py::value_error("measure must have the " + std::to_string(n) + " joints of the robot, got " + std::to_string(model->n()));
  return std::make_unique<ExactPosition>(std::move(model));
}

Array stacked(const std::vector<Jacobian>& all, int n) {
  Array result({static_cast<py::ssize_t>(all.size()), py::ssize_t{6}, static_cast<py::ssize_t>(n)});
  for (std::size_t k = 0; k < all.size(); ++k) std::copy_n(all[k].data(), all[k].size(), result.mutable_data(k, 0, 0));
  return result;
}

/// The regressor of the last call of `regress`, (n, a, 1 + u).
Array regressor(const LengthModel& model) {
  const RowMajor first = model.regressor_row(0);
  Array result({static_cast<py::ssize_t>(model.n()), first.rows(), first.cols()});
  for (int i = 0; i < model.n(); ++i) {
    const RowMajor row = model.regressor_row(i);
    std::copy_n(row.data(), row.size(), result.mutable_data(i, 0, 0));
  }
  return result;
}

NamedArrays evaluate(AdaptiveJacobianBackstepping& law, const ArrayLike& q, const ArrayLike& dq, py::handle reference) {
  const auto q_ = read_array(q, "q", {law.n()}), dq_ = read_array(dq, "dq", {law.n()});
  TaskReference desired;
  read_reference(reference, desired);
  AdaptiveJacobianBackstepping::Terms terms = law.blank_terms();
  const Status status = law.evaluate(q_.data(), dq_.data(), desired, terms);
  law.rethrow();
  if (status == Status::invalid_input) throw py::value_error("the reference and the measurement must be finite, with a rotation R");
  if (status != Status::ok) throw py::value_error("the law is singular at this state");
  NamedArrays result;
  const int m = law.rows();
  put_task_error(terms.task, m, result);
  const LengthModel::Kinematics& kinematics = terms.kinematics;
  for (auto [name, J] : {std::pair{"J", &kinematics.J}, {"J_dot", &kinematics.J_dot}})
    result[name] = to_numpy(RowMajor(J->topRows(m)));
  result["W"] = to_numpy(RowMajor(kinematics.W.topRows(m)));
  result["P"] = to_numpy(RowMajor(kinematics.P));
  for (auto [name, v] : {std::pair{"tracking", &terms.tracking}, {"prediction", &terms.prediction}, {"dq_r", &terms.dq_r},
                         {"ddq_r", &terms.ddq_r}, {"s", &terms.s}, {"tau", &terms.tau}})
    result[name] = to_numpy(*v);
  result["Y"] = regressor(law.length_model());
  return result;
}

std::vector<std::shared_ptr<const Model>> as_constant(const std::vector<std::shared_ptr<Model>>& models) {
  return {models.begin(), models.end()};
}

void bind_length_model(py::module_& module) {
  using Data = LengthModel::Data;
  py::class_<Data, std::shared_ptr<Data>>(module, "LengthModel", "Kinematics and torques of an arm as functions of its unknown lengths.",
                                          py::dynamic_attr())
      .def(py::init([](std::vector<std::string> names, const ArrayLike& nominal, const ArrayLike& scale,
                       const std::vector<std::shared_ptr<Model>>& affine, const std::vector<std::shared_ptr<Model>>& nodes,
                       std::vector<std::vector<int>> factors, const ArrayLike& weights, std::vector<bool> unknown) {
             const auto matrix = read_array(weights, "weights", {-1, -1});
             Data data{std::move(names), read_column(nominal, "nominal", -1), read_column(scale, "scale", -1),
                       as_constant(affine), as_constant(nodes), std::move(factors),
                       Eigen::Map<const RowMajor>(matrix.data(), matrix.shape(0), matrix.shape(1)), std::move(unknown)};
             LengthModel checked(data);
             return std::make_shared<Data>(std::move(data));
           }),
           py::arg("names"), py::arg("nominal"), py::arg("scale"), py::arg("affine"), py::arg("nodes"), py::arg("factors"),
           py::arg("weights"), py::arg("unknown"))
      .def(
          "kinematics",
          [](const Data& data, const ArrayLike& q, const ArrayLike& dq, const ArrayLike& lengths) {
            LengthModel model(data);
            const auto q_ = read_array(q, "q", {model.n()}), dq_ = read_array(dq, "dq", {model.n()}),
                       lengths_ = read_array(lengths, "lengths", {model.lengths()});
            LengthModel::Kinematics found = model.blank_kinematics();
            model.kinematics(q_.data(), dq_.data(), lengths_.data(), found);
            NamedArrays result;
            result["p"] = to_numpy(Eigen::VectorXd(found.p));
            result["P"] = to_numpy(RowMajor(found.P));
            result["J"] = to_numpy(RowMajor(found.J));
            result["J_dot"] = to_numpy(RowMajor(found.J_dot));
            result["dJ"] = stacked(found.dJ, model.n());
            return result;
          },
          py::arg("q"), py::arg("dq"), py::arg("lengths"),
          "Kinematics of the end effector with these lengths (k,), as a dict: p and its derivative P (3, k), J, J_dot with\n"
          "constant lengths, and the derivative dJ (k, 6, n) of J.")
      .def(
          "regressor",
          [](const Data& data, const ArrayLike& q, const ArrayLike& dq, const ArrayLike& dq_r, const ArrayLike& ddq_r) {
            LengthModel model(data);
            const py::ssize_t n = model.n();
            model.regress(read_array(q, "q", {n}).data(), read_array(dq, "dq", {n}).data(), read_array(dq_r, "dq_r", {n}).data(),
                          read_array(ddq_r, "ddq_r", {n}).data());
            return regressor(model);
          },
          py::arg("q"), py::arg("dq"), py::arg("dq_r"), py::arg("ddq_r"), "Regressor (n, a, 1 + u) of the products.")
      .def(
          "products",
          [](const Data& data, const ArrayLike& lengths, const ArrayLike& parameters) {
            const LengthModel model(data);
            RowMajor result(model.monomials(), 1 + static_cast<int>(model.unknown().size()));
            model.products(read_array(lengths, "lengths", {model.lengths()}).data(),
                           read_array(parameters, "parameters", {model.arm()->parameter_count()}).data(), result);
            return to_numpy(result);
          },
          py::arg("lengths"), py::arg("parameters"),
          "Products (a, 1 + u) of the monomials of the lengths and 1 and the unknown ones of all parameters.");
}

}  // namespace

void bind_length_adaptation(py::module_& module) {
  using T = Takes;
  bind_length_model(module);
  bind_law<AdaptiveJacobianBackstepping, TaskController>(
      module, "AdaptiveJacobianBackstepping", "Adaptive backstepping in task space with unknown lengths.",
      {{"Lambda", T::gain}, {"K_p", T::gain}, {"K_d", T::gain}, {"law", T::law}, {"lengths", T::any}, {"Gamma", T::any},
       {"gamma", T::number}, {"Gamma_torque", T::number}, {"measure", T::any}, {"position_only", T::flag},
       {"orientation", T::count}, {"null_space", T::null_space}},
      [](const LawArguments& a) {
        const auto data = a.get<std::shared_ptr<LengthModel::Data>>("lengths");
        if (!data || data->affine.front() != a.model) throw py::value_error("lengths must be the LengthModel of the robot");
        LengthModel model(*data);
        const int k = model.lengths();
        LengthGains gains{k ? positive_definite_inverse(a.gain("Gamma", k), "Gamma") : Eigen::MatrixXd(), a.number("gamma"), a.number("Gamma_torque")};
        const auto law = a.get<LawArgument>("law");
        LengthEstimate estimate(model, std::move(gains), law ? (*law)->clone() : nullptr);
        auto [task, feedback] = backstepping_arguments(a);
        return std::make_shared<AdaptiveJacobianBackstepping>(std::move(model), std::move(estimate),
                                                              position_sensor(a["measure"], a.model->n()), task,
                                                              orientation_kind(a), std::move(feedback));
      })
      .def("_evaluate", &evaluate, py::arg("q"), py::arg("dq"), py::arg("reference"),
           "Evaluate the terms of the law at one state under the current estimates, as a dict of arrays; they do not change.\n\n"
           "Raises ValueError where the law is singular.")
      .def_property(
          "lengths", [](AdaptiveJacobianBackstepping& law) { return to_numpy(law.estimate().lengths()); },
          [](AdaptiveJacobianBackstepping& law, const ArrayLike& value) {
            law.start_from(read_column(value, "lengths", law.length_model().lengths()).data());
          },
          "Estimate of the unknown lengths [m], (k,). Assigning it also sets the estimates that `reset` restores.")
      .def_property_readonly(
          "parameters", [](AdaptiveJacobianBackstepping& law) { return to_numpy(law.parameters()); },
          "Estimate of all inertial parameters, (p,).");
}

}  // namespace thunder::python
