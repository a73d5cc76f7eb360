"""ZIP archives with fixed times and the modes of files, so that equal contents give equal bytes."""

from __future__ import annotations

import time
import zipfile

from . import build_time

#: The first time that a ZIP can hold: 1980-01-01.
FIRST_SECOND = 315_532_800


def entry_of(place: str, mode: int = 0o644) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(place, time.gmtime(max(build_time(), FIRST_SECOND))[:6])
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry
