use std::cell::Cell;
use std::ffi::CString;
use std::mem::size_of;
use std::ptr;
use std::time::Duration;

use crate::error::{Code, Error};
use crate::host::{parts, text, Host};
use crate::sys;

/// One running call: the sink, and the services that are asked during a call. It stays on its thread.
///
/// What a push refuses is the backend's fault, so `?` is the right reaction. A refusal that is not looked at ends the call all
/// the same (MP-10). Nothing pushed counts unless the call succeeds, or in a watch commits it.
pub struct Call {
    pub(crate) host: Host,
    pub(crate) raw: *const sys::Call,
    pub(crate) error: *mut sys::Error,
    pub(crate) refusal: Cell<i32>,
}

/// Where a task stands in its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// The platform's own number, from 0.
    At(u32),
    /// The platform gives none: the core ranks by natural order of name. One job does not mix the two (MP-8).
    Unranked,
}

impl Index {
    fn raw(self) -> i64 {
        match self {
            Index::At(index) => index.into(),
            Index::Unranked => sys::UNRANKED,
        }
    }
}

/// A member that is there.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The task type: "worker", "ps", ...
    pub job: &'a str,
    /// Its place.
    pub index: Index,
    /// What the platform calls it; may be empty when it is ranked.
    pub name: &'a str,
    /// `host:port`, `[v6]:port`, or with `port` the host alone.
    pub address: &'a str,
    /// The port where `address` has none; else 0.
    pub port: u16,
}

impl Call {
    /// What the core lends.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The call should end soon, with [`Code::Cancelled`]. Cheap: look at it in every loop (MP-12).
    pub fn cancelled(&self) -> bool {
        unsafe { ((*self.raw).is_cancelled)(self.raw) != 0 }
    }

    /// Neither recorded nor replayed: what it learns (a token) may serve other calls too.
    pub fn live(&self) -> bool {
        unsafe { (*self.raw).flags & sys::CALL_LIVE != 0 }
    }

    /// In a watch: how long its user lets pass between two questions to a source that has to be asked again and again.
    pub fn interval(&self) -> Duration {
        Duration::from_nanos(unsafe { (*self.raw).interval_ns }.max(0) as u64)
    }

    /// What it waits for now, in a few words.
    pub fn progress(&self, words: &str) {
        let (data, size) = parts(words);
        unsafe { ((*self.raw).set_progress)(self.raw, data, size) }
    }

    /// Declares a job, which may then have no task.
    pub fn add_job(&self, job: &str) -> Result<(), Error> {
        let (data, size) = parts(job);
        self.pushed(unsafe { ((*self.raw).add_job)(self.raw, data, size) })
    }

    /// Adds a member.
    pub fn add_task(&self, task: &Task<'_>) -> Result<(), Error> {
        let (job, job_size) = parts(task.job);
        let (name, name_size) = parts(task.name);
        let (address, address_size) = parts(task.address);
        let raw = sys::Task {
            struct_size: size_of::<sys::Task>() as u64,
            job,
            job_size,
            index: task.index.raw(),
            name,
            name_size,
            address,
            address_size,
            port: task.port.into(),
        };
        self.pushed(unsafe { ((*self.raw).add_task)(self.raw, &raw) })
    }

    /// Says something about the task added last or, before any task, about the whole cluster.
    pub fn set_attribute(&self, key: &str, value: &str) -> Result<(), Error> {
        let (key, key_size) = parts(key);
        let (value, value_size) = parts(value);
        self.pushed(unsafe { ((*self.raw).set_attribute)(self.raw, key, key_size, value, value_size) })
    }

    /// Names a member that should be there and is not, and why. With a name it keeps its rank among the unranked.
    pub fn add_missing(&self, job: &str, index: Index, name: &str, reason: &str) -> Result<(), Error> {
        let (job, job_size) = parts(job);
        let (name, name_size) = parts(name);
        let (reason, reason_size) = parts(reason);
        let raw = sys::Missing {
            struct_size: size_of::<sys::Missing>() as u64,
            job,
            job_size,
            index: index.raw(),
            name,
            name_size,
            reason,
            reason_size,
        };
        self.pushed(unsafe { ((*self.raw).add_missing)(self.raw, &raw) })
    }

    /// How many tasks the job has when it is whole.
    pub fn set_expected(&self, job: &str, count: u32) -> Result<(), Error> {
        let (job, size) = parts(job);
        self.pushed(unsafe { ((*self.raw).set_expected)(self.raw, job, size, count.into()) })
    }

    /// This process is that task, and why: of this index, or of this name where it is unranked.
    pub fn set_identity(&self, job: &str, index: Index, name: &str, evidence: &str) -> Result<(), Error> {
        let (job, job_size) = parts(job);
        let (name, name_size) = parts(name);
        let (evidence, evidence_size) = parts(evidence);
        let raw = sys::Identity {
            struct_size: size_of::<sys::Identity>() as u64,
            job,
            job_size,
            index: index.raw(),
            name,
            name_size,
            evidence,
            evidence_size,
        };
        self.pushed(unsafe { ((*self.raw).set_identity)(self.raw, &raw) })
    }

    /// Something the user should know although the answer is right.
    pub fn add_warning(&self, words: &str) -> Result<(), Error> {
        let (data, size) = parts(words);
        self.pushed(unsafe { ((*self.raw).add_warning)(self.raw, data, size) })
    }

    /// A secret that was learned in this call: shown as REDACTED from here on. Options with `writeOnly` are known already.
    pub fn mark_secret(&self, secret: &str) {
        let (data, size) = parts(secret);
        unsafe { ((*self.raw).mark_secret)(self.raw, data, size) }
    }

    /// In a watch: what was pushed since the last commit is one whole snapshot.
    pub fn commit(&self) -> Result<(), Error> {
        self.pushed(unsafe { ((*self.raw).commit)(self.raw) })
    }

    /// An environment variable; nothing when it is unset.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let environment = self.host.service::<sys::Environment>("muster.environment/1")?;
        let name = CString::new(name).ok()?;
        let (mut value, mut size) = (ptr::null(), 0);
        let code = unsafe { (environment.get_variable)(self.raw, name.as_ptr(), &mut value, &mut size) };
        (code == 0).then(|| unsafe { text(value, size) })
    }

    /// The name of the machine; nothing when it has none.
    pub fn hostname(&self) -> Option<&str> {
        let environment = self.host.service::<sys::Environment>("muster.environment/1")?;
        let (mut name, mut size) = (ptr::null(), 0);
        let code = unsafe { (environment.get_hostname)(self.raw, &mut name, &mut size) };
        (code == 0).then(|| unsafe { text(name, size) })
    }

    /// A whole regular file of at most `maximum_size` bytes.
    pub fn file(&self, path: &str, maximum_size: u64) -> Result<&[u8], Error> {
        let environment = self.needed_service::<sys::Environment>("muster.environment/1")?;
        let path =
            CString::new(path).map_err(|_| Error::new(Code::InvalidArgument, "the path has a NUL in it"))?;
        let (mut content, mut size) = (ptr::null(), 0);
        let code = unsafe {
            (environment.read_file)(self.raw, path.as_ptr(), maximum_size, 0, &mut content, &mut size, self.error)
        };
        if code != 0 {
            return Err(Error::told(code));
        }
        Ok(unsafe { crate::host::bytes(content, size) })
    }

    /// Waits; fails as soon as the call ends earlier.
    pub fn sleep(&self, time: Duration) -> Result<(), Error> {
        let clock = self.needed_service::<sys::Clock>("muster.clock/1")?;
        match unsafe { (clock.sleep_ns)(self.raw, nanoseconds(time)) } {
            0 => Ok(()),
            code => Err(Error { code, message: "the call ended while it waited".to_owned(), details: Vec::new() }),
        }
    }

    pub(crate) fn needed_service<T>(&self, id: &str) -> Result<&T, Error> {
        self.host
            .service(id)
            .ok_or_else(|| Error::new(Code::Unimplemented, format!("this muster does not lend '{}'; a newer one does", id)))
    }

    fn pushed(&self, code: i32) -> Result<(), Error> {
        if code == 0 {
            return Ok(());
        }
        self.refusal.set(code);
        Err(Error::told(code))
    }
}

pub(crate) fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}
