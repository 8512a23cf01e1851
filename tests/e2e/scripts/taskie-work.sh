# Does a task, in place of an agent: its code, its commit, its statuses. $1: the plan, $2: the task.
set -eu
echo "Part $2." >"part-$2.txt"
git add "part-$2.txt"
git commit -q -m "Part $2"
sed -i 's/^- \*\*Status\*\*: pending/- **Status**: completed/' ".taskie/plans/$1/task-$2.md"
sed -i "s/^| $2 | pending/| $2 | done/" ".taskie/plans/$1/tasks.md"
