// Committed offsets: OffsetCommit, OffsetFetch, OffsetDelete and short forms of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/conform/kit/groups.h"

namespace ackord::conform {

struct OffsetPart {
  Topic topic;
  int32_t partition = 0;
  int64_t offset = 0;  // this and the next: in a commit only
  int32_t leader_epoch = -1;
  std::optional<std::string> metadata = "";
};

struct CommitOptions {
  int16_t version = 9;
  std::string member;
  int32_t epoch = -1;  // or the generation
  std::optional<std::string> instance;
};
// A version from 10 on names topics by id.
Object commit_request(const std::string& group, const std::vector<OffsetPart>& parts,
                      const CommitOptions& options = {});
// The error code of one partition.
Value try_commit(Kit& kit, const std::string& group, const OffsetPart& part,
                 const CommitOptions& options = {});
// Must succeed.
void commit(Kit& kit, const std::string& group, const Topic& topic, int64_t offset,
            int32_t partition = 0);

struct OffsetFetchOptions {
  int16_t version = 9;
  bool require_stable = false;        // version 7 on
  std::optional<std::string> member;  // version 9 on, as the next
  int32_t epoch = -1;
};
// The group's part of OffsetFetch (the whole answer before version 8). `parts` nothing: all.
Value fetch_offsets(Kit& kit, const std::string& group,
                    const std::optional<std::vector<OffsetPart>>& parts,
                    const OffsetFetchOptions& options = {});
// The partition's part. Failure on an error of the group.
Value committed(Kit& kit, const std::string& group, const Topic& topic, int32_t partition = 0,
                const OffsetFetchOptions& options = {});
// The offset. Failure on any error; -1 when there is none.
int64_t committed_offset(Kit& kit, const std::string& group, const Topic& topic,
                         int32_t partition = 0);

// OffsetDelete; the whole answer.
Value delete_offsets(Kit& kit, const std::string& group, const std::vector<OffsetPart>& parts);

}  // namespace ackord::conform
