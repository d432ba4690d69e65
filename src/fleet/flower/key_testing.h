#pragma once

namespace subfleet::flower {

// A key made by ssh-keygen for tests, and its public part as OpenSSL writes it.
inline constexpr const char* kOpenSsh = R"(-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAiAAAABNlY2RzYS
1zaGEyLW5pc3RwMzg0AAAACG5pc3RwMzg0AAAAYQRqLb/7thPXPPRP6Tz7vHWxkwoKvU2o
y4hF/yJUl55RdK59A15vP3EJnsI0msxrx1LAcLdZx87swjpkVcCHqmxV43PedQ8u8ghsgM
sNvPTCw2bt9ZA7tpOHbF15Q1XmpCoAAADQyX6DnMl+g5wAAAATZWNkc2Etc2hhMi1uaXN0
cDM4NAAAAAhuaXN0cDM4NAAAAGEEai2/+7YT1zz0T+k8+7x1sZMKCr1NqMuIRf8iVJeeUX
SufQNebz9xCZ7CNJrMa8dSwHC3WcfO7MI6ZFXAh6psVeNz3nUPLvIIbIDLDbz0wsNm7fWQ
O7aTh2xdeUNV5qQqAAAAMBH2RnLgN5cuchGvG4rlLJQ2tXYccsnkyAH64u1RgoYsM635zP
GXII9hAR3/56VtRgAAAAR0ZXN0AQIDBA==
-----END OPENSSH PRIVATE KEY-----
)";
inline constexpr const char* kPublic = R"(-----BEGIN PUBLIC KEY-----
MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEai2/+7YT1zz0T+k8+7x1sZMKCr1NqMuI
Rf8iVJeeUXSufQNebz9xCZ7CNJrMa8dSwHC3WcfO7MI6ZFXAh6psVeNz3nUPLvII
bIDLDbz0wsNm7fWQO7aTh2xdeUNV5qQq
-----END PUBLIC KEY-----
)";

}  // namespace subfleet::flower
