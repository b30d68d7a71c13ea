//! Connections that say nothing keep nobody out of the admin port.

use testkit::{Origin, RawClient};

use crate::setup::cached;

/// As many as the port takes at once.
const PLACES: usize = 64;

#[test]
fn whoever_says_nothing_gives_way_to_whoever_asks() {
    let origin = Origin::start();
    let fleetfoot = cached(&origin);
    let mut silent: Vec<_> = (0..PLACES).map(|_| RawClient::connect(fleetfoot.admin())).collect();
    // Nor does half a head help.
    for client in &mut silent[..PLACES / 2] {
        client.send("GET /livez HT");
    }
    for _ in 0..5 {
        assert_eq!(fleetfoot.get_admin("/livez").status, 200);
    }
    assert!(silent[0].is_closed(), "the oldest gave way");
    // The last were not made to wait for a timeout of those before them: they are still there.
    let last = silent.last_mut().expect("there are some");
    assert_eq!(last.ask(format!("GET /livez HTTP/1.1\r\nHost: {}\r\n\r\n", fleetfoot.admin())).status, 200);
}
