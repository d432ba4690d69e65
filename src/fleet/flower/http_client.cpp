#include "fleet/flower/http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "subfleet/error.h"

namespace subfleet::flower {
namespace {

constexpr long kConnectSeconds = 10;
constexpr long kSilentSeconds = 60;  // without a byte, until a connection counts as broken

using Headers = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

// The library's own state, for all threads.
void start_curl() {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (started != CURLE_OK) throw failure("libcurl", "cannot start");
}

HttpReply::Failure failure_of(CURLcode code) {
  constexpr std::array kRefused{CURLE_PEER_FAILED_VERIFICATION,
                                CURLE_SSL_CACERT_BADFILE,
                                CURLE_SSL_CONNECT_ERROR,
                                CURLE_UNSUPPORTED_PROTOCOL,
                                CURLE_WEIRD_SERVER_REPLY,
                                CURLE_WRITE_ERROR,
                                CURLE_GOT_NOTHING};
  if (code == CURLE_OK) return HttpReply::Failure::kNone;
  return std::ranges::find(kRefused, code) != kRefused.end() ? HttpReply::Failure::kRefused
                                                             : HttpReply::Failure::kUnreachable;
}

}  // namespace

struct HttpClient::State {
  Options options;
  CURL* curl = nullptr;
  std::vector<int> open;  // sockets
  ByteCount of_closed;
  std::string* reply = nullptr;
  std::array<char, CURL_ERROR_SIZE> error{};

  static curl_socket_t open_socket(void* state, curlsocktype, curl_sockaddr* address) {
    const int made = ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (made >= 0) static_cast<State*>(state)->open.push_back(made);
    return made < 0 ? CURL_SOCKET_BAD : made;
  }
  static int close_socket(void* state, curl_socket_t socket) {
    auto& self = *static_cast<State*>(state);
    self.of_closed += socket_bytes(socket);
    std::erase(self.open, socket);
    return ::close(socket);
  }
  static size_t take(char* data, size_t, size_t count, void* state) {
    const auto& self = *static_cast<State*>(state);
    if (count > self.options.most_reply - self.reply->size()) return 0;  // curl gives up
    self.reply->append(data, count);
    return count;
  }

  template <typename Value>
  void set(CURLoption option, Value value) {
    if (curl_easy_setopt(curl, option, value) != CURLE_OK)
      throw failure("libcurl", fmt::format("does not support option {}", static_cast<int>(option)));
  }
};

HttpClient::HttpClient(const Options& options) : state_(std::make_unique<State>()) {
  start_curl();
  state_->options = options;
  state_->curl = curl_easy_init();
  if (state_->curl == nullptr) throw failure("libcurl", "cannot start");
  State& s = *state_;
  s.set(CURLOPT_PROTOCOLS_STR, options.ca.empty() ? "http" : "https");
  s.set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  s.set(CURLOPT_NOSIGNAL, 1L);
  s.set(CURLOPT_PROXY, "");  // whatever the environment says
  s.set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  s.set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  s.set(CURLOPT_LOW_SPEED_TIME, kSilentSeconds);
  s.set(CURLOPT_ERRORBUFFER, s.error.data());
  s.set(CURLOPT_WRITEFUNCTION, State::take);
  s.set(CURLOPT_WRITEDATA, &s);
  s.set(CURLOPT_OPENSOCKETFUNCTION, State::open_socket);
  s.set(CURLOPT_OPENSOCKETDATA, &s);
  s.set(CURLOPT_CLOSESOCKETFUNCTION, State::close_socket);
  s.set(CURLOPT_CLOSESOCKETDATA, &s);
  if (!options.ca.empty()) {
    s.set(CURLOPT_CAINFO, options.ca.c_str());
    s.set(CURLOPT_CAPATH, static_cast<char*>(nullptr));  // trust no other authority
    s.set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  }
}

HttpClient::~HttpClient() { curl_easy_cleanup(state_->curl); }

HttpReply HttpClient::post(const std::string& path, std::span<const std::string> headers,
                           const std::string& body) {
  State& s = *state_;
  Headers list(nullptr, curl_slist_free_all);
  for (const std::string& header : headers) {
    curl_slist* longer = curl_slist_append(list.get(), header.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    static_cast<void>(list.release());
    list.reset(longer);
  }
  HttpReply reply;
  s.reply = &reply.body;
  s.error.front() = '\0';
  s.set(CURLOPT_URL,
        fmt::format("{}://{}{}", s.options.ca.empty() ? "http" : "https", s.options.server, path).c_str());
  s.set(CURLOPT_HTTPHEADER, list.get());
  s.set(CURLOPT_POSTFIELDS, body.data());
  s.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  const CURLcode code = curl_easy_perform(s.curl);
  reply.failure = failure_of(code);
  if (code == CURLE_OK) {
    curl_easy_getinfo(s.curl, CURLINFO_RESPONSE_CODE, &reply.status);
  } else {
    reply.body.clear();
    reply.why = s.error.front() != '\0' ? s.error.data() : curl_easy_strerror(code);
    if (code == CURLE_WRITE_ERROR)
      reply.why = fmt::format("a reply of more than {} bytes", s.options.most_reply);
  }
  return reply;
}

ByteCount HttpClient::bytes() const {
  ByteCount total = state_->of_closed;
  for (const int socket : state_->open) total += socket_bytes(socket);
  return total;
}

}  // namespace subfleet::flower
