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

/// A link that is open.
struct Link {
    /// Where it leads, unless it is dropped.
    address: Option<String>,
    has_text: bool,
}

/// Markup of a text; it may stand in a page as it is.
pub(crate) fn markup(text: &str) -> String {
    let shown = beginning(text);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut links = Vec::new();
    let events = Parser::new_ext(shown, options);
    let events = events.flat_map(|event| kept(event, &mut links).into_iter().flatten());
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

/// An event as it is written, with the text of a link that has none.
fn kept<'a>(event: Event<'a>, links: &mut Vec<Link>) -> [Option<Event<'a>>; 2] {
    let event = match event {
        Event::Html(_) | Event::InlineHtml(_) => None,
        Event::Start(tag) => opened(tag, links).map(Event::Start),
        Event::End(TagEnd::Link) => return left(links),
        Event::End(end) => closed(end).map(Event::End),
        Event::Text(ref text) | Event::Code(ref text) => {
            let has_text = !text.trim().is_empty();
            links.iter_mut().for_each(|link| link.has_text |= has_text);
            Some(event)
        }
        Event::SoftBreak | Event::HardBreak | Event::Rule => Some(event),
        // Extensions that are not turned on.
        _ => None,
    };
    [event, None]
}

/// The end of a link. One that shows nothing, such as a picture without a description, shows where it leads.
fn left<'a>(links: &mut Vec<Link>) -> [Option<Event<'a>>; 2] {
    let Some(Link { address: Some(address), has_text }) = links.pop() else { return [None, None] };
    let name = (!has_text).then(|| Event::Text(address.into()));
    [name, Some(Event::End(TagEnd::Link))]
}

fn opened<'a>(tag: Tag<'a>, links: &mut Vec<Link>) -> Option<Tag<'a>> {
    match tag {
        Tag::HtmlBlock | Tag::Image { .. } => None,
        Tag::Link { link_type, ref dest_url, .. } => {
            let leads = link_type == LinkType::Email || is_allowed(dest_url);
            links.push(Link { address: leads.then(|| dest_url.to_string()), has_text: false });
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

fn closed(end: TagEnd) -> Option<TagEnd> {
    match end {
        TagEnd::HtmlBlock | TagEnd::Image => None,
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
