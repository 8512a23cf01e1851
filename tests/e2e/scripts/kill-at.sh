# Kills every process of the scenario's world, all at once and without a word, as soon as the shell condition $1 holds. Its
# processes are known by their HOME.
there() {
    [ -e "$1" ]
}
until eval "$1"; do
    :
done
for found in $(grep -lz "^HOME=$HOME\$" /proc/[0-9]*/environ 2>/dev/null); do
    id=${found#/proc/}
    id=${id%/environ}
    [ "$id" = $$ ] || [ "$id" = "$PPID" ] || kill -KILL "$id" 2>/dev/null
done
true
