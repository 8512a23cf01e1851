#!/bin/sh
# Tests the plugin's files, the launcher, hooks whose program fails, the count of findings, and each helper of the state machine.
# Runs in any sh; the program comes from CLAUDEX_LOOP_BIN or the launcher's search.
#
# Seed 001's test list                     the checks here that begin with
#   id generation                          "id generation:"
#   validation rejects bad formats,        "id validation:"
#     ../../../etc/passwd among them
#   atomic write round-trip                "atomic write:"
#   CAS valid + stale                      "compare-and-swap:"
#   sweeper removes old, keeps fresh       "sweeper:"
#   lockfile alive vs dead PID             "lockfile:"
#   finder returns the most recent         "active-loop finder:"
# and of its text
#   read_field, set_field, last_updated_at "read field:", "set field:"
#   sourceable                             "sourcing:"
set -u
. "$(dirname -- "$0")/lib.sh"

launcher="$PLUGIN/bin/claudex-loop"

section "Files"

for file in "$PLUGIN"/bin/claudex-loop "$PLUGIN"/hooks/*.sh "$PLUGIN"/scripts/*.sh "$PLUGIN"/tests/*-*.sh; do
    name=${file#"$PLUGIN/"}
    yes "$name is executable" test -x "$file"
    is "$name runs under sh" '#!/bin/sh' "$(head -n 1 "$file")"
    yes "$name parses in this sh" sh -n "$file"
    command -v dash >/dev/null && yes "$name parses in dash" dash -n "$file"
    command -v bash >/dev/null && yes "$name parses in bash" bash -n "$file"
    hasnt "$name has no CRLF" "$(cat "$file")" "$(printf '\r')"
done
for json in "$PLUGIN/.claude-plugin/plugin.json" "$PLUGIN/hooks/hooks.json"; do
    yes "${json##*/} is one JSON document" json_valid "$json"
done
is "plugin.json names the plugin claudex" claudex "$(json_get "$PLUGIN/.claude-plugin/plugin.json" name)"
for event in Stop SessionStart PreCompact PreToolUse UserPromptSubmit UserPromptExpansion PostToolUse; do
    case $event in
        Stop) script=stop-hook.sh limit=60 ;;
        SessionStart) script=session-start-hook.sh limit=10 ;;
        PreCompact) script=pre-compact-hook.sh limit=10 ;;
        PreToolUse) script=pre-tool-use-hook.sh limit=10 ;;
        PostToolUse) script=answer-hook.sh limit=20 ;;
        *) script=prompt-hook.sh limit=10 ;;
    esac
    # shellcheck disable=SC2016 # the client substitutes it, not this shell
    is "hooks.json: $event runs $script without a shell string" "\${CLAUDE_PLUGIN_ROOT}/hooks/$script" \
        "$(json_get "$PLUGIN/hooks/hooks.json" hooks $event 0 hooks 0 command)"
    is "hooks.json: $event has args, which make it the form without a shell" "[]" \
        "$(json_get "$PLUGIN/hooks/hooks.json" hooks $event 0 hooks 0 args)"
    yes "$script is executable" test -x "$PLUGIN/hooks/$script"
    is "hooks.json: $event has its timeout" $limit "$(json_get "$PLUGIN/hooks/hooks.json" hooks $event 0 hooks 0 timeout)"
done
for command in plan review status history more cancel rollback resume adopt doctor; do
    text=$(cat "$PLUGIN/commands/$command.md")
    # shellcheck disable=SC2016
    hasnt "command $command pastes no arguments" "$text" '$ARGUMENTS'
    # shellcheck disable=SC2016
    like "command $command survives a failing program" "$text" '^!`claudex-loop .* 2>&1 [|][|] true`$'
    hasnt "command $command does not allow any Bash command" "$text" 'Bash,'
    case $command in
        doctor) ;;
        *) has "command $command is a person's alone" "$text" "disable-model-invocation: true" ;;
    esac
done

section "Launcher"

# A stand-in for the program: answers --protocol with $2, before a hook's answer if a hook asks. Else it prints its arguments,
# one on each line.
program() {
    mkdir -p "${1%/*}"
    {
        echo '#!/bin/sh'
        echo "case \$1 in --protocol) echo '$2'; exit 0 ;; --protocol=*) echo '$2' ;; esac"
        echo "echo 'this is ${3:-the program}'"
        # shellcheck disable=SC2016
        printf '%s\n' 'for a; do printf "<%s>\n" "$a"; done; [ "${1-}" != cat ] || cat; exit 7'
    } >"$1"
    chmod +x "$1"
}
# launch [NAME=VALUE...] -- ARGUMENTS...: the launcher in an environment where nothing else is installed.
launch() {
    set -- PATH=/usr/bin:/bin HOME="$work/nobody" CARGO_HOME="$work/nocargo" "$@"
    launch_words=$#
    while [ "$launch_words" -gt 0 ]; do
        launch_word=$1
        shift
        [ "$launch_word" = -- ] && launch_word=$moved
        set -- "$@" "$launch_word"
        launch_words=$((launch_words - 1))
    done
    run env -i "$@"
}
good='claudex-loop protocol 1 (0.1.0)'
moved="$work/plug in/bin/claudex-loop"
mkdir -p "$work/plug in"
cp -R "$PLUGIN/bin" "$PLUGIN/hooks" "$PLUGIN/scripts" "$work/plug in/"

launch -- stop
is "launcher: no program anywhere is exit 127" 127 "$status"
has "launcher: lists where it looked" "$out" "$work/nocargo/bin/claudex-loop: not there"
has "launcher: says how to install" "$out" "cargo install --path ."

program "$work/a b/claudex-loop" "$good" named
launch CLAUDEX_LOOP_BIN="$work/a b/claudex-loop" -- x "two words" "" "it's \$(id)" '*'
is "launcher: arguments and exit status pass unchanged" "this is named
<x>
<two words>
<>
<it's \$(id)>
<*>
7" "$out$newline$status"
piped=$(printf 'from stdin' | env -i PATH=/usr/bin:/bin CLAUDEX_LOOP_BIN="$work/a b/claudex-loop" "$moved" cat)
has "launcher: stdin is left for the program" "$piped" "from stdin"

program "$work/old/claudex-loop" 'claudex-loop protocol 9 (9.0.0)'
launch CLAUDEX_LOOP_BIN="$work/old/claudex-loop" -- stop
is "launcher: another protocol is not taken" 127 "$status"
has "launcher: names the version that it found" "$out" "wanted protocol 1: protocol 9 (9.0.0)"
has "launcher: and what to do about it" "$out" "has another version than this plugin"
program "$work/mute/claudex-loop" ''
launch CLAUDEX_LOOP_BIN="$work/mute/claudex-loop" -- stop
is "launcher: a program that gives no answer is not taken" 127 "$status"
launch CLAUDEX_LOOP_BIN="$work/none" PATH="$work/a b:/usr/bin:/bin" -- stop
is "launcher: a named program that is missing is said, not replaced" 127 "$status"

launch PATH="$work/old:$work/a b:/usr/bin:/bin" -- x
has "launcher: PATH is searched past a wrong version" "$out" "this is named"
mkdir -p "$work/copy"
cp "$launcher" "$work/copy/claudex-loop"
launch PATH="$work/plug in/bin:$PLUGIN/bin:$work/copy:$work/a b:/usr/bin:/bin" -- x
has "launcher: skips itself and its copies on PATH" "$out" "this is named"
launch PATH="$work/plug in/bin:$PLUGIN/bin:$work/copy:/usr/bin:/bin" -- x
is "launcher: only launchers on PATH is exit 127, not an endless search" 127 "$status"
ln -s "$moved" "$work/copy/link"
mkdir -p "$work/linked"
ln -s "$moved" "$work/linked/claudex-loop"
launch PATH="$work/linked:/usr/bin:/bin" -- x
is "launcher: a link to itself is skipped" 127 "$status"
cd "$work/a b" || exit 1
launch PATH=".::/usr/bin:/bin" -- x
is "launcher: a relative entry of PATH cannot bring a program" 127 "$status"
cd "$work" || exit 1
program "$work/cargo/bin/claudex-loop" "$good" cargo
launch CARGO_HOME="$work/cargo" -- x
has "launcher: finds what cargo installed" "$out" "this is cargo"

# The program of a release comes before all but a named one, and the plugin's data folder before PATH.
machine=$(uname -sm | tr ' ' -)
released="$work/released to/bin/claudex-loop"
mkdir -p "$work/released to"
cp -R "$work/plug in/." "$work/released to/"
program "$work/released to/bin/$machine/claudex-loop" "$good" own
program "$work/data/bin/claudex-loop" "$good" data
moved=$released
launch CLAUDE_PLUGIN_DATA="$work/data" PATH="$work/a b:/usr/bin:/bin" CARGO_HOME="$work/cargo" -- x
has "launcher: the program that the plugin brings goes first" "$out" "this is own"
launch PATH=/nowhere -- x
has "launcher: and is found with nothing on PATH" "$out" "this is own"
sed 's|/proc/sys/kernel/arch|/nowhere|' "$launcher" >"$released"
launch PATH=/nowhere -- x
has "launcher: and where no file says the machine, uname does" "$out" "this is own"
cp "$launcher" "$released"
launch CLAUDEX_LOOP_BIN="$work/a b/claudex-loop" -- x
has "launcher: but for a program that was named" "$out" "this is named"
moved="$work/plug in/bin/claudex-loop"
launch CLAUDE_PLUGIN_DATA="$work/data" PATH="$work/a b:/usr/bin:/bin" CARGO_HOME="$work/cargo" -- x
has "launcher: then the one in the data of the plugin" "$out" "this is data"
cd "$work" || exit 1
launch CLAUDE_PLUGIN_DATA=data -- x
is "launcher: a relative folder of data cannot bring a program" 127 "$status"
cd "$work/data" || exit 1
mkdir .git
launch CLAUDE_PLUGIN_DATA="$work/data" -- x
is "launcher: nor can one in the project" 127 "$status"
cd "$work" || exit 1
moved=$released
mv "$work/released to/bin/$machine" "$work/released to/bin/Plan9-mips"
launch -- x
is "launcher: a program for another machine is not taken" 127 "$status"
has "launcher: and that is said" "$out" "claudex-loop: the program in this plugin is not for this machine, $machine."
has "launcher: with what to do" "$out" "Install the release for $machine, or the program (cargo install --path ."
launch PATH="$work/a b:/usr/bin:/bin" -- x
has "launcher: and another is found beside it" "$out" "this is named"

mkdir -p "$work/checkout"
cp -R "$work/plug in" "$work/checkout/plugin"
printf '[package]\nname = "claudex-loop"\n' >"$work/checkout/Cargo.toml"
program "$work/checkout/target/debug/claudex-loop" "$good" debug
moved="$work/checkout/plugin/bin/claudex-loop"
launch -- x
has "launcher: finds the build of its own checkout" "$out" "this is debug"
program "$work/checkout/target/release/claudex-loop" "$good" release
touch -t 202001010000 "$work/checkout/target/debug/claudex-loop"
launch -- x
has "launcher: takes the newer of two builds" "$out" "this is release"
printf '[package]\nname = "something-else"\n' >"$work/checkout/Cargo.toml"
launch -- x
is "launcher: another project's target folder is not searched" 127 "$status"
moved="$work/plug in/bin/claudex-loop"

yes "launcher: finds the program under test" "$launcher" --protocol
like "launcher: the program under test speaks protocol 1" "$("$launcher" --protocol)" '^claudex-loop protocol 1 \(.+\)$'
if ! "$launcher" --protocol >/dev/null 2>&1; then
    "$launcher" --protocol
    finish
fi

section "Hooks: the last resort"

# last_resort NAME PROGRAM: whatever the program does, the turn may end.
last_resort() {
    printf '{"session_id":"s1"}' |
        env -i PATH=/usr/bin:/bin HOME="$work/home of $1" CLAUDEX_LOOP_BIN="$2" "$work/plug in/hooks/stop-hook.sh" \
            >"$work/out.json" 2>/dev/null
    status=$?
    is "stop hook: $1, exit 0" 0 "$status"
    yes "stop hook: $1, one JSON document" json_valid "$work/out.json"
    is "stop hook: $1, approves" approve "$(json_get "$work/out.json" decision)"
    like "stop hook: $1, says so" "$(json_get "$work/out.json" systemMessage)" 'claudex'
}
broken() {
    program "$work/broken/claudex-loop" "$good"
    { sed '$d' "$work/broken/claudex-loop" | sed '$d'; printf '%s\n' "$1"; } >"$work/broken/new"
    chmod +x "$work/broken/new"
    mv "$work/broken/new" "$work/broken/claudex-loop"
}
last_resort "missing program" "$work/none"
broken 'exit 0'
last_resort "program prints nothing" "$work/broken/claudex-loop"
broken 'echo "thread main panicked" >&2; exit 101'
last_resort "program crashes" "$work/broken/claudex-loop"
broken 'kill -KILL $$'
last_resort "program is killed" "$work/broken/claudex-loop"
broken 'echo "{\"decision\":\"block\""; exit 0'
last_resort "program prints half a document" "$work/broken/claudex-loop"
broken 'echo "{\"decision\":\"block\",\"reason\":\"x\"}"; exit 3'
last_resort "program fails after its decision" "$work/broken/claudex-loop"
broken 'echo "{\"decision\":\"block\"}"; exit 2'
last_resort "program exits with 2, which blocks" "$work/broken/claudex-loop"
broken 'echo "loading"; echo "{\"decision\":\"block\"}"'
last_resort "program prints noise before its decision" "$work/broken/claudex-loop"
last_resort "program is a newer one" "$work/old/claudex-loop"
mkdir -p "$work/noisy" "$work/refusing"
printf '#!/bin/sh\ncat\necho "{\"decision\":\"block\"}"\n' >"$work/noisy/claudex-loop"
printf '#!/bin/sh\necho "error: unexpected argument" >&2\nexit 2\n' >"$work/refusing/claudex-loop"
chmod +x "$work/noisy/claudex-loop" "$work/refusing/claudex-loop"
last_resort "program is another one, with a decision of its own" "$work/noisy/claudex-loop"
last_resort "program is too old to be asked" "$work/refusing/claudex-loop"
broken 'echo "{\"decision\":\"block\",\"reason\":\"go on\"}"'
printf '{}' | env -i PATH="$work/refusing:$work/old:$work/broken:/usr/bin:/bin" HOME="$work/nobody" \
    "$work/plug in/hooks/stop-hook.sh" >"$work/out.json" 2>/dev/null
is "stop hook: PATH is searched past programs of other versions" "go on" "$(json_get "$work/out.json" reason)"
is "stop hook: a newer program is told from one that is not there" \
    "claudex: the claudex-loop program has another version than this plugin, so no loop is driven. Update the older of the two (cargo install --path ., in the folder of its crate); /claudex:doctor lists where it was looked for." \
    "$(printf '{}' | env -i PATH="$work/old:/usr/bin:/bin" HOME="$work/nobody" "$work/plug in/hooks/stop-hook.sh" 2>/dev/null >"$work/out.json"
        json_get "$work/out.json" systemMessage)"
printf '{}' | env -i PATH=/usr/bin:/bin HOME="$work/nobody" "$work/released to/hooks/stop-hook.sh" >"$work/out.json" 2>/dev/null
is "stop hook: a program for another machine lets the turn end" "approve" "$(json_get "$work/out.json" decision)"
like "stop hook: with one line that says what to do" "$(json_get "$work/out.json" systemMessage)" \
    "^claudex: the claudex-loop program in this plugin is not for this machine, $machine, so no loop is driven\. Install the release for $machine, or"
mkdir -p "$work/half/hooks"
cp "$PLUGIN/hooks/"*.sh "$work/half/hooks/"
for hook in stop prompt answer session-start pre-compact pre-tool-use; do
    run env -i PATH=/usr/bin:/bin "$work/half/hooks/$hook-hook.sh" </dev/null
    is "$hook hook: a plugin that is half there is exit 0" 0 "$status"
done
(mkdir -p "$work/gone folder" && cd "$work/gone folder" && rmdir "$work/gone folder" && printf '{}' |
    env -i PATH="$work/broken:/usr/bin:/bin" "$work/plug in/hooks/stop-hook.sh") >"$work/out.json" 2>/dev/null
is "stop hook: it works in a folder that is gone" "go on" "$(json_get "$work/out.json" reason)"
printf '{}' | CLAUDEX_LOOP_BIN="$work/broken/claudex-loop" "$PLUGIN/hooks/stop-hook.sh" >"$work/out.json"
is "stop hook: the program's own block passes" "go on" "$(json_get "$work/out.json" reason)"
printf '{}' | CLAUDEX_REVIEWER_CHILD=1 CLAUDEX_LOOP_BIN="$work/broken/claudex-loop" "$PLUGIN/hooks/stop-hook.sh" >"$work/out.json"
is "stop hook: a reviewer's own session is let go" approve "$(json_get "$work/out.json" decision)"
is "stop hook: a reviewer's own session is let go silently" "" "$(json_get "$work/out.json" systemMessage)"
for hook in prompt answer session-start pre-compact pre-tool-use; do
    run env -i PATH=/usr/bin:/bin CLAUDEX_LOOP_BIN="$work/none" "$work/plug in/hooks/$hook-hook.sh" </dev/null
    is "$hook hook: a missing program disturbs nobody" "0:" "$status:$out"
    broken 'echo "{\"decision\":\"block\"}"; exit 2'
    run env -i PATH=/usr/bin:/bin CLAUDEX_LOOP_BIN="$work/broken/claudex-loop" "$work/plug in/hooks/$hook-hook.sh" </dev/null
    is "$hook hook: a failing program disturbs nobody" "0:" "$status:$out"
    broken 'echo "said"'
    run env -i PATH=/usr/bin:/bin CLAUDEX_LOOP_BIN="$work/broken/claudex-loop" "$work/plug in/hooks/$hook-hook.sh" </dev/null
    is "$hook hook: what the program says is passed on" "0:said" "$status:$out"
    run env -i PATH=/usr/bin:/bin CLAUDEX_REVIEWER_CHILD=1 CLAUDEX_LOOP_BIN="$work/broken/claudex-loop" \
        "$work/plug in/hooks/$hook-hook.sh" </dev/null
    is "$hook hook: a reviewer's own session hears nothing" "0:" "$status:$out"
done
run env -i PATH=/usr/bin:/bin HOME="$work/nobody" CLAUDEX_LOOP_BIN="$work/none" "$work/plug in/scripts/status.sh"
is "status.sh: exit 0 without the program" 0 "$status"
run env -i PATH=/usr/bin:/bin HOME="$work/nobody" CLAUDEX_LOOP_BIN="$work/none" "$work/plug in/scripts/doctor.sh"
is "doctor.sh: exit 1 without the program" 1 "$status"
has "doctor.sh: and it says why" "$out" "Unset CLAUDEX_LOOP_BIN"

section "Helpers: sourcing"

project helpers
helpers="$PLUGIN/scripts/state-helpers.sh"
for shell in sh dash bash; do
    command -v "$shell" >/dev/null 2>&1 || continue
    # shellcheck disable=SC2016
    yes "sourcing: $shell -eu with CLAUDE_PLUGIN_ROOT" env CLAUDE_PLUGIN_ROOT="$PLUGIN" "$shell" -euc '
        . "$1"; id=$(claudex_new_review_id); cd /; claudex_validate_review_id "$id"' "$shell" "$helpers"
done
if command -v bash >/dev/null 2>&1; then
    # shellcheck disable=SC2016
    yes "sourcing: bash needs no CLAUDE_PLUGIN_ROOT" bash -euc '
        . "$1"; cd /; claudex_validate_review_id "$(claudex_new_review_id)"' bash "$helpers"
    cd "$PLUGIN/scripts" || exit 1
    # shellcheck disable=SC2016
    yes "sourcing: bash, by a bare name in its own folder" bash -euc '
        . ./state-helpers.sh; cd /; claudex_validate_review_id "$(claudex_new_review_id)"'
    cd "$project" || exit 1
fi
mkdir -p "$work/alone"
cp "$helpers" "$work/alone/"
# shellcheck disable=SC2016
yes "sourcing: sh, alone in a folder, with claudex-loop on PATH" sh -euc '
    . "$1"; claudex_validate_review_id "$(claudex_new_review_id)"' sh "$work/alone/state-helpers.sh"
mkdir -p "$work/it's moved & co/scripts"
ln -s "$PLUGIN/bin" "$work/it's moved & co/bin"
cp "$helpers" "$work/it's moved & co/scripts/"
# shellcheck disable=SC2016
yes "sourcing: from a path with spaces and quotes" env CLAUDE_PLUGIN_ROOT="$work/it's moved & co" sh -euc '
    . "$CLAUDE_PLUGIN_ROOT/scripts/state-helpers.sh"; claudex_validate_review_id "$(claudex_new_review_id)"'
# shellcheck disable=SC2016
is "sourcing: prints nothing and leaves the caller's options" "ok" "$(CLAUDE_PLUGIN_ROOT="$PLUGIN" sh -c '
    before=$-; . "$CLAUDE_PLUGIN_ROOT/scripts/state-helpers.sh"; [ "$before" = "$-" ] && echo ok' 2>&1)"

# shellcheck disable=SC2034 # read by the helpers where they are sourced from dash
CLAUDE_PLUGIN_ROOT=$PLUGIN
# shellcheck source=../scripts/state-helpers.sh
. "$helpers"

section "Helpers: ids"

first=$(claudex_new_review_id)
like "id generation: YYYYMMDD-HHMMSS-XXXXXX" "$first" '^[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$'
is "id generation: hex digits are lowercase" "$first" "$(printf '%s' "$first" | tr 'A-F' 'a-f')"
isnt "id generation: two ids differ" "$first" "$(claudex_new_review_id)"
yes "id validation: accepts its own ids" claudex_validate_review_id "$first"
yes "id validation: accepts 20260101-235959-00ff9a" claudex_validate_review_id 20260101-235959-00ff9a
for bad_id in '../../../etc/passwd' '' ' ' '20260101-235959-00FF9A' '20260101-235959-00ff9' '20260101-235959-00ff9aa' \
    '20260101-235959' 'x20260101-235959-00ff9a' '20260101-235959-00ff9a/..' '20260101-235959-00ff9a.state' \
    '20260101-235959-00ff9g' '-20260101-235959-00ff9a' '--help' '-' "20260101-235959-00ff9a$newline" \
    "20260101-235959-00ff9a${newline}x" '20260101-235959-00ff9a ' '２0260101-235959-00ff9a' '*' "\$(id)"; do
    run claudex_validate_review_id "$bad_id"
    is "id validation: refuses \"$(printf '%s' "$bad_id" | tr '\n' '~')\"" 1 "$status"
done
for script in mark-done cancel-loop; do
    no "id validation: $script.sh refuses ../../../etc/passwd" "$PLUGIN/scripts/$script.sh" ../../../etc/passwd
done
gone "id validation: nothing was created for it" "$project/.claude"

section "Helpers: a state file"

mkdir -p "$states"
file="$states/20260101-000000-aaaaaa.state"
content='mode: plan
phase: drafting
topic: "what it is about"
round: 1
max_rounds: 3
last_updated_at: 2020-01-01T00:00:00Z
wild: kept as it is'
claudex_state_write "$file" "$content"
is "atomic write: round-trip" "$content" "$(cat "$file")"
claudex_state_write "$file" "$content"
is "atomic write: over an existing file" "$content" "$(cat "$file")"
is "atomic write: leaves no temporary file" "20260101-000000-aaaaaa.state" \
    "$(find "$states" -mindepth 1 ! -name .lock -exec basename {} \;)"
is "atomic write: ends with one newline" "$(printf '%s\n' "$content" | wc -c)" "$(wc -c <"$file")"
no "atomic write: a folder that is not there is an error" claudex_state_write "$project/none/x.state" "$content"
long_a=$(printf 'phase: a\nfill: %04000d\nend: a' 1)
long_b=$(printf 'phase: b\nfill: %04000d\nend: b' 2)
claudex_state_write "$states/race.state" "$long_a"
(
    turn=0
    while [ "$turn" -lt 15 ]; do
        claudex_state_write "$states/race.state" "$long_b"
        claudex_state_write "$states/race.state" "$long_a"
        turn=$((turn + 1))
    done
) &
writer=$!
partial=0
while kill -0 "$writer" 2>/dev/null; do
    seen=$(cat "$states/race.state")
    [ "$seen" = "$long_a" ] || [ "$seen" = "$long_b" ] || partial=$((partial + 1))
done
wait "$writer"
is "atomic write: a reader never sees a partial file" 0 "$partial"
rm -f "$states/race.state"

is "read field: phase" drafting "$(claudex_state_read_field "$file" phase)"
is "read field: quotes are not part of a text" "what it is about" "$(claudex_state_read_field "$file" topic)"
is "read field: a count" 3 "$(claudex_state_read_field "$file" max_rounds)"
is "read field: a field of nobody's" "kept as it is" "$(claudex_state_read_field "$file" wild)"
is "read field: round is not max_rounds" 1 "$(claudex_state_read_field "$file" round)"
no "read field: a missing file is an error" claudex_state_read_field "$states/none.state" phase

yes "set field: a count" claudex_state_set_field "$file" round 2
is "set field: is what is read" 2 "$(claudex_state_read_field "$file" round)"
is "set field: max_rounds is not touched" 3 "$(claudex_state_read_field "$file" max_rounds)"
like "set field: bumps last_updated_at to now, UTC" "$(claudex_state_read_field "$file" last_updated_at)" \
    "^20(2[1-9]|[3-9][0-9])-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"
claudex_state_set_field "$file" last_updated_at 2001-02-03T04:05:06Z
is "set field: last_updated_at itself is set as given" 2001-02-03T04:05:06Z "$(claudex_state_read_field "$file" last_updated_at)"
is "set field: keeps every line in its place" "mode phase topic round max_rounds last_updated_at wild " \
    "$(sed 's/:.*//' "$file" | tr '\n' ' ')"
is "set field: keeps a field of nobody's" "wild: kept as it is" "$(sed -n '/^wild/p' "$file")"
for value in 'a|b' 'a&b' 'a/b' 'a\b' 'it'"'"'s "quoted"' 'a: b # c' '- x' '-' '--yes' '' ' edges ' 'ünï ✓' \
    "\$(touch $project/pwned) \`id\`" "two${newline}lines" '& \1 \n |'; do
    claudex_state_set_field "$file" topic "$value"
    # A sentinel, because the shell removes trailing line feeds.
    is "set field: \"$(printf '%s' "$value" | tr '\n' '~')\" comes back" "$value" "$(claudex_state_read_field "$file" topic)"
done
is "set field: any text stays one line" 1 "$(grep -c '^topic:' "$file")"
is "set field: and the file keeps its seven" 7 "$(wc -l <"$file" | tr -d ' ')"
gone "set field: no text is ever run" "$project/pwned"
no "set field: a missing file is an error" claudex_state_set_field "$states/none.state" phase x
gone "set field: and is not created" "$states/none.state"

partial="$states/20260101-000000-bbbbbb.state"
claudex_state_write "$partial" "phase: drafting
last_updated_at: 2020-01-01T00:00:00Z"
yes "partial file: a phase and a time alone can be moved" claudex_phase_transition "$partial" drafting reviewing
is "partial file: phase moved" reviewing "$(claudex_state_read_field "$partial" phase)"
claudex_state_write "$partial" 'mode: plan
phase: drafting
topic: "x"
round: 1
max_rounds: 3'
yes "partial file: a field can be set without last_updated_at" claudex_state_set_field "$partial" round 2
is "partial file: the field is set" 2 "$(claudex_state_read_field "$partial" round)"
printf 'phase: drafting\r\nround: 1\r\n' >"$partial"
is "partial file: CRLF is no part of a value" drafting "$(claudex_state_read_field "$partial" phase)"
rm -f "$partial"

claudex_state_write "$file" "$content"
yes "compare-and-swap: the current phase moves" claudex_phase_transition "$file" drafting reviewing
is "compare-and-swap: the phase is written" reviewing "$(claudex_state_read_field "$file" phase)"
isnt "compare-and-swap: last_updated_at is written with it" 2020-01-01T00:00:00Z "$(claudex_state_read_field "$file" last_updated_at)"
before=$(cat "$file")
run claudex_phase_transition "$file" drafting summarizing
is "compare-and-swap: a stale phase returns 1" 1 "$status"
is "compare-and-swap: a stale phase changes nothing" "$before" "$(cat "$file")"
no "compare-and-swap: a missing file is an error" claudex_phase_transition "$states/none.state" drafting reviewing
claudex_state_write "$file" "$content"
won=0
pids=
for _ in 1 2 3 4 5 6; do
    claudex_phase_transition "$file" drafting reviewing >/dev/null 2>&1 &
    pids="$pids $!"
done
for pid in $pids; do wait "$pid" && won=$((won + 1)); done
is "compare-and-swap: of six at once one wins" 1 "$won"

section "Helpers: lockfile"

lock="$states/20260101-000000-aaaaaa.lock"
yes "lockfile: written" claudex_lock_write "$lock"
is "lockfile: holds this shell's PID" $$ "$(tr -d '[:space:]' <"$lock")"
yes "lockfile: an alive PID is active" claudex_lock_is_active "$lock"
sh -c : &
dead=$!
wait "$dead"
echo "$dead" >"$lock"
run claudex_lock_is_active "$lock"
is "lockfile: a dead PID is not active" 1 "$status"
rm -f "$lock"
run claudex_lock_is_active "$lock"
is "lockfile: a missing file is not active" 1 "$status"
for junk in '' 'not a pid' '-1' '0' '99999999999999999999'; do
    printf '%s\n' "$junk" >"$lock"
    run claudex_lock_is_active "$lock"
    is "lockfile: \"$junk\" is not active" 1 "$status"
done

section "Helpers: sweeper"

project sweeper
mkdir -p "$states"
old=20260101-000000-00000a
fresh=20260101-000000-00000b
for loop in $old $fresh; do
    claudex_state_write "$states/$loop.state" "mode: plan
phase: reviewing
topic: \"x\"
round: 1
max_rounds: 3"
    echo 1 >"$states/$loop.lock"
    echo : >"$states/$loop-runner.sh"
    echo x >"$states/$loop-prompt.txt"
    mkdir -p "$states/$loop"
    echo x >"$states/$loop/findings-round-1.md"
done
echo log >"$states/log"
touch -t 202601010000 "$states/$old.state"
yes "sweeper: runs" claudex_sweep_stale
for part in .state .lock -runner.sh -prompt.txt ""; do
    gone "sweeper: removes an old loop's ${part:-subfolder}" "$states/$old$part"
    there "sweeper: keeps a fresh loop's ${part:-subfolder}" "$states/$fresh$part"
done
there "sweeper: keeps the log" "$states/log"
# Thirty minutes ago, by the clock of this machine.
touch -d '30 minutes ago' "$states/$fresh.state" 2>/dev/null || touch -A -003000 "$states/$fresh.state"
# The helper reads it as a shell variable, exported or not, as the seed's functions do.
# shellcheck disable=SC2034
CLAUDEX_STALE_MINUTES=60
claudex_sweep_stale >/dev/null
there "sweeper: CLAUDEX_STALE_MINUTES=60 keeps one of thirty minutes" "$states/$fresh.state"
unset CLAUDEX_STALE_MINUTES
claudex_sweep_stale >/dev/null
gone "sweeper: the default of 15 minutes does not" "$states/$fresh.state"
project "sweeper idle"
yes "sweeper: nothing to sweep is no error" claudex_sweep_stale
gone "sweeper: and creates nothing" "$project/.claude"

section "Helpers: active-loop finder"

project finder
run claudex_find_active_loop
is "active-loop finder: returns 1 where there is none" 1 "$status"
mkdir -p "$states"
for loop in aaaaaa cccccc bbbbbb; do
    claudex_state_write "$states/20260101-000000-$loop.state" "phase: done"
done
touch -t 202601010101 "$states/20260101-000000-aaaaaa.state" "$states/20260101-000000-bbbbbb.state"
touch -t 202601010202 "$states/20260101-000000-cccccc.state"
found=$(claudex_find_active_loop)
is "active-loop finder: the most recent by mtime" 20260101-000000-cccccc.state "${found##*/}"
yes "active-loop finder: prints a path that opens" test -f "$found"
touch -t 202601010303 "$states/20260101-000000-aaaaaa.state"
found=$(claudex_find_active_loop)
is "active-loop finder: follows the mtime, not the name" 20260101-000000-aaaaaa.state "${found##*/}"

section "Helpers: findings and personas"

findings="$project/findings.md"
counts() {
    printf '%b' "$2" >"$findings"
    is "findings: $1" "$3" "$(claudex_findings_severity_counts "$findings")"
}
is "findings: a missing file counts zeros" "high=0 medium=0 low=0" "$(claudex_findings_severity_counts "$project/none.md")"
counts "the plain form" '# Round 1 findings\n\n## High\n- a (do b)\n- c (do d)\n\n## Medium\n- e (do f)\n\n## Low\n' "high=2 medium=1 low=0"
counts "no substantive findings" '# Round 1 findings\n\nNo substantive findings.\n' "high=0 medium=0 low=0"
counts "None is none" '# Round 1 findings\n\n## High\n- None\n\n## Medium\n- none.\n\n## Low\n- a (b)\n' "high=0 medium=0 low=1"
counts "stars, numbers, heading case" '# Round 1 findings\n\n## HIGH\n* a (b)\n\n## medium\n1. c (d)\n2. e (f)\n\n## low\n+ g (h)\n' "high=1 medium=2 low=1"
counts "Critical is high" '# Round 1 findings\n\n## Critical\n- a (b)\n\n## High\n- c (d)\n' "high=2 medium=0 low=0"
counts "CRLF" '# Round 1 findings\r\n\r\n## High\r\n- a (b)\r\n\r\n## Low\r\n- c (d)\r\n' "high=1 medium=0 low=1"
counts "nested detail is not a finding of its own" '# Round 1 findings\n\n## High\n- a (b)\n  - detail\n  - detail\n' "high=1 medium=0 low=0"
is "personas: round 1 label" "Senior-engineer review" "$(claudex_persona_label_for_round 1)"
is "personas: round 2 label" "Security and data-integrity review" "$(claudex_persona_label_for_round 2)"
is "personas: round 3 label" "Ops and SRE review" "$(claudex_persona_label_for_round 3)"
is "personas: later rounds keep the last" "Ops and SRE review" "$(claudex_persona_label_for_round 7)"
like "personas: round 1 is a skeptical senior engineer" "$(claudex_persona_for_round 1)" 'senior'
isnt "personas: round 2 is someone else" "$(claudex_persona_for_round 1)" "$(claudex_persona_for_round 2)"
for shell in dash bash zsh; do
    command -v "$shell" >/dev/null 2>&1 || continue
    # shellcheck disable=SC2016 # the other shell expands it
    sourced=$(cd / && CLAUDE_PLUGIN_ROOT=$PLUGIN "$shell" -c '. "$1/scripts/personas.sh"; claudex_persona_for_round 1' "$shell" "$PLUGIN")
    is "personas: sourced by $shell" "$(claudex_persona_for_round 1)" "$sourced"
done

finish
