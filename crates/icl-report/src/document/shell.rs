//! What every page of ours is wrapped in: one file with its style, and nothing fetched.

use crate::document::html::escape;

const STYLE: &str = include_str!("page.css");

/// A page of this title, as plain text, and this body, as markup.
pub(crate) fn shell(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escape(title)
    )
}

/// A part of a page; title and content are markup.
pub(crate) fn section(title: &str, content: &str) -> String {
    format!("<section>\n<h2>{title}</h2>\n{content}</section>\n")
}
