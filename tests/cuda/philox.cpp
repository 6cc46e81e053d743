#include "taper/kernels/functors/philox.h"

#include "values.h"

using namespace cuda_tests;
using namespace taper::kernels::functors;

namespace {

void check_words(const Words4& got, const uint32_t (&expected)[4]) {
  for (int i = 0; i < 4; ++i) CHECK(got.word[i] == expected[i]);
}

/// From NVIDIA's cuRAND; tests/golden/curand.cpp prints this table.
const struct {
  uint64_t seed, thread, offset;
  uint32_t words[2][4];
  float uniforms[4], normals[4];
  double double_uniforms[2], double_normals[2];
} kCurand[] = {
    {0x0u,
     0,
     0x0u,
     {{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u},
      {0xf8e4cca4u, 0x5cb200dbu, 0xb1a574ebu, 0x97eff67u}},
     {0x1.989fa4p-2f, 0x1.c2d38cp-1f, 0x1.78af58p-1f, 0x1.3601b8p-1f},
     {-0.924662411f, 0.991137743f, -0.482068747f, -0.617608845f},
     {0x1.c2d38d787e8d6p-1, 0x1.3601bc757ac4cp-1},
     {-0.31039573600037634, -0.39766713631503542}},
    {0x2au,
     1,
     0x0u,
     {{0x2933769u, 0x2051e913u, 0x3b68b038u, 0xb62c409cu},
      {0x20ff9139u, 0xfdd21d94u, 0x1b0af4ecu, 0x39c6bd08u}},
     {0x1.499bb4p-7f, 0x1.028f48p-3f, 0x1.db4582p-3f, 0x1.6c5882p-1f},
     {2.16137385f, 2.12769079f, -1.65975308f, -0.408270776f},
     {0x1.028f483ccdda6p-3, 0x1.6c58828e8b038p-1},
     {-1.9755592233655759, -0.48595321591771257}},
    {0x123456789abcdefu,
     70000,
     0xcu,
     {{0xdb096897u, 0xb5b39144u, 0x4aa1cae7u, 0xc41dfed5u},
      {0x1e148246u, 0x8576008fu, 0xa161499bu, 0xa35c2ea5u}},
     {0x1.b612d2p-1f, 0x1.6b6722p-1f, 0x1.2a872cp-2f, 0x1.883bfep-1f},
     {-0.540713191f, -0.139660254f, -1.56209111f, 0.158390149f},
     {0x1.6b672f3896898p-1, 0x1.883bf9001cae8p-1},
     {-0.82380030208629829, 0.083529252202903609}},
    {0x7u,
     255,
     0x500000000u,
     {{0x7580b5c5u, 0xd37a0890u, 0x48c4fc29u, 0x78185b9fu},
      {0x34746a41u, 0xf66845c7u, 0x7a09dea3u, 0x844ab32du}},
     {0x1.d602d8p-2f, 0x1.a6f412p-1f, 0x1.2313fp-2f, 0x1.e0616ep-2f},
     {-1.10807669f, 0.574105322f, 0.305801988f, -1.55635691f},
     {0x1.a6f416780b5c6p-1, 0x1.e06167649f853p-2},
     {0.11918175538237388, -0.60656460780754951}},
};

}  // namespace

TEST_CASE("Philox gives the known answers of its authors' Random123") {
  check_words(philox(0, 0, 0), {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  check_words(philox(~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}),
              {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  check_words(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
              {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("words become the numbers that cuRAND makes of them") {
  for (const auto& known : kCurand) {
    INFO("seed " << known.seed << ", thread " << known.thread);
    const Words4 words = philox(known.seed, known.offset / 4, known.thread);
    check_words(words, known.words[0]);
    check_words(philox(known.seed, known.offset / 4 + 1, known.thread), known.words[1]);
    for (int i = 0; i < 4; ++i) CHECK(uniform_of_word(words.word[i]) == known.uniforms[i]);
    CHECK(uniform_of_words(words.word[0], words.word[1]) == known.double_uniforms[0]);
    CHECK(uniform_of_words(words.word[2], words.word[3]) == known.double_uniforms[1]);
    for (int i = 0; i < 4; i += 2) {
      float first, second;
      normals_of_words(words.word[i], words.word[i + 1], first, second);
      CHECK(first == Approx(known.normals[i]).epsilon(2e-6));
      CHECK(second == Approx(known.normals[i + 1]).epsilon(2e-6));
    }
    double first, second;
    normals_of_words(words, first, second);
    CHECK(first == Approx(known.double_normals[0]).epsilon(1e-14));
    CHECK(second == Approx(known.double_normals[1]).epsilon(1e-14));
  }
  CHECK(uniform_of_word(0xffffffffu) == 1);
  CHECK(uniform_of_word(0) == 0x1p-33f);
}
