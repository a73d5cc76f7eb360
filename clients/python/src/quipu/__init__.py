"""Long-term memory for AI assistants that its user can read, correct, undo and erase.

`Quipu` waits for its answers and `AsyncQuipu` awaits them; otherwise they are the same. Whatever they have
no method for is in `calls`, one function for each operation of the API: `client.send(calls.get_stats())`.
"""

from ._async import AsyncQuipu
from ._call import Call
from ._errors import ApiError, Conflict, NotAllowed, NotFound, QuipuError, Unavailable, Unreachable
from ._generated import calls, models, params
from ._sync import Quipu

__version__ = "0.1.0"

__all__ = [
    "ApiError",
    "AsyncQuipu",
    "Call",
    "Conflict",
    "NotAllowed",
    "NotFound",
    "Quipu",
    "QuipuError",
    "Unavailable",
    "Unreachable",
    "calls",
    "models",
    "params",
]
