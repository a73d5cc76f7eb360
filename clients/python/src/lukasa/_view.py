"""Base class of all response models."""

from pydantic import BaseModel, ConfigDict


class View(BaseModel):
    """A response model. Unknown fields of a newer server are kept."""

    model_config = ConfigDict(extra="allow", populate_by_name=True, protected_namespaces=())
