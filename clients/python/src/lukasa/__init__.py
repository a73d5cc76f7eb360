"""Long-term memory for AI assistants that its user can read, correct, undo and erase.

`Lukasa` waits for its answers and `AsyncLukasa` awaits them; otherwise they are the same. Whatever they have
no method for is in `calls`, one function for each operation of the API: `client.send(calls.get_stats())`.
"""

from ._async import AsyncLukasa
from ._call import Call
from ._errors import ApiError, Conflict, NotAllowed, NotFound, LukasaError, Unavailable, Unreachable
from ._generated import calls, models, params
from ._sync import Lukasa

__version__ = "0.1.0"

__all__ = [
    "ApiError",
    "AsyncLukasa",
    "Call",
    "Conflict",
    "NotAllowed",
    "NotFound",
    "Lukasa",
    "LukasaError",
    "Unavailable",
    "Unreachable",
    "calls",
    "models",
    "params",
]
