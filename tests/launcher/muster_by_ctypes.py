"""libmuster by ctypes: as small a binding as the tests need, and a sample of how one is written."""

import ctypes
import json

Handle = ctypes.c_void_p
Out = ctypes.POINTER(ctypes.c_void_p)
Size = ctypes.POINTER(ctypes.c_size_t)

SIGNATURES = {
    "muster_version": (ctypes.c_char_p, []),
    "muster_settings_create": (Handle, []),
    "muster_settings_set": (ctypes.c_int32, [Handle, ctypes.c_char_p, ctypes.c_char_p, Out]),
    "muster_settings_destroy": (None, [Handle]),
    "muster_open": (ctypes.c_int32, [Handle, Out, Out]),
    "muster_resolve": (ctypes.c_int32, [Handle, Out, Out]),
    "muster_plan": (ctypes.c_int32, [Handle, ctypes.c_int64, Out, Out]),
    "muster_permissions": (ctypes.c_int32, [Handle, ctypes.c_char_p, ctypes.c_int32, Out, Out]),
    "muster_cancel": (None, [Handle]),
    "muster_cluster_destroy": (None, [Handle]),
    "muster_watch_start": (ctypes.c_int32, [Handle, Out, Out]),
    "muster_watch_next": (ctypes.c_int32, [Handle, ctypes.c_int64, Out, Out]),
    "muster_watch_destroy": (None, [Handle]),
    "muster_render": (ctypes.c_int32, [Handle, ctypes.c_char_p, ctypes.c_char_p, Out, Out]),
    "muster_text_data": (ctypes.POINTER(ctypes.c_char), [Handle, Size]),
    "muster_text_destroy": (None, [Handle]),
    "muster_snapshot_complete": (ctypes.c_int32, [Handle]),
    "muster_snapshot_destroy": (None, [Handle]),
    "muster_error_code_name": (ctypes.c_char_p, [Handle]),
    "muster_error_message": (ctypes.c_char_p, [Handle, Size]),
    "muster_error_detail_count": (ctypes.c_size_t, [Handle]),
    "muster_error_detail_key": (ctypes.c_char_p, [Handle, ctypes.c_size_t, Size]),
    "muster_error_detail_value": (ctypes.c_char_p, [Handle, ctypes.c_size_t, Size]),
    "muster_error_destroy": (None, [Handle]),
}


def load(path):
    """libmuster with its functions declared; everything below works on it."""
    global library
    library = ctypes.CDLL(path)
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


library = None


class MusterError(Exception):
    def __init__(self, handle):
        super().__init__(library.muster_error_message(handle, None).decode())
        self.code = library.muster_error_code_name(handle).decode()
        self.details = {library.muster_error_detail_key(handle, n, None).decode():
                        library.muster_error_detail_value(handle, n, None).decode()
                        for n in range(library.muster_error_detail_count(handle))}
        library.muster_error_destroy(handle)


def call(function, *arguments):
    """Calls a function whose last parameter is the error, and raises it."""
    error = ctypes.c_void_p()
    if function(*arguments, ctypes.byref(error)) != 0:
        raise MusterError(error)


class Cluster:
    """A config at work. Settings are those of muster_settings_set."""

    def __init__(self, config, **settings):
        handle = library.muster_settings_create()
        try:
            for name, value in {"config_text": config, **settings}.items():
                call(library.muster_settings_set, handle, name.encode(), value.encode())
            self.handle = ctypes.c_void_p()
            call(library.muster_open, handle, ctypes.byref(self.handle))
        finally:
            library.muster_settings_destroy(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        library.muster_cluster_destroy(self.handle)

    def resolve(self, form="json"):
        """The answer in a format: Python values for json, bytes for the others."""
        snapshot = ctypes.c_void_p()
        call(library.muster_resolve, self.handle, ctypes.byref(snapshot))
        return take(snapshot, form)

    def permissions(self, principal=None, watch=False):
        """What each resolver needs to be allowed."""
        text = ctypes.c_void_p()
        call(library.muster_permissions, self.handle, principal and principal.encode(), watch, ctypes.byref(text))
        try:
            return json.loads(text_of(text))
        finally:
            library.muster_text_destroy(text)

    def plan(self, members):
        """How many requests one resolve that finds so many members makes."""
        text = ctypes.c_void_p()
        call(library.muster_plan, self.handle, members, ctypes.byref(text))
        try:
            return json.loads(text_of(text))
        finally:
            library.muster_text_destroy(text)

    def watch(self):
        watch = ctypes.c_void_p()
        call(library.muster_watch_start, self.handle, ctypes.byref(watch))
        return Watch(watch)


class Watch:
    def __init__(self, handle):
        self.handle = handle

    def __enter__(self):
        return self

    def __exit__(self, *_):
        library.muster_watch_destroy(self.handle)

    def next(self, timeout_ms=10000):
        snapshot = ctypes.c_void_p()
        call(library.muster_watch_next, self.handle, timeout_ms, ctypes.byref(snapshot))
        return take(snapshot)


def text_of(text):
    size = ctypes.c_size_t()
    return library.muster_text_data(text, ctypes.byref(size))[: size.value]


def take(snapshot, form="json"):
    """A snapshot in a format; frees it."""
    text = ctypes.c_void_p()
    try:
        call(library.muster_render, snapshot, form.encode(), None, ctypes.byref(text))
        data = text_of(text)
        return json.loads(data) if form == "json" else data
    finally:
        library.muster_text_destroy(text)
        library.muster_snapshot_destroy(snapshot)
