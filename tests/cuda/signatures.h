#pragma once

#include <type_traits>

namespace cuda_tests {

/// Whether a parameter that we declare as Ours is passed as one that NVIDIA declares as Theirs.
/// Enumerations are numbers of their size, and what a pointer points to may have another name.
template <class Ours, class Theirs>
constexpr bool same_parameter() {
  if constexpr (std::is_same_v<Ours, Theirs>) {
    return true;
  } else if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) {
    using A = std::remove_pointer_t<Ours>;
    using B = std::remove_pointer_t<Theirs>;
    return std::is_const_v<A> == std::is_const_v<B> &&
           same_parameter<std::remove_cv_t<A>, std::remove_cv_t<B>>();
  } else if constexpr (std::is_class_v<Ours> && std::is_class_v<Theirs>) {
    return true;
  } else {
    constexpr bool ours = std::is_enum_v<Ours> || std::is_integral_v<Ours>;
    constexpr bool theirs = std::is_enum_v<Theirs> || std::is_integral_v<Theirs>;
    if constexpr (ours && theirs) return sizeof(Ours) == sizeof(Theirs);
    return false;
  }
}

template <class Ours, class Theirs>
struct SameSignature : std::false_type {};
template <class R, class... A, class S, class... B>
  requires(sizeof...(A) == sizeof...(B))
struct SameSignature<R (*)(A...), S (*)(B...)>
    : std::bool_constant<same_parameter<R, S>() && (same_parameter<A, B>() && ...)> {};

}  // namespace cuda_tests
