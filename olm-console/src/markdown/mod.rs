//! Texts of authors, often Markdown: what is markup of their own is dropped, and nothing is loaded from outside.
//!
//! Links lead to addresses of a few schemes. A picture becomes its description. What the writer of HTML gets are
//! events of CommonMark alone, whose texts and addresses it escapes.

use pulldown_cmark::{
    Alignment, CodeBlockKind, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html,
};

/// Bytes of a text that are shown.
const LONGEST: usize = 24 * 1024;

/// Bytes of markup that are made of it: a page has 150 KiB at most.
const LARGEST: usize = 32 * 1024;

/// Where links may lead.
const SCHEMES: [&str; 3] = ["https://", "http://", "mailto:"];

/// Markup of a text; it may stand in a page as it is.
pub(crate) fn markup(text: &str) -> String {
    let shown = beginning(text);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut links = Vec::new();
    let events = Parser::new_ext(shown, options).filter_map(|event| kept(event, &mut links));
    let mut markup = String::new();
    html::push_html(&mut markup, events);
    if markup.len() > LARGEST {
        markup = "<p>This text is too large to be shown.</p>".to_owned();
    } else if shown.len() < text.len() {
        markup.push_str("<p>This text is longer than what is shown.</p>");
    }
    markup
}

/// As much as is shown, to the end of a character.
fn beginning(text: &str) -> &str {
    let end = (0..=LONGEST.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

/// An event as it is written; `links` says of each open link whether it is.
fn kept<'a>(event: Event<'a>, links: &mut Vec<bool>) -> Option<Event<'a>> {
    match event {
        Event::Html(_) | Event::InlineHtml(_) => None,
        Event::Start(tag) => opened(tag, links).map(Event::Start),
        Event::End(end) => closed(end, links).map(Event::End),
        Event::Text(_) | Event::Code(_) | Event::SoftBreak | Event::HardBreak | Event::Rule => {
            Some(event)
        }
        // Extensions that are not turned on.
        _ => None,
    }
}

fn opened<'a>(tag: Tag<'a>, links: &mut Vec<bool>) -> Option<Tag<'a>> {
    match tag {
        Tag::HtmlBlock | Tag::Image { .. } => None,
        Tag::Link { link_type, ref dest_url, .. } => {
            let leads = link_type == LinkType::Email || is_allowed(dest_url);
            links.push(leads);
            leads.then_some(tag)
        }
        Tag::Heading { level, .. } => {
            Some(Tag::Heading { level: below(level), id: None, classes: vec![], attrs: vec![] })
        }
        Tag::CodeBlock(_) => Some(Tag::CodeBlock(CodeBlockKind::Indented)),
        // Others become style attributes, which no page has.
        Tag::Table(columns) => Some(Tag::Table(vec![Alignment::None; columns.len()])),
        tag => Some(tag),
    }
}

fn closed(end: TagEnd, links: &mut Vec<bool>) -> Option<TagEnd> {
    match end {
        TagEnd::HtmlBlock | TagEnd::Image => None,
        TagEnd::Link => links.pop().unwrap_or_default().then_some(end),
        TagEnd::Heading(level) => Some(TagEnd::Heading(below(level))),
        end => Some(end),
    }
}

/// Addresses have a scheme: others would lead to pages of this server.
fn is_allowed(address: &str) -> bool {
    let starts = |scheme: &&str| {
        address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    SCHEMES.iter().any(starts)
}

/// Headings of a text stand below those of its page.
fn below(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H3,
        HeadingLevel::H2 => HeadingLevel::H4,
        HeadingLevel::H3 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

#[cfg(test)]
mod tests;
