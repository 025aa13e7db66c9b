// The header before the body of every request and response, in the version that belongs to the API.
#pragma once

#include <cstdint>

#include "protocol/generated/request_header.h"
#include "protocol/generated/response_header.h"
#include "protocol/types/result.h"
#include "protocol/wire/reader.h"
#include "protocol/wire/writer.h"

namespace ackord::protocol {

// Reads the header and leaves `in` at the body. UNSUPPORTED_VERSION for an unknown API,
// INVALID_REQUEST for bytes that are none. The version of the API is not checked. The client id
// borrows from the frame.
Result<RequestHeader> read_request_header(Reader& in);
// For clients: `header` names the API and its version.
void write_request_header(Writer& out, const RequestHeader& header);

// `api_key` must be a known one.
void write_response_header(Writer& out, int16_t api_key, int16_t api_version,
                           int32_t correlation_id);
// For clients: the header of the answer to a request of this API and version.
Result<ResponseHeader> read_response_header(Reader& in, int16_t api_key, int16_t api_version);

}  // namespace ackord::protocol
