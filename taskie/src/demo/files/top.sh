# What words.sh lists: the most frequent word first, then by the alphabet.
set -eu
cd "$(dirname "$0")/.."
[ "$(sh words.sh --top 1 tests/seven.txt)" = "2 two" ]
[ "$(sh words.sh --top 2 tests/seven.txt | tail -n 1)" = "1 five" ]
