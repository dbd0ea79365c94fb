"""Who may ask: the browser that was given the token, on a page of ours, by a name of this machine.

Any page of the web can send requests to a port of this machine. So the name under which a request comes is checked
(against names that a stranger's DNS points here), then a cookie that only the token gives, and for whatever does
something also the page that it comes from. The cookie is named by the port, since browsers share cookies between ports.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import PlainTextResponse, RedirectResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Of every answer, refusals too."""
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'{nonce}; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def _secret() -> str:
    return secrets.token_urlsafe(32)


@dataclass(frozen=True, slots=True)
class Keys:
    """What opens the server of a port: the token of its address, and the value of the cookie that it is changed for."""

    port: int
    token: str = field(default_factory=_secret, repr=False)
    session: str = field(default_factory=_secret, repr=False)

    @property
    def cookie(self) -> str:
        """The name of the cookie."""
        return f"rex_{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """The names under which the server may be asked."""
        return frozenset(f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]"))

    @property
    def address(self) -> str:
        """What is opened in a browser."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    def opens(self, token: str) -> bool:
        """Whether this is the token."""
        return hmac.compare_digest(token.encode(), self.token.encode())

    def has_cookie(self, headers: Headers) -> bool:
        """Whether a request has the cookie of this server."""
        for line in headers.getlist("cookie"):
            try:
                cookie = SimpleCookie(line).get(self.cookie)
            except CookieError:
                continue
            if cookie is not None and hmac.compare_digest(cookie.value.encode(), self.session.encode()):
                return True
        return False


def policy(nonce: str | None = None) -> str:
    """What a page may load. The editor adds styles, which it marks with the nonce."""
    return _POLICY.format(nonce=f" 'nonce-{nonce}'" if nonce else "")


def refusal(keys: Keys, method: str, headers: Headers) -> tuple[int, str] | None:
    """Why a request without a token is refused, as a status and a sentence; None if it is not."""
    if not keys.has_cookie(headers):
        return 401, "open the address that rex studio printed"
    if method != "POST":
        return None
    origin = headers.get("origin")
    is_own = origin == f"http://{headers['host']}" if origin is not None else (
        headers.get("sec-fetch-site") == "same-origin"
    )
    if not is_own:
        return 403, "the request comes from another page"
    if headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        return 415, "the request is not JSON"
    return None


class Access:
    """Around the application: refuses, changes the token for the cookie, and adds the headers of every answer."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # a web socket is closed by the server that nobody answers it

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Content-Security-Policy", policy())
            await send(message)

        await (self._answer_for(scope) or self._app)(scope, receive, send_with_headers)

    def _answer_for(self, scope: Scope) -> ASGIApp | None:
        """The answer to a request that the application never sees."""
        headers, keys = Headers(scope=scope), self._keys
        if headers.getlist("host") not in [[host] for host in keys.hosts]:
            return PlainTextResponse("this server has another name", 421)
        if scope["method"] not in ("GET", "POST"):
            return PlainTextResponse("only GET and POST are answered", 405, {"Allow": "GET, POST"})
        token = QueryParams(scope["query_string"]).get("token")
        if token is not None and scope["method"] == "GET" and scope["path"] == "/":
            if not keys.opens(token):
                return PlainTextResponse("the token is that of another rex studio", 401)
            answer = RedirectResponse("/", 303)
            answer.set_cookie(keys.cookie, keys.session, httponly=True, samesite="strict", path="/")
            return answer
        refused = refusal(keys, scope["method"], headers)
        return PlainTextResponse(refused[1], refused[0]) if refused is not None else None
