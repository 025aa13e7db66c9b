#include "protocol/wire/header.h"

#include <algorithm>
#include <string>

#include "protocol/generated/header_versions.h"

namespace ackord::protocol {
namespace {

Error unknown_api(int16_t api_key) {
  return error(ErrorCode::UNSUPPORTED_VERSION, "unknown API key " + std::to_string(api_key));
}

}  // namespace

Result<RequestHeader> read_request_header(Reader& in) {
  Reader ahead = in;
  const int16_t api_key = ahead.int16();
  const int16_t api_version = ahead.int16();
  if (!ahead.ok()) return ahead.error(RequestHeader::kName, RequestHeader::kMinVersion);
  const int16_t version = request_header_version(api_key, api_version);
  if (version < 0) return unknown_api(api_key);
  return RequestHeader::decode(in, version);
}

void write_request_header(Writer& out, const RequestHeader& header) {
  const int16_t version =
      request_header_version(header.request_api_key, header.request_api_version);
  header.encode(out, std::max(version, RequestHeader::kMinVersion));
}

void write_response_header(Writer& out, int16_t api_key, int16_t api_version,
                           int32_t correlation_id) {
  ResponseHeader header;
  header.correlation_id = correlation_id;
  header.encode(
      out, std::max(response_header_version(api_key, api_version), ResponseHeader::kMinVersion));
}

Result<ResponseHeader> read_response_header(Reader& in, int16_t api_key, int16_t api_version) {
  const int16_t version = response_header_version(api_key, api_version);
  if (version < 0) return unknown_api(api_key);
  return ResponseHeader::decode(in, version);
}

}  // namespace ackord::protocol
