//! Endpoints: one function each. A request comes in, is counted, waits or works, and an [`answer`] goes out.

use std::num::NonZero;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::database::Database;
use crate::scorebook::Scorebook;
use crate::tagged::Wanted;
use crate::{Counts, Endpoint, answer, page, span, trends};

/// What the seed's API takes for its pretended database call.
const DATABASE_CALL: Duration = Duration::from_millis(200);
/// What the queries of `/games`, of one game and of a league take, waiting aside.
const GAMES_QUERY: Duration = Duration::from_millis(150);
const GAME_QUERY: Duration = Duration::from_millis(80);
const LEAGUE_QUERY: Duration = Duration::from_millis(250);
/// What stands behind a page takes so long where nothing else is asked for, and search trends too.
const USER_CALL: Duration = Duration::from_millis(40);
const ORDERS_CALL: Duration = Duration::from_millis(120);
const NEWS_CALL: Duration = Duration::from_millis(80);
const WEATHER_CALL: Duration = Duration::from_millis(200);
const TRENDS_CALL: Duration = Duration::from_millis(300);
/// The longest `/timeout`, and the longest `t` of these.
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// The longest `/simulate-cpu`.
const LONGEST_WORK: Duration = Duration::from_secs(10);

#[derive(Clone)]
pub(crate) struct Api {
    counts: Counts,
    /// One permit a core: more work at once would only be slower, and fill the pool of blocking threads.
    cores: Arc<Semaphore>,
    database: Database,
    scorebook: Scorebook,
}

#[derive(Deserialize)]
struct Span {
    t: Option<String>,
    /// The language of search trends.
    hl: Option<String>,
}

type SpanQuery = Result<Query<Span>, QueryRejection>;

/// All endpoints, counting into `counts`.
pub(crate) fn router(counts: Counts) -> Router {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    Router::new()
        .route("/", get(root))
        .route("/cache", get(cache))
        .route("/timeout", get(timeout))
        .route("/simulate-cpu", get(simulate_cpu))
        .route("/error/{status}", get(error))
        .route("/tagged", get(tagged))
        .route("/games", get(games))
        .route("/games/{id}", get(game).put(change_game))
        .route("/leagues/{id}", get(league))
        .route("/trends/api/realtimetrends", get(trends))
        .route("/user/{id}", get(user))
        .route("/orders/{id}", get(orders))
        .route("/news/{id}", get(news))
        .route("/weather/{id}", get(weather))
        .route("/healthz", get(health))
        .route("/stats", get(stats))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(Api {
            counts,
            cores: Arc::new(Semaphore::new(cores)),
            database: Database::new(),
            scorebook: Scorebook::new(),
        })
}

async fn root(State(api): State<Api>) -> Response {
    api.counts.add(Endpoint::Root);
    tokio::time::sleep(DATABASE_CALL).await;
    answer::ok()
}

async fn cache(State(api): State<Api>) -> Response {
    api.counts.add(Endpoint::Cache);
    tokio::time::sleep(DATABASE_CALL).await;
    answer::ok_for_five_seconds()
}

async fn timeout(State(api): State<Api>, query: SpanQuery) -> Response {
    api.counts.add(Endpoint::Timeout);
    match read_span(query, LONGEST_WAIT) {
        Ok(wait) => {
            tokio::time::sleep(wait).await;
            answer::ok()
        }
        Err(explanation) => answer::bad_request(&explanation),
    }
}

async fn simulate_cpu(State(api): State<Api>, query: SpanQuery) -> Response {
    api.counts.add(Endpoint::SimulateCpu);
    let work = match read_span(query, LONGEST_WORK) {
        Ok(work) => work,
        Err(explanation) => return answer::bad_request(&explanation),
    };
    let _core = api.cores.acquire().await.expect("this semaphore is never closed");
    let asker = Arc::new(());
    let still_asked = Arc::downgrade(&asker);
    match tokio::task::spawn_blocking(move || burn(work, &still_asked)).await {
        Ok(()) => answer::ok(),
        Err(_) => answer::status(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

async fn error(State(api): State<Api>, Path(status): Path<String>) -> Response {
    api.counts.add(Endpoint::Error);
    let status = status.parse().ok().filter(|code| (200..=599).contains(code));
    match status.and_then(|code| StatusCode::from_u16(code).ok()) {
        Some(status) => answer::status(status),
        None => answer::bad_request("the status is a number from 200 to 599, like /error/503"),
    }
}

async fn tagged(State(api): State<Api>, query: Result<Query<Wanted>, QueryRejection>) -> Response {
    api.counts.add(Endpoint::Tagged);
    let wanted = query.map_err(|rejection| rejection.body_text());
    match wanted.and_then(|Query(wanted)| wanted.check()) {
        Ok(tagged) => answer::tagged(tagged),
        Err(explanation) => answer::bad_request(&explanation),
    }
}

async fn games(State(api): State<Api>) -> Response {
    api.counts.add(Endpoint::Games);
    answer::silent(api.database.query(GAMES_QUERY, || api.scorebook.games()).await)
}

async fn game(State(api): State<Api>, Path(id): Path<String>) -> Response {
    api.counts.add(Endpoint::Game);
    found(api.database.query(GAME_QUERY, || api.scorebook.game(number(&id)?)).await)
}

/// Content is read and not looked at: whatever is sent, the game gets another version.
async fn change_game(
    State(api): State<Api>,
    Path(id): Path<String>,
    content: Result<Bytes, BytesRejection>,
) -> Response {
    api.counts.add(Endpoint::GameChange);
    if let Err(rejection) = content {
        return answer::refusal(rejection.status(), &rejection.body_text());
    }
    // In force when the query is over.
    api.database.query(GAME_QUERY, || ()).await;
    match number(&id).and_then(|id| api.scorebook.change(id)) {
        Some(version) => answer::value(json!({"version": version})),
        None => found(None),
    }
}

async fn league(State(api): State<Api>, Path(id): Path<String>) -> Response {
    api.counts.add(Endpoint::League);
    found(api.database.query(LEAGUE_QUERY, || api.scorebook.league(number(&id)?)).await)
}

async fn trends(State(api): State<Api>, query: SpanQuery) -> Response {
    api.counts.add(Endpoint::Trends);
    let language = query.as_ref().ok().and_then(|Query(query)| query.hl.clone()).unwrap_or_default();
    after(query, TRENDS_CALL, || Some(trends::trends(&language))).await
}

async fn user(State(api): State<Api>, Path(id): Path<String>, query: SpanQuery) -> Response {
    api.counts.add(Endpoint::User);
    after(query, USER_CALL, || small_number(&id).map(page::user)).await
}

async fn orders(State(api): State<Api>, Path(id): Path<String>, query: SpanQuery) -> Response {
    api.counts.add(Endpoint::Orders);
    after(query, ORDERS_CALL, || small_number(&id).map(page::orders)).await
}

async fn news(State(api): State<Api>, Path(id): Path<String>, query: SpanQuery) -> Response {
    api.counts.add(Endpoint::News);
    after(query, NEWS_CALL, || small_number(&id).map(page::news)).await
}

async fn weather(State(api): State<Api>, Path(id): Path<String>, query: SpanQuery) -> Response {
    api.counts.add(Endpoint::Weather);
    after(query, WEATHER_CALL, || small_number(&id).map(page::weather)).await
}

/// This content after `t`, or after what is usual where nobody says how long.
async fn after(query: SpanQuery, usual: Duration, content: impl FnOnce() -> Option<Value>) -> Response {
    let wait = match query {
        Ok(Query(Span { t: None, .. })) => Ok(usual),
        query => read_span(query, LONGEST_WAIT),
    };
    match wait {
        Ok(wait) => {
            tokio::time::sleep(wait).await;
            let none =
                || answer::refusal(StatusCode::NOT_FOUND, "numbers go up to 4294967295, like /user/42");
            content().map_or_else(none, |content| answer::silent(content.to_string()))
        }
        Err(explanation) => answer::bad_request(&explanation),
    }
}

async fn health(State(api): State<Api>) -> Response {
    api.counts.add(Endpoint::Health);
    answer::ok()
}

async fn stats(State(api): State<Api>) -> Response {
    let counts = Endpoint::ALL
        .into_iter()
        .map(|endpoint| (endpoint.path().to_owned(), api.counts.of(endpoint).into()));
    answer::value(Value::Object(counts.collect()))
}

async fn not_found(State(api): State<Api>) -> Response {
    api.counts.add(Endpoint::Other);
    answer::refusal(
        StatusCode::NOT_FOUND,
        "no such path; there are /, /cache, /timeout?t=, /simulate-cpu?t=, /error/{status}, /tagged?tags=&size=, /games, \
         /games/{id}, /leagues/{id}, /trends/api/realtimetrends?hl=, /user/{id}, /orders/{id}, /news/{id}, /weather/{id}, \
         /healthz and /stats",
    )
}

async fn method_not_allowed(State(api): State<Api>) -> Response {
    api.counts.add(Endpoint::Other);
    answer::refusal(
        StatusCode::METHOD_NOT_ALLOWED,
        "only GET and HEAD are answered here, and PUT /games/{id}",
    )
}

/// One that can be reckoned with.
fn small_number(id: &str) -> Option<u64> {
    id.parse::<u32>().ok().map(u64::from)
}

/// `None` where it is no number, which no game or league has.
fn number(id: &str) -> Option<u64> {
    id.parse().ok()
}

fn found(content: Option<String>) -> Response {
    content.map_or_else(
        || answer::refusal(StatusCode::NOT_FOUND, "games are numbered from 1 to 1200, leagues from 1 to 24"),
        answer::silent,
    )
}

fn read_span(query: SpanQuery, longest: Duration) -> Result<Duration, String> {
    let Query(span) = query.map_err(|rejection| rejection.body_text())?;
    span::parse(span.t.as_deref(), longest)
}

/// Keeps a core busy for `work`, or until nobody waits for the result any more.
fn burn(work: Duration, still_asked: &Weak<()>) {
    let start = Instant::now();
    let mut number = 1_u64;
    while start.elapsed() < work && still_asked.strong_count() > 0 {
        for _ in 0..10_000 {
            number = std::hint::black_box(number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
    }
}
