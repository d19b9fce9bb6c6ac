//! The grammar of `--where`.
//!
//! ```text
//! either     = both ("or" both)*
//! both       = negated ("and" negated)*
//! negated    = "not" negated | "(" either ")" | test
//! test       = NAME ("=" | "!=" | "<" | "<=" | ">" | ">=") LITERAL
//!            | NAME "is" ["not"] "missing"
//!            | NAME ["not"] "in" "(" LITERAL ("," LITERAL)* ")"
//! ```
//!
//! A name or literal is a word, or any text in quotes: `"` around a name, `'` around a literal; a quote within is doubled.

/// The nesting of an expression that is accepted.
const MAX_DEPTH: usize = 64;

/// A condition on one row.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression<T> {
    Test(T),
    Not(Box<Expression<T>>),
    And(Vec<Expression<T>>),
    Or(Vec<Expression<T>>),
}

/// A condition on one column, by its name. `L`: what it is compared with, as the caller wrote it.
#[derive(Clone, Debug, PartialEq)]
pub enum Test<L = Literal> {
    Compare { column: String, operator: Operator, literal: L },
    Missing { column: String },
    In { column: String, literals: Vec<L> },
}

impl<L> Test<L> {
    /// Returns the name of the column.
    pub fn column(&self) -> &str {
        match self {
            Test::Compare { column, .. } | Test::Missing { column } | Test::In { column, .. } => column,
        }
    }

    /// Returns the same condition with other literals.
    pub fn with<M>(self, change: impl Fn(L) -> M) -> Test<M> {
        match self {
            Test::Compare { column, operator, literal } => Test::Compare { column, operator, literal: change(literal) },
            Test::Missing { column } => Test::Missing { column },
            Test::In { column, literals } => Test::In { column, literals: literals.into_iter().map(change).collect() },
        }
    }
}

/// How a value and a literal compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// A value as the caller wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    pub text: String,
    /// It was in quotes, so it is a text even if it looks like a number.
    pub quoted: bool,
}

/// Parses an expression. An error tells the place of what it is about, unless that is the end.
pub fn parse(text: &str) -> Result<Expression<Test>, String> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0 };
    let parsed = parser.either(MAX_DEPTH).and_then(|expression| match parser.next() {
        None => Ok(expression),
        Some(token) => Err(format!("unexpected {token}; conditions are joined by and, or")),
    });
    parsed.map_err(|why| match parser.tokens.get(parser.at.saturating_sub(1)) {
        Some((_, rest)) => format!("{why}, at character {}", place(text, rest)),
        None => why,
    })
}

/// Returns the number of the character with which `rest`, the end of `text`, begins.
fn place(text: &str, rest: &str) -> usize {
    let before = text.len().saturating_sub(rest.len());
    text.get(..before).unwrap_or_default().chars().count().saturating_add(1)
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    /// In double quotes.
    Name(String),
    /// In single quotes.
    Text(String),
    Operator(Operator),
    Open,
    Close,
    Comma,
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Token::Word(word) => write!(f, "{word:?}"),
            Token::Name(name) => write!(f, "\"{name}\""),
            Token::Text(text) => write!(f, "'{text}'"),
            Token::Operator(operator) => f.write_str(operator.sign()),
            Token::Open => f.write_str("\"(\""),
            Token::Close => f.write_str("\")\""),
            Token::Comma => f.write_str("\",\""),
        }
    }
}

impl Operator {
    /// The signs, the longer ones first.
    const ALL: [(&str, Operator); 8] = [
        ("!=", Operator::NotEqual),
        ("<>", Operator::NotEqual),
        ("<=", Operator::AtMost),
        (">=", Operator::AtLeast),
        ("==", Operator::Equal),
        ("=", Operator::Equal),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ];

    fn sign(self) -> &'static str {
        Operator::ALL.iter().rev().find(|(_, operator)| *operator == self).map_or("", |(sign, _)| sign)
    }
}

/// Splits a text into tokens, each with the rest of the text that begins with it.
fn tokens(text: &str) -> Result<Vec<(Token, &str)>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let sign = Operator::ALL.iter().find_map(|(sign, operator)| Some((rest.strip_prefix(sign)?, operator)));
        let (token, behind) = match first {
            '(' => (Token::Open, rest.get(1..).unwrap_or_default()),
            ')' => (Token::Close, rest.get(1..).unwrap_or_default()),
            ',' => (Token::Comma, rest.get(1..).unwrap_or_default()),
            '"' | '\'' => {
                let (quoted, behind) = quoted(rest, first)
                    .ok_or_else(|| format!("a {first} is not closed, at character {}", place(text, rest)))?;
                (if first == '"' { Token::Name(quoted) } else { Token::Text(quoted) }, behind)
            }
            _ => match sign {
                Some((behind, operator)) => (Token::Operator(*operator), behind),
                None => {
                    let end = rest.find(|c: char| c.is_whitespace() || "(),\"'=<>!".contains(c)).unwrap_or(rest.len());
                    let (word, behind) = rest.split_at(end);
                    if word.is_empty() {
                        return Err(format!("unexpected {first:?}, at character {}", place(text, rest)));
                    }
                    (Token::Word(word.to_owned()), behind)
                }
            },
        };
        tokens.push((token, rest));
        rest = behind.trim_start();
    }
    Ok(tokens)
}

/// Splits a text in quotes off `rest`, which begins with `quote`. `None` if it is not closed.
fn quoted(rest: &str, quote: char) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut rest = rest.strip_prefix(quote).unwrap_or_default();
    loop {
        let (part, behind) = rest.split_once(quote)?;
        text.push_str(part);
        let Some(more) = behind.strip_prefix(quote) else { return Some((text, behind)) };
        text.push(quote);
        rest = more;
    }
}

struct Parser<'a> {
    tokens: Vec<(Token, &'a str)>,
    at: usize,
}

impl Parser<'_> {
    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).map(|(token, _)| token.clone());
        self.at = self.at.saturating_add(1);
        token
    }

    /// Takes the next token if it is `word`, in any case.
    fn takes(&mut self, word: &str) -> bool {
        let found = matches!(self.tokens.get(self.at), Some((Token::Word(w), _)) if w.eq_ignore_ascii_case(word));
        self.at = self.at.saturating_add(found.into());
        found
    }

    fn takes_token(&mut self, token: &Token) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|(next, _)| next == token);
        self.at = self.at.saturating_add(found.into());
        found
    }

    fn wants(&mut self, token: &Token) -> Result<(), String> {
        match self.next() {
            Some(next) if next == *token => Ok(()),
            Some(next) => Err(format!("expected {token}, found {next}")),
            None => Err(format!("expected {token} at the end")),
        }
    }

    fn either(&mut self, depth: usize) -> Result<Expression<Test>, String> {
        let mut all = vec![self.both(depth)?];
        while self.takes("or") {
            all.push(self.both(depth)?);
        }
        Ok(joined(all, Expression::Or))
    }

    fn both(&mut self, depth: usize) -> Result<Expression<Test>, String> {
        let mut all = vec![self.negated(depth)?];
        while self.takes("and") {
            all.push(self.negated(depth)?);
        }
        Ok(joined(all, Expression::And))
    }

    fn negated(&mut self, depth: usize) -> Result<Expression<Test>, String> {
        let depth = depth.checked_sub(1).ok_or_else(|| format!("nested more than {MAX_DEPTH} deep"))?;
        if self.takes("not") {
            return Ok(Expression::Not(Box::new(self.negated(depth)?)));
        }
        if self.takes_token(&Token::Open) {
            let inner = self.either(depth)?;
            self.wants(&Token::Close)?;
            return Ok(inner);
        }
        self.test()
    }

    fn test(&mut self) -> Result<Expression<Test>, String> {
        let column = match self.next() {
            Some(Token::Word(name) | Token::Name(name)) => name,
            Some(other) => return Err(format!("expected the name of a column, found {other}")),
            None => return Err("expected the name of a column at the end".to_owned()),
        };
        if self.takes("is") {
            let negated = self.takes("not");
            if !self.takes("missing") && !self.takes("null") {
                self.at = self.at.saturating_add(1);
                return Err(format!("expected missing after {column} is"));
            }
            return Ok(not_if(negated, Test::Missing { column }));
        }
        let negated = self.takes("not");
        if self.takes("in") {
            self.wants(&Token::Open)?;
            let mut literals = vec![self.literal()?];
            while self.takes_token(&Token::Comma) {
                literals.push(self.literal()?);
            }
            self.wants(&Token::Close)?;
            return Ok(not_if(negated, Test::In { column, literals }));
        }
        match self.next() {
            Some(Token::Operator(operator)) if !negated => {
                let literal = self.literal()?;
                Ok(Expression::Test(Test::Compare { column, operator, literal }))
            }
            Some(other) => Err(format!("expected = != < <= > >= is in after {column:?}, found {other}")),
            None => Err(format!("expected = != < <= > >= is in after {column:?}")),
        }
    }

    fn literal(&mut self) -> Result<Literal, String> {
        match self.next() {
            Some(Token::Word(text)) => Ok(Literal { text, quoted: false }),
            Some(Token::Text(text) | Token::Name(text)) => Ok(Literal { text, quoted: true }),
            Some(other) => Err(format!("expected a value, found {other}")),
            None => Err("expected a value at the end".to_owned()),
        }
    }
}

fn not_if(negated: bool, test: Test) -> Expression<Test> {
    let test = Expression::Test(test);
    if negated { Expression::Not(Box::new(test)) } else { test }
}

fn joined(mut all: Vec<Expression<Test>>, join: fn(Vec<Expression<Test>>) -> Expression<Test>) -> Expression<Test> {
    match all.pop() {
        Some(only) if all.is_empty() => only,
        last => {
            all.extend(last);
            join(all)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(column: &str, operator: Operator, text: &str) -> Expression<Test> {
        let literal = Literal { text: text.to_owned(), quoted: false };
        Expression::Test(Test::Compare { column: column.to_owned(), operator, literal })
    }

    #[test]
    fn and_binds_more_than_or() {
        let wanted = Expression::Or(vec![
            compare("a", Operator::Equal, "1"),
            Expression::And(vec![compare("b", Operator::AtLeast, "2026-01-01"), compare("c", Operator::Less, "-3.5")]),
        ]);
        assert_eq!(parse("a=1 or b >= 2026-01-01 and c<-3.5"), Ok(wanted.clone()));
        assert_eq!(parse("((a == 1)) OR (b>=2026-01-01 AND c < -3.5)"), Ok(wanted));
    }

    #[test]
    fn tests_of_every_kind() {
        let missing = || Test::Missing { column: "the name".to_owned() };
        assert_eq!(parse("\"the name\" is missing"), Ok(Expression::Test(missing())));
        assert_eq!(parse("\"the name\" is not missing"), Ok(not_if(true, missing())));
        let literal = |text: &str, quoted| Literal { text: text.to_owned(), quoted };
        let literals = vec![literal("a", false), literal("b,'c", true)];
        let test = Test::In { column: "x".to_owned(), literals };
        assert_eq!(parse("x in (a, 'b,''c')"), Ok(Expression::Test(test.clone())));
        assert_eq!(parse("not x not in (a,'b,''c')"), Ok(Expression::Not(Box::new(not_if(true, test)))));
    }

    #[test]
    fn mistakes_are_told() {
        for (text, part) in [
            ("", "the name of a column at the end"),
            ("a", "= != < <= > >= is in after \"a\""),
            ("a = ", "a value at the end"),
            ("a = 1 b = 2", "unexpected \"b\"; conditions are joined by and, or, at character 7"),
            ("a is 3", "expected missing after a is, at character 6"),
            ("a is", "expected missing after a is"),
            ("é in 3", "expected \"(\", found \"3\", at character 6"),
            ("a in (3", "expected \")\" at the end"),
            ("(a = 3", "expected \")\" at the end"),
            ("a = 'x", "a ' is not closed, at character 5"),
            ("a ! 3", "unexpected '!', at character 3"),
            (&"(".repeat(100_000), "nested more than 64 deep"),
            (&"not ".repeat(100_000), "nested more than 64 deep"),
        ] {
            let message = parse(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
        // At the end there is no place to tell.
        for text in ["", "a", "a = ", "a is", "a in (3", "not"] {
            assert!(!parse(text).unwrap_err().contains("at character"), "{text}");
        }
    }
}
