#!/bin/sh
# Launcher: finds the program {{ program }} and becomes it. It decides nothing else.
#
# A plugin's bin/ is the last folder on the agent's PATH and is not on a hook's PATH at all, so the scripts and
# hooks of this plugin call this file by its path and the agent calls it by its name. A program is taken only when
# `--protocol` answers with the protocol that these scripts were written for.
set -u

name={{ program }}
protocol={{ protocol }}

# Another launcher, or a wrapper around this file, asked us: we are not the program it looks for.
if [ -n "${{ '{' }}{{ probe }}:-}" ]; then
    echo "$name: this is the plugin's launcher, not the program" >&2
    exit 127
fi

found=
looked=
newline='
'

note() {
    looked="$looked  $1: $2$newline"
}

# take FILE: sets `found` when FILE is a program of ours; else notes why it is not.
take() {
    if [ ! -f "$1" ]; then
        note "$1" "not there"
    elif [ ! -x "$1" ]; then
        note "$1" "not executable"
    elif [ "$1" -ef "$0" ]; then
        note "$1" "this launcher"
    else
        answer=$({{ probe }}=1 "$1" --protocol </dev/null 2>/dev/null) || answer=
        case $answer in
            "$name protocol $protocol ("*")") found=$1 ;;
            "$name protocol "[0-9]*" ("*")") note "$1" "another version, wanted protocol $protocol: ${answer#"$name "}" ;;
            *) note "$1" "gives no answer to --protocol" ;;
        esac
    fi
    [ -n "$found" ]
}

# top FOLDER: prints the top of the repository that a folder lies in, else the folder. A home, or what holds one, is no
# project here: what a person installed lies in it.
top() {
    folder=$(CDPATH='' cd -- "$1" 2>/dev/null && pwd -P) || folder=/
    found=$folder
    while [ -n "$found" ] && [ ! -e "$found/.git" ]; do
        found=${found%/*}
    done
    folder=${found:-$folder}
    case ${HOME:-}/ in
        "$folder"/*) folder=/ ;;
    esac
    printf '%s\n' "$folder"
}

# Relative entries of PATH are passed over, and those in the project, which npm puts first: a repository must not be able
# to bring its own program.
search_path() {
    case ${CLAUDE_PROJECT_DIR:-} in
        /*) project=$(top "$CLAUDE_PROJECT_DIR") ;;
        *) project=/ ;;
    esac
    around=$(top .)
    rest=${PATH-}:
    while [ -n "$rest" ]; do
        entry=${rest%%:*}
        rest=${rest#*:}
        case $entry in
            /*) [ -e "$entry/$name" ] || continue ;;
            *) continue ;;
        esac
        place=$(CDPATH='' cd -- "$entry" 2>/dev/null && pwd -P) || continue
        case $place/ in
            "$project"/* | "$around"/*) note "$entry/$name" "in the project, which must not bring its own" ;;
            *) ! take "$entry/$name" || return 0 ;;
        esac
    done
    note PATH "no other $name"
    return 1
}

# A relative folder would be one of the repository, and counts as not set.
search_cargo() {
    case ${CARGO_HOME:-} in
        /*) cargo=$CARGO_HOME ;;
        *) cargo=${HOME:-}/.cargo ;;
    esac
    case $cargo in
        /.cargo | [!/]*) return 1 ;;
    esac
    take "$cargo/bin/$name"
}

# Only in a checkout of the project itself: the newer of the two builds, as a developer expects. `command -p` finds the
# system's own tools, whatever PATH says.
search_checkout() {
    self=$(command -p readlink -f -- "$0" 2>/dev/null) || self=$0
    root=$(CDPATH='' cd -- "$(command -p dirname -- "$self")/../.." 2>/dev/null && pwd -P) || return 1
    command -p grep -Eqs "^name[[:space:]]*=[[:space:]]*\"$name\"" "$root/Cargo.toml" || return 1
    if [ "$root/target/debug/$name" -nt "$root/target/release/$name" ]; then
        take "$root/target/debug/$name" || take "$root/target/release/$name"
    else
        take "$root/target/release/$name" || take "$root/target/debug/$name"
    fi
}

# A program that was named is the one that is meant: when it will not do, that is said, and no other is taken.
case ${{ '{' }}{{ named }}:-} in
    /*) take "${{ named }}" ;;
    ?*) note "${{ named }}" "a relative path, which would be another program in each project" ;;
    *) search_path || search_cargo || search_checkout ;;
esac
[ -z "$found" ] || exec "$found" "$@"

{
    echo "$name: the program was not found. The plugin is only its shell; it wants protocol $protocol. Looked at:"
    [ -z "${{ '{' }}{{ named }}:-}" ] || echo "  {{ named }} is set, so nowhere else"
    printf '%s' "$looked"
    echo "Install it, in a clone of its project: cargo install --path ."
    echo "or name one that exists:                {{ named }}=/path/to/$name"
} >&2
exit 127
