//! Checks where documents lie that are the user's own: at a path that is no second loop's, and nowhere in the engine's folder.

use super::Index;
use crate::diagnostic::Diagnostic;
use crate::model::{Active, Held, IdForm};

pub(super) fn file(index: &Index<'_>, found: &mut Vec<Diagnostic>) {
    let (machine, state) = (index.machine, &index.machine.state);
    let Some(file) = &state.file else {
        return;
    };
    if let Some(extension) = &state.extension {
        let message =
            "`extension` is for documents in the engine's folder, and `file` is another place";
        let one = extension.problem("bad_file", message);
        found.push(one.help("remove one of them"));
    }
    let mut bad = |message: String, help: String| {
        let one = file.problem("bad_file", message);
        found.push(one.help(help));
    };
    let shown = &*file.value;
    let parts: Vec<&str> = shown.split('/').collect();
    if parts.iter().any(|part| matches!(*part, "" | ".")) {
        bad(
            format!("`file` cannot be {shown:?}"),
            "it is the path of a file from the loop's root, in its shortest form".to_owned(),
        );
        return;
    }
    let id = format!("{{{}}}", machine.holder(Held::Id).unwrap_or("id"));
    let places = shown.matches(&id).count();
    if places > 1 || shown.replace(&id, "").contains(['{', '}']) {
        bad(
            format!("{shown:?} has something else than one `{id}` in braces"),
            format!("the id is all that may be filled in, once: `plans/{id}/state.json`"),
        );
    } else if places == 0 && state.active != Active::One {
        bad(
            format!("two loops could share {shown:?}"),
            format!("let `{id}` stand in it, or leave `active` out: one loop at a time"),
        );
    } else if places == 0 && state.ids == IdForm::Name {
        bad(
            format!("{shown:?} is every loop's, whatever its name"),
            format!("let `{id}` stand in it, or leave `ids` out: a loop gets a stamp"),
        );
    }
    let engine_folder = machine.folder();
    let mut folder = engine_folder.split('/').enumerate();
    if folder.all(|(at, part)| (parts.get(at)).is_some_and(|found| may_be(found, &id, part))) {
        bad(
            format!("{shown:?} may lie in the engine's own folder `{engine_folder}`"),
            "put one of them elsewhere; a document there needs no `file`".to_owned(),
        );
    }
    if let Some(variable) = &state.folder_env {
        bad(
            format!(
                "`{}` may name one folder for several projects, each with its own {shown:?}",
                variable.value
            ),
            "leave `folder_env` or `file` out".to_owned(),
        );
    }
}

/// Returns whether a part of the path may have this name, for some loop.
fn may_be(part: &str, id: &str, name: &str) -> bool {
    let Some((before, after)) = part.split_once(id) else {
        return part == name;
    };
    let of_an_id = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let rest = name
        .strip_prefix(before)
        .and_then(|name| name.strip_suffix(after));
    rest.is_some_and(|id| !id.is_empty() && id.bytes().all(of_an_id))
}
