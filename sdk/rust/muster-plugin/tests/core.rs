//! A backend in a core made of a few functions: what it pushes, how it fails, and that its panics end at the edge.

use std::ffi::CStr;
use std::os::raw::{c_char, c_void};
use std::ptr;

use muster_plugin::{sys, Backend, Call, Code, Error, Host, Index, Task};

struct Odd;

impl Backend for Odd {
    fn create(_host: Host, options: &str) -> Result<Self, Error> {
        match options {
            "panic" => panic!("no create today"),
            "fail" => Err(Error::new(Code::InvalidArgument, "no such rack").with("option", "/rack")),
            _ => Ok(Odd),
        }
    }
    fn resolve(&mut self, call: &Call) -> Result<(), Error> {
        let task = |job| Task { job, index: Index::At(0), name: "", address: "a:1", port: 0 };
        call.add_task(&task("worker"))?;
        // A refusal that nobody looks at.
        let _ = call.add_task(&task("refused"));
        assert!(call.live());
        assert_eq!(call.interval().as_millis(), 1500);
        Ok(())
    }
    fn watch(&mut self, _call: &Call) -> Result<(), Error> {
        let empty: Vec<u8> = Vec::new();
        let _ = empty[call_index()];
        Ok(())
    }
}

fn call_index() -> usize {
    7
}

/// Where the core keeps an error.
#[derive(Default)]
struct Told {
    code: i32,
    message: String,
    details: Vec<(String, String)>,
}

unsafe fn text(data: *const c_char, size: u64) -> String {
    String::from_utf8(std::slice::from_raw_parts(data.cast::<u8>(), size as usize).to_vec()).unwrap()
}

unsafe extern "C" fn set_error(error: *mut sys::Error, code: i32, message: *const c_char, size: u64) -> i32 {
    if let Some(told) = error.cast::<Told>().as_mut() {
        *told = Told { code, message: text(message, size), details: Vec::new() };
    }
    code
}
unsafe extern "C" fn add_detail(error: *mut sys::Error, key: *const c_char, value: *const c_char, size: u64) {
    if let Some(told) = error.cast::<Told>().as_mut() {
        told.details.push((CStr::from_ptr(key).to_str().unwrap().to_owned(), text(value, size)));
    }
}
unsafe extern "C" fn log(_: *const sys::Host, _: i32, _: *const c_char, _: u64) {}
unsafe extern "C" fn get_service(_: *const sys::Host, _: *const c_char) -> *const c_void {
    ptr::null()
}
unsafe extern "C" fn is_cancelled(_: *const sys::Call) -> i32 {
    0
}
unsafe extern "C" fn no_words(_: *const sys::Call, _: *const c_char, _: u64) {}
unsafe extern "C" fn take_text(_: *const sys::Call, _: *const c_char, _: u64) -> i32 {
    0
}
unsafe extern "C" fn add_task(_: *const sys::Call, task: *const sys::Task) -> i32 {
    assert_eq!((*task).struct_size, 72);
    if text((*task).job, (*task).job_size) == "refused" {
        13
    } else {
        0
    }
}
unsafe extern "C" fn attribute(_: *const sys::Call, _: *const c_char, _: u64, _: *const c_char, _: u64) -> i32 {
    0
}
unsafe extern "C" fn add_missing(_: *const sys::Call, _: *const sys::Missing) -> i32 {
    0
}
unsafe extern "C" fn set_expected(_: *const sys::Call, _: *const c_char, _: u64, _: i64) -> i32 {
    0
}
unsafe extern "C" fn set_identity(_: *const sys::Call, _: *const sys::Identity) -> i32 {
    0
}
unsafe extern "C" fn commit(_: *const sys::Call) -> i32 {
    0
}

fn host() -> sys::Host {
    sys::Host {
        struct_size: 56,
        abi_major: 1,
        abi_minor: 0,
        ctx: ptr::null_mut(),
        log,
        set_error,
        add_detail,
        get_service,
    }
}

fn call() -> sys::Call {
    sys::Call {
        struct_size: 152,
        ctx: ptr::null_mut(),
        deadline_ns: i64::MAX,
        is_cancelled,
        set_progress: no_words,
        add_job: take_text,
        add_task,
        set_attribute: attribute,
        add_missing,
        set_expected,
        set_identity,
        add_warning: take_text,
        mark_secret: no_words,
        commit,
        others: [ptr::null(); 3],
        flags: sys::CALL_LIVE,
        interval_ns: 1_500_000_000,
    }
}

fn create(options: &str) -> (i32, *mut sys::Resolver, Told) {
    muster_plugin::keep_panics();
    let host = Box::leak(Box::new(host()));
    let table = muster_plugin::table::<Odd>(ptr::null(), ptr::null());
    let (mut resolver, mut told) = (ptr::null_mut(), Told::default());
    let error: *mut sys::Error = (&mut told as *mut Told).cast();
    let code = unsafe {
        (table.create)(host, options.as_ptr().cast(), options.len() as u64, &mut resolver, error)
    };
    (code, resolver, told)
}

#[test]
fn a_failure_is_told_with_its_facts() {
    let (code, resolver, told) = create("fail");
    assert_eq!((code, told.code, told.message.as_str()), (3, 3, "no such rack"));
    assert_eq!(told.details, [("option".to_owned(), "/rack".to_owned())]);
    assert!(resolver.is_null());
}

#[test]
fn a_panic_becomes_internal_with_its_text_and_place() {
    let (code, resolver, told) = create("panic");
    assert_eq!(code, Code::Internal as i32);
    assert!(told.message.contains("no create today"), "{}", told.message);
    assert!(told.message.contains("core.rs:"), "{}", told.message);
    assert!(resolver.is_null());
}

#[test]
fn a_refused_push_ends_the_call_with_its_code_and_a_panic_in_watch_goes_no_further() {
    let (code, resolver, _) = create("{}");
    assert_eq!(code, 0);
    let table = muster_plugin::table::<Odd>(ptr::null(), ptr::null());
    let call = call();
    let mut told = Told::default();
    let error: *mut sys::Error = (&mut told as *mut Told).cast();
    unsafe {
        assert_eq!((table.resolve)(resolver, &call, error), 13);
        let id = "muster.watch/1\0";
        let watch = (table.get_extension.unwrap())(id.as_ptr().cast()).cast::<sys::Watch>();
        assert_eq!(((*watch).watch)(resolver, &call, error), Code::Internal as i32);
        assert!((table.get_extension.unwrap())("muster.other/1\0".as_ptr().cast()).is_null());
        (table.destroy)(resolver);
    }
    assert!(told.message.contains("index out of bounds"), "{}", told.message);
}
