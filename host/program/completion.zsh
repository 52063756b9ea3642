_strake()
{
    local command=$words[2] before=$words[CURRENT-1] options what key
    local -a list
    if (( CURRENT == 2 )); then
        compadd -- ${=_strake_commands} --help --version
        return
    fi
    _strake_facts "$command" "$before"
    if [[ $PREFIX == -* ]]; then
        compadd -- ${=options}
        return
    fi
    case $what in
        case) _files -g '*.y*ml' ;;
        file) _files ;;
        folder) _files -/ ;;
        setting)
            if [[ $PREFIX == *=* ]]; then
                key=${PREFIX%%=*}
                compset -P '*='
                list=(${(f)"$(legal=; _strake_values $key; print -l -- ${=legal})"})
                compadd -a list
            else
                compadd -S = -- ${=_strake_keys}
            fi ;;
        where) compadd -- ${=_strake_places} ;;
        problem) compadd -- ${=_strake_problems} ;;
        shell) compadd -- bash zsh fish ;;
        topic)
            compadd -- ${=_strake_commands} case tuning ${=_strake_problems} ${=_strake_keys} ;;
    esac
}
[[ ${funcstack[1]-} != _strake ]] || _strake "$@"
