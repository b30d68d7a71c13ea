//! Preflight: a browser asks whether a page may ask (Fetch, §3.3). In: a request. Out: the response, where the route that is going to be
//! asked has `cors`. Such requests carry no credentials and no signature, and name the method they are about, so they are answered
//! before anybody is let in, by the route of that method.

use message::{Request, Response};
use rules::path::Target;

use crate::walk::local::Local;
use crate::walk::running::Destination;

/// See the module.
pub(crate) fn answered<'a>(local: &'a Local, request: &Request) -> Option<(&'a Destination, Response)> {
    let view = request.view();
    let method = policy::preflight(&view)?;
    let target = Target::read(view.target)?;
    let destination = local.running.router.find(&method, view.host(), &target).ok()?;
    let response = local.stacks[destination.number].preflight(view.fields)?;
    Some((destination, response))
}
