import { getPathBaseName } from './shell-command.ts'
import { createLiteralWord, UNKNOWN_VALUE, type ShellWord } from './shell-word.ts'

export type NestedCommand = { readonly words: readonly ShellWord[] } | { readonly text: string }

/** Finds what a command starts: through `env`, `timeout`, `xargs`, `find -exec`, `sh -c`, `eval` and similar. */
export function findNestedCommands(words: readonly ShellWord[]): NestedCommand[] {
  const [first, ...args] = words
  const name = getPathBaseName(first?.guess ?? '')
  if (Object.hasOwn(COMMAND_WRAPPERS, name)) return parseWrapperArguments(args, COMMAND_WRAPPERS[name] ?? {})
  if (SHELL_NAME.test(name)) return parseShellArguments(args)
  if (name === 'eval') return [{ text: joinWords(args) }]
  if (name === 'trap' || name === 'alias') return args.slice(0, name === 'trap' ? 1 : undefined).map(toValueText)
  if (name === 'find') return parseExecArguments(args)
  if (name === 'git') return findGitScripts(args)
  if (name === 'busybox' || name === 'toybox') return [{ words: args }]
  return [
    ...findCommandOptions(args),
    ...(EVALUATING_BUILTINS.has(name) ? args.map(({ guess }) => ({ text: guess })) : []),
  ]
}

/** Programs that start the command in their arguments. */
interface CommandWrapper {
  /** Options with a value in the next word. */
  readonly values?: string
  /** Number of words before the command. */
  readonly skip?: number
  /** Options whose value is shell text. */
  readonly text?: string
  /** All words are passed to a shell as one text. */
  readonly joins?: true
}

const COMMAND_WRAPPERS: Readonly<Record<string, CommandWrapper>> = {
  // Keywords of the shell, where the parser treats them as programs.
  ...Object.fromEntries('{ ! if then elif else while until do'.split(' ').map((word) => [word, {}])),
  ...Object.fromEntries(
    (
      'command builtin coproc nohup setsid numactl prlimit unshare fakeroot bwrap firejail valgrind entr unbuffer rlwrap ' +
      'xvfb-run dbus-run-session npx caffeinate ld.so ld-linux-x86-64.so.2'
    )
      .split(' ')
      .map((name) => [name, {}]),
  ),
  exec: { values: '-a' },
  time: { values: '-f -o' },
  env: { values: '-u --unset -C --chdir', text: '-S --split-string' },
  nice: { values: '-n --adjustment' },
  ionice: { values: '-c -n -p --class --classdata' },
  chrt: { skip: 1, values: '-T -P -D' },
  setpriv: { values: '--reuid --regid --groups --inh-caps' },
  stdbuf: { values: '-i -o -e' },
  timeout: { values: '-k -s --kill-after --signal', skip: 1 },
  flock: { values: '-w -E --timeout', skip: 1, text: '-c --command' },
  taskset: { skip: 1 },
  choom: { values: '-n -p' },
  xargs: { values: '-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --replace --max-lines' },
  parallel: { values: '-j -n -N', joins: true },
  sudo: { values: '-u -g -h -p -C -r -t -T -U -D -R --user --group --host' },
  doas: { values: '-u -C' },
  su: { text: '-c --command --session-command' },
  runuser: { values: '-u -g -G', text: '-c --command' },
  pkexec: { values: '--user' },
  chroot: { skip: 1 },
  nsenter: { values: '-t --target' },
  strace: { values: '-o -e -p -s -a -u -E -I -O -S -P' },
  ltrace: { values: '-o -e -p -s -a -u' },
  watch: { values: '-n --interval', joins: true },
  script: { text: '-c --command' },
  'start-stop-daemon': { values: '--exec -x --startas -a', text: '--exec -x --startas -a' },
  'systemd-run': { values: '-u --unit -p --property' },
  tmux: { joins: true, skip: 1, values: '-s -n -c -t -x -y' },
  screen: { values: '-S -t' },
  ssh: { values: '-p -i -l -o -F -L -R -D -J', skip: 1, joins: true },
  faketime: { skip: 1 },
  perf: { skip: 1 },
  hyperfine: { joins: true },
}

const SHELL_NAME = /^(?:ba|da|a|z|k|mk|c|tc|fi|r|rba|po)?sh$/

/** Builtins that run text from their arguments. */
const EVALUATING_BUILTINS: ReadonlySet<string> = new Set(['mapfile', 'readarray', 'compgen', 'complete', 'bind', 'fc'])

function parseWrapperArguments(
  args: readonly ShellWord[],
  { values = '', skip = 0, text = '', joins }: CommandWrapper,
): NestedCommand[] {
  const takesValue = new Set(values.split(' '))
  const takesText = new Set(text.split(' '))
  const found: NestedCommand[] = []
  let wordsToSkip = skip
  for (let at = 0; at < args.length && found.length < MAX_NESTED_GUESSES; at++) {
    const word = args[at]?.guess ?? ''
    const [name = '', value] = word.split(/=([^]*)/)
    if (takesText.has(name)) {
      found.push({ text: value ?? args[++at]?.guess ?? '' })
    } else if (takesText.has(word.slice(0, 2)) && word.length > 2 && !word.startsWith('--')) {
      found.push({ text: word.slice(2) })
    } else if (takesValue.has(word)) {
      at++
    } else if (word.startsWith('-') && word !== '-') {
      // An unknown option may have a value: then the command begins one word later.
      const next = args[at + 1]?.guess ?? ''
      if (word !== '--' && !word.includes('=') && next !== '' && !next.startsWith('-'))
        found.push({ words: args.slice(at + 1) })
    } else if (/^\w+=/.test(word)) {
      continue
    } else if (wordsToSkip > 0) {
      wordsToSkip--
    } else {
      found.push({ words: args.slice(at) })
      if (joins || /\s/.test(word)) found.push({ text: joinWords(args.slice(at)) })
      return found
    }
  }
  return found
}

const MAX_NESTED_GUESSES = 16

/** `bash -c text`, `bash -lc text`. A script file is unknown. */
function parseShellArguments(args: readonly ShellWord[]): NestedCommand[] {
  const at = args.findIndex(({ guess }) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(guess) || guess === '--command')
  const text = at < 0 ? undefined : args.slice(at + 1).find(({ guess }) => !/^[-+]/.test(guess))
  return text ? [{ text: text.guess }] : []
}

export function readsCommandsFromInput(words: readonly ShellWord[]): boolean {
  const [first, ...args] = words
  if (!SHELL_NAME.test(getPathBaseName(first?.guess ?? ''))) return false
  return args.every(({ guess }) => guess.startsWith('-') && !/^-[a-zA-Z]*c/.test(guess))
}

function parseExecArguments(args: readonly ShellWord[]): NestedCommand[] {
  return args.flatMap(({ guess }, at) => {
    if (!/^-(?:exec|ok)(?:dir)?$/.test(guess)) return []
    const end = args.findIndex((word, index) => index > at && (word.guess === ';' || word.guess === '+'))
    return [{ words: args.slice(at + 1, end < 0 ? undefined : end) }]
  })
}

/** Git runs text from aliases, `--exec`, `--upload-pack` and `bisect run`. */
function findGitScripts(args: readonly ShellWord[]): NestedCommand[] {
  const run = args.findIndex(({ guess }, at) => guess === 'run' && args[at - 1]?.guess === 'bisect')
  const settings = args.flatMap(({ guess }) => {
    const value = /^[\w.-]+=!?([^]+)$/.exec(guess)?.[1]
    return value === undefined ? [] : [{ text: value }]
  })
  const after = args.flatMap(({ guess }, at) =>
    /^(?:-x|--exec)$/.test(guess) ? [{ text: args[at + 1]?.guess ?? '' }] : [],
  )
  return [...findCommandOptions(args), ...settings, ...after, ...(run < 0 ? [] : [{ words: args.slice(run + 1) }])]
}

/** Options whose value is a command in many programs. */
function findCommandOptions(args: readonly ShellWord[]): NestedCommand[] {
  return args.flatMap(({ guess }, at) => {
    const [, name, value] = /^(--[\w-]+)(?:=([^]*))?$/.exec(guess) ?? []
    if (name === undefined || !COMMAND_OPTION.test(name)) return []
    const text = value ?? args[at + 1]?.guess ?? ''
    return [{ text: text.replace(/^exec=/, '') }]
  })
}

const COMMAND_OPTION =
  /^--(?:.*(?:exec|command|program|filter|action|pager|shell|eval|pack|hook)|pre|rsh|to-command|call)$/

function joinWords(words: readonly ShellWord[]): string {
  return words.map(({ guess }) => guess).join(' ')
}

function toValueText({ guess }: ShellWord): NestedCommand {
  return { text: guess.replace(/^\w+=/, '') }
}

/** Words of a text that could not be parsed. */
export function splitRoughly(text: string): ShellWord[] {
  return text
    .trim()
    .split(/\s+/)
    .map((word) => createLiteralWord(word.replace(/\\\n/g, '').replace(/["'\\]|^\$(?=['"])/g, '')))
    .filter(({ guess }) => guess !== '' && guess !== UNKNOWN_VALUE)
}
