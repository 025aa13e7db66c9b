// Every file of tests/data/transcripts/share and /batch.
#include "tests/support/transcripts.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/broker/share/transcript.h"

namespace ackord::share {
namespace {

using ShareTranscript = testing::TestWithParam<std::string>;

TEST_P(ShareTranscript, SaysTheSame) {
  test::check_transcript("share", GetParam(), run_transcript);
}

INSTANTIATE_TEST_SUITE_P(All, ShareTranscript, testing::ValuesIn(test::transcripts_of("share")),
                         [](const auto& info) { return info.param; });

using BatchTranscript = testing::TestWithParam<std::string>;

TEST_P(BatchTranscript, SaysTheSame) {
  test::check_transcript("batch", GetParam(), run_batch_transcript);
}

INSTANTIATE_TEST_SUITE_P(All, BatchTranscript, testing::ValuesIn(test::transcripts_of("batch")),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace ackord::share
