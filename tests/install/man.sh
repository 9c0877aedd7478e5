#!/bin/sh
# The man page names every command and every option the command knows: man.sh NESTOR PAGE
set -eu
bad=0
text=$(sed 's/\\-/-/g; s/\\f[IRB]//g' "$2")
commands=$("$1" help | awk '/^commands:/ {on = 1; next} /^$/ {on = 0} on {print $1}')
[ -n "$commands" ] || { echo "no commands in nestor help"; exit 1; }
for command in $commands; do
  echo "$text" | grep -qx "\.B $command" || { echo "the man page lacks the command $command"; bad=1; }
  for option in $("$1" help "$command" | grep -o '^  [- ][A-Za-z ][, ] --[a-z-]*' | grep -o '\--[a-z-]*'); do
    echo "$text" | grep -Eq "^\.BI? ?R?.*$option( |\$)" || { echo "the man page lacks $option of $command"; bad=1; }
  done
done
# The commands of the benchmark, where it is built; their options are told by --help alone.
for command in $("$1" bench help 2>/dev/null | awk '/^commands:/ {on = 1; next} /^$/ {on = 0} on {print $1}'); do
  echo "$text" | grep -qx "\.B $command" || { echo "the man page lacks the command $command of bench"; bad=1; }
done
exit $bad
