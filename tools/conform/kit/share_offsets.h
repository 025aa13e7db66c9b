// The offsets of share groups as admins see them: Describe-, Alter- and DeleteShareGroupOffsets
// (KIP-932, KIP-1226). Errors: Failure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/conform/kit/coordinators.h"
#include "tools/conform/kit/topics.h"

namespace ackord::conform {

struct ShareOffsetPart {
  std::string topic;
  std::vector<int32_t> partitions = {0};
};

// The group's part of DescribeShareGroupOffsets; without `parts`: all that it holds.
Value describe_offsets(Kit& kit, const std::string& group,
                       const std::optional<std::vector<ShareOffsetPart>>& parts = {},
                       int16_t version = 1);
// The part of one partition.
Value describe_offset(Kit& kit, const std::string& group, const Topic& topic, int32_t partition = 0,
                      int16_t version = 1);
// Start offset and lag of a partition, which has no error.
void expect_offset(Kit& kit, const std::string& group, const Topic& topic, int64_t start,
                   int64_t lag, int32_t partition = 0);

struct NewShareOffset {
  std::string topic;
  int64_t offset = 0;
  int32_t partition = 0;
};
// The whole answer of AlterShareGroupOffsets.
Value try_alter_offsets(Kit& kit, const std::string& group,
                        const std::vector<NewShareOffset>& offsets);
// Of one partition of a topic that may be new. Failure unless it succeeds.
void alter_offset(Kit& kit, const std::string& group, const Topic& topic, int64_t offset,
                  int32_t partition = 0);

// The whole answer of DeleteShareGroupOffsets.
Value try_delete_offsets(Kit& kit, const std::string& group,
                         const std::vector<std::string>& topics);

// The group's part of ShareGroupDescribe.
Value describe_share_group(Kit& kit, const std::string& group, bool operations = false);

}  // namespace ackord::conform
