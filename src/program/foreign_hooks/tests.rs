use serde_json::json;

use super::*;

/// A home with a client's configuration, and a project below a path that a careless reader trips over.
struct Machine {
    _kept: tempfile::TempDir,
    places: Places,
}

impl Machine {
    fn new() -> Self {
        let kept = tempfile::tempdir().unwrap();
        let top = Utf8PathBuf::from_path_buf(kept.path().canonicalize().unwrap()).unwrap();
        let project = top.join("my plän's (1)");
        std::fs::create_dir_all(&project).unwrap();
        let places = Places {
            config: Some(top.join("home/.claude")),
            project: vec![project],
            managed: vec![top.join("etc")],
            home: Some(top.join("home")),
        };
        Self {
            _kept: kept,
            places,
        }
    }

    fn project(&self) -> &Utf8Path {
        &self.places.project[0]
    }

    fn config(&self, name: &str) -> Utf8PathBuf {
        self.places.config.as_ref().unwrap().join(name)
    }

    fn write(&self, file: &Utf8Path, text: impl ToString) {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text.to_string()).unwrap();
    }

    fn survey(&self) -> Survey {
        let own = Own {
            program: "release-train",
            plugin: Some("train"),
            folder: ".claude/train",
        };
        survey(&self.places, own)
    }

    /// The natures of the hooks that are found with this in the user's settings.
    fn natures(&self, hook: &Value) -> Vec<HookKind> {
        self.write(&self.config("settings.json"), stops(hook));
        self.survey()
            .hooks
            .into_iter()
            .map(|hook| hook.nature)
            .collect()
    }

    /// A plugin in a folder of its own, from a marketplace that is a folder, with this as its hooks.
    fn plugin(&self, name: &str, hooks: &Value) -> Utf8PathBuf {
        let market = self.project().parent().unwrap().join("a market");
        let root = market.join("plugins").join(name);
        self.write(&root.join("hooks/hooks.json"), hooks);
        self.write(
            &market.join(".claude-plugin/marketplace.json"),
            json!({"name": "m", "plugins": [{"name": name, "source": format!("./plugins/{name}")}]}),
        );
        let copy = self.config(&format!("plugins/cache/m/{name}/1.0.0"));
        std::fs::create_dir_all(&copy).unwrap();
        self.write(
            &self.config("plugins/installed_plugins.json"),
            json!({"version": 2, "plugins": {format!("{name}@m"): [{"scope": "user", "installPath": copy}]}}),
        );
        self.write(
            &self.config("plugins/known_marketplaces.json"),
            json!({"m": {"source": {"source": "directory", "path": market}, "installLocation": market}}),
        );
        self.enable(&self.config("settings.json"), &format!("{name}@m"), true);
        root
    }

    fn enable(&self, file: &Utf8Path, key: &str, on: bool) {
        self.write(file, json!({"enabledPlugins": {key: on}}));
    }
}

fn stops(hook: &Value) -> Value {
    json!({"hooks": {"Stop": [{"hooks": [hook]}]}})
}

fn command(line: &str) -> Value {
    json!({"type": "command", "command": line})
}

#[test]
fn the_hooks_that_are_printed_are_ours_and_others_are_not() {
    let machine = Machine::new();
    for program in ["release-train", "/opt/a b/it's/release-train"] {
        machine.write(
            &machine.config("settings.json"),
            crate::program::hooks::settings(program, true),
        );
        let found = machine.survey().hooks;
        assert_eq!(
            found.iter().map(|hook| hook.nature).collect::<Vec<_>>(),
            [HookKind::Ours],
            "{program}"
        );
    }
    let exec =
        json!({"type": "command", "command": "/x y/release-train", "args": ["hook", "stop"]});
    assert_eq!(machine.natures(&exec), [HookKind::Ours]);
    // The script of a plugin as it is written, which speaks of blocking itself.
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/release-train/plugin/hooks/stop-hook.sh"
    );
    let exec = json!({"type": "command", "command": script, "args": []});
    assert_eq!(machine.natures(&exec), [HookKind::Ours]);
    for other in [
        "other hook stop",
        "release-train status",
        "my-release-train hook stop",
    ] {
        assert_eq!(
            machine.natures(&command(other)),
            [HookKind::Other],
            "{other}"
        );
    }
}

#[test]
fn a_hook_may_hold_a_turn_where_its_line_or_its_script_speaks_of_blocking() {
    let machine = Machine::new();
    let script = machine.project().join("it's a gate.sh");
    for text in [
        "echo '{\"decision\": \"block\"}'",
        "exit 2",
        "process.exit(2)",
        "sys.exit(2)",
    ] {
        assert_eq!(
            machine.natures(&command(text)),
            [HookKind::Blocks],
            "{text}"
        );
        machine.write(&script, text);
        for line in [
            "sh \"${CLAUDE_PROJECT_DIR}/it's a gate.sh\"",
            "sh \"$CLAUDE_PROJECT_DIR/it's a gate.sh\" && true",
            "sh \"it's a gate.sh\"",
        ] {
            assert_eq!(
                machine.natures(&command(line)),
                [HookKind::Blocks],
                "{text}: {line}"
            );
        }
        let exec = json!({"type": "command", "command": "sh", "args": ["${CLAUDE_PROJECT_DIR}/it's a gate.sh"]});
        assert_eq!(machine.natures(&exec), [HookKind::Blocks], "{text}");
    }
    machine.write(&script, "printf '\\a'");
    assert_eq!(
        machine.natures(&command("sh \"it's a gate.sh\"")),
        [HookKind::Other]
    );
    assert_eq!(
        machine.natures(&json!({"type": "prompt", "prompt": "Are we done?"})),
        [HookKind::Blocks]
    );
}

#[test]
fn a_hook_on_our_state_folder_or_of_a_plugin_of_our_name_is_told_from_others_that_block() {
    let machine = Machine::new();
    for (text, nature) in [
        ("ls .claude/train/*.state; exit 2", HookKind::SharesState),
        ("d=.claude/train", HookKind::SharesState),
        (
            "ls .claude/trains .claude/train-2; exit 2",
            HookKind::Blocks,
        ),
        ("ls .claude/trains", HookKind::Other),
    ] {
        assert_eq!(machine.natures(&command(text)), [nature], "{text}");
    }
    let nature = |name: &str, helper: &str| {
        let root = machine.plugin(
            name,
            &stops(&command("sh \"${CLAUDE_PLUGIN_ROOT}/hooks/stop.sh\"")),
        );
        machine.write(
            &root.join("hooks/stop.sh"),
            ". ../scripts/helpers.sh; exit 2",
        );
        machine.write(&root.join("scripts/helpers.sh"), helper);
        machine.survey().hooks[0].nature
    };
    assert_eq!(nature("other", "ls"), HookKind::Blocks);
    assert_eq!(nature("other", "ls .claude/train/"), HookKind::SharesState);
    assert_eq!(nature("train", "ls"), HookKind::SharesState);
}

#[test]
fn every_settings_file_is_looked_at_and_other_events_are_not() {
    let machine = Machine::new();
    let files = [
        machine.config("settings.json"),
        machine.project().join(".claude/settings.json"),
        machine.project().join(".claude/settings.local.json"),
        machine.places.managed[0].join("managed-settings.json"),
        machine.places.managed[0].join("managed-settings.d/a.json"),
    ];
    for file in &files {
        machine.write(file, stops(&command("exit 2")));
    }
    let found: Vec<_> = machine
        .survey()
        .hooks
        .into_iter()
        .map(|hook| hook.file)
        .collect();
    assert_eq!(found, files);
    let others =
        json!({"hooks": {"SubagentStop": [{"hooks": [command("exit 2")]}], "Stop": "exit 2"}});
    for file in &files {
        machine.write(file, &others);
    }
    assert_eq!(machine.survey(), Survey::default());
}

#[test]
fn what_is_no_settings_file_says_nothing() {
    let machine = Machine::new();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for text in [
        "",
        "no json",
        "[]",
        "7",
        "{\"hooks\": {\"Stop\": [7, {\"hooks\": {}}, {\"hooks\": [7]}]}}",
        &deep,
    ] {
        machine.write(&machine.config("settings.json"), text);
        machine.write(&machine.config("plugins/installed_plugins.json"), text);
        let found = machine.survey();
        assert!(
            found
                .hooks
                .iter()
                .all(|hook| hook.nature == HookKind::Other)
                && found.off.is_none(),
            "{found:?}"
        );
    }
}

#[test]
fn a_plugin_of_a_folder_is_read_in_place_and_only_while_it_is_enabled() {
    let machine = Machine::new();
    let gate = command("sh \"${CLAUDE_PLUGIN_ROOT}/gate.sh\"");
    let root = machine.plugin("strict", &stops(&gate));
    machine.write(&root.join("gate.sh"), "exit 2");
    let found = machine.survey().hooks;
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].plugin.as_deref(), found[0].nature, &found[0].file),
        (
            Some("strict@m"),
            HookKind::Blocks,
            &root.join("hooks/hooks.json")
        )
    );
    // The nearer file wins, both ways.
    machine.enable(
        &machine.project().join(".claude/settings.json"),
        "strict@m",
        false,
    );
    assert_eq!(machine.survey().hooks, []);
    machine.enable(
        &machine.project().join(".claude/settings.local.json"),
        "strict@m",
        true,
    );
    assert_eq!(machine.survey().hooks, found);
    // Without its folder, its copy.
    std::fs::remove_dir_all(&root).unwrap();
    let copy = machine.config("plugins/cache/m/strict/1.0.0");
    machine.write(&copy.join("hooks/hooks.json"), stops(&command("exit 2")));
    assert_eq!(
        machine.survey().hooks[0].file,
        copy.join("hooks/hooks.json")
    );
}

#[test]
fn hooks_that_the_manifest_names_or_holds_are_found() {
    let machine = Machine::new();
    let root = machine.plugin("strict", &json!({}));
    let manifest = root.join(".claude-plugin/plugin.json");
    machine.write(&root.join("more.json"), stops(&command("exit 2")));
    for hooks in [
        json!("./more.json"),
        json!(["./more.json"]),
        stops(&command("exit 2"))["hooks"].clone(),
        stops(&command("exit 2")),
    ] {
        machine.write(&manifest, json!({"name": "strict", "hooks": hooks}));
        let found = machine.survey().hooks;
        assert_eq!(found.len(), 1, "{hooks}: {found:?}");
        assert_eq!(found[0].nature, HookKind::Blocks, "{hooks}");
    }
}

#[test]
fn codexs_gate_is_on_where_its_state_of_this_project_says_so() {
    let machine = Machine::new();
    let gate = command("node \"${CLAUDE_PLUGIN_ROOT}/scripts/stop-review-gate-hook.mjs\"");
    let root = machine.plugin("codex", &stops(&gate));
    machine.write(
        &root.join("scripts/stop-review-gate-hook.mjs"),
        "emitDecision({ decision: \"block\" })",
    );
    let nature = || machine.survey().hooks[0].nature;
    assert_eq!(nature(), HookKind::GateOff);
    let digest = Digest::of(machine.project().as_str().as_bytes());
    let state =
        |folder: &str| machine.config(&format!("plugins/data/codex-m/state/{folder}/state.json"));
    let on = json!({"version": 1, "config": {"stopReviewGate": true}, "jobs": []});
    machine.write(&state("my-pl-n-s-1-0123456789abcdef"), &on);
    assert_eq!(nature(), HookKind::GateOff, "that is another project's");
    let own = state(&format!("my-pl-n-s-1-{}", &digest.as_str()[..16]));
    for (text, expected) in [
        (on.to_string(), HookKind::GateOn),
        (on.to_string().replace("true", "false"), HookKind::GateOff),
        (
            "{\"config\": {\"stopReviewGate\": \"yes\"}}".to_owned(),
            HookKind::GateOff,
        ),
        ("broken".to_owned(), HookKind::GateOff),
    ] {
        machine.write(&own, &text);
        assert_eq!(nature(), expected, "{text}");
    }
}

#[test]
fn hooks_that_are_switched_off_are_told_with_the_file() {
    let machine = Machine::new();
    let off = json!({"disableAllHooks": true});
    let local = machine.project().join(".claude/settings.local.json");
    machine.write(&machine.config("settings.json"), &off);
    assert_eq!(
        machine.survey().off,
        Some((machine.config("settings.json"), "disableAllHooks"))
    );
    machine.write(&local, json!({"disableAllHooks": false}));
    assert_eq!(machine.survey().off, None, "the nearer file wins");
    machine.write(
        &local,
        json!({"allowManagedHooksOnly": true, "disableAllHooks": false}),
    );
    assert_eq!(
        machine.survey().off,
        None,
        "that is an administrator's to say"
    );
    let managed = machine.places.managed[0].join("managed-settings.json");
    machine.write(&managed, json!({"allowManagedHooksOnly": true}));
    assert_eq!(
        machine.survey().off,
        Some((managed, "allowManagedHooksOnly"))
    );
}
