//! The check of screens: where people will look at or fill in something, can everybody.

use super::check::{Check, Hit, Rule, Subject};
use super::pattern::{any, patterns};
use super::plan::Plan;
use super::question::{answered, quotes, relevant};
use crate::{PointOfView, Severity};

pub(super) const CHECKS: &[Check] = &[Check {
    id: "ENG-ACCESSIBILITY",
    subject: Subject::Screens,
    views: &[PointOfView::Engineering],
    severity: Severity::Low,
    run: Rule::Own(screens),
}];

/// "Page" and "form" alone are as often a wiki's page and a form of words.
const SHOWN: &[&str] = &[
    "add|adds|build|builds|new|create|creates|design|designs|redesign*|implement*|replace*|rework* page|screen|form|dialog|modal|wizard|banner|widget|button|ui|tab|dropdown",
    "add|adds|build|builds|new|create|creates|design|designs|redesign*|implement*|replace*|rework* a|an|the|our|two|three|new page|screen|form|dialog|modal|wizard|banner|widget|button|ui|tab|dropdown",
    "add|adds|build|builds|create|creates|design|redesign*|implement* .. screen|screens|dialog|modal|wizard|button|buttons|dropdown",
    "login|signup|settings|search|checkout|profile|landing|web|order|booking|registration|payment|contact|product|results|details|history|account|admin|preferences|home|cart|upload|web page|screen|form|pages|screens|forms",
    "page|screen|form|dialog in|with react|vue|angular|svelte|swiftui",
    "in|with|using react|vue|angular|svelte|swiftui|flutter",
    "react|vue|angular|svelte|swiftui|flutter app|component*|page*|frontend|screen*|native",
    "build|builds|design|redesign* pages|screens|forms",
    "web|mobile|new checkout",
    "user*|customer*|visitor*|member* clicks|taps|presses",
    "frontend|front end",
    "user interface",
    "drag and drop",
    "the|a|new|web|admin|our ui",
    "ui has|is|for|in|with",
    "mockup|mockups|wireframe*|storybook",
    "dark mode",
    "shadcn|tailwind|bootstrap|next js",
    "date picker|progress bar|tooltip*|carousel",
    "kiosk|touchscreen|touch screen",
];

const ANSWERED: &[&str] = &[
    "accessib*",
    "wcag|a11y|aria|axe",
    "keyboard",
    "screen reader|readers",
    "talkback|voiceover|nvda|jaws",
    "contrast",
    "font scale*|size*",
    "dynamic type",
    "alt text*",
    "focus order|ring|trap|management|visible",
    "tab order",
    "colour|color blind*",
    "disab* people|person|user*|customer*",
    "blind|impaired user*|people|person|customer*|tester*",
    "en 301",
    "section 508",
];

fn screens(plan: &Plan) -> Option<Hit> {
    // A page for those who run it is text.
    let written = patterns(&["runbook*|wiki|handbook|readme|documentation|docs|manual|man"]);
    let mut shown = relevant(plan, SHOWN);
    shown.retain(|(sentence, _)| !any(&written, &sentence.words));
    let quotes = quotes(plan, &shown);
    let line = quotes.first()?.line;
    (!answered(plan, ANSWERED)).then_some(Hit {
        severity: Severity::Low,
        line,
        what: "people will use a screen, and nothing says that those can who see, hear or move differently".to_owned(),
        add: "name the level that it must reach (WCAG 2.2 AA), and how that is checked: keyboard alone, a screen reader, contrast, large text",
        quotes,
    })
}
