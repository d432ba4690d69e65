#include "subfleet/fleet/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "fleet/flower/incoming.h"
#include "fleet/flower/membership.h"
#include "fleet/flower/pending_replies.h"
#include "fleet/flower/reply.h"
#include "subfleet/base/stopwatch.h"
#include "subfleet/base/text.h"
#include "subfleet/base/version.h"
#include "subfleet/fleet/remote/job_runner.h"
#include "subfleet/server/message.h"

namespace subfleet {
namespace flower {
namespace {

constexpr long kUnauthorized = 401, kForbidden = 403;
constexpr double kShortestWait = 0.1, kLongestWait = 1;  // seconds between two looks for messages

// What the server is told about this node's data.
wire::ConfigRecord description(const NodeData& data) {
  wire::ConfigRecord record;
  const auto add = [&](const char* key) {
    wire::ConfigRecord::Item& item = *record.add_items();
    item.set_key(key);
    return item.mutable_value();
  };
  const auto add_list = [&](const char* key, const auto& values) {
    wire::SintList& list = *add(key)->mutable_sint_list();
    for (const auto value : values) list.add_vals(static_cast<int64_t>(value));
  };
  const Shape input = data.input();
  add("protocol")->set_sint64(kProtocol);
  add("format")->set_sint64(kMessageFormat);
  add("version")->set_string(std::string(version()));
  add_list("clients", data.clients());
  add("classes")->set_sint64(data.classes());
  add_list("input", std::vector<size_t>{input.channels, input.height, input.width});
  add_list("examples", data.examples());
  return record;
}

// Several threads that wait for messages in turns and answer them, and one that sends signs of life.
class Node {
 public:
  Node(const NodeOptions& options, const NodeData& data, const NodeOwner& owner)
      : options_(options), data_(data), owner_(owner), membership_(options, owner) {
    for (uint32_t i = 0; i < options.threads; ++i) runners_.emplace_back(data, options.device);
  }

  NodeSummary run() {
    if (join()) serve_and_leave();
    if (failed_) std::rethrow_exception(failed_);
    return summary_;
  }

 private:
  bool stopping() const { return done_ || owner_.stop(); }

  FleetClient make_client(std::function<bool()> stop, std::function<void(const std::string&)> say) const {
    return {
        {.superlink = options_.superlink, .ca = options_.ca, .stop = std::move(stop), .say = std::move(say)},
        membership_.key()};
  }

  void count(const FleetClient& client) {
    const ByteCount bytes = client.bytes();
    const std::lock_guard lock(mutex_);
    summary_.bytes_down += bytes.down;
    summary_.bytes_up += bytes.up;
  }

  // Whether a thread's work came to its end; if something is wrong, the node ends.
  template <typename Work>
  bool guarded(Work work) {
    try {
      work();
      return true;
    } catch (const Unreachable&) {  // while it was asked to stop
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failed_) failed_ = std::current_exception();
    }
    done_ = true;
    return false;
  }

  bool join() {
    FleetClient client({.superlink = options_.superlink,
                        .ca = options_.ca,
                        .retry_tls_errors = false,
                        .stop = owner_.stop,
                        .say = owner_.say},
                       membership_.key());
    const bool joined = guarded([&] { membership_.join(client, 0); });
    count(client);
    return joined;
  }

  void serve_and_leave() {
    std::jthread signs([this] {
      // Those who wait for messages say when the SuperLink is gone.
      FleetClient client = make_client([this] { return membership_.left(); }, [](const std::string&) {});
      guarded([&] { membership_.keep_alive(client); });
      count(client);
    });
    std::vector<std::jthread> threads;
    std::atomic<bool> reachable = true;
    for (JobRunner& runner : runners_) {
      threads.emplace_back([&] {
        FleetClient client = make_client([this] { return stopping(); }, owner_.say);
        if (!guarded([&] { serve(client, runner); })) reachable = false;
        count(client);
      });
    }
    threads.clear();
    done_ = true;
    if (reachable) {
      FleetClient client = make_client([this] { return stopping(); }, owner_.say);
      guarded([&] { pending_.wait_until_taken(client, membership_.id()); });
      guarded([&] { membership_.leave(client); });
      count(client);
    }
    membership_.forget();
  }

  void serve(FleetClient& client, JobRunner& runner) {
    while (!stopping() && !took_all_) {
      const uint64_t known_as = membership_.id();
      try {
        if (const auto envelope = next_message(client)) answer(client, *envelope, runner);
      } catch (const Refused& refused) {
        if (refused.status() == kUnauthorized) {
          pending_.clear();
          membership_.join(client, known_as);
        } else {
          owner_.say(refused.status() == kForbidden
                         ? "a message was dropped: its run is over"
                         : fmt::format("a message was dropped: {}", refused.what()));
          pause(kLongestWait, [this] { return stopping(); });
        }
      }
    }
  }

  // For one thread at a time; none when it is time to stop.
  std::optional<wire::Metadata> next_message(FleetClient& client) {
    const std::lock_guard lock(waiting_);
    double wait = kShortestWait;
    while (!stopping()) {
      if (options_.max_jobs > 0 && jobs_taken_ == options_.max_jobs) {
        took_all_ = true;
        break;
      }
      wire::PullMessagesRequest request;
      request.mutable_node()->set_node_id(membership_.id());
      const auto response = client.call<wire::PullMessagesResponse>("pull-messages", request);
      if (response.messages_list_size() > 0) {
        const wire::Metadata& envelope = response.messages_list(0).metadata();
        if (envelope.message_type() == "train") ++jobs_taken_;
        return envelope;
      }
      pause(wait, [this] { return stopping(); });
      wait = std::min(1.5 * wait, kLongestWait);
    }
    return std::nullopt;
  }

  void answer(FleetClient& client, const wire::Metadata& envelope, JobRunner& runner) {
    const Stopwatch watch;
    std::optional<Incoming> incoming;
    try {
      incoming = pull_content(client, membership_.id(), envelope, [this] { return stopping(); });
    } catch (const Refused&) {
      throw;
    } catch (const Unreachable&) {
      throw;
    } catch (const Error& error) {
      owner_.say(fmt::format("a message was dropped: {}", error.what()));
      return;
    }
    std::string words;
    const Reply reply = reply_to(std::move(*incoming), runner, words);
    send(client, reply, watch.seconds());
    owner_.say(fmt::format("{}, {:.2f} s", words, watch.seconds()));
  }

  // `words` says what was done.
  Reply reply_to(Incoming incoming, JobRunner& runner, std::string& words) {
    const wire::Metadata to = incoming.metadata;
    try {
      if (!incoming.fault.empty()) return refuse(to, incoming.fault, words);
      if (to.message_type() == "query") return reply_to_query(incoming, words);
      RanJob job = runner.run(std::move(incoming.job));
      words = fmt::format("job done: client {}, {} weights, {} examples, loss {:.3f}, accuracy {}",
                          job.client, job.weights, job.examples, job.loss, human_percent(job.accuracy));
      Reply reply = Reply::with_update(to, std::move(job.update));
      const std::lock_guard lock(mutex_);
      ++summary_.jobs;
      return reply;
    } catch (const Error& error) {
      return refuse(to, error.what(), words);
    } catch (const std::bad_alloc&) {
      return refuse(to, "out of memory", words);
    }
  }

  Reply reply_to_query(const Incoming& incoming, std::string& words) {
    words = "query answered";
    const std::lock_guard lock(mutex_);
    ++summary_.queries;
    return Reply::with_config(incoming.metadata, description(data_));
  }

  Reply refuse(const wire::Metadata& to, std::string_view why, std::string& words) {
    words = fmt::format("message refused: {}", why);
    const std::lock_guard lock(mutex_);
    ++summary_.refused;
    return Reply::with_error(to, why);
  }

  void send(FleetClient& client, const Reply& reply, double seconds) {
    wire::PushMessagesRequest request;
    request.mutable_node()->set_node_id(membership_.id());
    *request.add_messages_list() = reply.envelope();
    *request.add_message_object_trees() = reply.tree();
    request.add_clientapp_runtime_list(seconds);
    const auto response = client.call<wire::PushMessagesResponse>("push-messages", request);
    for (const Object& object : reply.objects()) {
      if (std::ranges::find(response.objects_to_push(), object.id) == response.objects_to_push().end())
        continue;
      wire::PushObjectRequest push;
      push.mutable_node()->set_node_id(membership_.id());
      push.set_run_id(reply.envelope().metadata().run_id());
      push.set_object_id(object.id);
      push.set_object_content(object.bytes());
      push.set_session_id(response.session_id());
      client.call<wire::PushObjectResponse>("push-object", push);
    }
    pending_.add(reply.envelope().metadata());
  }

  const NodeOptions& options_;
  const NodeData& data_;
  const NodeOwner& owner_;
  std::deque<JobRunner> runners_;  // one per thread
  Membership membership_;
  PendingReplies pending_;
  std::atomic<bool> done_ = false;      // nothing more is asked or answered
  std::atomic<bool> took_all_ = false;  // max_jobs were taken; what was taken is still answered
  std::mutex waiting_;
  uint64_t jobs_taken_ = 0;  // guarded by waiting_
  std::mutex mutex_;         // guards what follows
  NodeSummary summary_;
  std::exception_ptr failed_;
};

}  // namespace
}  // namespace flower

NodeSummary run_node(const NodeOptions& options, const NodeData& data, const NodeOwner& owner) {
  return flower::Node(options, data, owner).run();
}

}  // namespace subfleet
