// The one data directory, as clients name it.
#pragma once

#include <string>

namespace ackord::metadata {
class MetadataService;
}

namespace ackord::api {

// The value of log.dirs, or of log.dir where that is not set; absolute.
std::string log_directory(const metadata::MetadataService& service);

}  // namespace ackord::api
