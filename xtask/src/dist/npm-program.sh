#!/bin/sh
# Becomes the program of this name in the package for this machine, which npm installs below this package or beside it.
set -u
self=$(readlink -f -- "$0") || exit 127
name=${self##*/}
machine=$(uname -sm)
case $machine in
{%- for platform in platforms %}
    "{{ platform.uname }}") package={{ scope }}/{{ platform.package }} ;;
{%- endfor %}
    *)
        echo "$name: there is no release for $machine; build it from source: cargo install claudex-loop" >&2
        exit 127
        ;;
esac
folder=${self%/*}
while [ -n "$folder" ]; do
    [ ! -x "$folder/node_modules/$package/bin/$name" ] || exec "$folder/node_modules/$package/bin/$name" "$@"
    folder=${folder%/*}
done
echo "$name: the package $package is not there; install claudex-loop again, without --omit=optional" >&2
exit 127
