//! Bind: a parsed tree → the same tree with every access to the request made a variable, every `env.NAME` its value,
//! every pattern compiled, and nothing in it that is unknown or can only fail.
//!
//! Called by `compile`. One walk from the leaves up, which works out the [`ValueKind`] of each part on its way.

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, SelectExpr, operators,
};
use http::HeaderName;
use http::header::HOST;
use regex::{Regex, RegexBuilder};

use crate::answered::Answered;
use crate::compile::Known;
use crate::computed::{HAS, MATCHES, PART};
use crate::fault::{ExpressionFault, quoted};
use crate::functions::{FUNCTIONS, Function};
use crate::inner::inner;
use crate::kind::ValueKind;
use crate::nearest::nearest;
use crate::operators::{arithmetic, binary, operator, truth};
use crate::roots::{
    client_unknown, is_root, misused_all, misused_response, misused_root, unknown_function, unknown_name,
};
use crate::slot::Slot;

/// Parts of one expression, and how deep they may be nested: bounds what one evaluation costs.
const MOST_PARTS: usize = 512;
const DEEPEST: usize = 48;
/// Elements of a list that `exists` and its like run over.
const LONGEST_LIST: usize = 64;
/// Bytes of a compiled pattern.
const LARGEST_PATTERN: usize = 1024 * 1024;

/// What the walk has found.
pub(crate) struct Binder<'k> {
    known: &'k Known<'k>,
    /// What `@0`, `@1`, … stand for.
    pub(crate) slots: Vec<Slot>,
    /// What the second arguments of `@matches` stand for.
    pub(crate) patterns: Vec<Regex>,
    /// Variables of the environment that were read, and their values.
    pub(crate) environment: Vec<(Box<str>, Box<str>)>,
    /// Variables of the loop around the part that is looked at.
    scope: Vec<String>,
    parts: usize,
}

/// What an access to the request becomes.
enum Access {
    Value(Slot),
    Present(Slot),
    Text(String),
}

impl<'k> Binder<'k> {
    pub(crate) fn new(known: &'k Known<'k>) -> Self {
        Binder {
            known,
            slots: Vec::new(),
            patterns: Vec::new(),
            environment: Vec::new(),
            scope: Vec::new(),
            parts: 0,
        }
    }

    /// Binds a part and everything below it.
    pub(crate) fn bind(&mut self, part: &mut IdedExpr, depth: usize) -> Result<ValueKind, ExpressionFault> {
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return Err(ExpressionFault::new(
                format!("the expression has more than {MOST_PARTS} parts"),
                "write a shorter one",
            ));
        }
        if depth > DEEPEST {
            return Err(ExpressionFault::new(
                format!("the expression is nested more than {DEEPEST} deep"),
                "write a simpler one",
            ));
        }
        if let Some(access) = self.access(&part.expr)? {
            let (tree, kind) = self.accessed(access);
            part.expr = tree;
            return Ok(kind);
        }
        if let Some((inner, kind)) = inner(&part.expr, &self.known.names, &self.scope)? {
            part.expr = self.variable(Slot::Given(inner));
            return Ok(kind);
        }
        // `has(user.name)`: also where there is no user.
        if let Expr::Select(select) = &part.expr
            && select.test
        {
            let whole = Expr::Select(SelectExpr { test: false, ..select.clone() });
            if let Some((inner, _)) = inner(&whole, &self.known.names, &self.scope)? {
                part.expr = self.variable(Slot::There(inner));
                return Ok(ValueKind::Truth);
            }
        }
        match &mut part.expr {
            Expr::Literal(literal) => Ok(kind_of(literal)),
            Expr::Ident(name) if self.scope.iter().any(|known| known == name) => Ok(ValueKind::Any),
            Expr::Ident(name) => Err(unknown_name(name, self.known.names.values)),
            Expr::Call(call) => self.call(call, depth),
            Expr::List(list) => {
                for element in &mut list.elements {
                    self.bind(element, depth + 1)?;
                }
                Ok(ValueKind::List)
            }
            Expr::Map(map) => {
                for entry in &mut map.entries {
                    if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                        self.bind(&mut entry.key, depth + 1)?;
                        self.bind(&mut entry.value, depth + 1)?;
                    }
                }
                Ok(ValueKind::Map)
            }
            Expr::Comprehension(comprehension) => self.comprehension(comprehension, depth),
            Expr::Select(select) => {
                let field = quoted(&select.field);
                let kind = self.bind(&mut select.operand, depth + 1)?;
                if kind == ValueKind::Any {
                    let (name, kind) =
                        if select.test { (HAS, ValueKind::Truth) } else { (PART, ValueKind::Any) };
                    part.expr = part_of(name, select);
                    return Ok(kind);
                }
                Err(ExpressionFault::new(
                    format!("{field} is no part of what stands before it"),
                    "write it without; only `path`, `query`, `cookie`, `env` and what steps give have parts",
                ))
            }
            Expr::Struct(_) | Expr::Unspecified => {
                Err(ExpressionFault::new("an expression makes no messages", "write a text, a list or a map"))
            }
        }
    }

    /// The variable that reads a slot, or the constant.
    fn accessed(&mut self, access: Access) -> (Expr, ValueKind) {
        match access {
            Access::Text(text) => (Expr::Literal(LiteralValue::String(text.into())), ValueKind::Text),
            Access::Value(slot) => {
                let kind = match slot {
                    Slot::Claim(_) => ValueKind::Any,
                    Slot::All(_) => ValueKind::List,
                    Slot::Answered(ref answered) => answered.kind(),
                    _ => ValueKind::Text,
                };
                (self.variable(slot), kind)
            }
            Access::Present(slot) => {
                let value = IdedExpr { id: 0, expr: self.variable(slot) };
                let null = IdedExpr { id: 0, expr: Expr::Literal(LiteralValue::Null) };
                let call = CallExpr {
                    func_name: operators::NOT_EQUALS.to_owned(),
                    target: None,
                    args: vec![value, null],
                };
                (Expr::Call(call), ValueKind::Truth)
            }
        }
    }

    fn variable(&mut self, slot: Slot) -> Expr {
        let at = self.slots.iter().position(|known| *known == slot).unwrap_or_else(|| {
            self.slots.push(slot);
            self.slots.len() - 1
        });
        Expr::Ident(format!("@{at}"))
    }

    /// Whether a part is an access to the request: `method`, `query.x`, `query['x']`, `query('x')`, `has(query.x)`,
    /// `'x' in query`. Names are always written out: one that a client chooses would let it choose what is read.
    fn access(&mut self, part: &Expr) -> Result<Option<Access>, ExpressionFault> {
        if let Some(access) = self.answered(part)? {
            return Ok(Some(access));
        }
        match part {
            Expr::Ident(name) => Ok(match name.as_str() {
                "method" => Some(Access::Value(Slot::Method)),
                "scheme" => Some(Access::Value(Slot::Scheme)),
                "host" => Some(Access::Value(Slot::Host)),
                "url" => Some(Access::Value(Slot::Url)),
                _ => None,
            }),
            Expr::Select(select) => match &select.operand.expr {
                Expr::Ident(root) if root == "env" => {
                    Ok(Some(Access::Text(self.environment(&select.field)?)))
                }
                Expr::Ident(root) if root == "client" => {
                    let slot = match &*select.field {
                        "address" => Slot::Address,
                        "network" => Slot::Network,
                        _ => return Err(misused_root(root)),
                    };
                    if !self.known.names.knows_client {
                        return Err(client_unknown(&select.field));
                    }
                    Ok(Some(if select.test { Access::Present(slot) } else { Access::Value(slot) }))
                }
                Expr::Ident(root) if matches!(root.as_str(), "query" | "cookie" | "path") => {
                    let slot = self.slot(root, &select.field)?;
                    Ok(Some(if select.test { Access::Present(slot) } else { Access::Value(slot) }))
                }
                Expr::Ident(root) if matches!(root.as_str(), "header" | "claim") => {
                    Err(ExpressionFault::new(
                        format!("`{root}.{}` is not how a name is given to `{root}`", select.field),
                        format!("write `{root}('{}')`", select.field),
                    ))
                }
                Expr::Ident(root) if is_root(root) => Err(ExpressionFault::new(
                    format!("`{root}` is a text and has no part {}", quoted(&select.field)),
                    format!("write `{root}`"),
                )),
                _ => Ok(None),
            },
            Expr::Call(CallExpr { func_name, target: Some(target), args }) if func_name == "all" => {
                match (&target.expr, args.as_slice()) {
                    (Expr::Ident(root), [name]) if root == "query" => Ok(match text(name) {
                        Some(name) => Some(Access::Value(Slot::All(name.into()))),
                        None => return Err(misused_all()),
                    }),
                    _ => Ok(None),
                }
            }
            Expr::Call(CallExpr { func_name, target: None, args }) => match args.as_slice() {
                [name] if matches!(func_name.as_str(), "header" | "query" | "cookie" | "claim" | "path") => {
                    let Some(name) = text(name) else { return Ok(None) };
                    self.slot(func_name, name).map(|slot| Some(Access::Value(slot)))
                }
                [IdedExpr { expr: Expr::Ident(root), .. }, name] if func_name == operators::INDEX => {
                    match (root.as_str(), text(name)) {
                        ("query" | "cookie" | "path", Some(name)) => {
                            self.slot(root, name).map(|slot| Some(Access::Value(slot)))
                        }
                        _ => Ok(None),
                    }
                }
                [name, IdedExpr { expr: Expr::Ident(root), .. }] if func_name == operators::IN => {
                    match (root.as_str(), text(name)) {
                        ("query" | "cookie" | "path" | "header", Some(name)) => {
                            self.slot(root, name).map(|slot| Some(Access::Present(slot)))
                        }
                        _ => Ok(None),
                    }
                }
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Whether a part is an access to the response: `response.status`, `response.header('Name')`, `cache`, `location`.
    fn answered(&self, part: &Expr) -> Result<Option<Access>, ExpressionFault> {
        let names = &self.known.names;
        if let (Expr::Ident(name), Some(location)) = (part, names.location)
            && name == "location"
        {
            return Ok(Some(Access::Text(location.to_owned())));
        }
        if !names.knows_response {
            return Ok(None);
        }
        let is_response = |part: &IdedExpr| matches!(&part.expr, Expr::Ident(name) if name == "response");
        let answered = match part {
            Expr::Ident(name) if name == "cache" => Answered::Cache,
            Expr::Select(select) if is_response(&select.operand) && select.field == "status" => {
                Answered::Status
            }
            Expr::Call(CallExpr { func_name, target: Some(target), args })
                if is_response(target) && func_name == "header" =>
            {
                match args.as_slice() {
                    [name] => match text(name).map(|name| HeaderName::from_bytes(name.as_bytes())) {
                        Some(Ok(name)) => Answered::Field(name),
                        Some(Err(_)) | None => return Err(misused_response()),
                    },
                    _ => return Err(misused_response()),
                }
            }
            Expr::Ident(name) if name == "response" => return Err(misused_response()),
            _ => return Ok(None),
        };
        Ok(Some(Access::Value(Slot::Answered(answered))))
    }

    fn slot(&self, root: &str, name: &str) -> Result<Slot, ExpressionFault> {
        match root {
            "header" => match HeaderName::from_bytes(name.as_bytes()) {
                Ok(name) if name == HOST => Ok(Slot::Authority),
                Ok(name) => Ok(Slot::Header(name)),
                Err(_) => Err(ExpressionFault::new(
                    format!("{} is no name of a header field", quoted(name)),
                    "write letters, digits and `-`, as in `header('X-User')`",
                )),
            },
            "cookie" => match HeaderName::from_bytes(name.as_bytes()) {
                // Both names are tokens (RFC 6265 §4.1.1).
                Ok(_) => Ok(Slot::Cookie(name.into())),
                Err(_) => Err(ExpressionFault::new(
                    format!("{} is no name of a cookie", quoted(name)),
                    "write letters, digits, `-` and `_`, as in `cookie('session-id')`",
                )),
            },
            "claim" => Ok(Slot::Claim(name.into())),
            "query" => Ok(Slot::Query(name.into())),
            _ => self.segment(name),
        }
    }

    fn segment(&self, name: &str) -> Result<Slot, ExpressionFault> {
        let Some(names) = self.known.names.segments else { return Ok(Slot::Path(name.into())) };
        if names.contains(&name) {
            return Ok(Slot::Path(name.into()));
        }
        let remedy = match nearest(name, names.iter().copied()) {
            Some(meant) => format!("write `path.{meant}`"),
            None if names.is_empty() => format!("write `{{{name}}}` for a segment in its `match`"),
            None => {
                let names: Vec<String> = names.iter().take(10).map(|name| format!("`{name}`")).collect();
                format!("write one of {}", names.join(", "))
            }
        };
        Err(ExpressionFault::new(format!("the route calls no segment of its path {}", quoted(name)), remedy))
    }

    fn environment(&mut self, name: &str) -> Result<String, ExpressionFault> {
        match (self.known.environment)(name) {
            Ok(value) => {
                self.environment.push((name.into(), value.as_str().into()));
                Ok(value)
            }
            Err(std::env::VarError::NotPresent) => Err(ExpressionFault::new(
                format!("the environment has no variable {}", quoted(name)),
                format!("start with `{name}=…` in the environment, or write the value itself"),
            )),
            Err(std::env::VarError::NotUnicode(_)) => Err(ExpressionFault::new(
                format!("the variable {} of the environment is not UTF-8", quoted(name)),
                "give it a value that is UTF-8",
            )),
        }
    }

    fn call(&mut self, call: &mut CallExpr, depth: usize) -> Result<ValueKind, ExpressionFault> {
        let name = call.func_name.as_str();
        let is_known = is_root(name)
            || operator(name).is_some()
            || [operators::CONDITIONAL, operators::LOGICAL_NOT, operators::NEGATE].contains(&name)
            || FUNCTIONS.iter().any(|function| function.name == name);
        if !is_known {
            // Before what stands in it: the variables of a misspelt loop are not unknown.
            return Err(unknown_function(name));
        }
        let on = match &mut call.target {
            Some(target) => Some(self.bind(target, depth + 1)?),
            None => None,
        };
        if on.is_none() && is_root(&call.func_name) {
            return Err(misused_root(&call.func_name));
        }
        let mut kinds = Vec::with_capacity(call.args.len());
        for argument in &mut call.args {
            kinds.push(self.bind(argument, depth + 1)?);
        }
        match (on, kinds.as_slice()) {
            (None, [condition, yes, no]) if call.func_name == operators::CONDITIONAL => {
                truth("? :", &[*condition])?;
                Ok(yes.or(*no))
            }
            (None, [one]) if call.func_name == operators::LOGICAL_NOT => truth("!", &[*one]),
            (None, [one]) if call.func_name == operators::NEGATE => arithmetic("-", *one, *one),
            (None, [one, two]) => match operator(&call.func_name) {
                Some(written) => binary(&call.func_name, written, *one, *two),
                None => self.function(call, None, &kinds),
            },
            _ => self.function(call, on, &kinds),
        }
    }

    fn function(
        &mut self,
        call: &mut CallExpr,
        on: Option<ValueKind>,
        takes: &[ValueKind],
    ) -> Result<ValueKind, ExpressionFault> {
        let name = call.func_name.as_str();
        let named = || FUNCTIONS.iter().filter(|function| function.name == name);
        let Some(function) =
            named().find(|it| it.on.is_some() == on.is_some() && it.takes.len() == takes.len())
        else {
            return Err(match named().next() {
                Some(function) => ExpressionFault::new(
                    format!("{} is not used so", quoted(name)),
                    format!("write it as in `{}`", function.example),
                ),
                None => unknown_function(name),
            });
        };
        let wanted = function.on.into_iter().chain(function.takes.iter().copied());
        for (given, allowed) in on.into_iter().chain(takes.iter().copied()).zip(wanted) {
            if !allowed.iter().any(|kind| given == ValueKind::Any || given == *kind) {
                return Err(ExpressionFault::new(
                    format!("{} takes no such thing as {}", quoted(name), given.name()),
                    format!("write it as in `{}`", function.example),
                ));
            }
        }
        if name == "matches" {
            self.pattern(call, function)?;
        }
        Ok(function.gives)
    }

    /// `text.matches('pattern')` → `@matches(text, 0)`. CEL compiles patterns for every evaluation, and lets a request
    /// be one; the regex crate matches in linear time, but compiling is not free.
    fn pattern(&mut self, call: &mut CallExpr, function: &Function) -> Result<(), ExpressionFault> {
        let pattern = call.args.pop();
        let Some(pattern) = pattern.as_ref().and_then(text) else {
            return Err(ExpressionFault::new(
                "the pattern of `matches` is not written out",
                format!("write it as in `{}`", function.example),
            ));
        };
        let pattern = RegexBuilder::new(pattern).size_limit(LARGEST_PATTERN).build().map_err(|error| {
            let error = error.to_string();
            // The last line says what is wrong; those before it show the pattern.
            let why = error.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            ExpressionFault::new(
                format!("the pattern of `matches` is no regular expression: {why}"),
                format!("write it as in `{}`", function.example),
            )
        })?;
        let at = i64::try_from(self.patterns.len()).expect("there are fewer patterns than parts");
        self.patterns.push(pattern);
        let text = call.target.take().map(|target| *target).or_else(|| call.args.pop());
        let at = IdedExpr { id: 0, expr: Expr::Literal(LiteralValue::Int(at.into())) };
        MATCHES.clone_into(&mut call.func_name);
        call.args = text.into_iter().chain([at]).collect();
        Ok(())
    }

    /// `exists`, `all`, `exists_one`, `map` and `filter`: over lists that are written out or bounded, and not inside one
    /// another, so that no expression runs longer than its own length squared.
    fn comprehension(
        &mut self,
        it: &mut ComprehensionExpr,
        depth: usize,
    ) -> Result<ValueKind, ExpressionFault> {
        if !self.scope.is_empty() {
            return Err(ExpressionFault::new(
                "`exists`, `all`, `map` or `filter` stands inside another one",
                "write one of them, with `in [...]` for the other",
            ));
        }
        let variables = [Some(it.iter_var.clone()), it.iter_var2.clone(), Some(it.accu_var.clone())];
        let is_taken = |name: &&String| is_root(name) || self.known.names.value(name).is_some();
        if let Some(taken) = variables.iter().flatten().find(is_taken) {
            return Err(ExpressionFault::new(
                format!("{} already means something", quoted(taken)),
                "write another name for the variable",
            ));
        }
        self.bind(&mut it.iter_range, depth + 1)?;
        let bounded = match &it.iter_range.expr {
            Expr::List(list) => list.elements.len() <= LONGEST_LIST,
            // Claims, repeated parameters and what steps give: `slot` bounds them.
            Expr::Ident(_) => true,
            _ => false,
        };
        if !bounded && !matches!(it.iter_range.expr, Expr::List(_)) {
            return Err(ExpressionFault::new(
                "`exists`, `all`, `map` and `filter` run over a list as it is, not over what another makes of it",
                "write it as in `users.map(u, u.active, u.id)`, which leaves out as well",
            ));
        }
        if !bounded {
            return Err(ExpressionFault::new(
                format!(
                    "`exists`, `all`, `map` and `filter` run over lists of at most {LONGEST_LIST} written out"
                ),
                "write it as in `['a', 'b'].exists(word, url.contains(word))`",
            ));
        }
        let start = self.bind(&mut it.accu_init, depth + 1)?;
        self.scope = variables.into_iter().flatten().collect();
        let step = self.bind(&mut it.loop_step, depth + 1);
        self.scope.clear();
        step?;
        // A number is the count of `exists_one`, which gives whether it is one.
        Ok(if start == ValueKind::List { ValueKind::List } else { ValueKind::Truth })
    }
}

/// `item.name` → `@part(item, 'name')`. CEL fails where there is no such part, and one map without it would take the whole
/// list along; here a part that is not there is null everywhere.
fn part_of(name: &str, select: &mut SelectExpr) -> Expr {
    let whole = std::mem::take(&mut *select.operand);
    let field = Expr::Literal(LiteralValue::String(std::mem::take(&mut select.field).into()));
    let args = vec![whole, IdedExpr { id: 0, expr: field }];
    Expr::Call(CallExpr { func_name: name.to_owned(), target: None, args })
}

/// The text of a literal.
fn text(part: &IdedExpr) -> Option<&str> {
    match &part.expr {
        Expr::Literal(LiteralValue::String(text)) => Some(text.inner()),
        _ => None,
    }
}

fn kind_of(literal: &LiteralValue) -> ValueKind {
    match literal {
        LiteralValue::Boolean(_) => ValueKind::Truth,
        LiteralValue::Bytes(_) => ValueKind::Any,
        LiteralValue::Double(_) => ValueKind::Double,
        LiteralValue::Int(_) => ValueKind::Int,
        LiteralValue::Null => ValueKind::Null,
        LiteralValue::String(_) => ValueKind::Text,
        LiteralValue::UInt(_) => ValueKind::Uint,
    }
}
