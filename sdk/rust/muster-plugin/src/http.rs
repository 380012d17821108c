use std::ffi::CString;
use std::marker::PhantomData;
use std::mem::{size_of, zeroed};
use std::ptr;
use std::time::Duration;

use crate::call::Call;
use crate::error::{Code, Error};
use crate::host::{bytes, text};
use crate::sys;

/// One request of `muster.http/1`. Retries, redirects, TLS, proxies, recording and redaction are the core's.
#[derive(Clone, Debug)]
pub struct Request {
    /// "GET" where nothing else is said.
    pub method: String,
    /// Absolute, http or https.
    pub url: String,
    /// Values of `Authorization` show up nowhere.
    pub headers: Vec<(String, String)>,
    /// Why it is made, in a few words, for `muster explain`.
    pub purpose: String,
    /// Of the whole request with its retries, beside the call's deadline. Needed in a watch, which has none to speak of.
    pub timeout: Option<Duration>,
    /// What is sent.
    pub body: Vec<u8>,
    /// Of the response; 0 is 64 MiB.
    pub maximum_body_size: u64,
}

impl Request {
    /// A GET.
    pub fn get(url: impl Into<String>) -> Self {
        Request {
            method: "GET".to_owned(),
            url: url.into(),
            headers: Vec::new(),
            purpose: String::new(),
            timeout: None,
            body: Vec::new(),
            maximum_body_size: 0,
        }
    }
}

/// A response, freed when it is dropped. Its status may be any: look at it.
pub struct Response<'call> {
    http: &'call sys::Http,
    call: *const sys::Call,
    raw: sys::HttpResponse,
    lives: PhantomData<&'call ()>,
}

impl Response<'_> {
    /// 200, 404, ...
    pub fn status(&self) -> i64 {
        self.raw.status
    }
    /// What was received.
    pub fn body(&self) -> &[u8] {
        unsafe { bytes(self.raw.body, self.raw.body_size) }
    }
    /// The first header of this name, compared without case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let name = CString::new(name).ok()?;
        let (mut value, mut size) = (ptr::null(), 0);
        let code = unsafe { (self.http.get_header)(&self.raw, name.as_ptr(), &mut value, &mut size) };
        (code == 0).then(|| unsafe { text(value, size) })
    }
}

impl Drop for Response<'_> {
    fn drop(&mut self) {
        unsafe { (self.http.release)(self.call, &mut self.raw) }
    }
}

fn nul_terminated(text: &str, what: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::new(Code::InvalidArgument, format!("the {} has a NUL in it", what)))
}

impl Call {
    /// One exchange with its retries.
    pub fn send(&self, request: &Request) -> Result<Response<'_>, Error> {
        let http = self.needed_service::<sys::Http>("muster.http/1")?;
        let method = nul_terminated(&request.method, "method")?;
        let purpose = nul_terminated(&request.purpose, "purpose")?;
        let mut names = Vec::new();
        for (name, _) in &request.headers {
            names.push(nul_terminated(name, "name of a header")?);
        }
        let headers: Vec<_> = names
            .iter()
            .zip(&request.headers)
            .map(|(name, (_, value))| sys::HttpHeader {
                name: name.as_ptr(),
                value: value.as_ptr().cast(),
                value_size: value.len() as u64,
            })
            .collect();
        // Zero everywhere but in what is set is a valid request, and an empty response.
        let mut raw: sys::HttpRequest = unsafe { zeroed() };
        raw.struct_size = size_of::<sys::HttpRequest>() as u64;
        raw.method = method.as_ptr();
        raw.url = request.url.as_ptr().cast();
        raw.url_size = request.url.len() as u64;
        raw.headers = headers.as_ptr();
        raw.header_count = headers.len() as u64;
        raw.body = request.body.as_ptr().cast();
        raw.body_size = request.body.len() as u64;
        raw.maximum_body_size = request.maximum_body_size;
        raw.purpose = purpose.as_ptr();
        raw.timeout_ns = request.timeout.map_or(0, crate::call::nanoseconds);
        let mut response: sys::HttpResponse = unsafe { zeroed() };
        response.struct_size = size_of::<sys::HttpResponse>() as u64;
        let code = unsafe { (http.send)(self.raw, &raw, &mut response, self.error) };
        if code != 0 {
            return Err(Error::told(code));
        }
        Ok(Response { http, call: self.raw, raw: response, lives: PhantomData })
    }
}
