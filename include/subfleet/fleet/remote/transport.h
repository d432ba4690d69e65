#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "subfleet/round.h"

namespace subfleet {

// What a message asks of a client; a phase of a round sends messages of its own kind.
enum class MessageKind {
  kTrain,  // an encoded JobMessage; the reply is an UpdateMessage (server/message.h)
};
std::string_view kind_name(MessageKind kind);  // "train"

// A message on its way to the holder of a client's data.
struct Outgoing {
  uint64_t number = 0;  // no other message of this transport has it
  MessageKind kind = MessageKind::kTrain;
  uint32_t client = 0;
  std::span<const std::byte> message;
};

// What a transport hears of a message.
struct Arrival {
  enum class Kind {
    kReply,    // bytes that claim to be the reply
    kLost,     // there will be no answer: the receiver is gone, or no node has the client
    kRefused,  // an error instead of a reply; `why` is its text
  };
  uint64_t number = 0;  // of the message
  Kind kind = Kind::kLost;
  std::vector<std::byte> reply = {};
  std::string why = {};
};

// Bytes that moved for one message and its reply, everything around them included.
struct Traffic {
  uint64_t down = 0, up = 0;
};

// How a RemoteFleet reaches its clients. It moves bytes and does not look into them; it may be slow, lose
// messages, and deliver them twice or in any order. Called by one thread at a time.
class Transport {
 public:
  virtual ~Transport() = default;

  // Returns as soon as the message is on its way; the caller may then reuse the bytes.
  virtual void send(const Outgoing& message) = 0;

  // The next arrival; waits for at most `seconds`, and returns nothing if nothing arrived.
  virtual std::optional<Arrival> next(double seconds) = 0;

  // Ends a message, answered or not. Returns what moved for it.
  virtual Traffic close(uint64_t number) = 0;

  // The outcome of a message, called before it is closed: for a log of which clients are reliable.
  virtual void on_result(uint64_t number, const JobResult& result) {
    static_cast<void>(number);
    static_cast<void>(result);
  }
};

}  // namespace subfleet
