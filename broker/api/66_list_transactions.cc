// ListTransactions (key 66), versions 0-2 (KIP-664): the transactional ids of this coordinator that
// pass every filter; an empty filter passes all.
//   v1  duration filter (KIP-994)   v2  pattern of the transactional id (KIP-1152)
// Filtered by names of states that do not exist, the answer names those; with no other state asked
// for it lists nothing. An id that never had a transaction counts as open since ever. May: the ids
// with DESCRIBE are listed.
#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/txn/txn_service.h"
#include "broker/txn/txn_state.h"
#include "protocol/generated/list_transactions_request.h"
#include "protocol/generated/list_transactions_response.h"

namespace ackord::api {
namespace {

using protocol::ListTransactionsRequest;
using protocol::ListTransactionsResponse;

bool is_state(std::string_view name) {
  for (auto state = static_cast<int8_t>(txn::TxnState::kEmpty);
       state <= static_cast<int8_t>(txn::TxnState::kPrepareEpochFence); ++state) {
    if (txn::name_of(static_cast<txn::TxnState>(state)) == name) return true;
  }
  return false;
}

class Filter {
 public:
  Filter(const ListTransactionsRequest& request, TimeMs now_ms)
      : any_state_(request.state_filters.empty()),
        duration_ms_(request.duration_filter),
        now_ms_(now_ms) {
    for (const String& name : request.state_filters) {
      if (is_state(name.sv())) {
        states_.insert(name.str());
      } else {
        unknown_.insert(name.str());
      }
    }
    for (const ProducerId id : request.producer_id_filters) producers_.insert(id.value);
    const auto& pattern = request.transactional_id_pattern;
    if (!pattern || pattern->empty()) return;
    RE2::Options options;
    options.set_log_errors(false);
    pattern_ = std::make_unique<RE2>(re2::StringPiece(pattern->sv().data(), pattern->sv().size()),
                                     options);
  }

  bool valid() const { return !pattern_ || pattern_->ok(); }
  const std::set<std::string>& unknown_states() const { return unknown_; }

  bool passes(const txn::TransactionListing& one) const {
    if (!any_state_ && !states_.contains(one.state)) return false;
    if (!producers_.empty() && !producers_.contains(one.producer_id.value)) return false;
    if (duration_ms_ >= 0 && now_ms_ - one.start_time_ms <= duration_ms_) return false;
    if (!pattern_) return true;
    return RE2::FullMatch(re2::StringPiece(one.id.sv().data(), one.id.sv().size()), *pattern_);
  }

 private:
  bool any_state_;
  std::set<std::string> states_;
  std::set<std::string> unknown_;
  std::set<int64_t> producers_;
  int64_t duration_ms_;
  TimeMs now_ms_;
  std::unique_ptr<RE2> pattern_;  // of the whole id
};

}  // namespace

io::Task<ListTransactionsResponse> handle(RequestContext& context,
                                          ListTransactionsRequest request) {
  ListTransactionsResponse response;
  const Filter filter(request, context.core.clock.now().wall_ms);
  if (!filter.valid()) {
    response.error_code = ErrorCode::INVALID_REGULAR_EXPRESSION;
    co_return response;
  }
  auto listing = context.services.txn.list();
  const Result<std::vector<txn::TransactionListing>> listed = co_await std::move(listing);
  if (!listed) {
    response.error_code = listed.error().code;
    co_return response;
  }
  for (const std::string& name : filter.unknown_states())
    response.unknown_state_filters.push_back(String(name));
  const Access access(context);
  for (const txn::TransactionListing& one : *listed) {
    if (!filter.passes(one)) continue;
    if (!access.may_see(Operation::kDescribe, ResourceType::kTransactionalId, one.id.sv()))
      continue;
    auto& out = response.transaction_states.emplace_back();
    out.transactional_id = one.id;
    out.producer_id = one.producer_id;
    out.transaction_state = String(one.state);
  }
  co_return response;
}

}  // namespace ackord::api
