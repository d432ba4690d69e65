#include "fleet/flower/node_key.h"
#include "fuzz.h"

namespace subfleet::fuzz {

std::vector<std::string> seeds() {
  // Made by ssh-keygen for this test.
  return {R"(-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAiAAAABNlY2RzYS
1zaGEyLW5pc3RwMzg0AAAACG5pc3RwMzg0AAAAYQRqLb/7thPXPPRP6Tz7vHWxkwoKvU2o
y4hF/yJUl55RdK59A15vP3EJnsI0msxrx1LAcLdZx87swjpkVcCHqmxV43PedQ8u8ghsgM
sNvPTCw2bt9ZA7tpOHbF15Q1XmpCoAAADQyX6DnMl+g5wAAAATZWNkc2Etc2hhMi1uaXN0
cDM4NAAAAAhuaXN0cDM4NAAAAGEEai2/+7YT1zz0T+k8+7x1sZMKCr1NqMuIRf8iVJeeUX
SufQNebz9xCZ7CNJrMa8dSwHC3WcfO7MI6ZFXAh6psVeNz3nUPLvIIbIDLDbz0wsNm7fWQ
O7aTh2xdeUNV5qQqAAAAMBH2RnLgN5cuchGvG4rlLJQ2tXYccsnkyAH64u1RgoYsM635zP
GXII9hAR3/56VtRgAAAAR0ZXN0AQIDBA==
-----END OPENSSH PRIVATE KEY-----
)"};
}

void try_input(std::string_view input) {
  const flower::NodeKey key = flower::NodeKey::parse(std::string(input), "key");
  expect(!key.sign("text").empty(), "what is read can sign");
}

}  // namespace subfleet::fuzz
