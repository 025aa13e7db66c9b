// The handlers' declarations, one per line of apis.def. Each handler's file includes this.
#pragma once

#include "broker/api/handler.h"
#include "broker/io/task.h"

#define API(key, Name, first, last)                                           \
  namespace ackord::protocol {                                                \
  struct Name##Request;                                                       \
  struct Name##Response;                                                      \
  }                                                                           \
  namespace ackord::api {                                                     \
  io::Task<protocol::Name##Response> handle(RequestContext& context,          \
                                            protocol::Name##Request request); \
  }
#include "broker/api/apis.def"
#undef API
