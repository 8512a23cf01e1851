#!/bin/sh
{% if hook == "prompt" %}
# UserPromptSubmit and UserPromptExpansion: the program stores the arguments of the plugin's commands as they were typed,
# so that no shell splits or expands them.
{% elif hook == "answer" %}
# PostToolUse of AskUserQuestion: the program takes the answers to the loop's own questions.
{% elif hook == "pre-compact" %}
# PreCompact: the program notes the session, so that its loop can follow it to a new id.
{% elif hook == "pre-tool-use" %}
# PreToolUse: the program allows the calls that the loop asks for, and refuses edits of its state.
{% else %}
# SessionStart: the program prints a line about a loop of this project that waits, and how to continue it.
{% endif %}
#
# A fault here must not disturb the client: always exit 0, and print nothing unless the program succeeded, because the output
# becomes part of the model's context. An older program that does not know the hook fails, and nothing is printed.
set -u
[ -z "${{ '{' }}{{ guard }}:-}" ] || exit 0
here=${0%/*}
[ "$here" != "$0" ] || here=.
exec 2>/dev/null
{% if hook == "pre-compact" or hook == "session-start" %}# Claude Code 2.1.198 does not set it.
export CLAUDE_PID="${CLAUDE_PID:-$PPID}"
{% endif %}set -- --hook {{ hook }}
# Without `command` a missing file would end this shell with an error.
command . "$here/../bin/{{ program }}"
[ "${found:+$status}" != 0 ] || [ -z "$answer" ] || printf '%s\n' "$answer"
exit 0
