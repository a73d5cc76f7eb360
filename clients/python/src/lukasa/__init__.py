"""Long-term memory for AI assistants that the user can read, correct, undo and erase.

`Lukasa` is the synchronous client and `AsyncLukasa` the asynchronous one, with the same methods. Operations
without a method have a function in `calls`: `client.send(calls.get_stats())`.
"""

from ._async import AsyncLukasa
from ._call import Call
from ._errors import ApiError, Conflict, LukasaError, NotAllowed, NotFound, Unavailable, Unreachable
from ._generated import calls, models, params
from ._sync import Lukasa

__version__ = "0.1.0"

__all__ = [
    "ApiError",
    "AsyncLukasa",
    "Call",
    "Conflict",
    "Lukasa",
    "LukasaError",
    "NotAllowed",
    "NotFound",
    "Unavailable",
    "Unreachable",
    "calls",
    "models",
    "params",
]
