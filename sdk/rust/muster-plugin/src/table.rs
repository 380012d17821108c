//! The C functions of a backend's tables. No panic leaves them.

use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::mem::size_of;
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};

use crate::call::Call;
use crate::error::{Code, Error};
use crate::host::{bytes, Host};
use crate::{sys, Backend};

struct Held<B> {
    host: Host,
    backend: B,
}

thread_local! {
    // What the last panic of this thread said, with its place.
    static PANIC: RefCell<String> = RefCell::new(String::new());
}

/// Keeps panics off the standard error, which is the launcher's (MP-16); their words become the error. Of this plugin alone: a
/// cdylib has a standard library of its own.
#[doc(hidden)]
pub fn keep_panics() {
    std::panic::set_hook(Box::new(|panic| PANIC.with(|said| *said.borrow_mut() = panic.to_string())));
}

/// The table of a backend, for `plugin!`.
#[doc(hidden)]
pub const fn table<B: Backend>(name: *const c_char, version: *const c_char) -> sys::Plugin {
    sys::Plugin {
        struct_size: size_of::<sys::Plugin>() as u64,
        abi_major: 1,
        abi_minor: 0,
        name,
        version,
        create: create::<B>,
        destroy: destroy::<B>,
        resolve: resolve::<B>,
        interrupt: None,
        get_extension: Some(get_extension::<B>),
    }
}

fn guarded(host: &Host, error: *mut sys::Error, body: impl FnOnce() -> Result<(), Error>) -> i32 {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => 0,
        Ok(Err(failure)) => host.fail(error, &failure),
        Err(_) => {
            let said = PANIC.with(|said| said.take());
            host.fail(error, &Error::new(Code::Internal, format!("the backend panicked: {}", said)))
        }
    }
}

unsafe extern "C" fn create<B: Backend>(
    host: *const sys::Host,
    options: *const c_char,
    size: u64,
    resolver: *mut *mut sys::Resolver,
    error: *mut sys::Error,
) -> i32 {
    let host = Host { raw: host };
    guarded(&host, error, || {
        let options = if size == sys::NUL_TERMINATED {
            CStr::from_ptr(options).to_bytes()
        } else {
            bytes(options, size)
        };
        let backend = B::create(host, std::str::from_utf8(options).unwrap_or("{}"))?;
        *resolver = Box::into_raw(Box::new(Held { host, backend })).cast();
        Ok(())
    })
}

unsafe extern "C" fn destroy<B: Backend>(resolver: *mut sys::Resolver) {
    if resolver.is_null() {
        return;
    }
    let held = Box::from_raw(resolver.cast::<Held<B>>());
    // A panic of drop has nobody to be told to.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(held)));
}

unsafe fn called<B: Backend>(
    resolver: *mut sys::Resolver,
    call: *const sys::Call,
    error: *mut sys::Error,
    body: impl FnOnce(&mut B, &Call) -> Result<(), Error>,
) -> i32 {
    let held = &mut *resolver.cast::<Held<B>>();
    let host = held.host;
    let call = Call { host, raw: call, error, refusal: Cell::new(0) };
    let code = guarded(&host, error, || body(&mut held.backend, &call));
    if call.refusal.get() != 0 {
        return call.refusal.get();
    }
    if code == 0 {
        // What a service failed with did not matter to the backend (MP-10).
        ((*host.raw).set_error)(error, 0, "\0".as_ptr().cast(), 0);
    }
    code
}

unsafe extern "C" fn resolve<B: Backend>(
    resolver: *mut sys::Resolver,
    call: *const sys::Call,
    error: *mut sys::Error,
) -> i32 {
    called::<B>(resolver, call, error, |backend, call| backend.resolve(call))
}

unsafe extern "C" fn watch<B: Backend>(
    resolver: *mut sys::Resolver,
    call: *const sys::Call,
    error: *mut sys::Error,
) -> i32 {
    called::<B>(resolver, call, error, |backend, call| backend.watch(call))
}

struct Tables<B>(std::marker::PhantomData<B>);
impl<B: Backend> Tables<B> {
    const WATCH: sys::Watch = sys::Watch { struct_size: size_of::<sys::Watch>() as u64, watch: watch::<B> };
}

unsafe extern "C" fn get_extension<B: Backend>(id: *const c_char) -> *const c_void {
    match CStr::from_ptr(id).to_bytes() {
        b"muster.watch/1" => (&Tables::<B>::WATCH as *const sys::Watch).cast(),
        _ => std::ptr::null(),
    }
}
