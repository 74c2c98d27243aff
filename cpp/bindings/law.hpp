// Constructors of control laws: one untyped function reads the arguments of all of them by name.
#pragma once

#include <initializer_list>
#include <utility>

#include "control.hpp"
#include "exclusive.hpp"
#include "null_space.hpp"
#include "prediction.hpp"

namespace thunder::python {

/// What an argument is in Python, for signatures.
enum class Takes { gain, number, count, flag, text, mask, rows, law, prediction, null_space, any };

using LawParameters = std::vector<std::pair<const char*, Takes>>;

/// The arguments of a law's constructor after the robot.
class LawArguments {
 public:
  /// By place, then by name. Throws TypeError unless each is given once.
  LawArguments(const LawParameters& parameters, std::shared_ptr<Model> robot, const py::args& args, const py::kwargs& kwargs);

  py::object operator[](const char* name) const { return values_[name]; }
  template <class T>
  T get(const char* name) const {
    const py::object value = values_[name];
    try {
      return py::cast<T>(value);
    } catch (const py::cast_error&) {
      throw py::type_error(std::string(name) + " has the wrong type, got " + std::string(py::str(py::type::of(value))));
    }
  }
  double number(const char* name) const { return get<double>(name); }
  bool flag(const char* name) const { return get<bool>(name); }
  /// A gain of all joints, or of `size`; `reported` is its name in errors. Where None is allowed, it is an empty matrix.
  Eigen::MatrixXd gain(const char* name, int size = 0, const char* reported = nullptr) const {
    return read_gain(values_[name], reported ? reported : name, size ? size : model->n());
  }
  Eigen::MatrixXd gain_or_none(const char* name, int size) const {
    return py::object(values_[name]).is_none() ? Eigen::MatrixXd() : gain(name, size);
  }
  /// Of the arguments `law` and `unknown`.
  AdaptiveModel adaptive_model() const {
    return make_adaptive_model(model, get<std::vector<bool>>("unknown"), get<LawArgument>("law"));
  }
  PredictionError prediction_error() const { return make_prediction_error(model, get<PredictionArguments>("prediction")); }
  NullSpaceArguments null_space() const { return get<NullSpaceArguments>("null_space"); }

  std::shared_ptr<Model> model;

 private:
  py::dict values_;
};

/// "__init__(self: ..., model: ..., K_p: ...) -> None", in the form that stub generators read.
std::string law_signature(const char* name, const LawParameters& parameters);

/// The class of a law with its constructor. C: the law; Base: JointController or TaskController.
template <class C, class Base>
ExclusiveClass<C, Base, std::shared_ptr<C>> bind_law(py::module_& module, const char* name, const char* doc,
                                                     LawParameters parameters, std::shared_ptr<C> (*make)(const LawArguments&)) {
  ExclusiveClass<C, Base, std::shared_ptr<C>> cls(module, name, doc);
  const std::string signature = law_signature(name, parameters);
  py::options options;
  options.disable_function_signatures();
  cls.def(py::init([parameters = std::move(parameters), make](std::shared_ptr<Model> model, const py::args& args,
                                                              const py::kwargs& kwargs) {
            return make(LawArguments(parameters, std::move(model), args, kwargs));
          }),
          py::arg("model").none(false), signature.c_str());
  return cls;
}

}  // namespace thunder::python
