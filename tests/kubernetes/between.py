"""A plain http proxy to the real kube-apiserver that logs in as the administrator, as kubectl proxy does."""
import http.client
import http.server
import ssl
import threading

from asking import ask


class Between:
    """Before it passes on a request for a further page it calls `before_page`; `accept` replaces what the client accepts.
    Keeps the server's statuses in order, and the kinds of content it gave."""

    def __init__(self, server, before_page=lambda: None, accept=None):
        self.server, self.statuses, self.kinds = server, [], set()
        context = ssl.create_default_context(cafile=server.ready["ca"])
        context.load_cert_chain(server.ready["client_certificate"], server.ready["client_key"])
        between = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                if "continue=" in self.path:
                    before_page()
                upstream = http.client.HTTPSConnection(server.ready["host"], server.ready["port"], timeout=30, context=context)
                upstream.request("GET", self.path, headers={
                    "Accept": accept or self.headers.get("Accept", ""), "Accept-Encoding": "identity", "User-Agent": "muster-tests"})
                response = upstream.getresponse()
                body = response.read()
                upstream.close()
                between.statuses.append(response.status)
                between.kinds.add(response.getheader("Content-Type"))
                self.send_response(response.status)
                self.send_header("Content-Type", response.getheader("Content-Type"))
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, args=[0.05], daemon=True).start()

    def ask(self, namespace, *arguments, **more):
        """muster by way of this proxy, which then stops."""
        url = f"http://127.0.0.1:{self.http.server_address[1]}"
        path = self.server.kubeconfig({}, namespace, {"server": url}, "between")
        try:
            return ask(self.server, *arguments, env={"KUBECONFIG": path}, **more)
        finally:
            self.http.shutdown()
            self.http.server_close()
