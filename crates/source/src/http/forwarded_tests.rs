use http::Method;
use message::Client;

use super::*;

struct Case {
    client: &'static str,
    trusted: bool,
    scheme: Scheme,
    version: Version,
    authority: &'static str,
    sent: &'static [(&'static str, &'static str)],
}

const STRANGER: Case = Case {
    client: "192.0.2.7:5555",
    trusted: false,
    scheme: Scheme::Https,
    version: Version::HTTP_11,
    authority: "api.example",
    sent: &[],
};

impl Case {
    /// The fields at the origin, sorted.
    fn fields(&self) -> Vec<(String, String)> {
        let request = self.request();
        let forwarded = Forwarded::of(&request).unwrap();
        let mut all: Vec<_> = request
            .fields
            .iter()
            .filter(|(name, _)| !forwarded.replaces(name))
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect();
        forwarded.lines(self.authority, |name, value| {
            all.push((name.to_string(), String::from_utf8(value.to_vec()).unwrap()));
        });
        all.sort();
        all
    }

    fn request(&self) -> RequestParts {
        let mut fields = HeaderMap::new();
        for &(name, value) in self.sent {
            fields.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let address = self.client.parse().unwrap();
        RequestParts {
            method: Method::GET,
            scheme: self.scheme,
            authority: self.authority.into(),
            target: "/".into(),
            version: self.version,
            fields,
            client: Client { address, local: address, trusted: self.trusted },
        }
    }

    #[track_caller]
    fn gives(&self, expected: &[(&str, &str)]) {
        let fields = self.fields();
        let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(fields, expected);
    }
}

#[test]
fn a_strangers_claims_are_replaced_by_the_truth() {
    let claims = &[
        ("forwarded", "for=1.1.1.1"),
        ("x-forwarded-for", "1.1.1.1"),
        ("x-forwarded-for", "2.2.2.2"),
        ("x_forwarded_for", "3.3.3.3"),
        ("x.forwarded.for", "3.3.3.3"),
        ("x~real-ip", "3.3.3.3"),
        ("x.http-method_override", "DELETE"),
        ("x-forwarded-host", "evil.example"),
        ("x-forwarded-proto", "http"),
        ("x-forwarded-port", "1"),
        ("x-forwarded-server", "evil"),
        ("x-forwarded-scheme", "gopher"),
        ("x-forwarded-prefix", "/evil"),
        ("x-forwarded-whatever", "evil"),
        ("x-real-ip", "1.1.1.1"),
        ("x-host", "evil.example"),
        ("x-original-url", "/admin"),
        ("x-rewrite-url", "/admin"),
        ("x-original-host", "evil.example"),
        ("x-http-method-override", "DELETE"),
        ("x-http-method", "DELETE"),
        ("x-method-override", "DELETE"),
        ("true-client-ip", "1.1.1.1"),
        ("cf-connecting-ip", "1.1.1.1"),
        ("x-client-ip", "1.1.1.1"),
        ("x-cluster-client-ip", "1.1.1.1"),
        ("proxy", "http://evil.example"),
        ("proxy-connection", "keep-alive"),
        ("x-request-id", "kept"),
        ("cookie", "kept=1"),
    ];
    Case { sent: claims, ..STRANGER }.gives(&[
        ("via", "1.1 fleetfoot"),
        ("forwarded", "for=192.0.2.7;host=\"api.example\";proto=https"),
        ("x-forwarded-for", "192.0.2.7"),
        ("x-forwarded-host", "api.example"),
        ("x-forwarded-proto", "https"),
        ("x-real-ip", "192.0.2.7"),
        ("x-request-id", "kept"),
        ("cookie", "kept=1"),
    ]);
}

#[test]
fn a_trusted_proxy_is_believed_and_appended_to() {
    let told = &[
        ("forwarded", "for=198.51.100.1;proto=https"),
        ("x-forwarded-for", "198.51.100.1"),
        ("x-forwarded-for", "10.0.0.1"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "shop.example"),
        ("x-forwarded-port", "443"),
        ("x-real-ip", "198.51.100.1"),
        ("x-original-url", "/before"),
        ("proxy", "http://evil.example"),
        ("via", "2.0 edge"),
    ];
    Case { client: "[::ffff:10.0.0.9]:80", trusted: true, scheme: Scheme::Http, sent: told, ..STRANGER }
        .gives(&[
            ("via", "2.0 edge, 1.1 fleetfoot"),
            ("forwarded", "for=198.51.100.1;proto=https, for=10.0.0.9;host=\"api.example\";proto=http"),
            ("x-forwarded-for", "198.51.100.1, 10.0.0.1, 10.0.0.9"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "shop.example"),
            ("x-forwarded-port", "443"),
            ("x-real-ip", "198.51.100.1"),
            ("x-original-url", "/before"),
        ]);
}

#[test]
fn ipv6_is_quoted_and_a_missing_host_not_made_up() {
    Case { client: "[2001:db8::7]:5555", version: Version::HTTP_10, authority: "", ..STRANGER }.gives(&[
        ("via", "1.0 fleetfoot"),
        ("forwarded", "for=\"[2001:db8::7]\";proto=https"),
        ("x-forwarded-for", "2001:db8::7"),
        ("x-forwarded-proto", "https"),
        ("x-real-ip", "2001:db8::7"),
    ]);
    let line = Case { version: Version::HTTP_2, ..STRANGER }.fields();
    assert!(line.contains(&("via".to_owned(), "2.0 fleetfoot".to_owned())));
}

#[test]
fn the_sixth_visit_is_a_loop() {
    const FIVE: &str = "1.1 fleetfoot, 1.1 fleetfoot, 2.0 edge, 1.0 FleetFoot (x), 1.1 fleetfoot";
    let visits = |sent| Forwarded::of(&Case { sent, ..STRANGER }.request());
    assert!(visits(&[("via", FIVE), ("via", "HTTP/1.1 fleetfoot")]).is_ok());
    let error = visits(&[("via", FIVE), ("via", "1.1 fleetfoot, 1.1 fleetfoot")]).unwrap_err();
    assert_eq!((error.kind(), error.may_retry()), (Kind::Loop, message::Retry::Never));
    assert!(visits(&[("via", "1.1 fleetfooted, 1.1 x-fleetfoot, 1.1, , fleetfoot")]).is_ok());
}
