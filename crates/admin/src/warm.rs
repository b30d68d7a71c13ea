//! `POST /cache/warm`: fetching through our own routes, as clients would, before they come.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::{Deserialize, Serialize};

use crate::backstage::{Errand, Fetched, Purpose};
use crate::control::{Control, answer, content};
use crate::keyed_url::KeyedUrl;
use crate::purge::rate_of;
use crate::refusal::AdminRefusal;
use crate::rounds::{LONGEST, MOST};
use crate::serve::Deadline;

/// The call.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    urls: Vec<String>,
    #[serde(default)]
    rate: Option<u32>,
}

#[derive(Serialize)]
struct Warmed {
    warmed: Vec<Fetched>,
}

pub(crate) async fn warm(
    State(control): State<Control>,
    Extension(deadline): Extension<Deadline>,
    fields: HeaderMap,
    body: Body,
) -> Result<Response, AdminRefusal> {
    let call: Call = content(&fields, body).await?;
    let rate = rate_of(call.rate)?;
    if call.urls.is_empty() || call.urls.len() > MOST {
        return Err(AdminRefusal::request(format!("`urls` is a list of 1 to {MOST} URLs")));
    }
    let errands = call.urls.iter().map(|url| {
        let place = KeyedUrl::of(url).map_err(AdminRefusal::request)?;
        Ok(Errand { place, fields: HeaderMap::new(), purpose: Purpose::Warm })
    });
    let errands = errands.collect::<Result<Vec<_>, AdminRefusal>>()?;
    let round = control.0.rounds.begin(errands.len(), rate)?;
    // The rate bounds when the last one begins; origins may be slow on top.
    deadline.extend(LONGEST * 2);
    Ok(answer(Warmed { warmed: round.run(Arc::clone(&control.0.backstage), errands).await }))
}
