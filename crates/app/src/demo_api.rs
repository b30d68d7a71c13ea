//! `demo-api`: the slow API alone, to put something in front of.

use std::net::{SocketAddr, TcpListener};
use std::process::ExitCode;

use server::{Listening, StartError};

use crate::output;

pub(crate) fn serve(listen: SocketAddr, json: bool) -> ExitCode {
    let listener = match TcpListener::bind(listen) {
        Ok(listener) => listener,
        Err(error) => return output::fail(StartError::Bind(listen, error), 1),
    };
    let address = listener.local_addr().unwrap_or(listen);
    if json {
        output::say_json_line(&Listening { kind: "http", address });
    } else {
        output::note(format!("demo API on http://{address}"));
    }
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return output::fail(format!("no runtime: {error}"), 1),
    };
    let stop = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    match runtime.block_on(demo_api::serve(listener, demo_api::Counts::new(), stop)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => output::fail(error, 1),
    }
}
