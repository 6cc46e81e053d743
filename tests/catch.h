// The one way to include Catch2: takes version 2 (Debian 12) and version 3 (Ubuntu 24.04).
// Tests write version 3's names: Catch::Approx, Catch::Matchers::ContainsSubstring and so on.
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)

#include <catch2/catch_approx.hpp>
#include <catch2/catch_message.hpp>
#include <catch2/catch_session.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>

using Catch::Approx;  // version 2 has it in the global namespace, 3 in Catch; here it is in both

#else

#include <catch2/catch.hpp>

#include <string>

namespace Catch {
using Detail::Approx;
}

namespace Catch::Matchers {

inline auto ContainsSubstring(const std::string& text,
                              CaseSensitive::Choice sensitivity = CaseSensitive::Yes) {
  return Contains(text, sensitivity);
}

}  // namespace Catch::Matchers

#endif
