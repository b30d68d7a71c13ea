//! One server: commands, pipelines, users, sockets.

use std::sync::Arc;

use message::{Kind, Retry};
use plan::{RedisSource, Topology};
use redis_link::{Link, SharedLink, Value, cmd, code, pipe};
use testkit::{Port, RedisServer};

use crate::{get, link, login, on_a_core, plan, set, standalone, tcp, text};

#[test]
fn a_command_gets_its_reply_and_a_pipeline_all_of_them() {
    let server = RedisServer::start();
    on_a_core(async {
        let link = link(standalone(server.port()));
        assert_eq!(link.shared().figures().connects, 0, "nothing is connected before the first question");
        assert_eq!(link.ask(&set("a", "1")).await.unwrap(), Value::Okay);
        let mut pipeline = pipe();
        pipeline.add_command(get("a")).add_command(get("b")).cmd("INCR").arg("a");
        assert_eq!(link.ask_all(&pipeline).await.unwrap(), [text("1"), Value::Nil, Value::Int(2)]);
        let mut transaction = pipe();
        transaction.atomic().cmd("INCR").arg("a").cmd("INCR").arg("a");
        assert_eq!(link.ask_all(&transaction).await.unwrap(), [Value::Int(3), Value::Int(4)]);
        let mut hash = cmd("HSET");
        link.ask(hash.arg("h").arg("field").arg("value")).await.unwrap();
        let whole = link.ask(cmd("HGETALL").arg("h")).await.unwrap();
        assert_eq!(whole, Value::Map(vec![(text("field"), text("value"))]));
        let figures = link.shared().figures();
        assert_eq!((figures.commands, figures.connects, figures.failures), (5, 1, 0));
    });
}

#[test]
fn clones_share_one_connection_under_our_name() {
    let server = RedisServer::start();
    on_a_core(async {
        let link = link(standalone(server.port()));
        let other = link.clone();
        let (first, second) = (set("a", "1"), set("b", "2"));
        let (one, two) = tokio::join!(link.ask(&first), other.ask(&second));
        assert_eq!((one.unwrap(), two.unwrap()), (Value::Okay, Value::Okay));
        assert_eq!(link.shared().figures().connects, 1);
        assert!(server.clients().iter().any(|client| client.contains("name=fleetfoot")));
    });
}

#[test]
fn an_error_reply_is_an_error_and_the_connection_stays() {
    let server = RedisServer::start();
    on_a_core(async {
        let link = link(standalone(server.port()));
        link.ask(&set("a", "hunter2")).await.unwrap();
        for _ in 0..10 {
            let error = link.ask(cmd("LPUSH").arg("a").arg("secret")).await.unwrap_err();
            assert_eq!(error.kind(), Kind::MalformedResponse);
            assert_eq!(code(&error), Some("WRONGTYPE"));
            let error = link.ask(cmd("FOO").arg("secret")).await.unwrap_err();
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        let mut pipeline = pipe();
        pipeline.cmd("EVALSHA").arg("0".repeat(40)).arg(0).add_command(get("a"));
        assert_eq!(code(&link.ask_all(&pipeline).await.unwrap_err()), Some("NOSCRIPT"));
        assert_eq!(link.ask_all(pipeline.ignore_errors()).await.unwrap()[1], text("hunter2"));
        assert!(link.shared().is_up());
        assert_eq!(link.shared().figures().connects, 1);
    });
}

#[test]
fn a_user_of_the_acl_may_do_what_it_may_do() {
    let reader = "user reader on >hunter2 ~public:* resetchannels -@all +get";
    let server = RedisServer::options().password("opensesame").acl(reader).start();
    on_a_core(async {
        let reader = link(login(standalone(server.port()), Some("reader"), "hunter2"));
        assert_eq!(reader.ask(&get("public:a")).await.unwrap(), Value::Nil);
        let error = reader.ask(&get("private:a")).await.unwrap_err();
        assert_eq!(code(&error), Some("NOPERM"));
        assert!(reader.shared().is_up());

        let default = link(login(standalone(server.port()), None, "opensesame"));
        assert_eq!(default.ask(&set("private:a", "1")).await.unwrap(), Value::Okay);
    });
}

#[test]
fn a_wrong_password_is_a_failed_connection_and_is_not_shown() {
    let server = RedisServer::options().password("opensesame").start();
    on_a_core(async {
        let link = link(login(standalone(server.port()), None, "hunter2"));
        let error = link.ask(&get("a")).await.unwrap_err();
        assert_eq!((error.kind(), error.may_retry()), (Kind::Connect, Retry::Always));
        assert_eq!(code(&error), Some("WRONGPASS"));
        assert!(!format!("{error:?}").contains("hunter2"));
        assert_eq!(link.dedicated().await.err().unwrap().kind(), Kind::Connect);
    });
}

#[test]
fn a_socket_and_a_database_by_number() {
    let server = RedisServer::options().unix_socket().start();
    on_a_core(async {
        let topology = Topology::Standalone(plan::RedisServer::Unix(server.socket_path()));
        let link = link(RedisSource { database: 3, ..plan(topology) });
        assert_eq!(link.ask(&set("a", "1")).await.unwrap(), Value::Okay);
        let mut client = server.connect();
        let _ok = client.command(&["SELECT", "3"]).or_panic();
        assert_eq!(client.command(&["GET", "a"]).text(), "1");
    });
}

#[test]
fn a_replica_is_reached_with_the_same_login_and_fails_on_its_own() {
    let server = RedisServer::options().password("opensesame").start();
    let nobody = Port::reserve();
    on_a_core(async {
        let plan = Arc::new(login(standalone(nobody.number()), None, "opensesame"));
        let central = Link::new(SharedLink::new(Arc::clone(&plan)).unwrap());
        let nearby = Link::new(SharedLink::replica(plan, tcp(server.port())).unwrap());
        assert!(central.ask(&get("a")).await.is_err());
        assert_eq!(nearby.ask(&get("a")).await.unwrap(), Value::Nil);
        assert_eq!(nearby.shared().figures().failures, 0);
    });
}
