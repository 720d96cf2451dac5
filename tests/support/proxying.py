"""A TLS server and an HTTP proxy on loopback, in threads: what proxies and trust stores are tested with."""

from __future__ import annotations

import socket
import ssl
import threading
from pathlib import Path
from types import TracebackType
from typing import TypeVar

CERTIFICATE = Path(__file__).with_name("tls") / "cert.pem"
KEY = CERTIFICATE.with_name("key.pem")
REPLY = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"


S = TypeVar("S", bound="_Threaded")


class _Threaded:
    """A listener that gives each connection to `serve` in a thread of its own."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self: S) -> S:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)  # ends the accept that waits
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._guarded, args=(connection,), daemon=True).start()

    def _guarded(self, connection: socket.socket) -> None:
        connection.settimeout(10)
        try:
            with connection:
                self.serve(connection)
        except OSError:
            return  # clients that refuse a certificate hang up

    def serve(self, connection: socket.socket) -> None:
        raise NotImplementedError


class TlsServer(_Threaded):
    """Answers `ok` over TLS, with a certificate that no system store has."""

    def __init__(self) -> None:
        super().__init__()
        self.served = 0
        self.url = f"https://127.0.0.1:{self.port}/"
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(CERTIFICATE, KEY)

    def serve(self, connection: socket.socket) -> None:
        with self._context.wrap_socket(connection, server_side=True) as secured:
            _head(secured)
            self.served += 1
            secured.sendall(REPLY)


class Proxy(_Threaded):
    """Tunnels CONNECT to loopback and answers plain requests itself; `asked` are the first lines that it got."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.url = f"http://127.0.0.1:{self.port}"

    def serve(self, connection: socket.socket) -> None:
        line = _head(connection).split(b"\r\n")[0].decode()
        self.asked.append(line)
        if not line.startswith("CONNECT "):
            connection.sendall(REPLY)
            return
        host, _, port = line.split()[1].rpartition(":")
        with socket.create_connection((host, int(port)), timeout=10) as upstream:
            connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=_pump, args=(upstream, connection), daemon=True)
            back.start()
            _pump(connection, upstream)
            back.join(10)


def _head(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(4096)
        if not piece:
            raise OSError("hung up")
        data += piece
    return data


def _pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while piece := source.recv(4096):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        return
