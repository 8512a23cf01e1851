#!/bin/sh
# claudex: mode {{ mode }}, round {{ round }} of {{ max_rounds }}, persona {{ persona }}
# Runs the review of this round of loop {{ id }}, or attaches to the one that is running. Written anew each round.
set -eu
cd -- {{ root }}
{% if state_dir %}
CLAUDEX_STATE_DIR={{ state_dir }}
export CLAUDEX_STATE_DIR
{% endif %}
claudex=${CLAUDEX_LOOP_BIN:-claudex-loop}
command -v "$claudex" >/dev/null 2>&1 || claudex={{ binary }}
exec "$claudex" review {{ id }} "$@"
