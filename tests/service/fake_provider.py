"""A provider of accounts on 127.0.0.1 with keys of its own, which keeps to OpenID Connect unless it is told to lie."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

from accordant.service.oidc import Provider

CLIENT, SECRET, HERE = "accordant", "between-us", "http://testserver"
MOVED = "/moved"  # where redirects lead: whoever follows them finds there what is asked for


class FakeProvider:
    """A provider; a test changes what it says, and `reset` undoes it."""

    def __init__(self):
        self.key, self.other = (RSAKey.generate_key(2048, {"kid": name, "use": "sig"}) for name in "ab")
        self.reset()

    def reset(self):
        self.codes, self.asked, self.metadata, self.claims, self.header = {}, [], {}, {}, {}
        self.signer, self.status, self.answer, self.here = self.key, 200, None, HERE
        self.keys = [self.key.as_dict(private=False)]
        self.subject = "Zanzibar-subject-1"

    def __getattr__(self, name):  # the address is known once it listens
        if name == "issuer":
            return f"http://127.0.0.1:{self.port}"
        raise AttributeError(name)

    def settings(self):
        return Provider(self.issuer, CLIENT, SECRET, self.here)

    def sign_in(self, address):
        """Let somebody sign in at the address that a page named; return where their browser is sent to."""
        query = {name: value for name, (value,) in parse_qs(urlsplit(address).query).items()}
        assert address.startswith(f"{self.issuer}/authorize?")
        assert (query["client_id"], query["response_type"], query["scope"]) == (CLIENT, "code", "openid")
        assert (query["redirect_uri"], query["code_challenge_method"]) == (f"{self.here}/oidc/callback", "S256")
        code = secrets.token_urlsafe()
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state'], 'iss': self.issuer})}"

    def token(self, form, headers):
        """Return the answer to the exchange of a code: used once, by this client, with the verifier."""
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if headers.get("Authorization") != f"Basic {basic}" and form.get("client_secret") != SECRET:
            return 401, {"error": "invalid_client"}
        query = self.codes.pop(form["code"], None)
        hashed = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(hashed).rstrip(b"=").decode()
        if query is None or challenge != query["code_challenge"] or form["redirect_uri"] != query["redirect_uri"]:
            return 400, {"error": "invalid_grant", "error_description": "secret words of the provider"}
        now = int(time.time())
        claims = {"iss": self.issuer, "sub": self.subject, "aud": CLIENT, "iat": now, "exp": now + 300,
                  "nonce": query["nonce"]} | self.claims  # fmt: skip
        claims = {name: value for name, value in claims.items() if value is not None}
        if callable(self.signer):
            signed = self.signer(claims)
        else:
            signed = jwt.encode({"alg": "RS256", "kid": self.signer.kid} | self.header, claims, self.signer)
        return 200, {"access_token": "opaque", "token_type": "Bearer", "expires_in": 60, "id_token": signed}

    def reply(self, method, path, form, headers):
        """Return status and JSON of an answer."""
        if self.answer is not None and not path.startswith(MOVED):
            return self.answer
        path = path.removeprefix(MOVED)
        if path == "/.well-known/openid-configuration":
            return self.status, {
                "issuer": self.issuer, "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token", "jwks_uri": f"{self.issuer}/keys",
            } | self.metadata  # fmt: skip
        if path == "/keys":
            return 200, {"keys": self.keys}
        return self.token(form, headers) if (method, path) == ("POST", "/token") else (404, {})

    @contextmanager
    def listening(self):
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                path = urlsplit(self.path).path
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                fake.asked.append((self.command, path, dict(self.headers), body))
                if path == "/authorize":
                    self.send_response(302)
                    self.send_header("Location", fake.sign_in(fake.issuer + self.path))
                    self.end_headers()
                    return
                form = {name: value for name, (value,) in parse_qs(body).items()}
                status, told = fake.reply(self.command, path, form, self.headers)
                content = told if isinstance(told, bytes) else json.dumps(told).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                if status in {301, 302, 307}:
                    self.send_header("Location", f"{fake.issuer}{MOVED}{path}")
                self.end_headers()
                self.wfile.write(content)

            do_POST = do_GET

            def log_message(self, *_):
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            self.port = server.server_port
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
            thread.start()
            try:
                yield self
            finally:
                server.shutdown()
                thread.join()
