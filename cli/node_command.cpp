#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checks.h"
#include "config_options.h"
#include "help.h"
#include "interrupt.h"
#include "subfleet/base/peak_memory.h"
#include "subfleet/base/text.h"
#include "subfleet/data.h"
#include "subfleet/error.h"
#include "subfleet/fleet/node.h"
#include "subfleet/trainer.h"

namespace subfleet::cli {
namespace {

struct NodeRequest {
  ConfigOptions config;
  NodeOptions node;
  std::string ca, key, clients;
  std::optional<uint32_t> client;
  bool insecure = false, quiet = false;
};

constexpr uint32_t kMost = std::numeric_limits<uint32_t>::max();

// "3-17", or nothing.
std::optional<ClientRange> parse_range(const std::string& text) {
  ClientRange range;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, range.first);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return std::nullopt;
  const auto last = std::from_chars(first.ptr + 1, end, range.last);
  if (last.ec != std::errc() || last.ptr != end || range.last < range.first) return std::nullopt;
  return range;
}

std::optional<ClientRange> clients_of(const NodeRequest& request) {
  if (request.client) return ClientRange{*request.client, *request.client};
  if (request.clients.empty()) return std::nullopt;
  const auto range = parse_range(request.clients);
  if (!range) throw bad_request("--clients", fmt::format("'{}' is not A-B, as in 0-9", request.clients));
  return range;
}

void check_server(const std::string& server) {
  const size_t colon = server.rfind(':');
  const bool plain = std::ranges::all_of(server, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view(".-_:[]").find(c) != std::string_view::npos;
  });
  if (plain && colon != std::string::npos && colon > 0 &&
      whole_number(1, 65535)(server.substr(colon + 1)).empty())
    return;
  throw bad_request("--superlink",
                    fmt::format("'{}' is not HOST:PORT, as in fleet.example.org:8000", server));
}

std::string whose(const NodeData& data) {
  const std::vector<uint32_t> clients = data.clients();
  if (clients.empty()) return fmt::format("its own {} examples", data.examples().front());
  if (clients.size() == 1)
    return fmt::format("client {}, {} examples", clients.front(), data.examples().front());
  return fmt::format("clients {} to {}", clients.front(), clients.back());
}

void run(NodeRequest& request) {
  check_server(request.node.superlink);
  if (request.ca.empty() != request.insecure) {
    throw bad_request("node", request.insecure
                                  ? "--ca and --insecure exclude each other"
                                  : "give --ca CA.pem, who signs the SuperLink's certificate, or --insecure "
                                    "for a connection that everybody on the way can read and change");
  }
  request.node.ca = request.ca;
  request.node.key = request.key;
  const std::vector<std::string> devices = trainer_names();
  if (request.node.device.empty())
    request.node.device = std::ranges::find(devices, "cpu") != devices.end() ? "cpu" : "reference";
  const NodeData data(open_split_federation(request.config.unchecked().data), clients_of(request));

  // A copy of the weights goes back to the system as soon as it is freed, instead of leaving holes.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  std::signal(SIGPIPE, SIG_IGN);  // a connection that breaks while something is sent is tried again
  const InterruptWatch watch("finishing; press Ctrl-C again to stop now");
  const auto say = [&](const std::string& line) {
    if (request.quiet) return;
    fmt::print("{}\n", one_line(line));
    std::fflush(stdout);
  };
  say(fmt::format("{}, on {}", whose(data), request.node.device));
  const NodeSummary summary =
      run_node(request.node, data, {.stop = [&] { return watch.interrupted(); }, .say = say});
  fmt::print("{}, {}, {} refused; {} down, {} up at the socket; {} of memory at most\n",
             counted(summary.jobs, "job"), counted(summary.queries, "query"), summary.refused,
             human_bytes(static_cast<double>(summary.bytes_down)),
             human_bytes(static_cast<double>(summary.bytes_up)),
             human_bytes(static_cast<double>(peak_memory())));
  if (watch.interrupted()) throw Stopped{watch.signal()};
}

}  // namespace

void add_node_command(CLI::App& program) {
  auto request = std::make_shared<NodeRequest>();
  request->node.device.clear();
  CLI::App* command = program.add_subcommand("node",
                                             "Join a stock Flower SuperLink as a device and train what it "
                                             "sends, until Ctrl-C (docs/deploy.md)");
  request->config.add_to(*command);
  command->add_option("--superlink", request->node.superlink, "where the SuperLink listens")
      ->required()
      ->type_name("HOST:PORT");
  command->add_option("--ca", request->ca, "who signs the SuperLink's certificate, as PEM")
      ->check(not_empty())
      ->type_name("FILE");
  command->add_flag("--insecure", request->insecure, "no TLS: for tests on one machine");
  command
      ->add_option(
          "--key", request->key,
          "the private key that is registered with the SuperLink (ssh-keygen -t ecdsa -b 384); without it, "
          "the node makes one and registers itself")
      ->check(not_empty())
      ->type_name("FILE");
  auto* one = command->add_option("--client", request->client, "which client of the data this node is")
                  ->check(whole_number(0, kMost))
                  ->type_name("N");
  command
      ->add_option("--clients", request->clients, "which clients of the data this node stands for, as in 0-9")
      ->check(not_empty())
      ->type_name("A-B")
      ->excludes(one);
  command->add_option("--device", request->node.device, "what does the arithmetic [cpu]")
      ->check(not_empty())
      ->type_name("cpu|reference");
  command->add_option("--threads", request->node.threads, "how many jobs to run at once")
      ->check(whole_number(1, 1024))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--max-jobs", request->node.max_jobs, "leave after this many jobs; 0: stay")
      ->check(whole_number(0, kMost))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--heartbeat", request->node.heartbeat, "seconds from one sign of life to the next")
      ->check(whole_number(10, 1800))
      ->capture_default_str()
      ->type_name("SECONDS");
  command->add_flag("--quiet", request->quiet, "print only the summary at the end");
  command->footer(footer("", {"subfleet node --superlink localhost:9092 --insecure --client 3",
                              "subfleet node settings.toml --superlink fleet.example.org:9092 --ca ca.pem "
                              "--key node-key --clients 0-9"}));
  command->callback([request] { run(*request); });
}

}  // namespace subfleet::cli
