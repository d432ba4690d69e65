"""The server: everything is said by the run config."""

import subfleet.flower

app = subfleet.flower.server_app()
