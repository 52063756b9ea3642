# Sourced by run.sh and cli/tap.bash: finds and ends the processes that a test started, whatever groups and
# sessions they made for themselves. Whoever starts a test adds a word of its own to STRAKE_TESTS_MARK, between
# slashes; all descendants inherit it, and /proc tells who has it. A shell's own entry there is what it began
# with: words that it added itself are seen in the programs that it starts, not in the shell.

# processes_of WORD [NAME=VALUE]: processes with the word, and with a variable that matches, one number a line.
# Those that have ended and wait to be asked are none.
processes_of() {
    # Listed before grep starts, which would find itself.
    local entry entries=(/proc/[0-9]*/environ)
    for entry in $(grep -slzE "^STRAKE_TESTS_MARK=(.*/)?$1(/|\$)" "${entries[@]}"); do
        [ $# -lt 2 ] || grep -sqzE "^$2\$" "$entry" || continue
        entry=${entry%/environ}
        echo "${entry#/proc/}"
    done
}

# children_of PROCESS: one number a line.
children_of() {
    local entry line state parent rest
    for entry in /proc/[0-9]*/stat; do
        { read -r line <"$entry"; } 2>/dev/null || continue
        # A name may hold blanks and parentheses.
        read -r state parent rest <<<"${line##*) }"
        entry=${entry%/stat}
        [ "$parent" != "$1" ] || echo "${entry#/proc/}"
    done
}

# end_processes WORD: kills them, and those that they start meanwhile.
end_processes() {
    local tries found
    for tries in 1 2 3 4 5 6 7 8 9 10; do
        found=$(processes_of "$1")
        [ -n "$found" ] || return 0
        # shellcheck disable=SC2086  # a list of numbers
        kill -KILL $found
        sleep 0.1
    done
    return 1
} 2>/dev/null # where a shell tells how those that it had started itself have ended
