#!/bin/sh
{% if verb == "prompt" %}
# UserPromptSubmit and UserPromptExpansion: the program keeps the raw arguments of the plugin's commands for this
# session, so that no shell ever sees them.
{% elif verb == "answer" %}
# PostToolUse of AskUserQuestion: the program takes the answers to the loop's own questions.
{% elif verb == "pre-compact" %}
# PreCompact: the program keeps which session is compacted, so that a loop follows it to a new id.
{% elif verb == "pre-tool-use" %}
# PreToolUse: the program allows the calls that the loop asks for, and refuses edits of its state.
{% else %}
# SessionStart: the program says in one line where a loop of this project waits, and how it is taken up.
{% endif %}
#
# A fault here must never disturb the client: exit 0, and nothing on stdout unless the program succeeded (what is printed
# here becomes the model's context). A program that does not know the verb yet fails, so nothing is said.
set -u
[ -z "${{ '{' }}{{ guard }}:-}" ] || exit 0
here=${0%/*}
[ "$here" != "$0" ] || here=.
exec 2>/dev/null
{% if verb == "pre-compact" or verb == "session-start" %}# 2.1.198 does not set it.
export CLAUDE_PID="${CLAUDE_PID:-$PPID}"
{% endif %}set -- --hook {{ verb }}
# `command`: without it a file that is gone ends this shell with an error.
command . "$here/../bin/{{ program }}"
[ "${found:+$status}" != 0 ] || [ -z "$answer" ] || printf '%s\n' "$answer"
exit 0
