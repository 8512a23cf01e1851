//! Writes down what the program needs for its plugin: its slash commands, and the files that it has as they are.

use proc_macro2::TokenStream;
use quote::quote;

use super::ident::kebab;
use super::table::template;
use super::{Context, option};
use crate::model::{Does, SlashCommand};

pub(super) fn emit(context: &Context<'_>) -> TokenStream {
    let Some(plugin) = &context.machine.plugin else {
        return quote! { None };
    };
    let commands = context.machine.slash_commands().into_iter();
    let commands = commands.map(|one| command(context, &one));
    let files = plugin
        .files
        .iter()
        .map(|file| template(context, &file.value));
    let permits = plugin.permits.iter().map(|rule| &rule.value);
    quote! {
        Some(rt::program::plugin::PluginInfo {
            commands: &[#(#commands),*],
            files: &[#(#files),*],
            permits: &[#(#permits),*],
            spec: SPEC,
            authors: env!("CARGO_PKG_AUTHORS"), homepage: env!("CARGO_PKG_HOMEPAGE"),
            repository: env!("CARGO_PKG_REPOSITORY"), license: env!("CARGO_PKG_LICENSE"),
        })
    }
}

fn command(context: &Context<'_>, command: &SlashCommand<'_>) -> TokenStream {
    let name = kebab(command.name);
    let (does, its_own) = match command.does {
        Does::Start(mode) => {
            let name = &mode.name.value;
            (quote! { Start(#name) }, mode.doc.as_str())
        }
        Does::Take => {
            let doc = &context.first(command.name).doc;
            let name = command.name;
            (quote! { Take(#name) }, doc.as_str())
        }
        Does::Own => (quote! { Own }, ""),
    };
    let declared = command.declared;
    let doc = declared.map_or("", |declared| declared.doc.as_str());
    let doc = if doc.is_empty() { its_own } else { doc };
    let arguments = option(declared.and_then(|declared| declared.arguments.as_ref()));
    let text = declared.and_then(|declared| declared.text.as_ref());
    let text = option(text.map(|text| template(context, &text.value)));
    quote! {
        rt::program::plugin::CommandInfo {
            name: #name, does: rt::program::plugin::Does::#does, doc: #doc, arguments: #arguments, text: #text,
        }
    }
}
