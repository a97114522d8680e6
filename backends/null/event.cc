#include "backends/null/event.h"

namespace hetgpu::null {

// Clone: ask the vendor when, and translate to the host's steady clock.
uint64_t NullEvent::TimestampNs() const { return 0; }

}  // namespace hetgpu::null
