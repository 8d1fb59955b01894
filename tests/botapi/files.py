"""Files that people and the bot have sent, by the ids Telegram gives them."""

from __future__ import annotations

from dataclasses import dataclass, field

from .checks import LARGEST_DOWNLOAD
from .messages import Json
from .refusals import bad_request


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    id: str
    unique_id: str
    path: str
    size: int
    content: bytes = field(repr=False)

    def json(self) -> Json:
        return {"file_id": self.id, "file_unique_id": self.unique_id, "file_size": self.size}


class Files:
    def __init__(self) -> None:
        self._files: dict[str, File] = {}

    def add(self, folder: str, suffix: str, content: bytes, size: int | None = None) -> File:
        """`size` is for files too large to be made only to be refused."""
        number = len(self._files)
        file = File(
            id=f"AgACAgIAAxkBAAM{number}",
            unique_id=f"AQAD{number}",
            path=f"{folder}/file_{number}{suffix}",
            size=len(content) if size is None else size,
            content=content,
        )
        self._files[file.id] = file
        return file

    def known(self, file_id: str) -> File:
        if (file := self._files.get(file_id)) is None:
            raise bad_request("wrong file identifier/HTTP URL specified")
        return file

    def to_download(self, file_id: str) -> File:
        if (file := self._files.get(file_id)) is None:
            raise bad_request("invalid file_id")
        if file.size > LARGEST_DOWNLOAD:
            raise bad_request("file is too big")
        return file

    def at(self, path: str) -> File | None:
        return next((file for file in self._files.values() if file.path == path), None)
