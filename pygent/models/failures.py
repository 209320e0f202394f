"""What to say when a request failed: the status, what came, never the key."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import APIError, EmptyReply, ReplyError

__all__ = ["BODY_SHOWN", "Source"]

BODY_SHOWN = 2000
"""How many characters of a body an error keeps."""

_SAID = 300
_HIDDEN = "[key]"
_CERTAIN = 8


@dataclass(frozen=True, slots=True)
class Source:
    """Where an answer came from, as far as an error tells it."""

    shown: str
    key: str = field(default="", repr=False)
    status: int | None = None
    request_id: str | None = None

    def failed(self, text: str) -> APIError:
        """Return the error for a request that was not answered."""
        return APIError(self._clean(text), status=self.status, request_id=self.request_id)

    def unusable(self, text: str, body: bytes | str = "") -> ReplyError:
        """Return the error for an answer that is no reply."""
        return ReplyError(
            self._clean(f"{text} ({self.shown})"),
            status=self.status,
            body=self._body(body),
            request_id=self.request_id,
        )

    def empty(self, why: str, body: bytes | str = "") -> EmptyReply:
        """Return the error for a reply that says nothing and asks for nothing."""
        text = self._clean(f"the model sent an empty reply: {why} ({self.shown})")
        return EmptyReply(
            text, status=self.status, body=self._body(body), request_id=self.request_id
        )

    def refused(self, body: bytes, location: str | None = None) -> APIError:
        """Return the error for an answer with a status that means no."""
        said = _what_it_says(body)
        text = f"{self.status} from {self.shown}"
        if location is not None:
            text += f": moved to {location}; set OPENAI_BASE_URL to where the server is now"
        elif said:
            text += f": {said}"
        if self.status == 401:
            text += " (OPENAI_API_KEY is wrong)" if self.key else " (set OPENAI_API_KEY)"
        elif self.status == 404:
            text += _what_is_not_there(said)
        return self._told(text, self.status, body)

    def refused_inside(self, error: Any, body: bytes | str = "") -> APIError:
        """Return the error for an error object that came under status 200."""
        code = error.get("code") if isinstance(error, Mapping) else None
        known = isinstance(code, int) and 400 <= code < 600
        said = _from_error(error) or "an error that says nothing"
        text = f"{self.shown} answered 200 with an error inside: {said}"
        return self._told(text, code if known else self.status, body or json.dumps(error))

    def _told(self, text: str, status: int | None, body: bytes | str) -> APIError:
        return APIError(
            self._clean(text), status=status, body=self._body(body), request_id=self.request_id
        )

    def _body(self, body: bytes | str) -> str | None:
        if isinstance(body, bytes):
            # Cut after the key is out, or half of it could stay at the edge.
            body = body[: BODY_SHOWN * 8].decode("utf-8", "replace")
        return self._clean(body)[:BODY_SHOWN] or None

    def _clean(self, text: str) -> str:
        if len(self.key) >= _CERTAIN:
            return text.replace(self.key, _HIDDEN)
        if self.key:
            # A stand-in key such as "x" is also a letter of other words.
            return re.sub(rf"(?<!\w){re.escape(self.key)}(?!\w)", _HIDDEN, text)
        return text


def _what_is_not_there(said: str) -> str:
    """Return what to look at when a server knows nothing of what was asked for."""
    if "model" in said.lower():
        return " (PYGENT_MODEL or model_name= says which model to ask)"
    return " (the path comes from OPENAI_BASE_URL, which mostly ends in /v1)"


def _what_it_says(body: bytes) -> str:
    """Return the gist of an error body in one line."""
    text = body[:65536].decode("utf-8", "replace").strip()
    if text.startswith(("{", "[")):
        try:
            raw = json.loads(text)
        except (ValueError, RecursionError):
            return _line(text)
        if isinstance(raw, list) and raw:
            raw = raw[0]
        error = raw.get("error", raw) if isinstance(raw, Mapping) else raw
        return _from_error(error) or _line(text)
    if text.startswith("<"):
        import html

        title = re.search(r"<title[^>]*>(.*?)</title>", text[:8192], re.IGNORECASE | re.DOTALL)
        name = _line(html.unescape(title.group(1))) if title else ""
        return f"an HTML page, {name!r}" if name else "an HTML page"
    return _line(text)


def _from_error(error: Any) -> str:
    if isinstance(error, Mapping):
        for name in ("message", "detail", "msg", "error"):
            if said := error.get(name):
                return _line(said if isinstance(said, str) else json.dumps(said))
        return _line(json.dumps(dict(error)))
    return _line(str(error))


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SAID else f"{line[:_SAID]}…"
