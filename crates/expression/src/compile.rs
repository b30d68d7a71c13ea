//! Compile: one expression as written → what is evaluated for a request. In comes what stands between `${` and `}`;
//! called by `template` and `expression`, once for each expression of a file.

use std::env::VarError;
use std::sync::Arc;

use cel::common::ast::{Expr, IdedExpr};
use cel::parser::Parser;
use cel::{ParseErrors, Value};

use crate::bind::Binder;
use crate::computed::Computed;
use crate::fault::{ExpressionFault, quoted};
use crate::kind::ValueKind;
use crate::names::Names;
use crate::scan::{Outside, outside};
use crate::slot::Slot;

/// Bytes of an expression.
const LONGEST: usize = 4 * 1024;
/// Brackets inside one another, and signs before a value: both make the parser recurse.
const DEEPEST: usize = 24;
/// Words and signs of an expression: long chains of them make the parser recurse as well.
const MOST_WORDS: usize = 400;
/// Bytes of stack to parse on; only what is used is ever taken.
const STACK: usize = 32 * 1024 * 1024;

/// What is known where an expression stands.
pub(crate) struct Known<'k> {
    /// What may be named.
    pub(crate) names: Names<'k>,
    /// Reads a variable of the environment.
    pub(crate) environment: &'k dyn Fn(&str) -> Result<String, VarError>,
}

impl<'k> Known<'k> {
    /// With the environment of this process.
    pub(crate) fn new(names: Names<'k>) -> Self {
        Known { names, environment: &|name| std::env::var(name) }
    }
}

/// An expression, ready to be evaluated.
#[derive(Clone)]
pub(crate) struct Compiled {
    pub(crate) form: Form,
    /// What it gives.
    pub(crate) kind: ValueKind,
    /// The variables of the environment in it, with their values.
    pub(crate) environment: Vec<(Box<str>, Box<str>)>,
}

/// How it is evaluated.
#[derive(Clone)]
pub(crate) enum Form {
    /// Nothing in it depends on a request.
    Constant(Value),
    /// One thing of the request, read without the interpreter.
    Slot(Slot),
    /// By the interpreter.
    Computed(Arc<Computed>),
}

impl Form {
    /// What it reads.
    pub(crate) fn slots(&self) -> &[Slot] {
        match self {
            Form::Constant(_) => &[],
            Form::Slot(slot) => std::slice::from_ref(slot),
            Form::Computed(computed) => &computed.slots,
        }
    }
}

/// Parses and checks an expression.
pub(crate) fn compile(text: &str, known: &Known<'_>) -> Result<Compiled, ExpressionFault> {
    compile_tree(text, read(text)?, known)
}

/// Parses an expression.
pub(crate) fn read(text: &str) -> Result<IdedExpr, ExpressionFault> {
    let text = text.trim();
    if text.is_empty() {
        return Err(ExpressionFault::new(
            "`${}` holds no expression",
            "write one, such as `${header('X-User')}`",
        ));
    }
    if text.len() > LONGEST {
        return Err(ExpressionFault::new(
            format!("the expression is longer than {LONGEST} bytes"),
            "write a shorter one, or several",
        ));
    }
    let outside = outside(text);
    check_brackets(text, &outside)?;
    parse(text)?.map_err(|errors| explain(text, &outside, &errors))
}

/// Checks a parsed expression. `text` is what messages call it.
pub(crate) fn compile_tree(
    text: &str,
    mut tree: IdedExpr,
    known: &Known<'_>,
) -> Result<Compiled, ExpressionFault> {
    let mut binder = Binder::new(known);
    let kind = binder.bind(&mut tree, 0)?;
    let Binder { mut slots, patterns, environment, .. } = binder;
    let form = match &tree.expr {
        Expr::Ident(_) if slots.len() == 1 => Form::Slot(slots.remove(0)),
        _ => {
            let reads_nothing = slots.is_empty();
            let computed = Computed { tree, slots, patterns: patterns.into() };
            if reads_nothing {
                Form::Constant(computed.constant().ok_or_else(|| {
                    ExpressionFault::new(
                        format!("{} fails, whatever a request holds", quoted(text.trim())),
                        "write values that it can be worked out with",
                    )
                })?)
            } else {
                Form::Computed(Arc::new(computed))
            }
        }
    };
    Ok(Compiled { form, kind, environment })
}

/// Parses on a thread of its own: 24 braces inside one another overflow two megabytes of stack in a build that is not
/// optimised, and a wrong text must not end the program.
fn parse(text: &str) -> Result<Result<IdedExpr, ParseErrors>, ExpressionFault> {
    let failed =
        || ExpressionFault::new(format!("{} cannot be read", quoted(text)), "write a simpler expression");
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("expression".to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, || Parser::new().max_recursion_depth(2 * DEEPEST as u16).parse(text))
            .map_err(|_| failed())?
            .join()
            .map_err(|_| failed())
    })
}

/// Whether strings and brackets end, and are not too deep.
fn check_brackets(text: &str, outside: &Outside) -> Result<(), ExpressionFault> {
    if let Some(quote) = outside.open_string {
        return Err(ExpressionFault::new(
            format!("{} has a string without an end", quoted(text)),
            format!("close it with `{quote}`"),
        ));
    }
    if words(outside) > MOST_WORDS {
        return Err(ExpressionFault::new(
            format!("the expression has more than {MOST_WORDS} words and signs"),
            "write a shorter one, or several",
        ));
    }
    let mut open = Vec::new();
    let mut signs = 0;
    for (at, character) in &outside.characters {
        signs = match character {
            '!' | '-' => signs + 1,
            ' ' => signs,
            _ => 0,
        };
        match character {
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            ')' | ']' | '}' if open.pop() != Some(*character) => {
                return Err(ExpressionFault::new(
                    format!("{} has a `{character}` too many", quoted(&text[..at + 1])),
                    "write as many closing brackets as opening ones",
                ));
            }
            _ => {}
        }
        if open.len() > DEEPEST || signs > DEEPEST {
            return Err(ExpressionFault::new(
                format!("the expression is nested more than {DEEPEST} deep"),
                "write a simpler one",
            ));
        }
    }
    match open.pop() {
        Some(bracket) => Err(ExpressionFault::new(
            format!("{} has no `{bracket}` at its end", quoted(text)),
            format!("close it with `{bracket}`"),
        )),
        None => Ok(()),
    }
}

/// Words, numbers, strings and signs.
fn words(outside: &Outside) -> usize {
    let mut within = false;
    let mut count = 0;
    for (_, character) in &outside.characters {
        let belongs = character.is_alphanumeric() || *character == '_';
        count += usize::from(!(character.is_whitespace() || belongs && within));
        within = belongs;
    }
    count
}

/// Says what is wrong with the syntax, and what is usually meant.
fn explain(text: &str, outside: &Outside, errors: &ParseErrors) -> ExpressionFault {
    let wrong = |why: &str, remedy: &str| {
        ExpressionFault::new(format!("{} is no expression: {why}", quoted(text)), remedy)
    };
    let bare: String = outside.characters.iter().map(|(_, character)| *character).collect();
    let alone = |sign: char| {
        let around = ['=', '!', '<', '>', '&', '|'];
        let mut before = ' ';
        let mut characters = bare.chars().peekable();
        while let Some(character) = characters.next() {
            let behind = characters.peek().copied().unwrap_or(' ');
            if character == sign && !around.contains(&before) && !around.contains(&behind) {
                return true;
            }
            before = character;
        }
        false
    };
    let word = |word: &str| bare.split(|c: char| !c.is_alphanumeric()).any(|written| written == word);
    if text.starts_with("${") {
        return wrong("it stands inside another `${`", "write it without the second `${`");
    }
    if bare.contains("??") || bare.contains("?.") {
        return wrong("what is not there is null anyway", "write `has(user.name) ? user.name : 'nobody'`");
    }
    if bare.contains("[*]") {
        return wrong("`[*]` is written otherwise", "write `users.map(u, u.id)`");
    }
    if alone('=') {
        return wrong("`=` alone compares nothing", "write `==`");
    }
    if alone('&') || word("and") {
        return wrong("`and` is written otherwise", "write `&&`");
    }
    if alone('|') || word("or") {
        return wrong("`or` is written otherwise", "write `||`");
    }
    if word("not") {
        return wrong("`not` is written otherwise", "write `!`");
    }
    if errors.errors.iter().any(|error| error.msg.contains("has()")) {
        return wrong(
            "`has` takes a name and its part",
            "write it as in `has(query.page)`, or `header('X-User') != null`",
        );
    }
    wrong(
        "its parts do not fit together",
        "write it as in `${header('X-User')}` or `${query.nocache == '1'}`; texts stand between quotes",
    )
}
