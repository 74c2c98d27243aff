// Objects that one thread at a time may use, in Python.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "thunder/threads/exclusive.hpp"

namespace thunder::python {

/// `function`, a method of Self or a callable with it as first argument, with Self in use while it runs.
template <class Self, class F, class Result, class... Arguments>
auto marking(F&& function, Result (*)(Arguments...)) {
  return [function = std::forward<F>(function)](Self& self, Arguments... arguments) -> Result {
    const Exclusive::Use use(self);
    return std::invoke(function, self, std::forward<Arguments>(arguments)...);
  };
}

template <class Signature>
struct WithoutFirst;
template <class Result, class First, class... Rest>
struct WithoutFirst<Result(First, Rest...)> {
  using type = Result (*)(Rest...);
};

template <class Self, class F>
auto marking(F&& function) {
  using Function = std::decay_t<F>;
  if constexpr (std::is_member_function_pointer_v<Function>) {
    using Signature = typename pybind11::detail::remove_class<Function>::type;
    return marking<Self>(function, static_cast<Signature*>(nullptr));
  } else {
    using Signature = typename WithoutFirst<pybind11::detail::function_signature_t<Function>>::type;
    return marking<Self>(std::forward<F>(function), static_cast<Signature>(nullptr));
  }
}

/// pybind11's class_ for an `Exclusive` type: all methods and properties mark the object as in use, so a second thread gets
/// a ConcurrentUseError.
template <class T, class... Options>
class ExclusiveClass : public pybind11::class_<T, Options...> {
  static_assert(std::is_base_of_v<Exclusive, T>);
  using Base = pybind11::class_<T, Options...>;

 public:
  using Base::Base;

  template <class F, class... Extra>
  ExclusiveClass& def(const char* name, F&& function, const Extra&... extra) {
    Base::def(name, marking<T>(std::forward<F>(function)), extra...);
    return *this;
  }
  template <class... Arguments, class... Extra>
  ExclusiveClass& def(pybind11::detail::initimpl::factory<Arguments...>&& init, const Extra&... extra) {
    Base::def(std::move(init), extra...);
    return *this;
  }
  template <class Get, class Set, class... Extra>
  ExclusiveClass& def_property(const char* name, Get&& get, Set&& set, const Extra&... extra) {
    Base::def_property(name, marking<T>(std::forward<Get>(get)), marking<T>(std::forward<Set>(set)), extra...);
    return *this;
  }
  template <class Get, class... Extra>
  ExclusiveClass& def_property_readonly(const char* name, Get&& get, const Extra&... extra) {
    Base::def_property_readonly(name, marking<T>(std::forward<Get>(get)), extra...);
    return *this;
  }
  /// Property that no method changes: any thread may read it at any time.
  template <class Get, class... Extra>
  ExclusiveClass& def_constant(const char* name, Get&& get, const Extra&... extra) {
    Base::def_property_readonly(name, std::forward<Get>(get), extra...);
    return *this;
  }
};

/// For classes of which some are exclusive.
template <class T>
std::optional<Exclusive::Use> use_if_exclusive(const T& object) {
  const auto* exclusive = dynamic_cast<const Exclusive*>(&object);
  return exclusive != nullptr ? std::optional<Exclusive::Use>(*exclusive) : std::nullopt;
}

/// Marks objects that are written in Python as in use, by their identity. Lives and dies with the GIL held.
class PythonUses {
 public:
  PythonUses() = default;
  PythonUses(const PythonUses&) = delete;
  PythonUses& operator=(const PythonUses&) = delete;
  ~PythonUses();
  /// Throws ConcurrentUseError while another thread uses the object.
  void add(pybind11::handle object);

 private:
  struct Mark final : Exclusive {};
  struct Entry {
    pybind11::object object;
    std::shared_ptr<Mark> mark;
    Exclusive::Use use;
  };
  static std::map<PyObject*, std::weak_ptr<Mark>>& marks();

  std::vector<Entry> entries_;
};

}  // namespace thunder::python
