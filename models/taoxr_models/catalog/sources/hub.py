"""Plain downloads from Hugging Face and ModelScope, resumed where they broke off.

Partial files lie in the cache, named by the sha256 they must reach, so that a later run continues.
``HF_ENDPOINT`` and ``MODELSCOPE_ENDPOINT`` name mirrors.
"""

import http.client
import os
import shutil
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Final

from taoxr import paths
from taoxr.errors import InvalidInputError, UnavailableError
from taoxr_models.catalog.entries import Entry, File, HubSource
from taoxr_models.catalog.files import check
from taoxr_models.catalog.report import Reporter

_CHUNK: Final = 1 << 18
_TIMEOUT_S: Final = 30.0
_ATTEMPTS: Final = 4
_PAUSE_S: Final = 0.5
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
# Variable that overrides the address, address, path of a file.
_HUBS: Final = {
    "huggingface": ("HF_ENDPOINT", "https://huggingface.co", "{repository}/resolve/{revision}/{path}"),
    "modelscope": (
        "MODELSCOPE_ENDPOINT",
        "https://modelscope.cn",
        "models/{repository}/resolve/{revision}/{path}",
    ),
}


def fetch_hub(source: HubSource, entry: Entry, folder: Path, report: Reporter) -> dict[str, Path]:
    """Downloads an entry's inputs.

    Returns:
        Files below folder by input name.

    Raises:
        InvalidInputError: The hub's address is not https (plain http only to this machine).
        UnavailableError: The hub could not be reached or lacks a file.
        ModelError: A file has a wrong sha256.
    """
    files: dict[str, Path] = {}
    for name, path in source.paths.items():
        files[name] = folder / path
        files[name].parent.mkdir(parents=True, exist_ok=True)
        report.step(f"{entry.id}: downloading {path} from {source.kind}", entry.inputs[name].size)
        download(address(source, path), entry.inputs[name], files[name], report)
    return files


def address(source: HubSource, path: str) -> str:
    """URL of a file.

    Raises:
        InvalidInputError: The override is not https.
    """
    variable, default, pattern = _HUBS[source.kind]
    base = os.environ.get(variable) or default
    parts = urllib.parse.urlsplit(base)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise InvalidInputError(variable, base, "an https:// address")
    quoted = urllib.parse.quote(path)
    return f"{base.rstrip('/')}/" + pattern.format(
        repository=source.repository, revision=source.revision, path=quoted
    )


def download(url: str, expected: File, target: Path, report: Reporter) -> None:
    """Downloads one file, continuing what an earlier run left.

    Raises:
        UnavailableError: It could not be got after several attempts.
        ModelError: It has a wrong sha256; the partial file is removed.
    """
    partial = paths.cache_dir() / "downloads" / f"{expected.sha256}.part"
    partial.parent.mkdir(parents=True, exist_ok=True)
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            _continue(url, expected, partial, report)
            break
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code != http.client.REQUEST_TIMEOUT:  # asking again will not help
                raise UnavailableError(f"{url}: {error}") from error
            failure: Exception = error
        except (OSError, http.client.HTTPException) as error:
            failure = error
        if attempt == _ATTEMPTS:
            raise UnavailableError(f"{url}: {failure} ({_ATTEMPTS} attempts)") from failure
        report.note(f"{url}: {failure}; trying again")
        time.sleep(_PAUSE_S * 2 ** (attempt - 1))
    try:
        check(partial, expected, f"that is what {url} delivers")
    except Exception:
        partial.unlink()
        raise
    shutil.move(partial, target)


def _continue(url: str, expected: File, partial: Path, report: Reporter) -> None:
    have = partial.stat().st_size if partial.exists() else 0
    if have >= expected.size:
        return
    request = urllib.request.Request(url, headers={"User-Agent": "taoxr"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as response:
        if response.status != http.client.PARTIAL_CONTENT:  # a server without ranges starts over
            have = 0
        with partial.open("ab" if have else "wb") as file:
            while chunk := response.read(_CHUNK):
                file.write(chunk)
                have += len(chunk)
                report.at(have)
                if have > expected.size:  # not the file wanted; the check says so
                    return
    if have < expected.size:
        raise http.client.IncompleteRead(b"", expected.size - have)
