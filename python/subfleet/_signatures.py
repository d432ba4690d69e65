"""Signatures that `inspect`, `help` and editors see; nanobind's functions keep theirs to themselves."""

from __future__ import annotations

import inspect
import re
from typing import Any, Callable

__all__ = ["show_signatures"]


def show_signatures(words: dict[str, Any]) -> None:
    """For the functions of _core, and the classes with their methods, among these."""
    for name, word in list(words.items()):
        if isinstance(word, type) and word.__module__ == "subfleet._core":
            _show_class(word)
        elif type(word).__name__ == "nb_func":
            words[name] = _described(word)


def _show_class(kind: type) -> None:
    for name, member in list(vars(kind).items()):
        if name == "__init__" and type(member).__name__ == "nb_method":
            whole = _signature(member)
            kind.__signature__ = whole.replace(parameters=list(whole.parameters.values())[1:])
        elif name.startswith("_"):
            continue
        elif type(member).__name__ == "nb_method":
            setattr(kind, name, _described(member))
        elif type(member).__name__ == "nb_func":
            setattr(kind, name, staticmethod(_described(member)))


def _described(function: Any) -> Callable:
    def call(*args: Any, **keywords: Any) -> Any:
        return function(*args, **keywords)

    call.__name__, call.__qualname__, call.__module__ = function.__name__, function.__qualname__, "subfleet"
    call.__doc__ = function.__nb_signature__[0][1]
    call.__signature__ = _signature(function)
    return call


def _signature(function: Any) -> inspect.Signature:
    text, _, defaults = function.__nb_signature__[0]  # "def kept(self, row: int, client: int = \\0) -> list"
    numbered = re.sub(r"\\=?(\d+)", r"_defaults[\1]", text)
    numbered = re.sub(r"(numpy\.)?ndarray\[[^]]*\]", "numpy.ndarray", numbered)
    scope: dict[str, Any] = {"_defaults": defaults}
    exec(f"from __future__ import annotations\n{numbered}: ...", scope)
    return inspect.signature(scope[function.__name__])
