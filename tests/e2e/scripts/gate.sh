# A reviewer that waits for a sign: it ends when the file `go` lies in the folder $1, or `go-N` for its Nth review. There `reviews`
# gets a line as a review begins and as it ends. The first review that ends has findings, every later one has none.
cat >/dev/null
echo began >>"$1/reviews"
sign=go-$(grep -c began "$1/reviews")
until [ -e "$1/go" ] || [ -e "$1/$sign" ]; do
    sleep 0.05
done
echo ended >>"$1/reviews"
if [ "$(grep -c ended "$1/reviews")" -gt 1 ]; then
    printf '# Findings\n\nNo substantive findings.\n'
else
    printf '# Findings\n\n## High\n- There is no way back when the migration fails half way (describe the rollback and rehearse it)\n'
fi
