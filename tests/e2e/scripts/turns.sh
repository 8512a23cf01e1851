#!/bin/sh
# A reviewer that finds something in the first of every three reviews, and nothing in the other two. $1: the folder that it counts in.
cat >/dev/null
echo review >>"$1/reviews"
case $(($(wc -l <"$1/reviews") % 3)) in
  1) printf '# Findings\n\n## High\n- There is a hole (mend it)\n' ;;
  *) echo 'No substantive findings.' ;;
esac
