use std::fmt;

/// Why a call failed: the numbers and meanings of `google.rpc.Code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    /// The call was told to end.
    Cancelled = 1,
    /// Nothing better is known.
    Unknown = 2,
    /// The configuration is wrong; a chain stops.
    InvalidArgument = 3,
    /// A chain goes on.
    DeadlineExceeded = 4,
    /// Not here; a chain goes on.
    NotFound = 5,
    /// Two members claim one place.
    AlreadyExists = 6,
    /// Known, and not allowed; a chain stops.
    PermissionDenied = 7,
    /// Quota or a stated limit; a chain goes on.
    ResourceExhausted = 8,
    /// Cannot be asked from here; a chain goes on.
    FailedPrecondition = 9,
    /// Given up halfway.
    Aborted = 10,
    /// Beyond an end.
    OutOfRange = 11,
    /// This muster or this backend does not have it.
    Unimplemented = 12,
    /// A fault of the backend.
    Internal = 13,
    /// Not now; a chain goes on.
    Unavailable = 14,
    /// The source's answer cannot be understood.
    DataLoss = 15,
    /// Credentials absent or refused; a chain stops.
    Unauthenticated = 16,
}

/// A failure: its code, words for the user, and facts by the keys of `add_detail` (`http_status`, `hint`, `option`, ...).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub(crate) code: i32,
    pub(crate) message: String,
    pub(crate) details: Vec<(String, String)>,
}

impl Error {
    /// A failure with its words: what was asked, what happened, what to do. Never a secret (MP-17).
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Error { code: code as i32, message: message.into(), details: Vec::new() }
    }

    /// Adds a fact.
    ///
    /// ```
    /// use muster_plugin::{Code, Error};
    /// let error = Error::new(Code::NotFound, "no rack 7").with("hint", "look at the option 'rack'");
    /// assert_eq!(error.to_string(), "no rack 7");
    /// ```
    pub fn with(mut self, key: &str, value: impl Into<String>) -> Self {
        self.details.push((key.to_owned(), value.into()));
        self
    }

    /// The core has been told already, by a service or a refused push.
    pub(crate) fn told(code: i32) -> Self {
        Error { code, message: String::new(), details: Vec::new() }
    }

    /// Its code, as a number of `google.rpc.Code`.
    pub fn code(&self) -> i32 {
        self.code
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
