#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "fleet/flower/fleet_api.pb.h"
#include "fleet/flower/node_key.h"
#include "fleet/flower/objects.h"
#include "subfleet/error.h"
#include "subfleet/server/message.h"

namespace subfleet::flower {

// A SuperLink for tests, on its own thread, without TLS: as much of the Fleet API as a node needs to join,
// answer a query and leave. It records every request; a test decides what it knows, and when.
class TestSuperLink {
 public:
  struct Asked {
    std::string name;  // "pull-messages"
    std::string body;
    double time = 0;  // of unix_time()
  };

  TestSuperLink() : listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listening_, any, size) != 0 || ::listen(listening_, 16) != 0 ||
        ::getsockname(listening_, any, &size) != 0)
      throw failure("test SuperLink", "cannot listen");
    port_ = ntohs(address.sin_port);
    accepting_ = std::jthread([this] { accept_nodes(); });
  }
  ~TestSuperLink() { kill(); }
  TestSuperLink(const TestSuperLink&) = delete;
  TestSuperLink& operator=(const TestSuperLink&) = delete;

  std::string address() const { return fmt::format("127.0.0.1:{}", port_); }

  // Gives the node a query that expires after `ttl` seconds.
  void offer_query(double ttl, std::optional<int> format = kMessageFormat) { offer("query", ttl, format); }
  // Offers the same message as a job. It is not a valid one, so the node refuses it.
  void offer_job(double ttl) { offer("train", ttl, std::nullopt); }
  // Whether to report the objects of messages as not arrived yet.
  void hold_objects(bool hold) {
    const std::lock_guard lock(mutex_);
    holding_objects_ = hold;
  }

  // From now on, requests of that name get this answer.
  void refuse(const std::string& name, int status, const std::string& body) {
    const std::lock_guard lock(mutex_);
    refused_[name] = {status, body};
  }
  size_t connections() const {
    const std::lock_guard lock(mutex_);
    return accepted_;
  }

  // Messages and replies are no longer found, as if they had been fetched.
  void drop_objects() {
    const std::lock_guard lock(mutex_);
    objects_.clear();
  }

  // The node is unknown until it joins again, and then gets the next id.
  void forget_node() {
    const std::lock_guard lock(mutex_);
    known_ = false;
    ++node_id_;
  }

  // Whether to leave requests for messages without an answer.
  void hold_messages(bool hold) {
    const std::lock_guard lock(mutex_);
    holding_ = hold;
    changed_.notify_all();
  }

  // Breaks all connections and stops listening.
  void kill() {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(killed_, true)) return;
      for (const int connection : connections_) ::shutdown(connection, SHUT_RDWR);
      ::shutdown(listening_, SHUT_RDWR);
      changed_.notify_all();
    }
    accepting_.join();
    threads_.clear();
    ::close(listening_);
  }

  std::vector<Asked> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  std::vector<Asked> asked(std::string_view name) const {
    std::vector<Asked> found = asked();
    std::erase_if(found, [&](const Asked& one) { return one.name != name; });
    return found;
  }
  // Waits until that request came `times` times; false after half a minute.
  bool wait_for(std::string_view name, size_t times) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] {
      return std::ranges::count(asked_, name, &Asked::name) >= static_cast<std::ptrdiff_t>(times);
    });
  }

 private:
  struct Answer {
    int status = 200;
    std::string body;
  };

  void offer(std::string_view type, double ttl, std::optional<int> format) {
    const std::lock_guard lock(mutex_);
    wire::ConfigRecord config;
    const auto add = [&](const char* key, int value) {
      wire::ConfigRecord::Item& item = *config.add_items();
      item.set_key(key);
      item.mutable_value()->set_sint64(value);
    };
    add("protocol", 1);
    if (format) add("format", *format);
    const std::string record = store("ConfigRecord", {}, config.SerializeAsString());
    const std::string records = store("RecordDict", {record}, nlohmann::json{{"subfleet", record}}.dump());
    wire::Message message;
    wire::Metadata& metadata = *message.mutable_metadata();
    metadata.set_run_id(5);
    metadata.set_dst_node_id(node_id_);
    metadata.set_message_type(std::string(type));
    metadata.set_created_at(unix_time());
    metadata.set_ttl(ttl);
    metadata.set_message_id(store("Message", {records}, message.SerializeAsString()));
    offered_.push_back(message);
  }

  void accept_nodes() {
    while (true) {
      const int connection = ::accept(listening_, nullptr, nullptr);
      const std::lock_guard lock(mutex_);
      if (killed_ || connection < 0) {
        if (connection >= 0) ::close(connection);
        return;
      }
      connections_.push_back(connection);
      ++accepted_;
      threads_.emplace_back([this, connection] { serve(connection); });
    }
  }

  // Answers one request after the other until the connection ends.
  void serve(int connection) {
    std::string received;
    while (read_until(connection, received, [&] { return received.find("\r\n\r\n") != std::string::npos; })) {
      const size_t head = received.find("\r\n\r\n") + 4;
      const std::string_view path = std::string_view(received).substr(0, received.find(" HTTP/"));
      std::string name(path.substr(path.rfind('/') + 1));
      const size_t length = received.find("Content-Length: ");
      const size_t size = length < head ? std::stoul(received.substr(length + 16)) : 0;
      if (!read_until(connection, received, [&] { return received.size() >= head + size; })) break;
      const Answer answer = answer_to({std::move(name), received.substr(head, size), unix_time()});
      received.erase(0, head + size);
      const std::string reply = fmt::format("HTTP/1.1 {} -\r\nContent-Length: {}\r\n\r\n{}", answer.status,
                                            answer.body.size(), answer.body);
      if (::send(connection, reply.data(), reply.size(), MSG_NOSIGNAL) < 0) break;
    }
    const std::lock_guard lock(mutex_);
    std::erase(connections_, connection);
    ::close(connection);
  }

  template <typename Enough>
  static bool read_until(int connection, std::string& into, Enough enough) {
    std::string piece(size_t{1} << 16, '\0');
    while (!enough()) {
      const ssize_t count = ::recv(connection, piece.data(), piece.size(), 0);
      if (count <= 0) return false;
      into.append(piece, 0, static_cast<size_t>(count));
    }
    return true;
  }

  Answer answer_to(Asked request) {
    std::unique_lock lock(mutex_);
    const std::string name = request.name, body = request.body;
    asked_.push_back(std::move(request));
    changed_.notify_all();
    if (const auto at = refused_.find(name); at != refused_.end()) return at->second;
    if (name == "activate-node") known_ = true;
    if (name == "register-node") return {};
    if (!known_) return {401, R"({"detail": "who is this?"})"};
    if (name == "pull-messages") {
      changed_.wait(lock, [this] { return !holding_ || killed_; });
      return {200, next_message()};
    }
    return {200, answer_to(name, body)};
  }

  std::string answer_to(std::string_view name, const std::string& body) {
    if (name == "activate-node") {
      wire::ActivateNodeResponse response;
      response.set_node_id(node_id_);
      return response.SerializeAsString();
    }
    if (name == "pull-object") {
      wire::PullObjectRequest request;
      wire::PullObjectResponse response;
      request.ParseFromString(body);
      const auto at = objects_.find(request.object_id());
      response.set_object_found(at != objects_.end());
      response.set_object_available(at != objects_.end() && !holding_objects_);
      if (response.object_available()) response.set_object_content(at->second);
      return response.SerializeAsString();
    }
    if (name == "push-messages") {
      wire::PushMessagesRequest request;
      wire::PushMessagesResponse response;
      request.ParseFromString(body);
      want(request.message_object_trees(0), response);
      return response.SerializeAsString();
    }
    if (name == "push-object") {
      wire::PushObjectRequest request;
      request.ParseFromString(body);
      objects_[request.object_id()] = request.object_content();
    }
    return {};  // all other answers are empty messages
  }

  std::string next_message() {
    wire::PullMessagesResponse response;
    if (!offered_.empty()) {
      *response.add_messages_list() = offered_.back();
      offered_.pop_back();
    }
    return response.SerializeAsString();
  }

  static void want(const wire::ObjectTree& tree, wire::PushMessagesResponse& response) {
    response.add_objects_to_push(tree.object_id());
    for (const wire::ObjectTree& child : tree.children()) want(child, response);
  }

  std::string store(std::string_view kind, const std::vector<std::string>& children,
                    const std::string& body) {
    const Object object = make_object(kind, children, std::as_bytes(std::span(body)));
    objects_[object.id] = object.bytes();
    return object.id;
  }

  int listening_;
  uint16_t port_ = 0;
  mutable std::mutex mutex_;  // guards what follows, down to the threads
  std::condition_variable changed_;
  std::vector<int> connections_;
  size_t accepted_ = 0;
  std::vector<Asked> asked_;
  std::map<std::string, Answer> refused_;
  std::vector<wire::Message> offered_;
  std::map<std::string, std::string> objects_;
  uint64_t node_id_ = 7;
  bool known_ = false, holding_ = false, holding_objects_ = false, killed_ = false;
  std::vector<std::jthread> threads_;
  std::jthread accepting_;
};

}  // namespace subfleet::flower
