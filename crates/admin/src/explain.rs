//! `GET /explain`: what would happen to a request, and what happened to one.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use axum::response::Response;

use crate::backstage::Inquiry;
use crate::control::{Control, answer};
use crate::entries::no_url;
use crate::keyed_url::KeyedUrl;
use crate::query::Query;
use crate::refusal::AdminRefusal;

pub(crate) async fn explain(State(control): State<Control>, uri: Uri) -> Result<Response, AdminRefusal> {
    let backstage = &control.0.backstage;
    let mut query = Query::of(&uri)?;
    if let Some(id) = query.take("id")? {
        query.end()?;
        return backstage.recall(&id).map(answer).ok_or_else(|| {
            AdminRefusal::not_found(format!(
                "no request of this id is remembered; kept are {}",
                backstage.remembers()
            ))
        });
    }
    let url = query.take("url")?.ok_or_else(|| {
        AdminRefusal::request(
            "say which request: `id=…` for one that was answered, or `url=…` for one that might be",
        )
    })?;
    let method = query.take("method")?.unwrap_or_else(|| "GET".to_owned());
    let inquiry = Inquiry {
        method: Method::from_bytes(method.as_bytes())
            .map_err(|_| AdminRefusal::request("`method` is not a method; write GET, for one"))?,
        place: if url.is_empty() {
            return Err(no_url());
        } else {
            KeyedUrl::of(&url).map_err(AdminRefusal::request)?
        },
        fields: fields(&query.take_all("header"))?,
        ask: query.take("ask")?.is_some_and(|ask| ask != "false"),
        live: query.take("live")?.is_some_and(|live| live != "false"),
    };
    query.end()?;
    backstage.explain(inquiry).await.map(answer).map_err(AdminRefusal::internal)
}

fn fields(lines: &[String]) -> Result<HeaderMap, AdminRefusal> {
    let mut fields = HeaderMap::new();
    for line in lines {
        let field = line.split_once(':').and_then(|(name, value)| {
            Some((HeaderName::try_from(name.trim()).ok()?, HeaderValue::try_from(value.trim()).ok()?))
        });
        let (name, value) = field
            .ok_or_else(|| AdminRefusal::request("a `header` is not a field; write it as in Cookie:a=b"))?;
        fields.append(name, value);
    }
    Ok(fields)
}
