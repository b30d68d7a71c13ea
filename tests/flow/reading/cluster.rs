//! A cluster: keys lie on any of its servers, and reads find them.

use testkit::{Fleetfoot, RedisCluster};

use super::support::{GET, of_source, tell};

#[test]
fn keys_are_read_where_they_lie() {
    let cluster = RedisCluster::start(3);
    let source = format!(
        "{{ redis: [\"{}\"], topology: cluster, public: true, timeout: 1s }}",
        cluster.nodes()[0].url()
    );
    let many = r#"match: GET /many, read: { redis: "MGET ${query.all('key')}" }"#;
    let fleetfoot = Fleetfoot::start(&of_source(&source, &[GET, many]));
    for key in ["a", "b", "c", "d"] {
        tell(cluster.node_of(key), &["SET", key, &format!("of {key}"), "EX", "1000"]);
        assert_eq!(fleetfoot.get(&format!("/get/{key}")).text(), format!("of {key}"));
    }
    tell(cluster.node_of("list"), &["RPUSH", "list", "x"]);
    let many = fleetfoot.get("/many?key=a&key=b&key=none&key=list&key=c&key=d&key=a");
    assert_eq!(many.text(), r#"["of a","of b",null,null,"of c","of d","of a"]"#);
    assert!(many.joined("cache-control").starts_with("max-age="), "{many:?}");
}
