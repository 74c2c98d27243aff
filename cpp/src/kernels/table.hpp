// The kernels for numbers, for one instruction set. Included by one source file for each set, whose tag `Isa` lives in an
// anonymous namespace: everything in this file is a template on it, so nothing is shared between the objects.
#pragma once

#include <utility>

#include "thunder/dynamics/momentum_regressor.hpp"
#include "thunder/kernels/kernels.hpp"
#include "thunder/kernels/quantities.hpp"

namespace thunder {

template <class S>
THUNDER_INLINE const S* scalars(const double* x) {
  return reinterpret_cast<const S*>(x);
}
template <class S>
THUNDER_INLINE S* scalars(double* x) {
  return reinterpret_cast<S*>(x);
}

/// Rare quantities are compiled twice at most: an instruction set may take them from a `narrower` one.
template <class Isa, class = void>
struct Narrower {
  static constexpr const Kernels* table = nullptr;
};
template <class Isa>
struct Narrower<Isa, std::void_t<decltype(Isa::narrower)>> {
  static constexpr const Kernels* table = Isa::narrower;
};

template <std::size_t Index, class Isa>
void evaluate_one(const Chain& chain, Workspace work, const double* const* in, const Selection<double>& selection,
                  double* out) {
  using Q = std::tuple_element_t<Index, quantities::All>;
  using S = One<Isa>;
  if constexpr (Q::batch == Batch::rare && Narrower<Isa>::table != nullptr) {
    Narrower<Isa>::table->evaluate[Index](chain, work, in, selection, out);
  } else {
    const S* x[Q::input_count];
    for (int k = 0; k < Q::input_count; ++k) x[k] = scalars<S>(in[k]);
    Q::evaluate(chain, work, x, selection, scalars<S>(out));
  }
}

/// W samples are transposed into lanes, evaluated together and transposed back.
template <std::size_t Index, class Isa>
void evaluate_packs(const BatchCall& call, Workspace work) {
  using Q = std::tuple_element_t<Index, quantities::All>;
  const Sizes s = sizes(call.chain, call.selection.rows.count());
  const int size = Q::shape(s).size();
  if constexpr (Q::batch != Batch::packs || Isa::state_lanes == 1) {
    for (std::size_t b = call.first; b < call.last; ++b) {
      const double* in[Q::input_count];
      for (int k = 0; k < Q::input_count; ++k) in[k] = call.in[k] + static_cast<std::ptrdiff_t>(b) * call.stride[k];
      evaluate_one<Index, Isa>(call.chain, work, in, call.selection, call.out + b * size);
    }
  } else {
    using Pk = Pack<Isa::state_lanes, Isa>;
    constexpr int W = Pk::width;
    Pk* const result = work.take<Pk>(size);
    Pk* x[Q::input_count];
    const Pk* in[Q::input_count];
    for (int k = 0; k < Q::input_count; ++k) in[k] = x[k] = work.take<Pk>(Q::input_size(k, s));
    for (std::size_t b = call.first; b < call.last; b += W) {
      const int lanes = call.last - b < W ? static_cast<int>(call.last - b) : W;
      for (int k = 0; k < Q::input_count; ++k) {
        const double* rows[W];
        for (int l = 0; l < W; ++l)  // idle lanes repeat the last sample
          rows[l] = call.in[k] + static_cast<std::ptrdiff_t>(b + (l < lanes ? l : lanes - 1)) * call.stride[k];
        for (int i = 0; i < Q::input_size(k, s); ++i) x[k][i] = across_rows<Pk>(rows, i);
      }
      Q::evaluate(call.chain, work, in, call.selection, result);
      double* rows[W];
      for (int l = 0; l < W; ++l) rows[l] = call.out + (b + l) * size;
      transpose_to_rows(result, size, rows, lanes);
    }
  }
}

/// What is no quantity of the list, on doubles.
template <class Isa>
struct Entries {
  using S = One<Isa>;
  static const S* in(const double* x) { return scalars<S>(x); }
  static S* out(double* x) { return scalars<S>(x); }

  static void frame_kinematics(const Chain& chain, Workspace work, const double* q, const double* dq,
                               const Frame<double>& frame, Pose<double>* pose, double* J, double* J_dot) {
    Pose<S> result;
    thunder::frame_kinematics(chain, work, in(q), in(dq), frame, &result, out(J), out(J_dot));
    write(result, pose);
  }
  static void frame_poses(const Chain& chain, Workspace work, const double* q, const Frame<double>* frames, int count,
                          Pose<double>* poses, double* J) {
    int moving = 0;
    for (int k = 0; k < count; ++k) moving = frames[k].joint > moving ? frames[k].joint : moving;
    Joints<Pose, S> joints(work, moving);
    joint_frames(chain, work, in(q), moving, joints);
    for (int k = 0; k < count; ++k) {
      const Pose<S> pose = frame_pose(joints, frames[k]);
      write(pose, poses + k);
      if (J != nullptr) write_jacobian(chain, joints, frames[k].joint, pose.p, out(J + 6 * chain.n * k));
    }
  }
  static void joint_poses(const Chain& chain, Workspace work, const double* q, Pose<double>* poses) {
    Joints<Pose, S> joints(work, chain.n);
    joint_frames(chain, work, in(q), chain.n, joints);
    for (int i = 0; i < chain.n; ++i) write(joints.get(i), poses + i);
  }
  static void momentum_regressors(const Chain& chain, Workspace work, const double* q, const double* dq, double* P,
                                  double* D, double* G) {
    thunder::momentum_regressors(chain, work, in(q), in(dq), out(P), out(D), out(G));
    write_friction_columns(chain, in(dq), out(G));
  }
  static void manipulability_gradient(const Chain& chain, Workspace work, const double* q, const Frame<double>& frame,
                                      TaskRows rows, double* value, double* gradient) {
    const PerJoint<Dual<S>> x(work, chain.n);
    for (int i = 0; i < chain.n; ++i) x[i] = Dual<S>(S(q[i]), S(0.0));
    Dual<S> w(0.0);
    for (int i = 0; i < chain.n; ++i) {
      x[i].b = S(1.0);
      manipulability(chain, work, x.data, frame, rows, &w);
      x[i].b = S(0.0);
      gradient[i] = w.b.v;
    }
    *value = w.a.v;
  }

 private:
  static void write(const Pose<S>& from, Pose<double>* to) {
    double entries[12];
    int k = 0;
    Pose<S> copy = from;
    each(copy, [&](S& x) { entries[k++] = x.v; });
    k = 0;
    each(*to, [&](double& x) { x = entries[k++]; });
  }
};

template <class Isa, class Indices>
struct Tables;
template <class Isa, std::size_t... I>
struct Tables<Isa, std::index_sequence<I...>> {
  static constexpr EvaluateFunction one[] = {evaluate_one<I, Isa>...};
  static constexpr BatchFunction batch[] = {evaluate_packs<I, Isa>...};
};

template <class Isa>
constexpr Kernels make_kernels(const char* name) {
  using T = Tables<Isa, std::make_index_sequence<kQuantityCount>>;
  using E = Entries<Isa>;
  return {
      name,
      Isa::state_lanes,
      T::one,
      T::batch,
      [](const Chain& c, Workspace w, const double* q, const double* dq, double* M, double* C) {
        mass_coriolis(c, w, E::in(q), E::in(dq), E::out(M), E::out(C));
      },
      [](const Chain& c, const double* w, double* tau, double* slope) {
        friction_and_slope(c, E::in(w), E::out(tau), E::out(slope));
      },
      [](const Chain& c, const double* slow, const double* fast, double* slope) {
        friction_slope(c, E::in(slow), E::in(fast), E::out(slope));
      },
      [](const Chain& c, Workspace w, const double* q, const double* dq, const double* x, const double* dx,
         const double* tau, double* out, const double* external) {
        elastic_forward_dynamics(c, w, E::in(q), E::in(dq), E::in(x), E::in(dx), E::in(tau), E::out(out), E::in(external));
      },
      [](const Chain& c, Workspace w, const double* q, const double* dq, double* p, double* drift) {
        momentum_and_drift(c, w, E::in(q), E::in(dq), E::out(p), E::out(drift));
      },
      E::momentum_regressors,
      E::frame_kinematics,
      E::frame_poses,
      E::joint_poses,
      E::manipulability_gradient,
  };
}

}  // namespace thunder
