#!/bin/sh
# Launcher: finds the program {{ program }} and becomes it. It decides nothing else.
#
# A plugin's bin/ is the last folder on the agent's PATH and is not on a hook's PATH at all, so the scripts of this plugin
# call this file by its path and the agent calls it by its name. A program is taken only when `--protocol` answers with the
# protocol that these scripts were written for.
#
# The hooks read this file into their own shell, with `--hook NAME` as its arguments. The program is then started once: it is asked
# for the protocol and for the answer in one call. That leaves `found`, its exit `status` and its `answer`.
set -u

name={{ program }}
protocol={{ protocol }}
hook=
self=$0
if [ "${1:-}" = --hook ]; then
    hook=$2
    self=$here/../bin/$name
fi

# Another launcher, or a wrapper around this file, asked us: we are not the program it looks for.
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
# Where we are, without symlinks, to come back to from another folder without a process of its own for each; empty where that cannot be.
start=
! { cd -P . && cd -- "$PWD"; } 2>/dev/null || start=$PWD

note() {
    looked="$looked  $1: $2$newline"
}

# ask FILE: what it says first becomes `said`, and the rest `answer`.
ask() {
    if [ -z "$hook" ]; then
        said=$({{ probe }}=1 "$1" --protocol </dev/null 2>/dev/null) || said=
    else
        answer=$({{ probe }}=1 "$1" "--protocol=$protocol" hook "$hook")
        status=$?
        said=${answer%%"$newline"*}
        answer=${answer#"$said"}
        answer=${answer#"$newline"}
    fi
}

# take FILE: sets `found` when FILE is a program of ours; else notes why it is not.
take() {
    if [ ! -f "$1" ]; then
        note "$1" "not there"
    elif [ ! -x "$1" ]; then
        note "$1" "not executable"
    elif [ "$1" -ef "$self" ]; then
        note "$1" "this launcher"
    else
        ask "$1"
        case $said in
            "$name protocol $protocol ("*")") found=$1 ;;
            "$name protocol "[0-9]*" ("*")")
                note "$1" "another version, wanted protocol $protocol: ${said#"$name "}"
                wrong=version
                ;;
            *) note "$1" "gives no answer to --protocol" ;;
        esac
    fi
    [ -n "$found" ]
}

# What a release of the plugin brings along: the program in a folder named as `uname -sm` names the machine, with a hyphen. Only where
# there is such a folder is that asked; Linux says it in a file (since 6.1), without a process for `uname`.
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

# physical FOLDER: sets `physical` to its path without symlinks, or to nothing. A redirection costs a shell more than two looks.
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

# top FOLDER: sets `top` to the top of the repository that a folder lies in, else to the folder. A home, or what holds one, is
# no project here: what a person installed lies in it.
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

# The plugin's data comes first, which outlives its updates; the client names it to hooks alone. Relative entries are passed over, and
# those in the project, which npm puts first: a repository must not be able to bring its own program.
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
            "$project"/* | "$around"/*) note "$entry/$name" "in the project, which must not bring its own" ;;
            *) ! take "$entry/$name" || return 0 ;;
        esac
    done
    note PATH "no other $name"
    return 1
}

# A program that was named is the one that is meant: when it will not do, that is said, and no other is taken.
case ${{ '{' }}{{ named }}:-} in
    /*) take "${{ named }}" ;;
    ?*) note "${{ named }}" "a relative path, which would be another program in each project" ;;
    *) search_own || search_path ;;
esac
# The shell reads a script command by command: of what follows, a hook whose program is found reads nothing.
[ -z "$hook" ] || [ -z "$found" ] || return 0

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

# What is wrong where none was found, and what to do about it, in letters that JSON takes as they are.
build="cargo install --path ., in a clone of its project"
why="was not found" remedy="Install it ($build)"
case $wrong in
    version) why="has another version than this plugin" remedy="Update the older of the two ($build)" ;;
    machine) why="in this plugin is not for this machine, $machine" remedy="Install the release for $machine, or the program ($build)" ;;
esac

# not_found: says what was looked at, and what to do.
not_found() {
    echo "$name: the program $why. The plugin is only its shell; it wants protocol $protocol. Looked at:"
    [ -z "${{ '{' }}{{ named }}:-}" ] || echo "  {{ named }} is set, so nowhere else"
    printf '%s' "$looked"
    echo "$remedy, or name one that exists: {{ named }}=/path/to/$name"
}

if [ -z "$hook" ]; then
    [ -z "$found" ] || exec "$found" "$@"
    not_found >&2
    exit 127
fi
