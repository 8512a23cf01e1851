#!/bin/sh
# Launcher: finds the program {{ program }} and runs it in its place.
#
# The agent calls this file by its name: the client puts a plugin's bin/ last on the agent's PATH. A hook's PATH does not have
# it, so the scripts of this plugin call this file by its path. A program is used only if it answers `--protocol` with the
# protocol of these scripts.
#
# The hooks source this file with the arguments `--hook NAME`. The program is then started only once, for its protocol and the
# hook's answer. This sets `found`, and the program's exit `status` and `answer`.
set -u

name={{ program }}
protocol={{ protocol }}
hook=
self=$0
if [ "${1:-}" = --hook ]; then
    hook=$2
    self=$here/../bin/$name
fi

# Another launcher, or a wrapper around this file, looks for the program. This is not it.
if [ -n "${{ '{' }}{{ probe }}:-}" ] && [ -z "$hook" ]; then
    echo "$name: this is the plugin's launcher, not the program" >&2
    exit 127
fi

found=
looked=
wrong=
answer=
newline='
'
# The current folder without symlinks, so that no subshell is needed to visit another one. It is empty if that fails.
start=
! { cd -P . && cd -- "$PWD"; } 2>/dev/null || start=$PWD

note() {
    looked="$looked  $1: $2$newline"
}

# ask FILE: sets `protocol_line` to the first line that the program prints, and `answer` to the rest.
ask() {
    if [ -z "$hook" ]; then
        protocol_line=$({{ probe }}=1 "$1" --protocol </dev/null 2>/dev/null) || protocol_line=
    else
        answer=$({{ probe }}=1 "$1" "--protocol=$protocol" hook "$hook")
        status=$?
        protocol_line=${answer%%"$newline"*}
        answer=${answer#"$protocol_line"}
        answer=${answer#"$newline"}
    fi
}

# take FILE: sets `found` if FILE is the program, or else notes why it is not.
take() {
    if [ ! -f "$1" ]; then
        note "$1" "not there"
    elif [ ! -x "$1" ]; then
        note "$1" "not executable"
    elif [ "$1" -ef "$self" ]; then
        note "$1" "this launcher"
    else
        ask "$1"
        case $protocol_line in
            "$name protocol $protocol ("*")") found=$1 ;;
            "$name protocol "[0-9]*" ("*")")
                note "$1" "another version, wanted protocol $protocol: ${protocol_line#"$name "}"
                wrong=version
                ;;
            *) note "$1" "does not answer --protocol" ;;
        esac
    fi
    [ -n "$found" ]
}

# A release of the plugin has the program in a folder with the name of the machine, as `uname -sm` prints it, with a hyphen. If
# there is such a folder, the machine's name is read from a file (Linux 6.1 and later), without a process for `uname`.
search_own() {
    set -- "${self%/*}"/*/"$name"
    [ -f "$1" ] || return 1
    if read -r machine 2>/dev/null </proc/sys/kernel/arch; then
        machine=Linux-$machine
    else
        machine=$(command -p uname -sm 2>/dev/null) || machine=unknown
        machine=${machine%% *}-${machine##* }
    fi
    if [ -f "${self%/*}/$machine/$name" ]; then
        take "${self%/*}/$machine/$name"
    else
        note "$1" "not for this machine, which is $machine"
        wrong=machine
        return 1
    fi
}

# physical FOLDER: sets `physical` to its path without symlinks, or to nothing. Two tests are faster than a redirection.
physical() {
    if [ -n "$start" ]; then
        physical=$start
        [ "$1" != . ] || return 0
        physical=
        [ ! -d "$1" ] || [ ! -x "$1" ] || ! cd -P -- "$1" || physical=$PWD
        cd -- "$start" || start=
    else
        physical=$(cd -P -- "$1" 2>/dev/null && pwd)
    fi
}

# top FOLDER: sets `top` to the top of the folder's repository, or else to the folder. A home folder, or one above it, does not
# count as a project, because the user's own programs are in it.
top() {
    physical "$1"
    top=${physical:-/}
    while [ -n "$top" ] && [ ! -e "$top/.git" ]; do
        top=${top%/*}
    done
    top=${top:-${physical:-/}}
    case ${HOME:-}/ in
        "$top"/*) top=/ ;;
    esac
}

# The plugin's data folder comes first: it outlives updates of the plugin, and only hooks know it. Relative folders are skipped,
# and so are those in the project, which npm puts first: a repository must not choose the program.
search_path() {
    case ${CLAUDE_PROJECT_DIR:-} in
        /*) top "$CLAUDE_PROJECT_DIR" ;;
        *) top=/ ;;
    esac
    project=$top
    top .
    around=$top
    rest=${CLAUDE_PLUGIN_DATA:+$CLAUDE_PLUGIN_DATA/bin:}${PATH-}:
    while [ -n "$rest" ]; do
        entry=${rest%%:*}
        rest=${rest#*:}
        case $entry in
            /*) [ -e "$entry/$name" ] || continue ;;
            *) continue ;;
        esac
        physical "$entry"
        case $physical/ in
            /) continue ;;
            "$project"/* | "$around"/*) note "$entry/$name" "in the project, and a project must not choose the program" ;;
            *) ! take "$entry/$name" || return 0 ;;
        esac
    done
    note PATH "no other $name"
    return 1
}

# If a program is named and cannot be used, that is reported, and no other is searched for.
case ${{ '{' }}{{ named }}:-} in
    /*) take "${{ named }}" ;;
    ?*) note "${{ named }}" "a relative path, which would name another program in each project" ;;
    *) search_own || search_path ;;
esac
# The shell reads a script command by command, so a hook that has found its program does not read the rest.
[ -z "$hook" ] || [ -z "$found" ] || return 0

# A relative folder would be in the repository, so it counts as not set.
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

# In a checkout of this project: the newer of the two builds. `command -p` finds the system's tools, whatever PATH has.
search_checkout() {
    self=$(command -p readlink -f -- "$self" 2>/dev/null) || return 1
    root=$(CDPATH='' cd -- "$(command -p dirname -- "$self")/../.." 2>/dev/null && pwd -P) || return 1
    command -p grep -Eqs "^name[[:space:]]*=[[:space:]]*\"$name\"" "$root/Cargo.toml" || return 1
    if [ "$root/target/debug/$name" -nt "$root/target/release/$name" ]; then
        take "$root/target/debug/$name" || take "$root/target/release/$name"
    else
        take "$root/target/release/$name" || take "$root/target/debug/$name"
    fi
}

[ -n "$found" ] || [ -n "${{ '{' }}{{ named }}:-}" ] || search_cargo || search_checkout

# Why none was found, and what to do, in characters that JSON need not escape.
build="cargo install --path ., in the folder of its crate"
why="was not found" remedy="Install it ($build)"
[ -z "${{ '{' }}{{ named }}:-}" ] || remedy="Unset {{ named }}"
case $wrong in
    version) why="has another version than this plugin" remedy="Update the older of the two ($build)" ;;
    machine) why="in this plugin is not for this machine, $machine" remedy="Install the release for $machine, or the program ($build)" ;;
esac

# not_found: lists where the program was looked for, and what to do.
not_found() {
    echo "$name: the program $why. The plugin needs it, with protocol $protocol. Looked for it in:"
    [ -z "${{ '{' }}{{ named }}:-}" ] || echo "  {{ named }} is set, so no other place was searched"
    printf '%s' "$looked"
    echo "$remedy, or name one that exists: {{ named }}=/path/to/$name"
}

if [ -z "$hook" ]; then
    [ -z "$found" ] || exec "$found" "$@"
    not_found >&2
    exit 127
fi
