//! Tokens of source files, without their tests.

use anyhow::anyhow;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::sources::Source;

/// Returns the tokens of a file without what is compiled for tests only. Comments for documentation are attributes.
///
/// # Errors
/// If the file is no Rust program text; the error names the file and the line.
pub fn tokens(source: &Source) -> anyhow::Result<Vec<TokenTree>> {
    let tokens: Result<TokenStream, _> = source.text.parse();
    let tokens = tokens.map_err(|error| {
        let line = error.span().start().line;
        anyhow!("{}:{line}: {error}", source.path.display())
    })?;
    let tokens = without_tests(tokens);
    let is_test = |three: &[TokenTree]| is_mark(&three[1], '!') && is_for_tests(&three[2]);
    Ok(match tokens.windows(3).any(is_test) {
        true => Vec::new(),
        false => tokens,
    })
}

fn without_tests(tokens: TokenStream) -> Vec<TokenTree> {
    let mut kept = Vec::new();
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        match token {
            // An item ends with its body or a semicolon.
            attribute
                if is_for_tests(&attribute) && kept.last().is_some_and(|it| is_mark(it, '#')) =>
            {
                kept.pop();
                let ends = |it: &TokenTree| is_mark(it, ';') || is_group(it, Delimiter::Brace);
                tokens.by_ref().find(ends);
            }
            TokenTree::Group(group) => {
                let inside = without_tests(group.stream()).into_iter().collect();
                let mut changed = Group::new(group.delimiter(), inside);
                changed.set_span(group.span());
                kept.push(TokenTree::Group(changed));
            }
            token => kept.push(token),
        }
    }
    kept
}

/// Checks whether the brackets of an attribute hold a `cfg` that holds in tests only.
fn is_for_tests(attribute: &TokenTree) -> bool {
    let TokenTree::Group(group) = attribute else {
        return false;
    };
    let inside: Vec<TokenTree> = group.stream().into_iter().collect();
    match &inside[..] {
        [name, TokenTree::Group(condition)] if is_word(name, "cfg") => {
            needs_test(condition.stream())
        }
        _ => false,
    }
}

/// Checks whether a condition is false wherever `test` and `doctest` are.
fn needs_test(condition: TokenStream) -> bool {
    let condition: Vec<TokenTree> = condition.into_iter().collect();
    match &condition[..] {
        [word] => is_word(word, "test") || is_word(word, "doctest"),
        [word, TokenTree::Group(group)] => {
            let inside: Vec<TokenTree> = group.stream().into_iter().collect();
            let parts = inside.split(|it| is_mark(it, ','));
            let mut parts = parts.filter(|part| !part.is_empty());
            let needs = |part: &[TokenTree]| needs_test(part.iter().cloned().collect());
            is_word(word, "all") && parts.any(needs) || is_word(word, "any") && parts.all(needs)
        }
        _ => false,
    }
}

/// Checks whether a token is this name.
pub fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(it) if it == word)
}

/// Checks whether a token is this mark.
pub fn is_mark(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(it) if it.as_char() == mark)
}

/// Checks whether a token is a pair of these brackets.
pub fn is_group(token: &TokenTree, brackets: Delimiter) -> bool {
    matches!(token, TokenTree::Group(it) if it.delimiter() == brackets)
}

/// Returns the number of the line that a token begins on.
pub fn line(token: &TokenTree) -> usize {
    token.span().start().line
}

/// Returns all tokens in their order, those within brackets after the bracket itself.
pub fn flat(tokens: impl IntoIterator<Item = TokenTree>) -> Vec<TokenTree> {
    let mut all = Vec::new();
    for token in tokens {
        all.push(token.clone());
        if let TokenTree::Group(group) = token {
            all.extend(flat(group.stream()));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> anyhow::Result<String> {
        let (path, text) = ("a.rs".into(), text.into());
        let tokens = tokens(&Source { path, text })?;
        Ok(tokens.into_iter().collect::<TokenStream>().to_string())
    }

    #[test]
    fn what_is_compiled_for_tests_only_is_left_out() {
        let file = "#[cfg(test)] mod a; #[cfg(all(unix, test))] #[b] fn b() {} fn c() {}\
                    #[cfg(doctest)] mod d; #[cfg(any(test, feature = \"e\"))] mod e {}\
                    #[cfg(not(test))] fn f() {} impl G { #[cfg(test)] fn g() {} fn h() {} }";
        let expected = "fn c () { } # [cfg (any (test , feature = \"e\"))] mod e { } \
                        # [cfg (not (test))] fn f () { } impl G { fn h () { } }";
        assert_eq!(text(file).unwrap(), expected);
        assert_eq!(text("//! Doc.\n#![cfg(test)]\nfn a() {}").unwrap(), "");
    }

    #[test]
    fn an_error_names_file_and_line() {
        let error = text("fn a() {}\nfn b( {}\n").unwrap_err().to_string();
        assert!(error.starts_with("a.rs:"), "{error}");
    }
}
