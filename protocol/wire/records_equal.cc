#include "protocol/wire/records_equal.h"

namespace ackord {

bool operator==(const Records& a, const Records& b) {
  return a.size() == b.size() && a.copy() == b.copy();
}

}  // namespace ackord
