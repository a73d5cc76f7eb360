"""What every answer of the API has in common."""

from pydantic import BaseModel, ConfigDict


class View(BaseModel):
    """An answer. A newer server may say more than this client knows: it is kept, and does no harm."""

    model_config = ConfigDict(extra="allow", populate_by_name=True, protected_namespaces=())
