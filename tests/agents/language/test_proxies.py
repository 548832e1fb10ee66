"""Variables of the environment that name proxies and certificates: nothing for this machine leaves it."""

from __future__ import annotations

import socket
import threading

import pytest

from accordant.agents.language import OpenAICompatible, Request
from accordant.agents.language.client import _cause, trusted
from accordant.agents.language.keys import REMOVED, is_loopback
from accordant.errors import InputError, InvalidMoveError

QUESTION = Request("m", (), {}, "prompted", None, 0, 1)
PROXIES = ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")


class Proxy:
    """Notes the beginning of what it is sent, and hangs up."""

    def __init__(self):
        self.seen = []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:{}".format(self.socket.getsockname()[1])
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                taken, _ = self.socket.accept()
            except OSError:
                return
            with taken:
                self.seen.append(taken.recv(65536).decode("latin-1"))


@pytest.fixture
def proxy(monkeypatch):
    made = Proxy()
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    yield made
    made.socket.close()


@pytest.fixture
def certificates(monkeypatch):
    """No certificates of the machine's, and none that were read before."""
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    trusted.cache_clear()
    yield
    trusted.cache_clear()


def use(monkeypatch, address):
    for name in PROXIES:
        monkeypatch.setenv(name, address)


@pytest.mark.parametrize("kind", ["http://", "socks5://", "unknown://"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_key_for_this_machine_goes_through_no_proxy(kind, host, agent, room, server, key, proxy, monkeypatch):
    use(monkeypatch, f"{kind}{proxy.address}")
    agent(base_url=server.url.replace("127.0.0.1", host)).act(room.view())
    assert server.requests[0][1]["authorization"] == f"Bearer {key}"
    assert proxy.seen == []


def test_other_machines_are_reached_through_the_proxy_of_the_environment(warm, proxy, monkeypatch):
    """Encrypted from end to end: the proxy sees the host and not the key."""
    use(monkeypatch, f"http://{proxy.address}")
    outcome = OpenAICompatible("https://models.example/v1").complete(QUESTION, "sk-secret-0123456789", 10)
    assert outcome.kind == "connection"
    assert proxy.seen[0].startswith("CONNECT models.example:443 ")
    assert "sk-secret" not in "".join(proxy.seen)


@pytest.mark.parametrize(
    ("proxies", "said"), [("socks5://user:hidden@127.0.0.1:9", "ImportError: .*socks"), ("foo://me:hidden@x", "foo")]
)
def test_what_is_wrong_with_a_proxy_is_said_without_its_password(proxies, said, warm, proxy, monkeypatch):
    use(monkeypatch, proxies)
    outcome = OpenAICompatible("https://models.example/v1").complete(QUESTION, None, 10)
    assert outcome.kind == "connection"
    assert outcome.message.startswith("no connection to https://models.example/v1, or it was lost: ")
    with pytest.raises(AssertionError, match=f"(?i){said}"):
        raise AssertionError(outcome.message)
    assert "hidden" not in outcome.message


def test_passwords_and_keys_are_taken_out_of_causes():
    inner = ValueError("no way to http://me:hidden@proxy:1 with s\u200becret-key")
    outer = RuntimeError("outside")
    outer.__cause__ = inner
    assert _cause(outer, "secret-key") == f"ValueError: no way to http://proxy:1 with {REMOVED}"
    assert _cause(RuntimeError(), None) == "RuntimeError"


def test_a_lost_connection_names_the_address_and_the_cause(agent, room, server):
    server.close()
    with pytest.raises(InvalidMoveError, match=f"no connection to {server.url}, or it was lost: .*(refused|failed)"):
        agent().act(room.view())


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_certificates_that_are_not_there(variable, certificates, agent, room, server, tmp_path, monkeypatch):
    monkeypatch.setenv(variable, str(tmp_path / "nowhere.pem"))
    assert agent().act(room.view())  # not needed: nothing is encrypted
    if variable == "SSL_CERT_FILE":  # a folder that is not there holds no certificates, which is no error
        with pytest.raises(
            InputError, match="SSL_CERT_FILE='.*nowhere.pem' cannot be read .*allowed: a file"
        ) as caught:
            agent(base_url="https://models.example/v1").act(room.view())
        assert not isinstance(caught.value, InvalidMoveError)


def test_a_file_that_holds_no_certificates(warm, certificates, tmp_path, monkeypatch):
    (tmp_path / "empty.pem").write_text("nothing")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "empty.pem"))
    with pytest.raises(InputError, match="empty.pem' cannot be read"):
        OpenAICompatible("https://models.example/v1").complete(QUESTION, None, 10)


def test_which_hosts_are_this_machine():
    assert all(map(is_loopback, ("localhost", "LOCALHOST", "localhost.", "127.0.0.1", "127.0.0.2", "::1")))
    assert not any(map(is_loopback, ("", "10.0.0.1", "localhost.example.org", "127.0.0.1.example.org", "0.0.0.0")))
