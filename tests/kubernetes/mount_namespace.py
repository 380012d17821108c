"""A service account at its fixed place, /run/secrets/..., for one program: in a mount namespace of its own."""
import os
import subprocess

UNSHARE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
PLACE = "/run/secrets/kubernetes.io/serviceaccount"


def may_mount():
    try:
        return subprocess.run([*UNSHARE, "mount", "-t", "tmpfs", "none", "/run"], capture_output=True, timeout=10).returncode == 0
    except OSError:
        return False


def in_pod(account, volumes=None):
    """The words before a command that let it find the files of the folder `account` as a pod finds its service account, and each
    of the folders `volumes` at its place below /run."""
    binds = "".join(f"mkdir -p {place} && mount --bind '{folder}' {place} && " for place, folder in (volumes or {}).items())
    script = f'mount -t tmpfs none /run && mkdir -p {PLACE} && cp "$0"/* {PLACE}/ && {binds}exec "$@"'
    return [*UNSHARE, "sh", "-c", script, account]
