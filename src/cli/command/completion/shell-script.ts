import { UserError } from '../../user-error.ts'
import { COMPLETION_COMMAND, COMPLETION_SHELLS } from './spec.ts'
import { parseCommandLine, rejectExtraArgs } from '../../args/parse-command-line.ts'

/** `dragoman completion <shell>`: a script that calls `dragoman __complete` at each Tab. */
export function runCompletionCommand(args: string[]): void {
  const { positionals } = parseCommandLine('dragoman completion', COMPLETION_COMMAND.options, args)
  rejectExtraArgs('dragoman completion', positionals, 1)
  const shell = COMPLETION_SHELLS.find((one) => one === positionals[0])
  // The output is run by a shell: without arguments this must not print the help.
  if (!shell) throw new UserError(`name the shell: dragoman completion ${COMPLETION_SHELLS.join(' | ')}`)
  process.stdout.write(COMPLETION_SCRIPTS[shell])
}

const COMPLETION_SCRIPTS: Readonly<Record<(typeof COMPLETION_SHELLS)[number], string>> = {
  bash: `# Completion for bash: eval "$(dragoman completion bash)"
_dragoman() {
  local IFS=$'\\n' word="\${COMP_WORDS[COMP_CWORD]}"
  [[ $word == = ]] && word=
  COMPREPLY=($("\${1/#\\~/$HOME}" __complete bash -- "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null))
  case "\${COMPREPLY[0]}" in
    @files) COMPREPLY=($(compgen -f -- "$word")); compopt -o filenames 2>/dev/null ;;
    @folders) COMPREPLY=($(compgen -d -- "$word")); compopt -o filenames 2>/dev/null ;;
    */) compopt -o nospace 2>/dev/null ;;
  esac
  compopt -o nosort 2>/dev/null
}
complete -F _dragoman dragoman
`,
  zsh: `#compdef dragoman
# Completion for zsh: eval "$(dragoman completion zsh)" after compinit
_dragoman() {
  local -a lines open closed
  local line
  lines=("\${(@f)$(dragoman __complete zsh -- "\${(@Q)words[1,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  case "$lines[1]" in
    '') return 1 ;;
    @files) _files; return ;;
    @folders) _files -/; return ;;
  esac
  for line in $lines; do
    line="\${line//:/\\\\:}"
    line="\${line/$'\\t'/:}"
    if [[ "\${line%%:*}" == */ ]]; then open+=("$line"); else closed+=("$line"); fi
  done
  (( $#open )) && _describe -V 'dragoman' open -S ''
  (( $#closed )) && _describe -V 'dragoman' closed
}
if [ "$funcstack[1]" = _dragoman ]; then _dragoman "$@"; else compdef _dragoman dragoman; fi
`,
  fish: `# Completion for fish: dragoman completion fish > ~/.config/fish/completions/dragoman.fish
function __dragoman_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l found (dragoman __complete fish -- $words "$current" 2>/dev/null)
    switch "$found[1]"
        case @files
            __fish_complete_path "$current"
        case @folders
            __fish_complete_directories "$current"
        case '*'
            test (count $found) -gt 0; and printf '%s\\n' $found
    end
end
complete -c dragoman -f -k -a '(__dragoman_complete)'
`,
}
