"""server.json: the entry of Lukasa in the MCP registry."""

from __future__ import annotations

import os

from . import SUMMARY, homepage, version


def registry_name() -> str:
    """The name in the registry, which is the owner's on GitHub. The packages carry it, too."""
    owner = os.environ.get("GITHUB_REPOSITORY", "lukasa/lukasa").split("/")[0]
    return f"io.github.{owner}/lukasa"


def server_json() -> dict[str, object]:
    entry: dict[str, object] = {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": registry_name(),
        "title": "Lukasa",
        "description": SUMMARY,
        "version": version(),
        "packages": [package("pypi", "uvx"), package("npm", "npx")],
    }
    if address := homepage():
        entry["repository"] = {"url": address, "source": "github"}
    return entry


def package(registry: str, runtime: str) -> dict[str, object]:
    return {
        "registryType": registry,
        "identifier": "lukasa",
        "version": version(),
        "runtimeHint": runtime,
        "packageArguments": [{"type": "positional", "value": "mcp"}],
        "transport": {"type": "stdio"},
        "environmentVariables": [
            {"name": "LUKASA_URL", "description": "The server, if it is not on this machine", "isRequired": False},
            {"name": "LUKASA_KEY", "description": "The key for it", "isRequired": False, "isSecret": True},
        ],
    }
