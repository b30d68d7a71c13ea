//! Stories of single routes, on the same clock.

use super::*;

fn slow(millis: u64) -> Part {
    Part { takes: Duration::from_millis(millis), fails: false }
}

fn told(parts: &[(&str, Part)]) -> Script {
    Script::new(parts.iter().map(|(path, part)| ((*path).to_owned(), *part)))
}

async fn alone(route: &str, script: &Script, target: &str) -> (Result<Response>, Account) {
    serve(&compiled(route), script, &SingleFlight::default(), None, target).await
}

#[tokio::test(start_paused = true)]
async fn equal_calls_of_a_request_run_once_also_when_one_comes_later() {
    let route = |save: &str| {
        format!(
            "    save: {{ {save} }}\n    compose:\n      a: {{ api: \"GET /x?id=${{path.id}}\" }}\n      \
             b: {{ api: \"GET /x?id=${{path.id}}\" }}\n      c: {{ api: \"GET /y?v=${{a.v}}\" }}\n      \
             d: {{ when: \"${{c.v == 1.5}}\", api: \"GET /x?id=${{path.id}}\" }}\n"
        )
    };
    let script = told(&[("/x", slow(10)), ("/y", slow(10))]);
    let (served, account) = alone(&route("dedupe: true, coalesce: false"), &script, "/r/7").await;
    let content = content(&served.unwrap());
    assert_eq!(content.matches("/x?id=7").count(), 3, "{content}");
    assert_eq!((account.calls, account.deduped), (4, 2));
    assert_eq!(script.seen.borrow().len(), 2);

    let script = told(&[]);
    let (_, account) = alone(&route("dedupe: false, coalesce: false"), &script, "/r/7").await;
    assert_eq!((account.calls, account.deduped, script.seen.borrow().len()), (4, 0, 4));
}

#[tokio::test(start_paused = true)]
async fn equal_calls_of_requests_at_the_same_time_run_once_and_outlive_who_began_them() {
    let compose = compiled("    compose:\n      a: { api: \"GET /x?id=${path.id}\" }\n");
    let (script, flights) = (told(&[("/x", slow(20))]), SingleFlight::default());
    let mut first = Box::pin(serve(&compose, &script, &flights, None, "/r/1"));
    let mut second = Box::pin(serve(&compose, &script, &flights, None, "/r/1"));
    let mut other = Box::pin(serve(&compose, &script, &flights, None, "/r/2"));
    let wait = Duration::from_millis(5);
    assert!(tokio::time::timeout(wait, &mut first).await.is_err());
    assert!(tokio::time::timeout(wait, &mut second).await.is_err());
    assert!(tokio::time::timeout(wait, &mut other).await.is_err());
    assert_eq!((script.alive.get(), flights.len()), (2, 2));
    drop(first);
    assert_eq!(script.alive.get(), 2, "the second waits for it");
    let (served, account) = second.await;
    assert!(content(&served.unwrap()).contains("/x?id=1"));
    assert_eq!(account.coalesced, 1);
    drop(other);
    assert_eq!((script.alive.get(), flights.len()), (0, 0), "nobody waits any more");
    // What has ended is asked for anew.
    serve(&compose, &script, &flights, None, "/r/1").await.0.unwrap();
    assert_eq!(script.seen.borrow().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_passed_deadline_ends_all_and_says_what_was_still_running() {
    let route = "    timeout: 50ms\n    compose:\n      a: { api: GET /fast }\n      b: { api: GET /slow }\n";
    let script = told(&[("/fast", slow(10)), ("/slow", slow(1000))]);
    let (served, account) = alone(route, &script, "/r/1").await;
    let error = served.unwrap_err();
    assert_eq!(error.kind(), Kind::SourceTimeout);
    assert!(error.detail().ends_with("still running: b"), "{error}");
    assert_eq!(script.start.elapsed(), Duration::from_millis(50));
    assert_eq!((script.alive.get(), account.took.len()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_slow_step_is_given_up_and_the_others_go_on() {
    let route = "    compose:\n      a: { api: GET /slow, timeout: 20ms, on_error: omit }\n      b: { api: GET /fast }\n";
    let script = told(&[("/fast", slow(40)), ("/slow", slow(1000))]);
    let (served, _) = alone(route, &script, "/r/1").await;
    let response = served.unwrap();
    assert_eq!(response.fields["x-fleetfoot-failed"], "a;error=source-timeout");
    assert_eq!(response.fields["cache-control"], "no-store");
    assert_eq!(response.fields["vary"], "*", "not even where a policy overrules what answers say");
    assert_eq!(content(&response), r#"{"b":{"at":"/fast","v":1.50}}"#);
    assert_eq!(script.start.elapsed(), Duration::from_millis(40));
}

#[tokio::test(start_paused = true)]
async fn a_full_pool_refuses_the_whole_request_at_once_whatever_its_steps_allow() {
    let compose = compiled(
        "    run: pool(2, 1)\n    save: { dedupe: false, coalesce: false }\n    compose:\n      \
         s: { each: [1, 2, 3, 4], api: \"GET /x/{each}\", on_error: null }\n",
    );
    let script = told(&[("/x/1", slow(10)), ("/x/2", slow(10)), ("/x/3", slow(10)), ("/x/4", slow(10))]);
    let places = Places::new(2, 1);
    let flights = SingleFlight::default();
    let (served, _) = serve(&compose, &script, &flights, Some(&places), "/r/1").await;
    assert_eq!(served.unwrap_err().kind(), Kind::Overloaded);
    assert_eq!((script.start.elapsed(), script.alive.get()), (Duration::ZERO, 0));
    // Places are given back by who was refused.
    let enough = Places::new(2, 2);
    serve(&compose, &script, &flights, Some(&enough), "/r/1").await.0.unwrap();
    assert_eq!(script.start.elapsed(), Duration::from_millis(20));
}

#[tokio::test(start_paused = true)]
async fn a_list_is_fanned_out_so_wide_and_no_wider_and_keeps_its_order() {
    let route = "    compose:\n      ids: { api: GET /ids }\n      \
                 items: { for: \"${[3, 1, 2, 4].map(n, n)}\", width: 2, api: \"GET /item/${item}\" }\n";
    let parts = [("/item/3", slow(30)), ("/item/1", slow(10)), ("/item/2", slow(10)), ("/item/4", slow(10))];
    let script = told(&parts);
    let (served, _) = alone(route, &script, "/r/1").await;
    let content = content(&served.unwrap());
    let order: Vec<_> = content.match_indices("/item/").map(|(at, _)| &content[at + 6..at + 7]).collect();
    assert_eq!(order, ["3", "1", "2", "4"]);
    assert_eq!(script.start.elapsed(), Duration::from_millis(40));
    let long = "    compose:\n      items: { for: \"${[1, 2, 3].map(n, n)}\", most: 2, api: \"GET /i/${item}\", on_error: null }\n";
    let (served, _) = alone(long, &told(&[]), "/r/1").await;
    assert_eq!(served.unwrap().fields["x-fleetfoot-failed"], "items;error=unusable-reply");
}

#[tokio::test(start_paused = true)]
async fn steps_inside_of_others_use_what_stands_around_them() {
    let route = "    compose:\n      user: { api: \"GET /user/${path.id}\" }\n      \
                 page:\n        for: \"${['x', 'y'].map(t, t)}\"\n        compose:\n          \
                 one: { api: \"GET /one/${item}?u=${user.v}\" }\n          two: { api: \"GET /two?one=${one.at}\" }\n        \
                 respond: { t: \"${item}\", two: \"${two.at}\" }\n";
    let script = told(&[("/user/1", slow(10))]);
    let (served, account) = alone(route, &script, "/r/1").await;
    let content = content(&served.unwrap());
    assert!(
        content.contains(r#""page":[{"t":"x","two":"/two?one=%2Fone%2Fx%3Fu%3D1.50"},{"t":"y","#),
        "{content}"
    );
    assert!(account.took.iter().any(|took| &*took.name == "page[1]/two"), "{:?}", account.took);
}

#[tokio::test(start_paused = true)]
async fn all_that_a_request_lacks_is_said_at_once_and_nobody_is_asked() {
    let route = "    compose:\n      a: { api: \"GET /a?x=${query.x}\", on_error: null }\n      \
                 b: { api: \"GET /b?y=${query.y}\" }\n      c: { when: \"${has(query.z)}\", api: \"GET /c?z=${query.z}\" }\n";
    let script = told(&[]);
    let (served, _) = alone(route, &script, "/r/1").await;
    let error = served.unwrap_err();
    assert_eq!(error.kind(), Kind::MalformedRequest);
    assert_eq!(error.detail(), "the parameter `x`, the parameter `y` are missing");
    assert!(script.seen.borrow().is_empty());
    assert!(alone(route, &script, "/r/1?x=1&y=2").await.0.is_ok());
}

#[tokio::test(start_paused = true)]
async fn what_a_request_gives_stays_one_value_of_the_call() {
    let route =
        "    compose:\n      a: { api: \"GET /u/${path.id}?q=${query.q}\" }\n    respond: \"${a.at}\"\n";
    let (served, _) = alone(route, &told(&[]), "/r/a%2Fb%3F..?q=1%26admin%3D1%23%0d%0aX%3A").await;
    assert_eq!(content(&served.unwrap()), r#""/u/a%2Fb%3F..?q=1%26admin%3D1%23%0D%0AX%3A""#);
}

#[tokio::test(start_paused = true)]
async fn no_value_asks_for_another_path() {
    let route = "    compose:\n      a: { api: GET /a }\n      b: { api: \"GET /u/${query.id}/x\", on_error: null }\n";
    for id in
        ["..", ".", "", "%2e%2E", "%2e.", "..%2Fadmin", "../../secret%3Fx", "..%5Cx", "a%00", "a%0d%0aHost:b"]
    {
        let script = told(&[]);
        let (served, _) = alone(route, &script, &format!("/r/1?id={id}")).await;
        let error = served.unwrap_err();
        assert_eq!(error.kind(), Kind::MalformedRequest, "{id}: {error}");
        assert_eq!(error.detail(), "the parameter `id` is empty or leads out of its path segment");
        assert!(script.seen.borrow().is_empty(), "nobody was asked");
    }
    let script = told(&[]);
    let (served, _) = alone(route, &script, "/r/1?id=group/project%3Fx%23").await;
    assert!(content(&served.unwrap()).contains("/u/group%2Fproject%3Fx%23/x"));
    // What a step gave is no fault of the request.
    let route = "    compose:\n      a: { api: GET /a }\n      b: { api: \"GET /u/${a.v == 1.5 ? '..' : 'x'}\", on_error: omit }\n";
    let (served, _) = alone(route, &told(&[]), "/r/1").await;
    assert_eq!(served.unwrap().fields["x-fleetfoot-failed"], "b;error=unusable-reply");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_its_step_gave_up_ends_at_once_also_where_equal_calls_run_once() {
    let route = "    compose:\n      a: { api: GET /slow, timeout: 20ms, on_error: null }\n      b: { api: GET /long }\n";
    let compose = compiled(route);
    let (script, flights) = (told(&[("/slow", slow(1000)), ("/long", slow(100))]), SingleFlight::default());
    let mut served = Box::pin(serve(&compose, &script, &flights, None, "/r/1"));
    assert!(tokio::time::timeout(Duration::from_millis(50), &mut served).await.is_err());
    assert_eq!((script.alive.get(), flights.len()), (1, 1), "nobody waits for /slow any more");
    served.await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_lists_make_of_a_value_is_bounded_like_what_calls_give() {
    let route = "    compose:\n      big: { api: \"GET /big?q=${query.q}\" }\n      many:\n        for: \"${query.all('id')}\"\n        \
                 most: 10000\n        compose: { small: { when: \"${false}\", api: GET /small } }\n        \
                 respond: { big: \"${big}\" }\n";
    let target = format!("/r/1?q={}{}", "x".repeat(60_000), "&id=1".repeat(2000));
    let (served, _) = alone(route, &told(&[]), &target).await;
    let error = served.unwrap_err();
    assert_eq!(error.kind(), Kind::UnusableReply);
    assert!(error.detail().ends_with("steps gave more than 64 MiB together"), "{error}");
}

#[tokio::test]
async fn calls_that_wait_for_nothing_let_others_run() {
    let route = "    save: { dedupe: false, coalesce: false }\n    compose:\n      \
                 many: { for: \"${query.all('id')}\", most: 10000, api: \"GET /${item}\" }\n";
    let target = format!("/r/1?{}", "id=1&".repeat(5000));
    let (compose, flights, turns) = (compiled(route), SingleFlight::default(), Cell::new(0));
    let mut served = std::pin::pin!(serve(&compose, &AtOnce, &flights, None, &target));
    let others = async {
        loop {
            turns.set(turns.get() + 1);
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        (served, _) = &mut served => drop(served.unwrap()),
        () = others => {}
    }
    assert!(turns.get() > 20, "{}", turns.get());
}

#[tokio::test]
async fn lists_within_lists_end_somewhere() {
    let route = "    save: { dedupe: false, coalesce: false }\n    compose:\n      many:\n        \
                 for: \"${query.all('id')}\"\n        most: 10000\n        compose:\n          \
                 inner: { for: \"${query.all('id')}\", most: 10000, api: \"GET /${item}\" }\n        respond: 1\n";
    let target = format!("/r/1?{}", "id=1&".repeat(1000));
    let (served, account) = serve(&compiled(route), &AtOnce, &SingleFlight::default(), None, &target).await;
    assert_eq!(served.unwrap_err().kind(), Kind::UnusableReply);
    assert!(account.calls < 200_000);
}

#[tokio::test(start_paused = true)]
async fn what_the_content_of_a_request_lacks_is_the_requests_fault() {
    let text = "sources: { api: http://127.0.0.1:1 }\nroutes:\n  - match: POST /r\n    compose:\n      \
                a: { api: \"GET /a/${body.id}\", headers: { X-Name: \"${body.name}\" }, on_error: null }\n";
    let plan: Plan = plan::compile(text, "test.yaml").unwrap_or_else(|faults| panic!("{faults}"));
    let RouteEnd::Compose(compose) = &plan.routes[0].end else { panic!("no compose") };
    let (script, fields) = (told(&[]), HeaderMap::new());
    let request = RequestView {
        method: &Method::POST,
        scheme: Scheme::Http,
        authority: "a.example",
        target: "/r",
        fields: Fields::Map(&fields),
        client: None,
    };
    let flights = SingleFlight::default();
    let (flights, began) = (&flights, Instant::now());
    let run = Run { compose, request: &request, names: &[], calls: &script, flights, places: None, began };
    let error = run.serve(Bytes::from_static(b"{\"name\":null}")).await.0.unwrap_err();
    assert_eq!(error.kind(), Kind::MalformedRequest);
    assert_eq!(error.detail(), "`body.id`, `body.name` are missing");
    let error = run.serve(Bytes::from_static(b"{\"id\":\"..\",\"name\":\"n\"}")).await.0.unwrap_err();
    assert_eq!(error.kind(), Kind::MalformedRequest, "it leads out of its segment: {error}");
    assert!(run.serve(Bytes::from_static(b"{\"id\":1,\"name\":\"n\"}")).await.0.is_ok());
}
