// Work on many partitions, one hop per core: the items are grouped by the core they belong to, each
// group runs there, and the results come back in the order of the items.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "broker/io/core.h"

namespace ackord::api {

// `core_of(item)` names the core; `work(items)` is called on it with the core's items, in order,
// and answers as many results. `work` must outlive the call (a function or an object of the
// caller's frame).
template <class Out, class Item, class CoreOf, class Work>
io::Task<std::vector<Out>> by_core(std::vector<Item> items, CoreOf core_of, Work& work) {
  std::map<int, std::pair<io::Executor*, std::vector<size_t>>> groups;
  for (size_t i = 0; i < items.size(); ++i) {
    const io::Core& core = core_of(items[i]);
    auto& group = groups[core.index];
    group.first = &core.executor;
    group.second.push_back(i);
  }
  std::vector<io::Task<std::vector<Out>>> tasks;
  for (auto& [index, group] : groups) {
    std::vector<Item> mine;
    mine.reserve(group.second.size());
    for (const size_t at : group.second) mine.push_back(std::move(items[at]));
    tasks.push_back(io::on(*group.first, work(std::move(mine))));
  }
  auto running = io::when_all(std::move(tasks));
  std::vector<std::vector<Out>> done = co_await std::move(running);
  std::vector<Out> results(items.size());
  size_t which = 0;
  for (auto& [index, group] : groups) {
    for (size_t i = 0; i < group.second.size(); ++i) {
      results[group.second[i]] = std::move(done[which][i]);
    }
    ++which;
  }
  co_return results;
}

}  // namespace ackord::api
