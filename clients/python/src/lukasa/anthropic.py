"""The memory tool of Anthropic's SDK (`memory_20250818`), on a memory that the user can read and undo.

The tool's files are the vault of docs/vault.md: an edit is a versioned change, deleting is forgetting.
"""

from __future__ import annotations

from anthropic.lib.tools import (
    BetaAbstractMemoryTool,
    BetaAsyncAbstractMemoryTool,
    BetaFunctionToolResultType,
    ToolError,
)
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818Command,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from ._async import AsyncLukasa
from ._errors import ApiError
from ._generated.models import VaultAnswer
from ._sync import Lukasa

__all__ = ["AsyncLukasaMemoryTool", "LukasaMemoryTool"]


def command_body(command: BetaMemoryTool20250818Command) -> dict[str, object]:
    """The command as a request body, without empty fields, which the server rejects."""
    return {name: value for name, value in command.to_dict().items() if value is not None}


def result_text(answer: VaultAnswer) -> str:
    """The text for the assistant; raises `ToolError` for an error."""
    if answer.is_error:
        raise ToolError(answer.text)
    return answer.text


def tool_error(error: ApiError) -> ToolError:
    """An API error as a text with which the assistant can continue."""
    fields = " ".join(f"{one.get('pointer')}: {one.get('detail')}." for one in error.errors)
    return ToolError(" ".join(part for part in (f"{error.title}.", fields or error.detail) if part))


class LukasaMemoryTool(BetaAbstractMemoryTool):
    """Claude's memory tool for the memory of a user. Pass it to `client.beta.messages.tool_runner`."""

    def __init__(self, client: Lukasa, *, cache_control: BetaCacheControlEphemeralParam | None = None) -> None:
        super().__init__(cache_control=cache_control)
        self._client = client

    def _run(self, command: BetaMemoryTool20250818Command) -> BetaFunctionToolResultType:
        try:
            return result_text(self._client.vault_command(command_body(command)))
        except ApiError as error:
            raise tool_error(error) from error

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> BetaFunctionToolResultType:
        return self._run(command)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> BetaFunctionToolResultType:
        return self._run(command)

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> BetaFunctionToolResultType:
        return self._run(command)

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> BetaFunctionToolResultType:
        return self._run(command)

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> BetaFunctionToolResultType:
        return self._run(command)

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> BetaFunctionToolResultType:
        return self._run(command)


class AsyncLukasaMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for `AsyncAnthropic`."""

    def __init__(self, client: AsyncLukasa, *, cache_control: BetaCacheControlEphemeralParam | None = None) -> None:
        super().__init__(cache_control=cache_control)
        self._client = client

    async def _run(self, command: BetaMemoryTool20250818Command) -> BetaFunctionToolResultType:
        try:
            return result_text(await self._client.vault_command(command_body(command)))
        except ApiError as error:
            raise tool_error(error) from error

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> BetaFunctionToolResultType:
        return await self._run(command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> BetaFunctionToolResultType:
        return await self._run(command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> BetaFunctionToolResultType:
        return await self._run(command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> BetaFunctionToolResultType:
        return await self._run(command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> BetaFunctionToolResultType:
        return await self._run(command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> BetaFunctionToolResultType:
        return await self._run(command)
