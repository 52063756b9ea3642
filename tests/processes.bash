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

# find_descendants: sets $descendants to what the shell that calls has started, with all that these have; itself, no
# subshell, may look, which would find itself. Forks of a shell, too, that have not begun a program yet and do not show
# its words.
find_descendants() {
    local entry line state parent rest n found=" $BASHPID " last= processes=() parents=()
    for entry in /proc/[0-9]*/stat; do
        { read -r line <"$entry"; } 2>/dev/null || continue
        read -r state parent rest <<<"${line##*) }"
        [ "$state" != Z ] || continue
        entry=${entry%/stat}
        processes+=("${entry#/proc/}")
        parents+=("$parent")
    done
    descendants=
    while [ "$found" != "$last" ]; do
        last=$found
        for n in "${!processes[@]}"; do
            case $found in
                *" ${processes[n]} "*) ;;
                *" ${parents[n]} "*)
                    found+="${processes[n]} "
                    descendants+=" ${processes[n]}"
                    ;;
            esac
        done
    done
}

# end_processes WORD: kills processes with the word and the descendants of this shell. They are stopped first, until
# nobody new is found: one that is killed while it starts another would leave that one behind, without a parent
# and without the word.
end_processes() {
    local tries found stopped= descendants
    for tries in {1..100}; do
        found=$(processes_of "$1")
        find_descendants
        found+=$descendants
        [ -n "$found" ] || return 0
        # shellcheck disable=SC2086  # lists of numbers
        if [ "$found" = "$stopped" ]; then
            kill -KILL $found
            stopped=
            sleep 0.1
        else
            kill -STOP $found
            stopped=$found
        fi
    done
    return 1
} 2>/dev/null # where a shell tells how those that it had started itself have ended
