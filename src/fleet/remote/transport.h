#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "subfleet/round.h"

namespace subfleet {

// A job on its way to whoever holds the client's data: an encoded JobMessage (server/message.h).
struct RemoteJob {
  uint32_t client = 0;
  uint32_t row = 0;
  std::span<const std::byte> message;
};

// What a transport hears of a job.
struct Arrival {
  enum class Kind {
    kReply,    // bytes that claim to be an encoded UpdateMessage
    kLost,     // nobody will answer: whoever has the job is gone, or nobody holds the client
    kRefused,  // an answer, but not an update: `why` has the words of whoever gave it
  };
  size_t job = 0;  // counts the sends since finish()
  Kind kind = Kind::kLost;
  std::vector<std::byte> reply = {};
  std::string why = {};
};

// Bytes that moved for one job, everything around its messages included.
struct Traffic {
  uint64_t down = 0, up = 0;
};

// How a RemoteFleet reaches its clients. It moves bytes and does not look into them; it may be slow, lose
// messages, and deliver them twice or in any order. Called by one thread at a time.
class Transport {
 public:
  virtual ~Transport() = default;

  // Returns as soon as the message is on its way; the bytes are the caller's again.
  virtual void send(const RemoteJob& job) = 0;

  // What happens next, waiting for it for so many seconds at most; none: nothing did.
  virtual std::optional<Arrival> next(double seconds) = 0;

  // Gives up whatever was not answered. Returns what moved for each job since the last finish(), in the order
  // of the sends.
  virtual std::vector<Traffic> finish() = 0;

  // What was made of a job's answer, or of its silence: for a log of who can be relied on.
  virtual void on_result(size_t job, const JobResult& result) {
    static_cast<void>(job);
    static_cast<void>(result);
  }
};

}  // namespace subfleet
