// Compiled with -mavx2 -mfma. Nothing here may be shared with the rest of the module: every function it emits must
// be a template on its own pack type (a test looks at the symbols of this object).
#include "batch.hpp"

namespace thunder {

namespace {
struct Avx2;
}

BatchFunction batch_avx2(std::size_t quantity) { return BatchTable<Pack<4, Avx2>>::entries[quantity]; }

}  // namespace thunder
