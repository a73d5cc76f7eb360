"""THIRD-PARTY.txt: the licences of everything in a package that other authors wrote, each text once."""

from __future__ import annotations

from .components import MIT, Component

HEADER = """The packages of Lukasa contain the following works of other authors, under these licences.
Lukasa itself is licensed under Apache-2.0; that text applies to every work under Apache-2.0 in this list.
"""
LINE = "=" * 100


def notices(found: list[Component]) -> str:
    parts = [HEADER]
    #: Texts that differ only in their line breaks are one text.
    texts: dict[str, tuple[str, list[str]]] = {}
    for component in found:
        name = f"{component.name} {component.version}"
        by = f", by {component.authors}" if component.authors else ""
        parts.append(f"{name}: {component.licence}{by}")
        for text in component.texts or default_texts(component):
            texts.setdefault(" ".join(text.split()), (text, []))[1].append(name)
    for text, names in texts.values():
        parts.append(f"\n{LINE}\n{', '.join(names)}\n{LINE}\n\n{text}")
    return "\n".join(parts) + "\n"


def default_texts(component: Component) -> list[str]:
    """The text of the licence that a package names without a file of its own."""
    if "MIT" in component.licence:
        return [f"Copyright (c) {component.authors or f'the authors of {component.name}'}\n\n{MIT}"]
    return [f"No file with the text of {component.licence} is part of this package."]
