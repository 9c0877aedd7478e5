# bash completion for nestor

# The benchmark is a program of its own: the command names its commands and options itself.
_nestor_bench() {
  local -a words
  if ((COMP_CWORD == 2)); then
    mapfile -t words < <("$1" bench --help 2>/dev/null | sed -n '/^commands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p')
  elif [[ $cur == -* ]]; then
    mapfile -t words < <("$1" bench "${COMP_WORDS[2]}" --help 2>/dev/null |
      sed -n 's/^  \(-[A-Za-z],\|   \) \(--[a-z-]*\).*/\2/p')
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "${words[*]}" -- "$cur")
}

_nestor() {
  local cur prev commands options
  cur=${COMP_WORDS[COMP_CWORD]}
  prev=${COMP_WORDS[COMP_CWORD - 1]}
  commands='check fmt eval simulate test explain emit grammar sweep merge bench version help'
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$cur")
    return
  fi
  if [[ ${COMP_WORDS[1]} == bench ]]; then
    _nestor_bench "${COMP_WORDS[0]}"
    return
  fi
  case $prev in
    -j | --jobs | --limit | --sample | --seed | --shard) COMPREPLY=(); return ;;
    -f | --format)
      options='table json csv'
      [[ ${COMP_WORDS[1]} == test ]] && options='table json'
      [[ ${COMP_WORDS[1]} == grammar ]] && options='ebnf gbnf lark'
      mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
      return ;;
    -e | --engine) mapfile -t COMPREPLY < <(compgen -W 'analysis simulate jit all' -- "$cur"); return ;;
    --emit)
      if [[ ${COMP_WORDS[1]} == emit ]]; then mapfile -t COMPREPLY < <(compgen -W 'ast ir expr llvm' -- "$cur")
      else mapfile -t COMPREPLY < <(compgen -f -- "$cur"); fi
      return ;;
    --diagnostics) mapfile -t COMPREPLY < <(compgen -W 'text json' -- "$cur"); return ;;
    --color) mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$cur"); return ;;
    -m | --mapping | --sweep)
      # Names of mappings or sweeps in the .nest files on the line.
      local word names='' kind=mapping
      [[ $prev == --sweep ]] && kind=sweep
      for word in "${COMP_WORDS[@]}"; do
        [[ $word == *.nest && -r $word ]] &&
          names+=" $(sed -n "s/^[[:space:]]*$kind[[:space:]]\{1,\}\([A-Za-z_][A-Za-z_0-9]*\).*/\1/p" "$word")"
      done
      mapfile -t COMPREPLY < <(compgen -W "$names" -- "$cur")
      return ;;
    -s | --set)
      # Parameters of the mappings in the .nest files on the line, each with its "=".
      local word names=''
      for word in "${COMP_WORDS[@]}"; do
        [[ $word == *.nest && -r $word ]] &&
          names+=" $(tr '\n' ' ' < "$word" | grep -o 'mapping  *[A-Za-z_][A-Za-z_0-9]* *([^)]*)' | sed 's/^[^(]*(//; s/)$//' |
            tr ',' '\n' | sed -n 's/^ *\([A-Za-z_][A-Za-z_0-9]*\).*/\1=/p')"
      done
      mapfile -t COMPREPLY < <(compgen -W "$names" -- "$cur" | sort -u)
      compopt -o nospace
      return ;;
    -o | --output | --points | --checkpoint | --all | --plot) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
  esac
  local common='--diagnostics --color --help' choice='--mapping --set'
  case ${COMP_WORDS[1]} in
    check) options="$common --quiet" ;;
    fmt) options="$common --check --write --output" ;;
    eval) options="$common $choice --format --engine --require-fit --points --no-cache --output" ;;
    simulate) options="$common $choice --format --require-fit --output" ;;
    test) options="$common --quiet --format --output" ;;
    explain) options="$common $choice --output" ;;
    emit) options="$common --emit --output" ;;
    grammar) options="$common --format --output" ;;
    sweep) options="$common --sweep --format --output --dry-run --limit --sample --seed --jobs --no-prune --no-kernel"
           options+=" --no-cache --checkpoint --resume --shard --all --emit --plot --mappings --timing --progress --quiet" ;;
    merge) options="$common --format --output --emit --plot --mappings" ;;
    help) mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$cur"); return ;;
    *) options='--help' ;;
  esac
  if [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
  elif [[ ${COMP_WORDS[1]} == emit && COMP_CWORD -eq 2 ]]; then
    mapfile -t COMPREPLY < <(compgen -W 'ast ir expr llvm' -- "$cur")
  elif [[ ${COMP_WORDS[1]} == merge ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  else
    mapfile -t COMPREPLY < <(compgen -f -X '!*.nest' -- "$cur"; compgen -d -S / -- "$cur")
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]] && compopt -o nospace
  fi
}
complete -o filenames -F _nestor nestor
