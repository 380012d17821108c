//! The tables of `muster/plugin.h` and `muster/http.h`, as they cross. The header says what each means.
#![allow(missing_docs)]

use std::os::raw::{c_char, c_void};

pub const NUL_TERMINATED: u64 = u64::MAX;
pub const UNRANKED: i64 = -1;

#[repr(C)]
pub struct Error {
    opaque: [u8; 0],
}
#[repr(C)]
pub struct Resolver {
    opaque: [u8; 0],
}

#[repr(C)]
pub struct Host {
    pub struct_size: u64,
    pub abi_major: u32,
    pub abi_minor: u32,
    pub ctx: *mut c_void,
    pub log: unsafe extern "C" fn(*const Host, i32, *const c_char, u64),
    pub set_error: unsafe extern "C" fn(*mut Error, i32, *const c_char, u64) -> i32,
    pub add_detail: unsafe extern "C" fn(*mut Error, *const c_char, *const c_char, u64),
    pub get_service: unsafe extern "C" fn(*const Host, *const c_char) -> *const c_void,
}

#[repr(C)]
pub struct Task {
    pub struct_size: u64,
    pub job: *const c_char,
    pub job_size: u64,
    pub index: i64,
    pub name: *const c_char,
    pub name_size: u64,
    pub address: *const c_char,
    pub address_size: u64,
    pub port: i64,
}

#[repr(C)]
pub struct Missing {
    pub struct_size: u64,
    pub job: *const c_char,
    pub job_size: u64,
    pub index: i64,
    pub name: *const c_char,
    pub name_size: u64,
    pub reason: *const c_char,
    pub reason_size: u64,
}

#[repr(C)]
pub struct Identity {
    pub struct_size: u64,
    pub job: *const c_char,
    pub job_size: u64,
    pub index: i64,
    pub name: *const c_char,
    pub name_size: u64,
    pub evidence: *const c_char,
    pub evidence_size: u64,
}

type Text = unsafe extern "C" fn(*const Call, *const c_char, u64) -> i32;

#[repr(C)]
pub struct Call {
    pub struct_size: u64,
    pub ctx: *mut c_void,
    pub deadline_ns: i64,
    pub is_cancelled: unsafe extern "C" fn(*const Call) -> i32,
    pub set_progress: unsafe extern "C" fn(*const Call, *const c_char, u64),
    pub add_job: Text,
    pub add_task: unsafe extern "C" fn(*const Call, *const Task) -> i32,
    pub set_attribute: unsafe extern "C" fn(*const Call, *const c_char, u64, *const c_char, u64) -> i32,
    pub add_missing: unsafe extern "C" fn(*const Call, *const Missing) -> i32,
    pub set_expected: unsafe extern "C" fn(*const Call, *const c_char, u64, i64) -> i32,
    pub set_identity: unsafe extern "C" fn(*const Call, *const Identity) -> i32,
    pub add_warning: Text,
    pub mark_secret: unsafe extern "C" fn(*const Call, *const c_char, u64),
    pub commit: unsafe extern "C" fn(*const Call) -> i32,
    /// Those of `muster.permissions/1` and `muster.plan/1`, which this crate has not.
    pub others: [*const c_void; 3],
    pub flags: u64,
    pub interval_ns: i64,
}
pub const CALL_LIVE: u64 = 1;

#[repr(C)]
pub struct Plugin {
    pub struct_size: u64,
    pub abi_major: u32,
    pub abi_minor: u32,
    pub name: *const c_char,
    pub version: *const c_char,
    pub create: unsafe extern "C" fn(*const Host, *const c_char, u64, *mut *mut Resolver, *mut Error) -> i32,
    pub destroy: unsafe extern "C" fn(*mut Resolver),
    pub resolve: unsafe extern "C" fn(*mut Resolver, *const Call, *mut Error) -> i32,
    pub interrupt: Option<unsafe extern "C" fn(*mut Resolver)>,
    pub get_extension: Option<unsafe extern "C" fn(*const c_char) -> *const c_void>,
}
// Static and never written.
unsafe impl Sync for Plugin {}

#[repr(C)]
pub struct Watch {
    pub struct_size: u64,
    pub watch: unsafe extern "C" fn(*mut Resolver, *const Call, *mut Error) -> i32,
}

#[repr(C)]
pub struct Options {
    pub struct_size: u64,
    pub get_text: unsafe extern "C" fn(*const Host, *const c_char, *mut *const c_char, *mut u64) -> i32,
    pub get_integer: unsafe extern "C" fn(*const Host, *const c_char, *mut i64) -> i32,
    pub get_boolean: unsafe extern "C" fn(*const Host, *const c_char, *mut i32) -> i32,
}

#[repr(C)]
pub struct Clock {
    pub struct_size: u64,
    pub monotonic_ns: unsafe extern "C" fn(*const Call) -> i64,
    pub realtime_ns: unsafe extern "C" fn(*const Call) -> i64,
    pub sleep_ns: unsafe extern "C" fn(*const Call, i64) -> i32,
}

#[repr(C)]
pub struct Environment {
    pub struct_size: u64,
    pub get_variable: unsafe extern "C" fn(*const Call, *const c_char, *mut *const c_char, *mut u64) -> i32,
    pub read_file: unsafe extern "C" fn(
        *const Call,
        *const c_char,
        u64,
        u64,
        *mut *const c_char,
        *mut u64,
        *mut Error,
    ) -> i32,
    pub get_hostname: unsafe extern "C" fn(*const Call, *mut *const c_char, *mut u64) -> i32,
}

#[repr(C)]
pub struct Address {
    pub struct_size: u64,
    pub check: unsafe extern "C" fn(*const c_char, u64, i64, *mut c_char, u64) -> i32,
}

#[repr(C)]
pub struct HttpHeader {
    pub name: *const c_char,
    pub value: *const c_char,
    pub value_size: u64,
}

#[repr(C)]
pub struct HttpRequest {
    pub struct_size: u64,
    pub flags: u64,
    pub method: *const c_char,
    pub url: *const c_char,
    pub url_size: u64,
    pub headers: *const HttpHeader,
    pub header_count: u64,
    pub body: *const c_char,
    pub body_size: u64,
    pub maximum_body_size: u64,
    pub purpose: *const c_char,
    pub ca_pem: *const c_char,
    pub ca_pem_size: u64,
    pub client_certificate_pem: *const c_char,
    pub client_certificate_pem_size: u64,
    pub client_key_pem: *const c_char,
    pub client_key_pem_size: u64,
    pub tls_server_name: *const c_char,
    pub proxy_url: *const c_char,
    pub on_body: Option<unsafe extern "C" fn(*mut c_void, *const c_char, u64) -> i32>,
    pub on_body_ctx: *mut c_void,
    pub timeout_ns: i64,
    pub idle_timeout_ns: i64,
}

#[repr(C)]
pub struct HttpResponse {
    pub struct_size: u64,
    pub status: i64,
    pub body: *const c_char,
    pub body_size: u64,
    pub headers: *const HttpHeader,
    pub header_count: u64,
    pub ctx: *mut c_void,
}

#[repr(C)]
pub struct Http {
    pub struct_size: u64,
    pub send: unsafe extern "C" fn(*const Call, *const HttpRequest, *mut HttpResponse, *mut Error) -> i32,
    pub get_header: unsafe extern "C" fn(*const HttpResponse, *const c_char, *mut *const c_char, *mut u64) -> i32,
    pub release: unsafe extern "C" fn(*const Call, *mut HttpResponse),
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::size_of;

    #[test]
    fn the_structs_have_the_sizes_of_the_header() {
        // The numbers of the interface's own layout test.
        assert_eq!(size_of::<Host>(), 56);
        assert_eq!(size_of::<Task>(), 72);
        assert_eq!(size_of::<Missing>(), 64);
        assert_eq!(size_of::<Identity>(), 64);
        assert_eq!(size_of::<Call>(), 152);
        assert_eq!(size_of::<Plugin>(), 72);
        assert_eq!(size_of::<Watch>(), 16);
        assert_eq!(size_of::<Environment>(), 32);
        assert_eq!(size_of::<HttpHeader>(), 24);
        assert_eq!(size_of::<HttpRequest>(), 184);
        assert_eq!(size_of::<HttpResponse>(), 56);
        assert_eq!(size_of::<Http>(), 32);
    }
}
