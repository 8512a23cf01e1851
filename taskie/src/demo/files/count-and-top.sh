# Prints how many words a file has; with --top N, which N come most often.
set -eu
top=
if [ "$1" = --top ]; then
  top=$2
  shift 2
fi
[ -r "$1" ] || { echo "words.sh: $1 cannot be read" >&2; exit 1; }
words=$(tr -s '[:space:]' '\n' <"$1")
if [ -n "$top" ]; then
  printf '%s\n' "$words" | sort | uniq -c | sort -k1,1nr -k2 | head -n "$top" | sed 's/^ *//'
else
  printf '%s\n' "$words" | wc -l | tr -d ' '
fi
