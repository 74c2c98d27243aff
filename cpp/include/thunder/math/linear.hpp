// Vectors and matrices of three, for any scalar: double, SIMD pack, dual number, recording scalar.
//
// Plain structs instead of Eigen types: kernels are also compiled with other instruction sets into the same module,
// where templates shared with the baseline build would be merged by the linker (see docs/architecture.md).
#pragma once

namespace thunder {

template <class S>
struct Vec3 {
  S x, y, z;
};

template <class S>
struct Mat3 {
  S xx, xy, xz, yx, yy, yz, zx, zy, zz;  // row by row
};

/// Symmetric 3 x 3, upper triangle row by row: the order of the inertia entries in the parameter vector.
template <class S>
struct Sym3 {
  S xx, xy, xz, yy, yz, zz;
};

/// Position and orientation of a frame.
template <class S>
struct Pose {
  Mat3<S> R;
  Vec3<S> p;
};

#ifndef THUNDER_INLINE  // recordings are compiled to be small instead
#define THUNDER_INLINE inline __attribute__((always_inline))
#endif

/// Calls f on every scalar of a value, in the order of its members; aggregates made of these add an overload.
template <class S, class F>
THUNDER_INLINE void each(Vec3<S>& v, F&& f) {
  f(v.x), f(v.y), f(v.z);
}
template <class S, class F>
THUNDER_INLINE void each(Mat3<S>& m, F&& f) {
  f(m.xx), f(m.xy), f(m.xz), f(m.yx), f(m.yy), f(m.yz), f(m.zx), f(m.zy), f(m.zz);
}
template <class S, class F>
THUNDER_INLINE void each(Sym3<S>& m, F&& f) {
  f(m.xx), f(m.xy), f(m.xz), f(m.yy), f(m.yz), f(m.zz);
}
template <class S, class F>
THUNDER_INLINE void each(Pose<S>& pose, F&& f) {
  each(pose.R, f), each(pose.p, f);
}

template <class S>
THUNDER_INLINE Vec3<S> operator+(const Vec3<S>& a, const Vec3<S>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class S>
THUNDER_INLINE Vec3<S> operator-(const Vec3<S>& a, const Vec3<S>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class S>
THUNDER_INLINE Vec3<S>& operator+=(Vec3<S>& a, const Vec3<S>& b) {
  return a = a + b;
}
template <class S, class P>
THUNDER_INLINE Vec3<S> operator*(const Vec3<S>& a, const P& k) {
  return {a.x * k, a.y * k, a.z * k};
}
template <class S, class P>
THUNDER_INLINE S dot(const Vec3<S>& a, const Vec3<P>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class S, class P>
THUNDER_INLINE Vec3<S> cross(const Vec3<S>& a, const Vec3<P>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/// R v
template <class S, class P>
THUNDER_INLINE Vec3<S> operator*(const Mat3<S>& R, const Vec3<P>& v) {
  return {R.xx * v.x + R.xy * v.y + R.xz * v.z, R.yx * v.x + R.yy * v.y + R.yz * v.z,
          R.zx * v.x + R.zy * v.y + R.zz * v.z};
}
/// R' v
template <class P, class S>
THUNDER_INLINE auto transposed_times(const Mat3<P>& R, const Vec3<S>& v) {
  using T = decltype(R.xx * v.x);
  return Vec3<T>{R.xx * v.x + R.yx * v.y + R.zx * v.z, R.xy * v.x + R.yy * v.y + R.zy * v.z,
                 R.xz * v.x + R.yz * v.y + R.zz * v.z};
}
template <class S, class P>
THUNDER_INLINE Mat3<S> operator*(const Mat3<S>& A, const Mat3<P>& B) {
  return {A.xx * B.xx + A.xy * B.yx + A.xz * B.zx, A.xx * B.xy + A.xy * B.yy + A.xz * B.zy,
          A.xx * B.xz + A.xy * B.yz + A.xz * B.zz, A.yx * B.xx + A.yy * B.yx + A.yz * B.zx,
          A.yx * B.xy + A.yy * B.yy + A.yz * B.zy, A.yx * B.xz + A.yy * B.yz + A.yz * B.zz,
          A.zx * B.xx + A.zy * B.yx + A.zz * B.zx, A.zx * B.xy + A.zy * B.yy + A.zz * B.zy,
          A.zx * B.xz + A.zy * B.yz + A.zz * B.zz};
}
/// A pose in the frame of another.
template <class S, class P>
THUNDER_INLINE Pose<S> operator*(const Pose<S>& A, const Pose<P>& B) {
  return {A.R * B.R, A.p + A.R * B.p};
}
/// Symmetric matrix times vector.
template <class A, class B>
THUNDER_INLINE auto operator*(const Sym3<A>& I, const Vec3<B>& v) {
  using T = decltype(I.xx * v.x);
  return Vec3<T>{I.xx * v.x + I.xy * v.y + I.xz * v.z, I.xy * v.x + I.yy * v.y + I.yz * v.z,
                 I.xz * v.x + I.yz * v.y + I.zz * v.z};
}
template <class S>
THUNDER_INLINE Sym3<S> operator+(const Sym3<S>& a, const Sym3<S>& b) {
  return {a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz};
}
/// Third column.
template <class S>
THUNDER_INLINE Vec3<S> z_axis(const Mat3<S>& R) {
  return {R.xz, R.yz, R.zz};
}
/// R I R', the inertia I seen in other axes.
template <class S, class P>
THUNDER_INLINE Sym3<S> rotated(const Mat3<S>& R, const Sym3<P>& I) {
  const Mat3<S> A = R * Mat3<P>{I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz};
  return {A.xx * R.xx + A.xy * R.xy + A.xz * R.xz, A.xx * R.yx + A.xy * R.yy + A.xz * R.yz,
          A.xx * R.zx + A.xy * R.zy + A.xz * R.zz, A.yx * R.yx + A.yy * R.yy + A.yz * R.yz,
          A.yx * R.zx + A.yy * R.zy + A.yz * R.zz, A.zx * R.zx + A.zy * R.zy + A.zz * R.zz};
}
/// The same value in another scalar.
template <class S, class P>
THUNDER_INLINE Vec3<S> as(const Vec3<P>& v) {
  return {S(v.x), S(v.y), S(v.z)};
}
template <class S, class P>
THUNDER_INLINE Mat3<S> as(const Mat3<P>& R) {
  return {S(R.xx), S(R.xy), S(R.xz), S(R.yx), S(R.yy), S(R.yz), S(R.zx), S(R.zy), S(R.zz)};
}
/// [e] + K: with e = dw and K = w w' - (w.w) 1 it takes p to dw x p + w x (w x p).
template <class S>
THUNDER_INLINE Mat3<S> skew_plus(const Vec3<S>& e, const Sym3<S>& K) {
  return {K.xx, K.xy - e.z, K.xz + e.y, K.xy + e.z, K.yy, K.yz - e.x, K.xz - e.y, K.yz + e.x, K.zz};
}
/// w w' - (w.w) 1
template <class S>
THUNDER_INLINE Sym3<S> centripetal(const Vec3<S>& w) {
  const S xx = w.x * w.x, yy = w.y * w.y, zz = w.z * w.z;
  return {-(yy + zz), w.x * w.y, w.x * w.z, -(xx + zz), w.y * w.z, -(xx + yy)};
}

}  // namespace thunder
