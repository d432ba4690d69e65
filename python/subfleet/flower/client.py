"""ClientApps for stock SuperNodes."""

from dataclasses import dataclass
from typing import Callable, Union

import numpy as np
from flwr.app import Context, Message
from flwr.clientapp import ClientApp

from .. import __version__, _core
from ..tensors import flat_weights, named_weights
from . import protocol


@dataclass
class Job:
    """One client's work in one round: a sub-model's weights, to be trained on the client's own examples."""

    client: int
    model: "_core.Model"  # the sub-model: genuinely smaller than the server's
    weights: dict  # by PyTorch's names, as numpy arrays
    epochs: int
    batch: int
    client_lr: float
    momentum: float  # these three are 0 for plain SGD
    weight_decay: float
    proximal: float  # FedProx's mu
    shuffle: bool
    flip: bool  # pictures are to be mirrored and moved, as message.augment() does it
    crop: int
    message: "_core.JobMessage"  # everything else


@dataclass
class Trained:
    """What a client has made of its job. Loss and accuracy are running means over its epochs, as it trains."""

    weights: dict  # those of the job, trained
    examples: int
    loss: float
    accuracy: float


def client_numbers(text: Union[str, int]) -> list:
    """The clients that a node has: "3", "0-9" or "0-4,7"; nothing: one, and any number will do."""
    numbers = []
    for part in filter(None, (p.strip() for p in str(text).split(","))):
        first, _, last = part.partition("-")
        if not first.isdigit() or not (last or first).isdigit():
            raise _core.RequestError(f"clients: '{text}' is not like 3, 0-9 or 0-4,7")
        numbers.extend(range(int(first), int(last or first) + 1))
    return numbers


def client_app(
    train: Callable[[Job], Trained],
    *,
    input: tuple,
    classes: int,
    examples: Union[int, Callable[[int], int]] = 0,
) -> ClientApp:
    """A ClientApp that trains with a function of yours: it gets a Job and returns a Trained.

    `input` is (channels, height, width) of an example and `classes` how many there are; `examples` says how many a
    client has, for the server's information. Which clients a node has is said when it is started, by
    `--node-config 'clients="0-9"'`; without it, it is one client, and the server gives it a number.
    """
    return job_app(
        lambda message, context: _train(train, message),
        lambda context: (tuple(input), classes),
        lambda context, client: examples(client) if callable(examples) else examples,
    )


def trainer_client_app(device: str = "cpu") -> ClientApp:
    """A ClientApp that trains with Subfleet's own trainer. Its data and clients are said when the node is started, by
    settings: `--node-config 'clients="0-9" data.source="leaf" data.path="/data/femnist"'`."""
    runners: dict = {}  # one per process

    def runner(context: Context):
        if not runners:
            settings = {key: value for key, value in context.node_config.items() if key.startswith("data.")}
            numbers = client_numbers(context.node_config.get("clients", ""))
            span = (numbers[0], numbers[-1]) if numbers else None
            if span and numbers != list(range(span[0], span[1] + 1)):
                raise _core.RequestError(f"clients: {numbers} are not one range, as in 0-9")
            runners[device] = _core.JobRunner(_core.Config(settings), clients=span, device=device)
        return runners[device]

    def examples(context: Context, client: int) -> int:
        counts = dict(zip(runner(context).clients or [0], runner(context).examples))
        return counts[client]

    return job_app(
        lambda message, context: runner(context).run(message.encode()),
        lambda context: (runner(context).input, runner(context).classes),
        examples,
    )


def _train(train: Callable[[Job], Trained], message: "_core.JobMessage") -> bytes:
    submodel = message.submodel()
    job = Job(
        client=message.client,
        model=submodel.model,
        weights=named_weights(submodel.model, message.given_weights()),
        epochs=message.epochs,
        batch=message.batch,
        client_lr=message.client_lr,
        momentum=message.momentum,
        weight_decay=message.weight_decay,
        proximal=message.proximal,
        shuffle=message.shuffle,
        flip=message.flip,
        crop=message.crop,
        message=message,
    )
    trained = train(job)
    weights = {name: np.asarray(value, np.float32) for name, value in trained.weights.items()}
    flat = flat_weights(submodel.model, weights)
    return message.reply(flat, int(trained.examples), float(trained.loss), float(trained.accuracy)).encode()


def job_app(answer: Callable, data: Callable, examples: Callable) -> ClientApp:
    """A ClientApp out of three functions: `answer(message, context)` makes an encoded UpdateMessage of a JobMessage,
    `data(context)` says input and classes, `examples(context, client)` how many examples a client has."""
    app = ClientApp()

    @app.query()
    def query(message: Message, context: Context) -> Message:
        protocol.read_question(message)
        clients = client_numbers(context.node_config.get("clients", ""))
        input, classes = data(context)
        counts = [int(examples(context, client)) for client in clients or [0]]
        introduction = protocol.introduction(
            version=__version__, clients=clients, classes=classes, input=input, examples=counts
        )
        return Message(introduction, reply_to=message)

    @app.train()
    def train(message: Message, context: Context) -> Message:
        job = _core.JobMessage.decode(protocol.JOB.unpack(message))
        mine = client_numbers(context.node_config.get("clients", ""))
        if mine and job.client not in mine:
            raise _core.RequestError(f"a job for client {job.client}, which is not here")
        return Message(protocol.UPDATE.pack(answer(job, context)), reply_to=message)

    return app
