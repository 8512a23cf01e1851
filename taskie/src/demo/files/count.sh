# What words.sh counts: nothing in an empty file, seven words in three lines.
set -eu
cd "$(dirname "$0")/.."
[ "$(sh words.sh tests/empty.txt)" = 0 ]
[ "$(sh words.sh tests/seven.txt)" = 7 ]
