//! Backend "roster": the members of one job from a list over HTTP.
//!
//! ```text
//! # name address, or name - and why it has none
//! node-1 10.0.0.1:8470
//! node-2 [fd00::2]:8470
//! node-3 - powered off since Monday
//! ```
//!
//! The core ranks the members by natural order of their names. A member without an address keeps its rank.

mod list;

use std::time::Duration;

use muster_plugin::{plugin, Backend, Call, Code, Error, Host, Index, Request, Response, Task};

struct List {
    url: String,
    job: String,
    port: u16, // 0: none
    identity_variable: Option<String>,
    authorization: Option<String>,
}

impl Backend for List {
    fn create(host: Host, _options: &str) -> Result<Self, Error> {
        let text = |pointer| host.text_option(pointer).unwrap_or_default();
        Ok(List {
            url: text("/url"),
            job: text("/job"),
            port: host.integer_option("/port").and_then(|port| port.try_into().ok()).unwrap_or(0),
            identity_variable: host.text_option("/identity_variable"),
            authorization: host.text_option("/token").map(|token| format!("Bearer {}", token)),
        })
    }

    fn resolve(&mut self, call: &Call) -> Result<(), Error> {
        let response = self.ask(call, "")?;
        self.push(call, response.body())
    }

    /// Commits the list, and again whenever its ETag has changed, for which it is asked as often as the user wants. Without ETags
    /// the core had better ask resolve.
    fn watch(&mut self, call: &Call) -> Result<(), Error> {
        let mut etag = String::new();
        loop {
            let response = self.ask(call, &etag)?;
            if response.status() == 200 {
                etag = response.header("ETag").unwrap_or("").to_owned();
                if etag.is_empty() {
                    return Err(Error::new(Code::Unimplemented, "the list has no ETag to watch it by"));
                }
                self.push(call, response.body())?;
                call.commit()?;
            }
            drop(response);
            call.sleep(call.interval())?;
        }
    }
}

impl List {
    /// The list, or (status 304) that it still is the one of this ETag.
    fn ask<'call>(&self, call: &'call Call, etag: &str) -> Result<Response<'call>, Error> {
        let mut request = Request::get(&self.url);
        request.purpose = "the list of members".to_owned();
        request.timeout = Some(Duration::from_secs(30)); // a watch has no other deadline
        if let Some(authorization) = &self.authorization {
            request.headers.push(("Authorization".to_owned(), authorization.clone()));
        }
        if !etag.is_empty() {
            request.headers.push(("If-None-Match".to_owned(), etag.to_owned()));
        }
        let response = call.send(&request)?;
        match response.status() {
            200 => Ok(response),
            304 if !etag.is_empty() => Ok(response),
            status => Err(self.failure_of(status)),
        }
    }

    fn failure_of(&self, status: i64) -> Error {
        let (code, hint) = match status {
            401 => (Code::Unauthenticated, "give or renew the option 'token'"),
            403 => (Code::PermissionDenied, "the token may not read this list"),
            404 | 410 => (Code::NotFound, "look at the option 'url'"),
            429 => (Code::ResourceExhausted, "ask less often"),
            408 | 500.. => (Code::Unavailable, ""),
            _ => (Code::FailedPrecondition, ""),
        };
        let error = Error::new(code, format!("{} answered with status {}", self.url, status))
            .with("http_status", status.to_string());
        if hint.is_empty() {
            error
        } else {
            error.with("hint", hint)
        }
    }

    fn push(&self, call: &Call, list: &[u8]) -> Result<(), Error> {
        let fail = |line: usize, why: &str| {
            Error::new(Code::DataLoss, format!("{}:{}: {}; {}", self.url, line, why, list::LINE))
        };
        // What this process is called. The core is asked, so that a recorded resolve can be replayed (MP-14).
        let (source, own_name) = match &self.identity_variable {
            Some(variable) => (variable.as_str(), call.variable(variable)),
            None => ("the host's name", call.hostname()),
        };
        call.add_job(&self.job)?; // it may have no member
        for member in list::members(list) {
            if call.cancelled() {
                return Err(Error::new(Code::Cancelled, "cancelled while reading the list"));
            }
            let member = member.map_err(|problem| fail(problem.line, problem.why))?;
            match member.address {
                Err(reason) => call.add_missing(&self.job, Index::Unranked, member.name, reason)?,
                Ok(address) => {
                    let port = self.port_of(call, address).map_err(|why| fail(member.line, &why))?;
                    call.add_task(&Task { job: &self.job, index: Index::Unranked, name: member.name, address, port })?;
                }
            }
            if own_name == Some(member.name) {
                let evidence = format!("{} is '{}'", source, member.name);
                call.set_identity(&self.job, Index::Unranked, member.name, &evidence)?;
            }
        }
        Ok(())
    }

    /// An address has its port (0 then), or gets the option's. Which of the two, the core knows; nobody looks for a colon.
    fn port_of(&self, call: &Call, address: &str) -> Result<u16, String> {
        let alone = match call.host().address_problem(address, 0) {
            None => return Ok(0),
            Some(why) => why,
        };
        if self.port == 0 {
            return Err(alone);
        }
        call.host().address_problem(address, self.port).map_or(Ok(self.port), Err)
    }
}

plugin!(
    List,
    "roster",
    "1.0.0",
    r#"{
  "name": "roster",
  "version": "1.0.0",
  "abi": {"major": 1, "minor": 0},
  "description": "The members of one job from a list over HTTP: a line 'name address' for each.",
  "license": "Apache-2.0",
  "services": ["muster.options/1", "muster.http/1", "muster.environment/1", "muster.address/1", "muster.clock/1"],
  "extensions": ["muster.watch/1"],
  "options": {
    "type": "object",
    "additionalProperties": false,
    "required": ["url"],
    "properties": {
      "url": {"type": "string", "pattern": "^https?://", "description": "Where the list is."},
      "job": {"type": "string", "minLength": 1, "default": "worker", "description": "The job of the members."},
      "port": {"type": "integer", "minimum": 1, "maximum": 65535, "description": "The port of members whose address has none."},
      "token": {"type": "string", "minLength": 1, "writeOnly": true, "description": "Sent as 'Authorization: Bearer'."},
      "identity_variable": {"type": "string", "minLength": 1, "description": "The environment variable that has the name of this process's own member; without it, that is the host's name."}
    }
  }
}"#
);
