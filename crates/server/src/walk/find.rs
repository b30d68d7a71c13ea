//! Find: the route of a request, or why it has none.

use message::{Error, Kind, Request, Result, Trip};
use route::NoRoute;
use rules::path::Target;

use crate::walk::local::Local;
use crate::walk::running::Destination;

/// The route of a request, or why it has none. From here on its target has the one form that counts; where it came in
/// another, the trip has that.
pub(crate) fn find<'a>(local: &'a Local, request: &mut Request, trip: &mut Trip) -> Result<&'a Destination> {
    if request.method.as_str() == "PURGE" {
        // Caches behind us may obey it; whoever may purge does so on their admin ports.
        return Err(Error::new(Kind::MethodNotAllowed, "PURGE is not supported on this port"));
    }
    let target = Target::read(&request.target)
        .ok_or_else(|| Error::new(Kind::MalformedRequest, format!("{MISLEADING}; send it normalized")))?;
    let destination =
        local.running.router.find(&request.method, request.view().host(), &target).map_err(|no_route| {
            match no_route {
                NoRoute::Unknown => Error::new(Kind::NoRoute, "no route matches this method, host and path"),
                NoRoute::Ambiguous => {
                    Error::new(Kind::MalformedRequest, format!("{AMBIGUOUS}; send it normalized"))
                }
            }
        })?;
    trip.sent = target.into_changed().map(|text| {
        let target = &mut request.parts_mut().target;
        std::mem::replace(target, text.into())
    });
    Ok(destination)
}

/// Why a path is refused whatever the routes are.
pub(crate) const MISLEADING: &str = "the path contains dot segments, a backslash or control characters";
/// Why a path is refused because of the routes.
pub(crate) const AMBIGUOUS: &str =
    "some servers read this path as another one, whose route is protected differently";
