//! Query: the parameters of a GET, each taken by its name; what nobody takes is a fault.

use axum::extract::Query as Pairs;
use axum::http::Uri;

use crate::refusal::AdminRefusal;

/// See the module.
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn of(uri: &Uri) -> Result<Self, AdminRefusal> {
        let pairs =
            Pairs::try_from_uri(uri).map_err(|_| AdminRefusal::request("the query cannot be read"))?;
        Ok(Query(pairs.0))
    }

    /// The value of a parameter that stands at most once.
    pub(crate) fn take(&mut self, name: &str) -> Result<Option<String>, AdminRefusal> {
        let mut all = self.take_all(name);
        if all.len() > 1 {
            return Err(AdminRefusal::request(format!("`{name}` is given twice")));
        }
        Ok(all.pop())
    }

    /// All values of a parameter.
    pub(crate) fn take_all(&mut self, name: &str) -> Vec<String> {
        let (taken, rest) = std::mem::take(&mut self.0).into_iter().partition(|(other, _)| other == name);
        self.0 = rest;
        let taken: Vec<(String, String)> = taken;
        taken.into_iter().map(|(_, value)| value).collect()
    }

    /// Nothing may be left.
    pub(crate) fn end(self) -> Result<(), AdminRefusal> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => {
                let shown: String = name.chars().take(40).collect();
                Err(AdminRefusal::request(format!(
                    "there is no parameter `{shown}` here; see / for what there is"
                )))
            }
        }
    }
}
