"""The client library is imported when something is asked; a missing one is a clear error, and no import opens a socket."""

import subprocess
import sys

HEAVY = ("pydantic_ai", "openai", "httpx2", "httpx", "anyio", "sklearn", "pandas", "scipy", "bm25s")


def run(code):
    return subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)


def test_importing_opens_no_socket_and_imports_no_client():
    done = run(
        "import socket, sys\n"
        "def no(*a, **k): raise AssertionError('socket')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = no\n"
        "import accordant.agents.language as language\n"
        "language.LanguageModelAgent('me', 'http://localhost:1/v1', 'm', framework='rawlsian')\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_a_missing_extra_is_named(extra):
    code = (
        "import sys\n"
        "sys.modules['pydantic_ai'] = None\n"
        "from accordant.agents import View\n"
        "from accordant.agents.language import LanguageModelAgent\n"
        "from accordant.allocations import Claimant, Resource, Scenario\n"
        "from accordant.errors import InputError, InvalidMoveError\n"
        "view = View('me', 'propose', Scenario([Claimant('p', {})], [Resource('bed', 1)]))\n"
        "try: LanguageModelAgent('me', 'http://localhost:1/v1', 'm', retriever=None).act(view)\n"
        "except InputError as error: print(type(error) is InputError, error)"
    )
    done = run(code)
    assert done.stdout.startswith("True"), done.stderr
    assert "pip install 'accordant[llm]'" in done.stdout
