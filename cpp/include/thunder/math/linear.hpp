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

#define THUNDER_INLINE inline __attribute__((always_inline))

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
/// Rot_z(angle) from the right, given sine and cosine.
template <class P, class S>
THUNDER_INLINE auto times_rot_z(const Mat3<P>& R, const S& s, const S& c) {
  using T = decltype(R.xx * s);
  return Mat3<T>{R.xx * c + R.xy * s, R.xy * c - R.xx * s, T(R.xz), R.yx * c + R.yy * s,
                 R.yy * c - R.yx * s, T(R.yz), R.zx * c + R.zy * s, R.zy * c - R.zx * s, T(R.zz)};
}

}  // namespace thunder
