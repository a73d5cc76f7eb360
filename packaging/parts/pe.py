"""What a program or library for Windows (PE32+) is built for, and which libraries it needs."""

from __future__ import annotations

import struct
from pathlib import Path

#: Where the header says that the signature begins.
SIGNATURE_AT = 0x3C
#: The entry of the data directory with the imported libraries.
IMPORTS = 1


def pe_machine(head: bytes) -> int | None:
    """The number of the processor; None if the bytes are not the beginning of such a file."""
    start = header_at(head)
    return None if start is None else struct.unpack_from("<H", head, start + 4)[0]


def header_at(data: bytes) -> int | None:
    if len(data) < SIGNATURE_AT + 4 or data[:2] != b"MZ":
        return None
    start = struct.unpack_from("<I", data, SIGNATURE_AT)[0]
    return start if data[start : start + 4] == b"PE\0\0" and len(data) >= start + 24 else None


def is_pe(path: Path) -> bool:
    with path.open("rb") as file:
        return pe_machine(file.read(4096)) is not None


def imported_libraries(data: bytes) -> list[str]:
    """The names of the libraries that the system loads with the file."""
    start = header_at(data)
    if start is None or struct.unpack_from("<H", data, start + 24)[0] != 0x20B:
        raise ValueError("this is not a PE32+ file")
    count, optional_size = struct.unpack_from("<H", data, start + 6)[0], struct.unpack_from("<H", data, start + 20)[0]
    table = start + 24 + optional_size
    sections = [struct.unpack_from("<IIII", data, table + 40 * n + 8) for n in range(count)]

    def offset(address: int) -> int:
        for size, virtual, raw_size, raw in sections:
            if virtual <= address < virtual + max(size, raw_size):
                return address - virtual + raw
        raise ValueError(f"no section has the address {address:#x}")

    address = struct.unpack_from("<I", data, start + 24 + 112 + 8 * IMPORTS)[0]
    names = []
    entry = offset(address) if address else len(data)
    while entry + 20 <= len(data) and (name := struct.unpack_from("<I", data, entry + 12)[0]):
        at = offset(name)
        names.append(data[at : data.index(b"\0", at)].decode("ascii"))
        entry += 20
    return names
