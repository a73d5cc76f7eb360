"""Rules that the compose file and the rendered chart must keep, beyond being valid.

    python rules.py compose.yaml RENDERED.yaml...

Each rule is a function that returns faults. Before the files are judged, every fault in PLANTED is made in a
copy of them and must be found; a rule without a planted fault is an error.
"""

from __future__ import annotations

import copy
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

Json = Any
PINS = Path(__file__).resolve().parent.parent / "packaging/pins.json"
DRAIN_SECONDS = 45
MEBIBYTES = {"Mi": 1, "Gi": 1024}


def mebibytes(text: str) -> int:
    found = re.fullmatch(r"(\d+)(Mi|Gi)", text)
    return int(found[1]) * MEBIBYTES[found[2]] if found else 0


# ---------------------------------------------------------------- the compose file


def services_are_confined(compose: Json) -> Iterator[str]:
    for name, service in compose["services"].items():
        if service.get("cap_drop") != ["ALL"] or service.get("cap_add") or service.get("privileged"):
            yield f"{name} keeps capabilities"
        if "no-new-privileges:true" not in service.get("security_opt", []):
            yield f"{name} may gain privileges"
        if not service.get("read_only"):
            yield f"{name} has a writable root file system"
        if not re.search(r":[\w.\-]*\d|^\$\{LUKASA_IMAGE", service["image"]):
            yield f"{name}: the image {service['image']} has no version"
    if compose["services"]["postgres"].get("user") != "postgres":
        yield "postgres runs as root"


def the_database_is_that_of_the_packages(compose: Json) -> Iterator[str]:
    contains = json.loads(PINS.read_text("utf-8"))["postgres"]["contains"]
    wanted = f"pgvector/pgvector:{contains['pgvector']}-pg{contains['postgresql'].split('.')[0]}-"
    image = compose["services"]["postgres"]["image"]
    if not image.startswith(wanted):
        yield f"postgres is {image}, and packaging/pins.json says {wanted}"


def logins_are_separate(compose: Json) -> Iterator[str]:
    wanted = {"lukasa": "lukasa_login:${LUKASA_DATABASE_PASSWORD", "migrate": "lukasa_owner:${LUKASA_OWNER_PASSWORD"}
    for name, login in wanted.items():
        if not compose["services"][name]["environment"]["DATABASE_URL"].startswith(f"postgres://{login}"):
            yield f"{name} does not log in as {login.split(':')[0]}"
    server = compose["services"]["lukasa"]
    if "OWNER" in str(server["environment"]) or server["environment"].get("LUKASA_MIGRATE") != "false":
        yield "the server has the owner's password, or migrates"


def networks_are_closed(compose: Json) -> Iterator[str]:
    for name, service in compose["services"].items():
        closed = all((compose["networks"][network] or {}).get("internal") for network in service["networks"])
        if name != "lukasa" and not closed:
            yield f"{name} can reach the internet"
        public = [port for port in service.get("ports", []) if not port.startswith("127.0.0.1:")]
        yield from (f"{name} publishes {port}" for port in public)


def journal_is_on_a_volume_and_drain_fits(compose: Json) -> Iterator[str]:
    server = compose["services"]["lukasa"]
    folder = server["environment"].get("LUKASA_ERASURE_JOURNAL", "").rsplit("/", 1)[0]
    if not folder or f"files:{folder}" not in server["volumes"]:
        yield "the erasure journal is not on a volume"
    if int(server["stop_grace_period"].rstrip("s")) <= DRAIN_SECONDS:
        yield "the server is killed before its drain ends"


# ---------------------------------------------------------------- the chart


def of_kind(documents: list[Json], kind: str) -> list[Json]:
    return [document for document in documents if document["kind"] == kind]


def pods(documents: list[Json]) -> Iterator[tuple[str, Json]]:
    for document in of_kind(documents, "Deployment") + of_kind(documents, "Job"):
        yield document["kind"], document["spec"]["template"]


def server(documents: list[Json]) -> Json:
    [deployment] = of_kind(documents, "Deployment")
    return deployment["spec"]["template"]["spec"]


def pods_are_confined(documents: list[Json]) -> Iterator[str]:
    for kind, pod in pods(documents):
        spec = pod["spec"]
        if spec.get("automountServiceAccountToken") is not False or not spec["securityContext"].get("runAsNonRoot"):
            yield f"{kind}: a token of the cluster, or root"
        for container in spec.get("initContainers", []) + spec["containers"]:
            guard = container.get("securityContext", {})
            if guard.get("capabilities", {}).get("drop") != ["ALL"] or not guard.get("readOnlyRootFilesystem"):
                yield f"{kind}: {container['name']} is not confined"
            if guard.get("allowPrivilegeEscalation") is not False:
                yield f"{kind}: {container['name']} may gain privileges"
            resources = container.get("resources", {})
            if not resources.get("limits", {}).get("memory") or not resources.get("requests", {}).get("cpu"):
                yield f"{kind}: {container['name']} has no resources"


def servers_do_not_see_the_owner(documents: list[Json]) -> Iterator[str]:
    if "owner" in str(server(documents)) or server(documents).get("initContainers"):
        yield "the owner's secret is in the serving pods"
    [job] = of_kind(documents, "Job")
    if "pre-upgrade" not in job["metadata"]["annotations"].get("helm.sh/hook", ""):
        yield "the migration does not run before an upgrade"


def pods_stop_gracefully_and_spread(documents: list[Json]) -> Iterator[str]:
    spec = server(documents)
    sleep = spec["containers"][0].get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    if sleep < 5 or spec["terminationGracePeriodSeconds"] <= sleep + DRAIN_SECONDS:
        yield "a pod is killed before its drain ends, or stops while it still gets requests"
    if not spec.get("topologySpreadConstraints"):
        yield "replicas are not spread"


def memory_is_consistent(documents: list[Json]) -> Iterator[str]:
    container = server(documents)["containers"][0]
    index = next(int(env["value"]) for env in container["env"] if env["name"] == "LUKASA_INDEX_MEMORY")
    if mebibytes(container["resources"]["limits"]["memory"]) < index + 1024:
        yield "less than 1 GiB between the index memory and the limit"


def the_journal_is_on_a_fitting_volume(documents: list[Json]) -> Iterator[str]:
    [deployment] = of_kind(documents, "Deployment")
    if "LUKASA_ERASURE_JOURNAL" not in str(server(documents)) or "persistentVolumeClaim" not in str(server(documents)):
        yield "the erasure journal is not on a volume"
    for claim in of_kind(documents, "PersistentVolumeClaim"):
        shared = "ReadWriteMany" in claim["spec"]["accessModes"]
        if not shared and deployment["spec"].get("strategy", {}).get("type") != "Recreate":
            yield "two pods want one volume during a roll"
        if claim["metadata"]["annotations"].get("helm.sh/resource-policy") != "keep":
            yield "the journal goes with the chart"


def pods_have_network_policies(documents: list[Json]) -> Iterator[str]:
    policies = of_kind(documents, "NetworkPolicy")
    for kind, pod in pods(documents):
        labels = pod["metadata"]["labels"].items()
        specs = [policy["spec"] for policy in policies]
        matching = [spec for spec in specs if spec["podSelector"]["matchLabels"].items() <= labels]
        if not any(set(policy["policyTypes"]) == {"Ingress", "Egress"} for policy in matching):
            yield f"{kind} has no network policy"
        for policy in matching:
            rules = (policy.get("ingress") or []) + (policy.get("egress") or [])
            # A rule with a peer was written by the user.
            if any(not rule.get("ports") and not rule.get("to") for rule in rules):
                yield f"{kind}: a rule without ports lets everything through"
    for service in of_kind(documents, "Service"):
        for kind, pod in pods(documents):
            if kind == "Job" and service["spec"]["selector"].items() <= pod["metadata"]["labels"].items():
                yield "the service sends requests to the migration"


COMPOSE: list[Callable[[Json], Iterator[str]]] = [
    services_are_confined,
    the_database_is_that_of_the_packages,
    logins_are_separate,
    networks_are_closed,
    journal_is_on_a_volume_and_drain_fits,
]
CHART: list[Callable[[list[Json]], Iterator[str]]] = [
    pods_are_confined,
    servers_do_not_see_the_owner,
    pods_stop_gracefully_and_spread,
    memory_is_consistent,
    the_journal_is_on_a_fitting_volume,
    pods_have_network_policies,
]


# ---------------------------------------------------------------- planted faults


def put(*path: Any) -> Callable[[Json], None]:
    """Sets what the path leads to, except its last part, to that last part; None removes it."""

    def change(document: Json) -> None:
        *way, name, value = path
        for part in way:
            document = document[part]
        if value is None:
            del document[name]
        else:
            document[name] = value

    return change


def in_kind(kind: str, *path: Any) -> Callable[[list[Json]], None]:
    return lambda documents: put(*path)(of_kind(documents, kind)[0])


POD = ("spec", "template", "spec")
PLANTED: dict[Callable[..., Iterator[str]], list[Callable[[Json], None]]] = {
    services_are_confined: [
        put("services", "postgres", "cap_drop", None),
        put("services", "postgres", "cap_add", ["SYS_ADMIN"]),
        put("services", "lukasa", "security_opt", []),
        put("services", "migrate", "read_only", False),
        put("services", "postgres", "image", "pgvector/pgvector:latest"),
        put("services", "postgres", "user", None),
    ],
    the_database_is_that_of_the_packages: [
        put("services", "postgres", "image", "pgvector/pgvector:0.8.1-pg18-trixie"),
        put("services", "postgres", "image", "pgvector/pgvector:0.8.6-pg17-trixie"),
    ],
    logins_are_separate: [
        put("services", "lukasa", "environment", "DATABASE_URL", "postgres://postgres:x@postgres/lukasa"),
        put("services", "lukasa", "environment", "LUKASA_MIGRATE", "true"),
    ],
    networks_are_closed: [
        put("networks", "database", {}),
        put("services", "lukasa", "ports", ["7777:7777"]),
    ],
    journal_is_on_a_volume_and_drain_fits: [
        put("services", "lukasa", "environment", "LUKASA_ERASURE_JOURNAL", None),
        put("services", "lukasa", "volumes", []),
        put("services", "lukasa", "stop_grace_period", "30s"),
    ],
    pods_are_confined: [
        in_kind("Deployment", *POD, "automountServiceAccountToken", None),
        in_kind("Job", *POD, "containers", 0, "resources", None),
        in_kind("Job", *POD, "containers", 0, "securityContext", "readOnlyRootFilesystem", False),
        in_kind("Deployment", *POD, "containers", 0, "securityContext", "allowPrivilegeEscalation", True),
    ],
    servers_do_not_see_the_owner: [
        in_kind("Deployment", *POD, "initContainers", [{"name": "migrate"}]),
        in_kind("Deployment", *POD, "containers", 0, "env", 0, "valueFrom", "secretKeyRef", "name", "owner"),
        in_kind("Job", "metadata", "annotations", {}),
    ],
    pods_stop_gracefully_and_spread: [
        in_kind("Deployment", *POD, "terminationGracePeriodSeconds", 40),
        in_kind("Deployment", *POD, "containers", 0, "lifecycle", None),
        in_kind("Deployment", *POD, "topologySpreadConstraints", []),
    ],
    memory_is_consistent: [in_kind("Deployment", *POD, "containers", 0, "resources", "limits", "memory", "1Gi")],
    the_journal_is_on_a_fitting_volume: [
        in_kind("Deployment", *POD, "volumes", []),
        in_kind("PersistentVolumeClaim", "metadata", "annotations", {}),
        lambda documents: (
            in_kind("PersistentVolumeClaim", "spec", "accessModes", ["ReadWriteOnce"])(documents),
            in_kind("Deployment", "spec", "strategy", {"type": "RollingUpdate"})(documents),
        )[0],
    ],
    pods_have_network_policies: [
        in_kind("NetworkPolicy", "spec", "policyTypes", ["Ingress"]),
        in_kind("NetworkPolicy", "spec", "egress", [{}]),
        in_kind("NetworkPolicy", "spec", "ingress", [{}]),
        in_kind("Job", "spec", "template", "metadata", "labels", "app.kubernetes.io/name", "lukasa"),
    ],
}


def judge(name: str, document: Json, rules: list[Callable[..., Iterator[str]]]) -> list[str]:
    faults = []
    for rule in rules:
        faults += [f"{name}: {fault}" for fault in rule(document)]
        planted = PLANTED.get(rule, [])
        if not planted:
            faults.append(f"the rule {rule.__name__} has no planted fault")
        for number, plant in enumerate(planted):
            spoiled = copy.deepcopy(document)
            plant(spoiled)
            if not list(rule(spoiled)):
                faults.append(f"the rule {rule.__name__} misses planted fault {number} in {name}")
    return faults


def main() -> int:
    compose, *charts = [Path(argument) for argument in sys.argv[1:]]
    faults = judge(compose.name, yaml.safe_load(compose.read_text()), COMPOSE)
    for chart in charts:
        documents = [document for document in yaml.safe_load_all(chart.read_text()) if document]
        faults += judge(chart.name, documents, CHART)
    print(*faults, sep="\n", end="\n" if faults else "", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
