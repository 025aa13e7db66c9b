// What transactional share acknowledgements add to the wire and to what is stored; feature levels.
#include "tools/conform/case.h"
#include "tools/conform/kit/batch_txn.h"
#include "tools/conform/kit/share_state.h"
#include "tools/conform/kit/share_txn.h"

namespace ackord::conform {

AREA("share.txn.wire", "Transactional share acknowledgements: what they add to the wire",
     "AddShareAcksToTxn");

namespace {

// What UpdateFeatures would answer to share.version 2.
Value try_lower(Kit& kit, int16_t version) {
  const Object update{{"feature", "share.version"}, {"maxVersionLevel", 2}, {"upgradeType", 2}};
  return ask_until_free(kit, [&] {
    return kit.ask(
        "UpdateFeatures", version,
        {{"featureUpdates", list(update)}, {"timeoutMs", 10000}, {"validateOnly", true}});
  });
}
void expect_refused(Kit& kit, int16_t version) {
  const Value answer = try_lower(kit, version);
  answer["errorCode"].is(ErrorCode::INVALID_UPDATE_VERSION);
  answer["errorMessage"].is_not_empty();
}

}  // namespace

CASE(advertised, "docs/PROTOCOL.md 0.1", .api = "ApiVersions", .first = 0, .last = 5) {
  Object request;
  if (kit.version() >= 3) request = {{"clientSoftwareName", "a"}, {"clientSoftwareVersion", "1"}};
  const Value keys = kit.ask("ApiVersions", kit.version(), request)["apiKeys"];
  for (const int key : {95, 20000, 20001, 20002, 20003, 20004, 20005, 20006, 20010, 20011}) {
    const Value one = keys.with("apiKey", key);
    one["minVersion"].is(0);
    one["maxVersion"].is(0);
  }
}

// Version 3 does not have features whose lowest level is 0.
CASE(level, "docs/PROTOCOL.md 0.1", .api = "ApiVersions", .first = 4, .last = 5) {
  const Value answer = kit.ask("ApiVersions", kit.version(),
                               {{"clientSoftwareName", "a"}, {"clientSoftwareVersion", "1"}});
  answer["finalizedFeatures"].with("name", "share.version")["maxVersionLevel"].is(3);
  answer["supportedFeatures"].with("name", "share.version")["maxVersion"].is(3);
}

// The default of the tagged field: not looked at.
CASE(start_that_is_not_told, "docs/PROTOCOL.md 0.3", .api = "EndTxn", .first = 4, .last = 5) {
  Staging on = staging(kit, version_of(kit));
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 4}}, {.start = -1});
  const int64_t start = enlist(kit, on.producer, on.member.group(), on.topic, -1);
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 5, .last = 9}},
        {.start = start});
  on.producer.commit();
  expect_lag(kit, on.member.group(), on.topic, 0);
}

CASE(stored_owners, "docs/PROTOCOL.md 0.1, 1.4") {
  Staging on = staging(kit);
  BatchTxn batch(kit, on.member.group());
  expect_batch(batch.begin(), "ONGOING", 0);
  stage(kit, on.producer, on.member,
        {{.topic = on.topic, .first = 0, .last = 1, .types = {kAccept}},
         {.topic = on.topic, .first = 2, .last = 3, .types = {kReject}},
         {.topic = on.topic, .first = 4, .last = 5, .types = {kGap}}});
  batch.stage(on.member, {{.topic = on.topic, .first = 6, .last = 7}});
  on.member.acknowledge(on.topic, 8, 9).is_none();
  SharePartitionState state(kit, on.topic, on.member.group());
  const Value batches = state.read()["stateBatches"];
  batches.has_size(5);
  const auto expect_owner = [&](int64_t first, int8_t type, int8_t state_on_commit) {
    const Value range = batches.with("firstOffset", first);
    range["deliveryState"].is(kStagedState);
    range["stagedAckType"].is(type);
    range["stagedDeliveryState"].is(state_on_commit);
    return range["ownerIndex"].number();
  };
  const int64_t producer = expect_owner(0, kAccept, kAcknowledged);
  expect_equal(expect_owner(2, kReject, kArchived), producer, "the owner of the second range");
  expect_equal(expect_owner(4, kGap, kArchived), producer, "the owner of the third range");
  expect(expect_owner(6, kAccept, kAcknowledged) != producer, "another owner");
  const Value done = batches.with("firstOffset", 8);
  done["deliveryState"].is(kAcknowledged);
  for (const char* field : {"ownerIndex", "stagedAckType", "stagedDeliveryState"})
    expect(!done.has(field), std::string("no ") + field);
  on.producer.abort();
  expect_batch(batch.abort(), "ABORTED", 2);
}

CASE(summary_counts_them, "docs/PROTOCOL.md 1.2") {
  Staging on = staging(kit);
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 4}});
  on.member.acknowledge(on.topic, 5, 9).is_none();
  SharePartitionState state(kit, on.topic, on.member.group());
  state.summary()["startOffset"].is(0);
  state.summary()["deliveryCompleteCount"].is(5);
  on.producer.commit();
  state.summary()["deliveryCompleteCount"].is(10);
}

// ---------------------------------------------------------------- feature levels
// Only asked, never changed. Alone, since new stages are stopped while it is looked at.

CASE(level_stays_while_staged, "docs/PROTOCOL.md 1.5", .api = "UpdateFeatures", .first = 1,
     .last = 2, .alone = true) {
  Staging on = staging(kit);
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  expect_refused(kit, kit.version());
  // It goes on as if nothing had been asked.
  stage(kit, on.producer, on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  on.producer.commit();
  expect_lag(kit, on.member.group(), on.topic, 0);
}

CASE(level_stays_with_a_live_batch, "docs/PROTOCOL.md 1.5", .api = "UpdateFeatures", .first = 1,
     .last = 2, .alone = true) {
  Begun on = begun(kit);
  expect_refused(kit, kit.version());
  on.batch.stage(on.member, {{.topic = on.topic, .first = 0, .last = 9}});
  expect_batch(on.batch.prepare(), "PREPARE", 10);
  expect_refused(kit, kit.version());
  expect_batch(on.batch.commit(), "COMMITTED", 10);
  BatchTxn another(kit, on.member.group());
  expect_batch(another.begin(), "ONGOING", 0);
  expect_batch(another.abort(), "ABORTED", 0);
}

}  // namespace ackord::conform
