// Every file of tests/data/transcripts/share. After a wanted change: ACKORD_UPDATE_GOLDEN=1.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/broker/share/transcript.h"

namespace ackord::share {
namespace {

std::vector<std::string> transcripts() {
  std::vector<std::string> out;
  for (const auto& file :
       std::filesystem::directory_iterator(ACKORD_TEST_DATA "/transcripts/share")) {
    if (file.path().extension() == ".txt") out.push_back(file.path().stem().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

class ShareTranscript : public testing::TestWithParam<std::string> {};

TEST_P(ShareTranscript, SaysTheSame) {
  const std::string path =
      std::string(ACKORD_TEST_DATA "/transcripts/share/") + GetParam() + ".txt";
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  const std::string actual = run_transcript(text.str());
  if (std::getenv("ACKORD_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << actual;
    return;
  }
  EXPECT_EQ(actual, text.str());
}

INSTANTIATE_TEST_SUITE_P(All, ShareTranscript, testing::ValuesIn(transcripts()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace ackord::share
