"""A server on loopback that answers one question, and does wrong to some of its requests what a fault says."""
import socket
import ssl
import struct
import threading

# A server that never stops by itself stops here; the command is to have ended long before.
MOST_SECONDS = 30


class Peer:
    """One connection. What is written to it may be cut, dripped or left unread; `stopped` is set when the case is over."""

    def __init__(self, plain, tls, stopped):
        self.plain, self.stopped = plain, stopped
        self.stream = tls.wrap_socket(plain, server_side=True) if tls else plain
        self.left = b""

    def request(self):
        """(method, target, all of its bytes), or None when there is no further one."""
        while b"\r\n\r\n" not in self.left:
            more = self.stream.recv(65536)
            if not more:
                return None
            self.left += more
        head, _, self.left = self.left.partition(b"\r\n\r\n")
        size = 0
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                size = int(value)
        while len(self.left) < size:
            more = self.stream.recv(65536)
            if not more:
                return None
            self.left += more
        body, self.left = self.left[:size], self.left[size:]
        method, target, _ = head.split(b"\r\n")[0].split(b" ", 2)
        return method.decode(), target.decode(), head + b"\r\n\r\n" + body

    def write(self, data):
        self.stream.sendall(data)

    def pause(self, seconds):
        """False when the case is over."""
        return not self.stopped.wait(seconds)

    def reset(self):
        self.plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.stream.close()


def response(status, body=b"", headers=()):
    """A right one: `headers` are (name, value)."""
    head = f"HTTP/1.1 {status} -\r\nContent-Length: {len(body)}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers)
    return head.encode("utf-8", "surrogateescape") + b"\r\n" + body


class Server:
    """Stands until its `with` ends. `fault` None: it answers rightly what it is asked. `heard`: all that came."""

    def __init__(self, question, fault, certificate):
        self.question, self.fault = question, fault
        self.heard = b""
        self.stopped = threading.Event()
        self.tls = None
        if certificate:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(certificate)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.host = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.url = ("https://" if certificate else "http://") + self.host
        self.peers = []

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        # A closed listener alone does not wake up its thread.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for plain in list(self.peers):
            try:
                plain.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def accept(self):
        while not self.stopped.is_set():
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            plain.settimeout(MOST_SECONDS)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.peers.append(plain)
            threading.Thread(target=self.serve, args=(plain,), daemon=True).start()

    def serve(self, plain):
        peer = None
        try:
            if self.fault and self.fault.at_connection(plain, self.stopped):
                return
            peer = Peer(plain, self.tls, self.stopped)
            while (asked := peer.request()) is not None:
                if not self.answer(peer, *asked):
                    return
        except (OSError, ValueError):
            pass  # the other side has had enough, which is its right
        finally:
            try:
                (peer.stream if peer else plain).close()
            except OSError:
                pass

    def answer(self, peer, method, target, request):
        """Whether the connection may have a further request."""
        self.heard += request
        found = self.question.answer(target)
        # The metadata server says of each answer that it is its own.
        headers = [("Metadata-Flavor", "Google")] if self.question.texts and "/computeMetadata/" in target else []
        if found is None:
            peer.write(response(404, b"{}", headers))
            return True
        path, page, body = found
        if self.fault and self.fault.concerns(path, page):
            return self.fault.answer(peer, request, body, headers)
        peer.write(response(200, body, headers))
        return True
