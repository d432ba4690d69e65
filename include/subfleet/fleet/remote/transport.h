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

// A message on its way to whoever holds the client's data.
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
    kLost,     // nobody will answer: whoever has the message is gone, or nobody holds the client
    kRefused,  // an answer, but not a reply: `why` has the words of whoever gave it
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

  // Returns as soon as the message is on its way; the bytes are the caller's again.
  virtual void send(const Outgoing& message) = 0;

  // What happens next, waiting for it for so many seconds at most; none: nothing did.
  virtual std::optional<Arrival> next(double seconds) = 0;

  // Nothing more is wanted of a message, answered or not. Returns what moved for it.
  virtual Traffic close(uint64_t number) = 0;

  // What was made of a message's reply, or of its silence, before it is closed: for a log of who can be
  // relied on.
  virtual void on_result(uint64_t number, const JobResult& result) {
    static_cast<void>(number);
    static_cast<void>(result);
  }
};

}  // namespace subfleet
