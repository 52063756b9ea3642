_strake()
{
    local at=$COMP_CWORD word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} options what legal=
    COMPREPLY=()
    # bash makes words of their own of = and of what follows it
    if [ "$word" = = ]; then word=; before='='; at=$((at + 1)); fi
    if [ "$at" -gt 3 ] && [ "$before" = = ]; then
        _strake_values "${COMP_WORDS[at - 2]}"
        COMPREPLY=($(compgen -W "$legal" -- "$word"))
        return
    fi
    if [ "$at" -eq 1 ]; then
        COMPREPLY=($(compgen -W "$_strake_commands --help --version" -- "$word"))
        return
    fi
    _strake_facts "$command" "$before"
    case $word in
        -*) COMPREPLY=($(compgen -W "$options" -- "$word")); return ;;
    esac
    case $what in
        case)
            COMPREPLY=($(compgen -f -X '!*.y*ml' -- "$word") $(compgen -d -- "$word"))
            compopt -o filenames 2>/dev/null ;;
        file) COMPREPLY=($(compgen -f -- "$word")); compopt -o filenames 2>/dev/null ;;
        folder) COMPREPLY=($(compgen -d -- "$word")); compopt -o filenames 2>/dev/null ;;
        setting)
            COMPREPLY=($(compgen -S = -W "$_strake_keys" -- "$word"))
            compopt -o nospace 2>/dev/null ;;
        where) COMPREPLY=($(compgen -W "$_strake_places" -- "$word")) ;;
        problem) COMPREPLY=($(compgen -W "$_strake_problems" -- "$word")) ;;
        shell) COMPREPLY=($(compgen -W 'bash zsh fish' -- "$word")) ;;
        topic)
            COMPREPLY=($(compgen -W "$_strake_commands case tuning $_strake_problems $_strake_keys" \
                -- "$word")) ;;
    esac
}
complete -F _strake strake
