"""Whatever a stranger may send is refused: other pages, other names, other servers, large bodies, paths."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from sparkrex.studio.access import Keys
from sparkrex.studio.app import make_app
from sparkrex.studio.limits import MOST_BYTES, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

KEYS = Keys(4321)
HOST = "127.0.0.1:4321"
OWN = {"Host": HOST, "Origin": f"http://{HOST}", "Content-Type": "application/json"}


@pytest.fixture
def client() -> Iterator[TestClient]:
    """A browser that has not been let in."""
    with TestClient(make_app({}, KEYS, Limits()), base_url=f"http://{HOST}", follow_redirects=False) as made:
        yield made


@pytest.fixture
def browser(client: TestClient) -> TestClient:
    """One that has."""
    assert client.get("/", params={"token": KEYS.token}).status_code == 303
    return client


def test_the_token_is_changed_for_a_cookie_of_the_port(client: TestClient) -> None:
    answer = client.get("/", params={"token": KEYS.token})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"rex_4321={KEYS.session};")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert KEYS.token not in cookie
    assert client.get("/").status_code == 200


def test_tokens_are_long_and_never_the_same() -> None:
    made = [Keys(1), Keys(1)]
    secrets = {secret for keys in made for secret in (keys.token, keys.session)}
    assert len(secrets) == 4 and min(map(len, secrets)) >= 43
    assert not any(secret in repr(made) for secret in secrets)


@pytest.mark.parametrize(
    "path",
    ["/", "/app.js", "/nothing", "/?token=", "/?token=é",
     pytest.param("/app.js?token=" + KEYS.token, id="elsewhere")],  # the token differs from process to process
)
def test_without_the_token_nothing_is_served(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 401
    assert client.post("/api/check", headers=OWN, content="{}").status_code == 401


def test_the_cookie_of_another_port_or_server_opens_nothing(client: TestClient) -> None:
    other = Keys(4322)
    for cookie in (f"rex_4322={KEYS.session}", f"rex_4321={other.session}", f"rex_4321={KEYS.token}", "rex_4321="):
        assert client.get("/", headers={"Cookie": cookie}).status_code == 401
    both = f"rex_4322={other.session}; rex_4321={KEYS.session}"
    assert client.get("/", headers={"Cookie": both}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example:4321", "127.0.0.1", "127.0.0.1:4322", "localhost", "127.0.0.1:4321.x", ""]
)
def test_another_name_is_refused_even_with_the_cookie(browser: TestClient, host: str) -> None:
    assert browser.get("/", headers={"Host": host}).status_code == 421
    assert browser.get("/", params={"token": KEYS.token}, headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost:4321", "[::1]:4321"])
def test_the_other_names_of_this_machine_are_answered(browser: TestClient, host: str) -> None:
    headers = {"Host": host, "Cookie": f"rex_4321={KEYS.session}"}
    assert browser.get("/", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:4322"}, 403),
        ({"Origin": "https://127.0.0.1:4321"}, 403),
        ({"Origin": "http://localhost:4321"}, 403),
        ({"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_another_page_cannot_ask(browser: TestClient, headers: dict[str, str], status: int) -> None:
    assert browser.post("/api/check", headers=OWN | headers, content="{}").status_code == status


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none", None])
def test_without_an_origin_the_browser_must_say_that_the_page_is_ours(browser: TestClient, site: str | None) -> None:
    headers = {"Content-Type": "application/json"} | ({"Sec-Fetch-Site": site} if site else {})
    assert browser.post("/api/check", headers=headers, content="{}").status_code == 403
    fitting = headers | {"Sec-Fetch-Site": "same-origin"}
    assert browser.post("/api/check", headers=fitting, content="[]").status_code == 400


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"])
def test_other_methods_are_not_answered(browser: TestClient, method: str) -> None:
    answer = browser.request(method, "/", headers=OWN)
    assert answer.status_code == 405
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_a_body_of_ten_megabytes_is_refused_announced_or_not(browser: TestClient) -> None:
    body = b'{"query": "' + b"x" * 10_000_000 + b'"}'
    assert browser.post("/api/check", headers=OWN, content=body).status_code == 413
    pieces = (body[at : at + 65_536] for at in range(0, len(body), 65_536))
    assert browser.post("/api/check", headers=OWN, content=pieces).status_code == 413
    assert browser.post("/api/check", headers=OWN | {"Content-Length": "-1"}, content=b"{}").status_code == 413
    assert MOST_BYTES < 10_000_000


@pytest.mark.parametrize(
    "path",
    [
        "/../access.py", "/page/../access.py", "/%2e%2e/access.py", "/..%2faccess.py", "/app.js/../../access.py",
        "//etc/passwd", "/access.py", "/page/app.js", "/index.html", "/%2fetc%2fpasswd", "/..\\access.py", "/app.js%00",
    ],
)
def test_no_path_leads_to_a_file_that_is_not_listed(browser: TestClient, path: str) -> None:
    # The path as it is: a client would tidy it up.
    answer = browser.send(browser.build_request("GET", f"http://{HOST}{path}"))
    assert answer.status_code == 404


@pytest.mark.parametrize("path", ["/api/..", "/api/run", "/api/__class__", "/api/check/x"])
def test_nothing_else_can_be_asked(browser: TestClient, path: str) -> None:
    assert browser.post(path, headers=OWN, content="{}").status_code in (404, 405)


@pytest.mark.parametrize(
    "body",
    [
        "", "[]", "nonsense", "[" * 100_000, '{"query": 1}', '{"x": []}', '{"view": [1]}', '{"view": [2, 1]}',
        '{"view": [NaN, 1]}', '{"view": [0, 1e999]}', '{"view": [true, 2]}', '{"tables": {"t": "/etc/passwd"}}',
    ],
)
def test_what_the_page_would_not_send_is_refused(browser: TestClient, body: str) -> None:
    if body:
        assert browser.post("/api/check", headers=OWN, content=body).status_code == 400


def test_every_answer_has_the_headers(browser: TestClient) -> None:
    refused = browser.get("/", headers={"Host": "x"})
    for answer in (browser.get("/"), browser.get("/app.js"), browser.get("/x"), refused):
        headers = answer.headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert headers["cross-origin-opener-policy"] == headers["cross-origin-resource-policy"] == "same-origin"
        assert "default-src 'none'; script-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert not any(name.startswith("access-control") for name in headers)


def test_each_page_has_a_nonce_of_its_own_for_styles_only(browser: TestClient) -> None:
    nonces = set()
    for _ in range(2):
        answer = browser.get("/")
        (nonce,) = re.findall(r'<meta name="style-nonce" content="([\w-]{16,})">', answer.text)
        assert f"style-src 'self' 'nonce-{nonce}';" in answer.headers["content-security-policy"]
        assert answer.headers["content-security-policy"].count("nonce-") == 1
        nonces.add(nonce)
    assert len(nonces) == 2


def test_the_page_names_nothing_outside_of_itself(browser: TestClient) -> None:
    text = browser.get("/").text
    assert "://" not in text
    assert re.search(r"<(script|style)>|\son\w+=|\sstyle=", text) is None
    for name in re.findall(r'(?:src|href)="(/[^"]*)"', text):
        assert browser.get(name).status_code == 200
