"""A proxy on loopback for the scripts: every way that it is asked for ends at one port."""
import socket
import threading


class Proxy:
    """Opens each way that it is asked for to `port` on loopback, by SOCKS 5 or by CONNECT; `asked` is for what."""

    def __init__(self, port):
        self.port, self.asked = port, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.own = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def serve(self, peer):
        peer.settimeout(20)
        with peer, socket.create_connection(("127.0.0.1", self.port), timeout=20) as server:
            stream = peer.makefile("rb")
            first = stream.read(1)
            if first == b"\5":
                stream.read(stream.read(1)[0])
                peer.sendall(b"\5\0")
                kind = stream.read(4)[3]
                host = stream.read(stream.read(1)[0]).decode() if kind == 3 else socket.inet_ntoa(stream.read(4))
                self.asked.append(f"{host}:{int.from_bytes(stream.read(2), 'big')}")
                peer.sendall(b"\5\0\0\1\0\0\0\0\0\0")
            else:
                self.asked.append((first + stream.readline()).split()[1].decode())
                while stream.readline() not in (b"\r\n", b""):
                    pass
                peer.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            threading.Thread(target=self.copy, args=(server.recv, peer.sendall, peer), daemon=True).start()
            self.copy(stream.read1, server.sendall, server)

    @staticmethod
    def copy(take, give, end):
        try:
            while piece := take(65536):
                give(piece)
            end.shutdown(socket.SHUT_WR)
        except OSError:
            pass
