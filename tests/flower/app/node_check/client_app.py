"""An app needs one; the nodes of this test run no code that is sent to them."""
from flwr.clientapp import ClientApp

app = ClientApp()
