// block_on: runs a task on a core and waits for its result. For threads that are no core: main at
// start-up and at the end, tests. The core must be running.
#pragma once

#include <future>
#include <memory>
#include <utility>

#include "broker/base/assert.h"
#include "broker/io/executor.h"

namespace ackord::io {

namespace detail {
template <class T>
Task<void> keep_promise(Task<T> task, std::shared_ptr<std::promise<T>> promise) {
  promise->set_value(co_await std::move(task));
}
inline Task<void> keep_promise(Task<void> task, std::shared_ptr<std::promise<void>> promise) {
  co_await std::move(task);
  promise->set_value();
}
}  // namespace detail

template <class T>
T block_on(Executor& executor, Task<T> task) {
  ACKORD_ASSERT(Executor::current() == nullptr, "a core must not wait for a core");
  auto promise = std::make_shared<std::promise<T>>();
  auto result = promise->get_future();
  spawn(executor, detail::keep_promise(std::move(task), std::move(promise)));
  return result.get();
}

}  // namespace ackord::io
