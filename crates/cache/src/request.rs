//! What a request is to the cache, before anything is looked up: which of its fields count (`interest`), whether its content
//! may be a part of the key (`content`, `graphql`, `mutation`), and what of it the origin gets to see (`prepare`).

pub(crate) mod graphql;
pub(crate) mod interest;
pub(crate) mod mutation;
pub(crate) mod prepare;
