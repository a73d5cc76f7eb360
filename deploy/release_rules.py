"""Rules of the workflow that publishes: its order, and that a failure can be resumed.

    python release_rules.py ../.github/workflows/release.yml

Each rule is a function that returns faults. Before the workflow is judged, every fault in PLANTED is made in a copy of
it and must be found; a rule without a planted fault is an error.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

Json = Any
PYPI = "pypa/gh-action-pypi-publish@"
#: Part of a command that publishes what can never be replaced.
FINAL_COMMANDS = ("packaging/publish-npm", "npm publish", "$REGISTRY/v0/publish", "twine upload")


def needs(workflow: Json, name: str) -> set[str]:
    """The jobs that have succeeded when this one starts."""
    direct = workflow["jobs"][name].get("needs", [])
    found = set([direct] if isinstance(direct, str) else direct)
    return found.union(*(needs(workflow, one) for one in found))


def steps(workflow: Json, name: str) -> list[Json]:
    return workflow["jobs"][name]["steps"]


def final_jobs(workflow: Json) -> list[str]:
    return [
        name
        for name in workflow["jobs"]
        for step in steps(workflow, name)
        if step.get("uses", "").startswith(PYPI) or any(part in step.get("run", "") for part in FINAL_COMMANDS)
    ]


def a_tag_needs_a_checked_commit(workflow: Json) -> Iterator[str]:
    for name in workflow["jobs"]:
        if name != "checked" and "checked" not in needs(workflow, name):
            yield f"{name} does not wait for the job checked"
    command = str(steps(workflow, "checked"))
    if "workflows/ci.yml/runs" not in command or "status=success" not in command:
        yield "the job checked does not ask for a success of the workflow ci"


def final_publications_come_last(workflow: Json) -> Iterator[str]:
    found = final_jobs(workflow)
    if len(set(found)) < 4:
        yield f"only {found} publish"
    for name in found:
        if missing := {"github", "images", "try", "try-windows"} - needs(workflow, name):
            yield f"{name} publishes before {', '.join(sorted(missing))}"
    for name, job in workflow["jobs"].items():
        if (name in found or name in ("github", "images")) and job.get("if") != "github.ref_type == 'tag'":
            yield f"{name} publishes without a tag"


def pypi_has_an_environment_for_each_project(workflow: Json) -> Iterator[str]:
    environments = []
    for name in final_jobs(workflow):
        for step in steps(workflow, name):
            if not step.get("uses", "").startswith(PYPI):
                continue
            environments.append(workflow["jobs"][name]["environment"]["name"])
            if step["with"]["packages-dir"] != f"packages/{environments[-1]}":
                yield f"{name} publishes {step['with']['packages-dir']} in the environment {environments[-1]}"
    if sorted(environments) != ["pypi", "pypi-client"]:
        yield f"the environments for PyPI are {environments}"
    if "pypi-client" not in needs(workflow, "pypi"):
        yield "the wheel is published before the client that it depends on"


def publications_can_be_repeated(workflow: Json) -> Iterator[str]:
    for name in final_jobs(workflow):
        for step in steps(workflow, name):
            if step.get("uses", "").startswith(PYPI) and step["with"].get("skip-existing") is not True:
                yield f"{name} fails for a file that is published already"
            if "npm publish" in step.get("run", ""):
                yield f"{name} publishes without packaging/publish-npm"
            if "v0/publish" in step.get("run", "") and "duplicate version" not in step["run"]:
                yield f"{name} fails for an entry that is published already"
    release = str(steps(workflow, "github"))
    if "gh release view" not in release or "--clobber" not in release:
        yield "the draft cannot be completed after a failure"


def images_are_attested_by_digest(workflow: Json) -> Iterator[str]:
    wanted = {"build-provenance": {"index", "x86_64", "aarch64"}, "sbom": {"x86_64", "aarch64"}}
    for kind, parts in wanted.items():
        action = f"actions/attest-{kind}@"
        found = [step["with"] for step in steps(workflow, "images") if step.get("uses", "").startswith(action)]
        digests = {given.get("subject-digest") for given in found if given.get("push-to-registry") is True}
        for part in sorted(parts):
            if f"${{{{ steps.push.outputs.{part} }}}}" not in digests:
                yield f"no {kind} of the image {part} is pushed to the registry"


Rule = Callable[[Json], Iterator[str]]


def change(*path: Any) -> Callable[[Json], None]:
    """Sets what the path leads to, except its last part, to that last part."""

    def apply(document: Json) -> None:
        *way, name, value = path
        for part in way:
            document = document[part]
        document[name] = value

    return apply


def without_text(job: str, text: str) -> Callable[[Json], None]:
    """Removes a text from the commands of a job."""

    def apply(document: Json) -> None:
        for step in steps(document, job):
            step["run"] = step.get("run", "").replace(text, "")

    return apply


def in_last_step(job: str, name: str, value: object) -> Callable[[Json], None]:
    return lambda document: steps(document, job)[-1]["with"].update({name: value})


PLANTED: dict[Rule, list[Callable[[Json], None]]] = {
    a_tag_needs_a_checked_commit: [change("jobs", "console", "needs", []), without_text("checked", "&status=success")],
    final_publications_come_last: [
        change("jobs", "npm", "needs", "collect"),
        change("jobs", "pypi-client", "needs", ["images"]),
        change("jobs", "collect", "needs", ["build", "try-windows"]),
        change("jobs", "collect", "needs", ["build", "try"]),
        change("jobs", "mcp-registry", "if", "always()"),
        change("jobs", "github", "if", "true"),
        without_text("npm", "packaging/publish-npm"),
    ],
    pypi_has_an_environment_for_each_project: [
        change("jobs", "pypi-client", "environment", {"name": "pypi"}),
        change("jobs", "pypi", "needs", ["github", "images"]),
        in_last_step("pypi", "packages-dir", "packages/pypi-client"),
    ],
    publications_can_be_repeated: [
        in_last_step("pypi", "skip-existing", False),
        change("jobs", "npm", "steps", -1, {"run": "npm publish --provenance ./a.tgz"}),
        without_text("mcp-registry", "duplicate version"),
        without_text("github", "--clobber"),
    ],
    images_are_attested_by_digest: [
        in_last_step("images", "push-to-registry", False),
        in_last_step("images", "subject-digest", "${{ steps.push.outputs.index }}"),
        lambda document: steps(document, "images").pop(2) and None,
    ],
}


def judge(workflow: Json) -> list[str]:
    faults = []
    for rule, planted in PLANTED.items():
        faults += list(rule(workflow))
        for number, plant in enumerate(planted):
            changed = copy.deepcopy(workflow)
            plant(changed)
            if not list(rule(changed)):
                faults.append(f"the rule {rule.__name__} misses planted fault {number}")
        if not planted:
            faults.append(f"the rule {rule.__name__} has no planted fault")
    return faults


def main() -> int:
    faults = judge(yaml.safe_load(Path(sys.argv[1]).read_text("utf-8")))
    print(*(f"release.yml: {fault}" for fault in faults), sep="\n", end="\n" if faults else "", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
