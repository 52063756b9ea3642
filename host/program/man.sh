#!/bin/sh
# Usage: sh host/program/man.sh PAGE COMMAND... >strake.1
# Writes the manual: PAGE, with what the program (COMMAND, such as build/strake) says of its commands and of the keys
# of a case in place of the lines `.\" commands` and `.\" topics`, and its version behind .Os, so that it says everything and nothing twice.
set -eu
page=$1
shift

literal() { # literal TOPIC COMMAND...: what `strake help` says of it, as it stands
    topic=$1
    shift
    text=$("$@" help "$topic")
    printf '.Bd -literal\n'
    printf '%s\n' "$text" | sed 's/\\/\\e/g; s/^[.'"'"']/\\\&&/; s/-/\\-/g'
    printf '.Ed\n'
}

overview=$("$@" help)
while IFS= read -r line; do
    case $line in
        '.\" commands')
            for topic in $(printf '%s\n' "$overview" | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
                printf '.Ss strake %s\n' "$topic"
                literal "$topic" "$@"
            done
            ;;
        '.\" topics')
            for topic in $(printf '%s\n' "$overview" | sed -n 's/^  strake help \([a-z]*\) .*/\1/p'); do
                printf '.Ss strake help %s\n' "$topic"
                literal "$topic" "$@"
            done
            ;;
        .Os) printf '.Os %s\n' "$("$@" --version | sed 's/^strake/Strake/')" ;;
        *) printf '%s\n' "$line" ;;
    esac
done <"$page"
