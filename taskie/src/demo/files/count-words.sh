# Prints how many words a file has.
set -eu
[ -r "$1" ] || { echo "words.sh: $1 cannot be read" >&2; exit 1; }
tr -s '[:space:]' '\n' <"$1" | grep -c . || true
