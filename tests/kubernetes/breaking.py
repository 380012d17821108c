"""A way to a port on loopback that breaks as networks do: connections end, are reset, or fall silent with both ends open."""
import socket
import struct
import threading


class Way:
    """Passes connections on to `port`. `cut`, `reset` and `silence` are about those that are open now and say how many these were;
    while `closed` is set, who connects is reset; while `flows` is not set, all bytes wait."""

    def __init__(self, port):
        self.to, self.closed, self.flows = port, False, threading.Event()
        self.flows.set()
        self.lock, self.open = threading.Lock(), []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        self.cut()

    def accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            if self.closed:
                end_at_once(peer)
                continue
            try:
                connection = Connection(peer, self.to, self.flows)
            except OSError:
                end_at_once(peer)
                continue
            with self.lock:
                self.open = [one for one in self.open if not one.ended] + [connection]

    def take(self):
        with self.lock:
            taken, self.open = [one for one in self.open if not one.ended], []
        return taken

    def cut(self):
        taken = self.take()
        for connection in taken:
            connection.end()
        return len(taken)

    def reset(self):
        taken = self.take()
        for connection in taken:
            connection.reset()
        return len(taken)

    def silence(self):
        """Half-open from now on: neither end hears of it, nor of the other."""
        with self.lock:
            open_now = [one for one in self.open if not one.ended]
        for connection in open_now:
            connection.silent = True
        return len(open_now)


class Connection:
    def __init__(self, peer, port, flows):
        self.peer, self.server, self.flows = peer, socket.create_connection(("127.0.0.1", port), timeout=20), flows
        self.server.settimeout(None)
        self.ended = self.silent = False
        for source, target in ((self.peer, self.server), (self.server, self.peer)):
            threading.Thread(target=self.copy, args=(source, target), daemon=True).start()

    def copy(self, source, target):
        try:
            while piece := source.recv(65536):
                self.flows.wait()
                if not self.silent:
                    target.sendall(piece)
        except OSError:
            pass
        if not self.silent or source is self.peer:  # of a silent one no end comes through either
            self.end()

    def end(self):
        self.ended = True
        for side in (self.peer, self.server):
            try:
                side.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            side.close()

    def reset(self):
        self.ended = True
        end_at_once(self.peer)
        end_at_once(self.server)


def end_at_once(side):
    """By a reset."""
    try:
        side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        side.shutdown(socket.SHUT_RD)  # whoever reads from it wakes
    except OSError:
        pass
    side.close()
