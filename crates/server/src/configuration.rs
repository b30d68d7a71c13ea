//! Configuration: where the plan comes from, and what can go wrong at the start.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::PathBuf;

use message::Error;
use plan::{Faults, Plan};
use serde::Serialize;
use source::Unready;

/// Where the plan comes from.
pub enum Configuration {
    /// A file, read again when it changes or on SIGHUP.
    File(PathBuf),
    /// Given once; there is nothing to reload.
    Fixed(Box<Plan>),
}

impl Configuration {
    /// The plan as it is now.
    pub(crate) fn load(&self) -> Result<Plan, StartError> {
        match self {
            Configuration::File(path) => plan::load(path).map_err(StartError::Faults),
            Configuration::Fixed(plan) => Ok((**plan).clone()),
        }
    }
}

/// Why the server did not start, or a reload changed nothing.
#[derive(Debug)]
pub enum StartError {
    /// The configuration is wrong.
    Faults(Faults),
    /// An address could not be listened on.
    Bind(SocketAddr, std::io::Error),
    /// A source or certificate could not be made ready.
    Prepare(Error),
    /// The certificate or key could not be used.
    Tls(listener::TlsError),
    /// A database could not be made ready.
    Database(Error),
    /// A module could not be made ready, or lacks a function that a step calls.
    Module(Error),
    /// The file of a store could not be used.
    Store(source::StoreError),
    /// The disk tier could not be opened.
    Disk(disk::Error),
    /// The system refused something else: threads, signals.
    System(&'static str, std::io::Error),
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StartError::Faults(faults) => write!(f, "{faults}"),
            StartError::Bind(address, error) if error.kind() == ErrorKind::AddrInUse => {
                write!(
                    f,
                    "cannot listen on {address}: another program does already; stop it or choose another port"
                )
            }
            StartError::Bind(address, error) => {
                let remedy = match error.kind() {
                    ErrorKind::PermissionDenied if address.port() < 1024 => {
                        "; ports below 1024 are for root, or for a program with CAP_NET_BIND_SERVICE: choose a higher one"
                    }
                    ErrorKind::AddrNotAvailable => {
                        "; write an address of this machine, or 0.0.0.0 for all of them"
                    }
                    _ => "",
                };
                write!(f, "cannot listen on {address}: {error}{remedy}")
            }
            StartError::Prepare(error) | StartError::Database(error) | StartError::Module(error) => {
                write!(f, "{error}")
            }
            StartError::Tls(error) => write!(f, "{error}"),
            StartError::Store(error) => write!(f, "{error}"),
            StartError::Disk(error) => write!(f, "{error}"),
            StartError::System(what, error) => write!(f, "{what}: {error}"),
        }
    }
}

impl std::error::Error for StartError {}

impl From<Unready> for StartError {
    fn from(unready: Unready) -> Self {
        match unready {
            Unready::Authorities(error) => StartError::Prepare(error),
            Unready::Store(error) => StartError::Store(error),
            Unready::Sql(error) => StartError::Database(error),
            Unready::Wasm(error) => StartError::Module(error),
        }
    }
}

/// An address that is being listened on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listening {
    /// `http`, `https` or `admin`.
    pub kind: &'static str,
    /// With the port the system chose where the configuration says 0.
    pub address: SocketAddr,
}

impl std::fmt::Display for Listening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind {
            "admin" => write!(f, "admin on http://{}", self.address),
            scheme => write!(f, "listening on {scheme}://{}", self.address),
        }
    }
}
