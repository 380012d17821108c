use std::ffi::CString;
use std::os::raw::c_char;
use std::ptr;

use crate::error::Error;
use crate::sys;

/// Levels of [`Host::log`]. An expected fallback is `Debug`, and not worded as a failure.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum Level {
    Debug = 0,
    Info = 1,
    Warning = 2,
    Error = 3,
}

/// What the core lends for as long as the resolver lives. A copy is the same host; usable from any thread.
#[derive(Clone, Copy)]
pub struct Host {
    pub(crate) raw: *const sys::Host,
}
unsafe impl Send for Host {}
unsafe impl Sync for Host {}

impl Host {
    /// One line of log; never a secret (MP-17).
    pub fn log(&self, level: Level, text: &str) {
        let (data, size) = parts(text);
        unsafe { ((*self.raw).log)(self.raw, level as i32, data, size) }
    }

    /// An option that is a text, by JSON pointer: `"/url"`. Nothing where none is given, or one of another type.
    pub fn text_option(&self, pointer: &str) -> Option<String> {
        let options = self.service::<sys::Options>("muster.options/1")?;
        let pointer = CString::new(pointer).ok()?;
        let (mut value, mut size) = (ptr::null(), 0);
        let code = unsafe { (options.get_text)(self.raw, pointer.as_ptr(), &mut value, &mut size) };
        (code == 0).then(|| unsafe { text(value, size) }.to_owned())
    }

    /// An option that is a whole number.
    pub fn integer_option(&self, pointer: &str) -> Option<i64> {
        let options = self.service::<sys::Options>("muster.options/1")?;
        let pointer = CString::new(pointer).ok()?;
        let mut value = 0;
        let code = unsafe { (options.get_integer)(self.raw, pointer.as_ptr(), &mut value) };
        (code == 0).then(|| value)
    }

    /// An option that is true or false.
    pub fn boolean_option(&self, pointer: &str) -> Option<bool> {
        let options = self.service::<sys::Options>("muster.options/1")?;
        let pointer = CString::new(pointer).ok()?;
        let mut value = 0;
        let code = unsafe { (options.get_boolean)(self.raw, pointer.as_ptr(), &mut value) };
        (code == 0).then(|| value != 0)
    }

    /// Why `add_task` would not take this address (MP-7), in words; nothing when it would.
    pub fn address_problem(&self, address: &str, port: u16) -> Option<String> {
        let table = self.service::<sys::Address>("muster.address/1")?;
        let (data, size) = parts(address);
        let mut reason = [0u8; 512];
        let code = unsafe {
            (table.check)(data, size, port.into(), reason.as_mut_ptr().cast::<c_char>(), reason.len() as u64)
        };
        if code == 0 {
            return None;
        }
        let end = reason.iter().position(|&byte| byte == 0).unwrap_or(reason.len());
        Some(String::from_utf8_lossy(&reason[..end]).into_owned())
    }

    pub(crate) fn service<T>(&self, id: &str) -> Option<&T> {
        let id = CString::new(id).ok()?;
        let table = unsafe { ((*self.raw).get_service)(self.raw, id.as_ptr()) };
        unsafe { table.cast::<T>().as_ref() }
    }

    pub(crate) fn fail(&self, error: *mut sys::Error, failure: &Error) -> i32 {
        if !failure.message.is_empty() {
            let (data, size) = parts(&failure.message);
            unsafe { ((*self.raw).set_error)(error, failure.code, data, size) };
        }
        for (key, value) in &failure.details {
            let (data, size) = parts(value);
            if let Ok(key) = CString::new(key.as_str()) {
                unsafe { ((*self.raw).add_detail)(error, key.as_ptr(), data, size) };
            }
        }
        failure.code
    }
}

/// A text as pointer and size.
pub(crate) fn parts(text: &str) -> (*const c_char, u64) {
    (text.as_ptr().cast(), text.len() as u64)
}

/// A text of the core's, which is UTF-8; "" should it not be.
pub(crate) unsafe fn text<'a>(data: *const c_char, size: u64) -> &'a str {
    std::str::from_utf8(bytes(data, size)).unwrap_or("")
}

pub(crate) unsafe fn bytes<'a>(data: *const c_char, size: u64) -> &'a [u8] {
    if data.is_null() {
        return &[];
    }
    std::slice::from_raw_parts(data.cast::<u8>(), size as usize)
}
