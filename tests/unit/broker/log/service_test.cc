// What concerns the whole directory: several cores, creation and removal, a start that fails.
#include <gmock/gmock.h>

#include <array>

#include "tests/unit/broker/log/log_harness.h"

namespace ackord::log {
namespace {

class TwoCoresTest : public testing::Test {
 protected:
  TwoCoresTest() : environment_{{cores_[0].core(0), cores_[1].core(1)}, files_, random_} {
    service_ = make_log_service(environment_, {.directory = directory_.path()});
  }
  ~TwoCoresTest() override {
    for (auto& core : cores_) core.executor.destroy_spawned();
  }

  // Both cores take turns until `task` has ended.
  template <class T>
  T run(io::Task<T> task) {
    auto result = std::make_shared<std::optional<T>>();
    cores_[0].spawn(store(std::move(task), result));
    while (!*result) {
      const bool first = cores_[0].executor.run_one();
      const bool second = cores_[1].executor.run_one();
      if (!first && !second) {
        ADD_FAILURE() << "stuck";
        std::abort();
      }
    }
    return std::move(**result);
  }
  template <class T>
  static io::Task<void> store(io::Task<T> task, std::shared_ptr<std::optional<T>> result) {
    T value = co_await std::move(task);
    result->emplace(std::move(value));
  }
  static io::Task<bool> finish(LogService* service) {
    auto closing = service->close();
    co_await std::move(closing);
    co_return true;
  }
  static io::Task<Result<bool>> write(LogService* service, TopicPartition name) {
    auto there = io::on(service->core_of(name).executor, write_here(service, name));
    co_return co_await std::move(there);
  }
  static io::Task<Result<bool>> write_here(LogService* service, TopicPartition name) {
    const auto partition = service->find(name);
    if (!partition) co_return false;
    const auto batch = make_batch({"v"});
    ClientAppend request;
    request.records = batch;
    const auto result = partition->append(request, 1'700'000'000'000);
    auto waiting = partition->durable(result.next_offset);
    auto durable = co_await std::move(waiting);
    if (durable.has_error()) co_return durable.error();
    co_return partition->high_watermark() == 1;
  }

  test::TempDirectory directory_;
  test::LocalFileSystem files_;
  test::SeededRandom random_;
  std::array<test::TestCore, 2> cores_;
  io::Environment environment_;
  std::unique_ptr<LogService> service_;
};

TEST_F(TwoCoresTest, PartitionsLiveOnTheCoreOfTheirName) {
  ASSERT_TRUE(service_->open().has_value());
  std::vector<TopicPartition> names;
  for (int i = 0; i < 6; ++i) names.push_back({TopicName("topic"), i});
  const int before = files_.faults().datasyncs[directory_.path()];
  ASSERT_TRUE(run(service_->create_all(names, topic_id(), {})).has_value());
  EXPECT_EQ(files_.faults().datasyncs[directory_.path()], before + 1);
  std::array<int, 2> on{};
  for (const auto& name : names) {
    ++on[static_cast<size_t>(service_->core_of(name).index)];
    auto written = run(write(service_.get(), name));
    ASSERT_TRUE(written.has_value());
    EXPECT_TRUE(*written);
  }
  EXPECT_EQ(on[0], 3);
  EXPECT_EQ(on[1], 3);
  for (const auto& name : names) ASSERT_TRUE(run(service_->remove(name)).has_value());
  ASSERT_TRUE(run(service_->remove(names[0])).has_value()) << "a missing one is success";
  EXPECT_TRUE(run(finish(service_.get())));
  EXPECT_TRUE(files_.exists(directory_ / ".kafka_cleanshutdown"));
}

TEST(FailedStartTest, LeavesNoMarkOfACleanStop) {
  LogHarness log;
  ASSERT_TRUE(log.start().has_value());
  log.append(make_batch({"a"}));
  log.settle();
  log.stop();
  ASSERT_TRUE(log.start().has_value());
  log.crash();
  auto file = log.files.open(log.active_path(), io::OpenMode::kReadWrite);
  ASSERT_TRUE((*file)->truncate(10).has_value());
  ASSERT_TRUE(log.start().has_error());
  log.core->run(log.service->close());
  EXPECT_FALSE(log.files.exists(log.directory / ".kafka_cleanshutdown"));
}

TEST(CloseTest, WritesNothingForAPartitionThatIsAsItWasOpened) {
  LogHarness log;
  ASSERT_TRUE(log.start().has_value());
  log.append(make_batch({"a"}));
  log.settle();
  log.stop();
  ASSERT_TRUE(log.start().has_value());
  const int before = log.files.faults().datasyncs[log.folder()];
  log.stop();
  EXPECT_EQ(log.files.faults().datasyncs[log.folder()], before);
  ASSERT_TRUE(log.start().has_value());
  EXPECT_EQ(log.values(0), std::vector<std::string>{"a"});
  log.append(make_batch({"b"}));
  log.settle();
  log.stop();
  EXPECT_GT(log.files.faults().datasyncs[log.folder()], before);
  ASSERT_TRUE(log.start().has_value());
  EXPECT_EQ(log.values(0), (std::vector<std::string>{"a", "b"}));
}

TEST(CloseTest, NothingIsAppendedAfterwards) {
  LogHarness log;
  ASSERT_TRUE(log.start().has_value());
  log.append(make_batch({"a"}));
  log.settle();
  log.core->run(log.service->close());
  EXPECT_EQ(log.append(make_batch({"b"})).error, ErrorCode::KAFKA_STORAGE_ERROR);
  log.crash();
  ASSERT_TRUE(log.start().has_value());
  EXPECT_EQ(log.values(0), std::vector<std::string>{"a"});
}

TEST(FormatTest, ADirectoryWithPartitionsButWithoutItsPropertiesIsRefused) {
  LogHarness log;
  ASSERT_TRUE(log.start().has_value());
  log.stop();
  ASSERT_TRUE(log.files.remove(log.directory / "meta.properties").has_value());
  EXPECT_THAT(log.start().error().message, testing::HasSubstr("meta.properties"));
}

}  // namespace
}  // namespace ackord::log
