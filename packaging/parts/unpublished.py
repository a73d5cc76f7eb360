"""Sentences of the documents that are true only until something is published. A release must not contain them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

#: A space stands for any white space, because sentences are wrapped.
SENTENCES = [
    r"\bnot (yet )?(published|released)\b",
    r"\bnothing (is|has been|was) (yet )?(published|released|tagged)\b(?! under)",
    r"\bnot on (PyPI|npm)( or (PyPI|npm))? yet\b",
    r"\bneither is on (PyPI|npm) yet\b",
    r"\bno release\b",
    r"\b(after|until) the first release\b",
    r"\bwill be (in the first release|`lukasa-\w+` on (PyPI|npm))",
    r"\bwant a published release\b",
    r"\bhas not run yet\b",
]
PATTERN = re.compile("|".join(sentence.replace(" ", r"\s+") for sentence in SENTENCES), re.IGNORECASE)
#: Decisions are records of their time; comparisons name other projects; prompts and data are not documents.
LEFT_OUT = re.compile(r"^docs/adr/|^docs/comparison\.md$|^evals/|/prompts/|node_modules/")


def unpublished_sentences(path: str, text: str) -> list[str]:
    """File, line and words of each such sentence."""
    return [
        f"{path}:{text.count(chr(10), 0, found.start()) + 1}: {' '.join(found[0].split())}"
        for found in PATTERN.finditer(text)
    ]


def in_documents(root: Path) -> list[str]:
    listed = subprocess.run(
        ["git", "-c", f"safe.directory={root}", "ls-files", "-z", "-co", "--exclude-standard", "*.md", "docs/llms.txt"],
        cwd=root, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    paths = [path for path in sorted(listed.split("\0")) if path and not LEFT_OUT.search(path)]
    found = []
    for path in paths:
        if (root / path).is_file():
            found += unpublished_sentences(path, (root / path).read_text("utf-8"))
    return found
