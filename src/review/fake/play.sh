# What the fake reviewer does: $1 is the item, the rest its values. The prompt is read first, as a real reviewer does, except
# where the process is to end or hang at once.
step=$1
case $step in hang) exec sleep 86400 ;; crash) kill -KILL $$ ;; esac
cat >/dev/null
clean() { printf '%s\n' '# Findings' '' 'No substantive findings.'; }
case $step in
  clean) clean ;;
  findings) printf '%s\n' '# Findings' '' \
    '## High' '- The plan has no way back when the migration fails half way (describe the rollback and rehearse it)' '' \
    '## Medium' '- Nobody is named who decides whether to stop (name one person)' '' \
    '## Low' '- Two names are used for the same table (choose one)' ;;
  low) printf '%s\n' '# Findings' '' '## Low' '- Two names are used for the same table (choose one)' ;;
  login) echo 'Not logged in' >&2; exit 1 ;;
  quota) echo 'Quota exceeded' >&2; exit 1 ;;
  service) echo 'Bad gateway' >&2; exit 1 ;;
  not-found) echo 'sh: 1: reviewer: not found' >&2; exit 127 ;;
  announced) printf '%s\n' '{"verdict": "findings", "findings": []}' ;;
  two-verdicts) printf '%s\n' '{"verdict": "clean", "findings": []}' '{"verdict": "findings", "findings": [{"severity":
    "high", "what": "no way back"}]}' ;;
  endless) while :; do echo 'the same again and again'; done ;;
  leaves) # The substitution ends once the process, in a session of its own by then, has let go of it.
    : "$(setsid sh -c 'exec sleep 86400 >/dev/null' </dev/null 2>/dev/null &)"
    clean ;;
  writes) echo 'I was here' >written-by-the-reviewer && clean ;;
  could-not-run) echo 'error: the fake reviewer was told to fail' >&2; exit 1 ;;
  unreadable) echo 'I had a look at it and have mixed feelings.' ;;
  empty) ;;
  slow) left=$2
    while [ "$left" -gt 0 ]; do
      echo "reading, $left to go" >&2
      sleep "$3"
      left=$((left - 1))
    done
    clean ;;
  file) exec cat -- "$2" ;;
esac
