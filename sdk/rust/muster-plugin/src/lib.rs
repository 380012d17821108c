//! Backends of muster in Rust.
//!
//! A backend is a type that implements [`Backend`], named in [`plugin!`], in a crate whose `crate-type` is `cdylib`:
//!
//! ```
//! use muster_plugin::{plugin, Backend, Call, Error, Host, Index, Task};
//!
//! struct Rack {
//!     members: i64,
//! }
//!
//! impl Backend for Rack {
//!     fn create(host: Host, _options: &str) -> Result<Self, Error> {
//!         Ok(Rack { members: host.integer_option("/members").unwrap_or(1) })
//!     }
//!
//!     fn resolve(&mut self, call: &Call) -> Result<(), Error> {
//!         for n in 0..self.members as u32 {
//!             let address = format!("node-{}.rack:8470", n);
//!             call.add_task(&Task { job: "worker", index: Index::At(n), name: "", address: &address, port: 0 })?;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! plugin!(Rack, "rack", "1.0.0", r#"{
//!   "name": "rack", "version": "1.0.0", "abi": {"major": 1, "minor": 0},
//!   "description": "So many nodes of one rack.",
//!   "options": {"type": "object", "additionalProperties": false,
//!               "properties": {"members": {"type": "integer", "minimum": 1, "default": 1}}},
//!   "services": ["muster.options/1"]
//! }"#);
//! # fn main() {}
//! ```
//!
//! The built file is copied to `libmuster-NAME.so`. What crosses is the C interface `muster/plugin.h` ([`sys`]), and its numbered
//! duties hold: threads, files and sockets end with the resolver (MP-18), the world is asked through the core's services (MP-14).
//! A panic becomes INTERNAL with its text and place, where the profile does not say `panic = "abort"`.
#![warn(missing_docs)]

mod call;
mod error;
mod host;
mod http;
pub mod sys;
mod table;

pub use call::{Call, Index, Task};
pub use error::{Code, Error};
pub use host::{Host, Level};
pub use http::{Request, Response};
#[doc(hidden)]
pub use table::{keep_panics, table};

/// One configured resolver. The core never calls it twice at once, but the thread may differ from call to call.
pub trait Backend: Send + Sized + 'static {
    /// Makes it from its options: one JSON object, checked against the descriptor's schema and with its defaults filled in; or asked
    /// of `host` one at a time. Does not wait, read files or ask the network (MP-19). What it holds is freed by `Drop`.
    fn create(host: Host, options: &str) -> Result<Self, Error>;

    /// Finds every task and pushes it into `call`. Asks the source anew each time.
    fn resolve(&mut self, call: &Call) -> Result<(), Error>;

    /// Pushes a whole snapshot and commits it, then another whenever something has changed, until the call is cancelled or the source
    /// fails; it does not return `Ok` (MP-23). Without one of its own, the core asks `resolve` again and again.
    fn watch(&mut self, call: &Call) -> Result<(), Error> {
        let _ = call;
        Err(Error::new(Code::Unimplemented, "there is nothing to watch here"))
    }
}

/// A text and the NUL behind it, as bytes of a static.
#[doc(hidden)]
pub const fn nul_terminated<const N: usize>(text: &str) -> [u8; N] {
    let mut out = [0; N];
    let mut n = 0;
    while n < text.len() {
        out[n] = text.as_bytes()[n];
        n += 1;
    }
    out
}

/// Makes the crate a plugin: `plugin!(Type, "name", "version", "descriptor")`. Name and version are those of the descriptor (MP-2).
#[macro_export]
macro_rules! plugin {
    ($backend:ty, $name:literal, $version:literal, $descriptor:expr) => {
        const MUSTER_DESCRIPTOR_TEXT: &str = $descriptor;

        #[used]
        #[link_section = ".muster.descriptor"]
        static MUSTER_DESCRIPTOR: [u8; MUSTER_DESCRIPTOR_TEXT.len() + 1] =
            $crate::nul_terminated(MUSTER_DESCRIPTOR_TEXT);

        static MUSTER_PLUGIN: $crate::sys::Plugin = $crate::table::<$backend>(
            concat!($name, "\0").as_ptr().cast(),
            concat!($version, "\0").as_ptr().cast(),
        );

        /// The one symbol of the file.
        #[no_mangle]
        pub extern "C" fn muster_plugin_entry_v1(_host: *const $crate::sys::Host) -> *const $crate::sys::Plugin {
            $crate::keep_panics();
            // Read, so that the linker keeps what nothing else refers to.
            unsafe { std::ptr::read_volatile(MUSTER_DESCRIPTOR.as_ptr()) };
            &MUSTER_PLUGIN
        }
    };
}
