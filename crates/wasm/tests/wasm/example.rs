//! The example answers as its first lines say.

use std::path::Path;
use std::sync::Arc;

use super::{Module, call, source};

#[tokio::test]
async fn it_counts_primes() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/compose/math.wat");
    let module = Module::new(Arc::new(source(file))).unwrap();
    assert_eq!(module.functions().collect::<Vec<_>>(), ["execute"]);
    let given = [
        (r#"{"n":0}"#, 0, 0),
        (r#"{"n":1}"#, 1, 0),
        (r#"{"n":2}"#, 2, 1),
        (r#"{"n": 3}"#, 3, 2),
        (r#"{"m": [1], "n" : 100 }"#, 100, 25),
        ("{\"m\": 7,\n  \"n\":\n 1000\n}", 1000, 168),
        (r#"{"n":200000}"#, 200_000, 17_984),
    ];
    for (input, n, primes) in given {
        let output = format!(r#"{{"n":{n},"primes":{primes}}}"#);
        assert_eq!(call(&module, "execute", input).await.unwrap(), output, "{input}");
    }
    let default = call(&module, "execute", "null").await.unwrap();
    for input in ["{}", "1", r#"{"n":}"#, r#"{"n":null}"#, r#"{"n":-5}"#, r#"{"n""#, r#""n""#] {
        assert_eq!(call(&module, "execute", input).await.unwrap(), default, "{input}");
    }
}

#[tokio::test]
async fn it_says_when_there_is_too_much_to_read() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/compose/math.wat");
    let module = Module::new(Arc::new(source(file))).unwrap();
    let most = format!(r#"{{"n":7,"more":"{}"}}"#, "x".repeat(64_512 - 17));
    assert_eq!(call(&module, "execute", &most).await.unwrap(), r#"{"n":7,"primes":4}"#);
    let error = call(&module, "execute", &format!("{most} ")).await.unwrap_err();
    assert!(error.to_string().contains("no room for 64513 bytes"), "{error}");
}
