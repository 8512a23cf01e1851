#!/bin/sh
# A reviewer of kind `command` for the tests: each argument is what it does in a round, and the last one repeats. It reads its
# prompt first, as a real reviewer does, unless its only argument is to end or hang at once.
round=1
if [ $# -gt 1 ]; then
    prompt=$(cat)
    round=${prompt#*This is round }
    round=${round%% *}
fi
while [ "$round" -gt 1 ] && [ $# -gt 1 ]; do
    shift
    round=$((round - 1))
done
case $1 in hang) exec sleep 86400 ;; crash) kill -KILL $$ ;; esac
cat >/dev/null
clean() { printf '%s\n' '# Findings' '' 'No substantive findings.'; }
case $1 in
    clean) clean ;;
    findings)
        echo 'looking for a way back' >&2
        printf '%s\n' '# Findings' '' \
            '## High' '- The plan has no way back when the migration fails half way (describe the rollback and rehearse it)' '' \
            '## Medium' '- Nobody is named who decides whether to stop (name one person)' '' \
            '## Low' '- Two names are used for the same table (choose one)' ;;
    low) printf '%s\n' '# Findings' '' '## Low' '- Two names are used for the same table (choose one)' ;;
    could-not-run) echo 'error: the fake reviewer was told to fail' >&2 && exit 1 ;;
    unreadable) echo 'I had a look at it and have mixed feelings.' ;;
    empty) ;;
    endless) while :; do echo 'the same again and again'; done ;;
    slow-*) # This many seconds.
        left=$((${1#slow-} * 2))
        while [ "$left" -gt 0 ]; do
            echo "reading, $left to go" >&2
            sleep 0.5
            left=$((left - 1))
        done
        clean ;;
    *) echo "error: the fake reviewer cannot play $1" >&2 && exit 2 ;;
esac
