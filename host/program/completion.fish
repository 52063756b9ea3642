# The words that complete the present one of the command line, where they depend on it.
function __strake_is # COMMAND: whether it is the command of the line
    set -l words (commandline -opc)
    test (count $words) -gt 1; and test $words[2] = $argv[1]
end
function __strake_cases
    __fish_complete_suffix .yaml | string match -r '^[^\t]*(?:\.ya?ml|/)(?:\t.*)?$'
end
function __strake_settings
    set -l key (string match -r '^[^=]+(?==)' -- (commandline -ct))
    if test -n "$key"
        printf '%s\n' $key=(__strake_values $key)
    else
        printf '%s=\n' $__strake_keys
    end
end
function __strake_topics
    printf '%s\n' $__strake_commands case tuning $__strake_problems $__strake_keys
end
