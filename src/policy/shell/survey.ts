import { posix } from 'node:path'
import type { Command, Survey } from './command.ts'
import { nameOf } from './command.ts'
import { readsInput, roughWords, type Started, startedBy } from './starters.ts'
import type { Parse, Syntax } from './syntax.ts'
import { plainWord, readWord, UNKNOWN, type Variables, withoutBraces, type Word } from './word.ts'

/** The folder that a part of the text would run in; `cd` changes it. */
interface Scope {
  folder: string | undefined
}

/**
 * Finds every command that bash might run, wherever it hides: in lists, substitutions, functions, here-documents, arguments
 * of other programs. It may find too many, and proves nothing; it is there to find danger.
 */
export function survey(text: string, parse: Parse, variables: Variables): Survey {
  const commands: Command[] = []
  const spoken: string[] = []
  const read = new Set<string>()
  let understood = true
  let complete = true
  let bomb = false
  let listens = false
  let left = MAX_WORDS

  function readText(part: string, scope: Scope, depth: number): void {
    const plain = part.replaceAll(UNKNOWN, '$_')
    if (read.has(plain) || plain.trim() === '') return
    read.add(plain)
    if (depth > MAX_DEPTH || read.size > MAX_TEXTS) complete = false
    if (!complete) return
    const tree = parse(plain)
    if (!tree) complete = false
    if (!tree || tree.wrong) {
      if (depth === 0) understood = false
      readRoughly(plain, scope, depth)
    }
    if (tree) visit(tree, scope, depth)
    // The parser divides a word where a line is continued in its middle; bash does not.
    const continued = plain.replace(/\\\n/g, '')
    if (continued !== plain) readText(continued, { ...scope }, depth + 1)
  }

  function visit(node: Syntax, scope: Scope, depth: number): void {
    const { kind, children } = node
    if (kind === 'redirected_statement') {
      const [body] = children.filter((child) => !child.kind.endsWith('_redirect'))
      if (body && COMMANDS.has(body.kind)) return command(body, children, scope, depth)
    }
    if (COMMANDS.has(kind)) return command(node, [], scope, depth)
    if (kind === 'function_definition' && callsItself(node)) bomb = true
    if (kind === 'variable_assignment' && /@P\}|PS4|PROMPT_COMMAND/.test(text)) hidden(node.text, scope, depth)
    if (kind === 'heredoc_redirect') heredoc(node, scope, depth)
    if (children.length === 0 && LEAVES.has(kind)) hidden(node.text, scope, depth)
    const inner = SHELLS_OF_THEIR_OWN.has(kind) ? { ...scope } : scope
    for (const child of children) if (child.kind !== 'heredoc_body') visit(child, inner, depth)
    // The parser gives `cd x && ls > y` one redirection for both; it is opened where the last of them runs.
    // And `$(<file)` has no command at all.
    if (kind === 'redirected_statement' || kind === 'command_substitution') emit([], files(children), [], scope, depth)
  }

  function command(node: Syntax, around: readonly Syntax[], scope: Scope, depth: number): void {
    const parts = [...node.children, ...around.filter((child) => child !== node)]
    const words = node.children.filter((child) => !ASIDE.has(child.kind)).flatMap((child) => wordsOf(child, variables))
    const names = parts
      .filter(({ kind }) => kind === 'variable_assignment')
      .map((child) => child.text.split('=')[0] ?? '')
    emit(words, files(parts), names, scope, depth)
    for (const part of parts) visit(part, scope, depth)
  }

  /** Words that are opened by redirection, and texts that are spoken to the command. */
  function files(parts: readonly Syntax[]): Pick<Command, 'reads' | 'writes'> {
    const [reads, writes]: [Word[], Word[]] = [[], []]
    for (const { kind, children } of parts) {
      if (kind === 'herestring_redirect')
        spoken.push(...children.slice(1).map((child) => readWord(child, variables).guess))
      if (kind !== 'file_redirect') continue
      const at = children.findIndex(({ named }) => !named)
      const sign = children[at]?.kind ?? ''
      const words = children.slice(at + 1).map((child) => readWord(child, variables))
      if (sign.includes('>') || sign === '<>') writes.push(...words)
      if (sign.includes('<')) reads.push(...words)
    }
    return { reads, writes }
  }

  function heredoc(node: Syntax, scope: Scope, depth: number): void {
    const isPlain = /['"\\]/.test(node.children.find(({ kind }) => kind === 'heredoc_start')?.text ?? '')
    for (const body of node.children.filter(({ kind }) => kind === 'heredoc_body')) {
      spoken.push(body.text)
      if (!isPlain) hidden(body.text, scope, depth)
    }
  }

  /** Substitutions in text that the parser took for plain. */
  function hidden(part: string, scope: Scope, depth: number): void {
    for (const [, inBrackets, inTicks] of part.matchAll(
      /\$\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)?|`((?:[^`\\]|\\[^])*)`?/g,
    )) {
      const inner = inBrackets ?? (inTicks ?? '').replace(/\\([`\\$])/g, '$1')
      readText(inner, { ...scope }, depth + 1)
    }
  }

  function emit(
    words: readonly Word[],
    opened: Pick<Command, 'reads' | 'writes'>,
    names: readonly string[],
    scope: Scope,
    depth: number,
  ): void {
    left -= 1 + words.length
    if (left < 0 || depth > MAX_DEPTH) complete = false
    if (!complete) return
    const [first, ...args] = words
    const name = nameOf(first?.guess ?? '')
    const inner = startedBy(words)
    commands.push({ words: ownWords(words, inner), ...opened, variables: names, folder: scope.folder })
    if (name === 'cd' || name === 'pushd' || name === 'popd') scope.folder = moved(scope.folder, args)
    if (name === 'echo' || name === 'printf') spoken.push(args.map(({ guess }) => guess).join(' '))
    if (EVALUATES.has(name)) for (const { guess } of args) hidden(guess, scope, depth)
    if (readsInput(words)) listens = true
    for (const started of inner) {
      if ('text' in started) readText(started.text, { ...scope }, depth + 1)
      else {
        const from = started.words.findIndex(({ guess }) => !/^\w+=/.test(guess))
        if (from < 0 || started.words.length >= words.length) continue
        emit(started.words.slice(from), { reads: [], writes: [] }, [], { ...scope }, depth + 1)
      }
    }
  }

  /** Text that cannot be parsed is cut wherever a command could begin. */
  function readRoughly(part: string, scope: Scope, depth: number): void {
    for (const piece of part.replace(/\\\n/g, '').split(/[;&|(){}`\n]/)) {
      for (const cut of [piece, piece.replaceAll(',', ' ')]) {
        const words = roughWords(cut.replace(/\d*[<>]+&?\s*\S+/g, ' '))
        while (KEYWORDS.has(words[0]?.guess ?? '') || /^\w+=/.test(words[0]?.guess ?? '')) words.shift()
        if (words.length > 0) emit(words, { reads: [], writes: [] }, [], scope, depth + 1)
      }
    }
    const opened = [...part.matchAll(/([<>]+)[&|]?\s*(["']?)([^\s"'<>|&;()]+)\2/g)]
    const writes = opened.filter(([, sign]) => sign?.includes('>')).map(([, , , file = '']) => plainWord(file))
    const reads = opened.filter(([, sign]) => sign?.includes('<')).map(([, , , file = '']) => plainWord(file))
    emit([], { reads, writes }, [], scope, depth + 1)
  }

  const start: Scope = { folder: variables['PWD'] }
  readText(text, start, 0)
  if (listens) for (const said of spoken.splice(0)) readText(said.replaceAll(String.raw`\n`, '\n'), { ...start }, 1)
  return { commands, understood, complete, bomb }
}

const MAX_DEPTH = 50
const MAX_TEXTS = 300
/** In all commands together. */
const MAX_WORDS = 6000

const COMMANDS: ReadonlySet<string> = new Set(['command', 'declaration_command', 'unset_command', 'test_command'])
const ASIDE: ReadonlySet<string> = new Set([
  'variable_assignment',
  'file_redirect',
  'herestring_redirect',
  'heredoc_redirect',
])
const SHELLS_OF_THEIR_OWN: ReadonlySet<string> = new Set(['subshell', 'command_substitution', 'process_substitution'])
/** Pieces in which the parser may overlook a substitution. */
const LEAVES: ReadonlySet<string> = new Set([
  'word',
  'string_content',
  'heredoc_content',
  'regex',
  'extglob_pattern',
  'variable_name',
])
/** Builtins that evaluate what stands in square brackets, even in quotes. */
const EVALUATES: ReadonlySet<string> = new Set([
  'declare',
  'typeset',
  'local',
  'export',
  'readonly',
  'unset',
  'read',
  'printf',
  'let',
  'test',
  '[',
  '[[',
  'wait',
])
const KEYWORDS: ReadonlySet<string> = new Set([
  'if',
  'then',
  'else',
  'elif',
  'while',
  'until',
  'do',
  '!',
  'time',
  'coproc',
  'in',
])

function wordsOf(node: Syntax, variables: Variables): Word[] {
  if (node.kind === 'test_operator' || !node.named) return [plainWord(node.text)]
  if (node.kind.endsWith('_expression')) return node.children.flatMap((child) => wordsOf(child, variables))
  const word = readWord(node, variables)
  return word.exact === undefined ? withoutBraces(word) : [word]
}

/** The words of a command that are not those of another one which it starts. */
function ownWords(words: readonly Word[], inner: readonly Started[]): readonly Word[] {
  const [first] = inner.flatMap((one) =>
    'words' in one && one.words.at(-1) === words.at(-1) ? [one.words.length] : [],
  )
  return first === undefined ? words : words.slice(0, words.length - first)
}

function moved(folder: string | undefined, args: readonly Word[]): string | undefined {
  const target = args.find(({ guess }) => !guess.startsWith('-'))
  if (!target || target.guess.includes(UNKNOWN) || target.glob) return undefined
  return folder === undefined && !target.guess.startsWith('/') ? undefined : posix.resolve(folder ?? '/', target.guess)
}

/** `:(){ :|:& };:` and its like: a function that starts itself in a pipe or in the background. */
function callsItself({ children }: Syntax): boolean {
  const name = children.find(({ kind }) => kind === 'word')?.text
  const count = (node: Syntax): number =>
    (node.kind === 'command_name' && node.text === name ? 1 : 0) +
    node.children.reduce((sum, child) => sum + count(child), 0)
  return name !== undefined && children.some((child) => count(child) > 0 && /[|&]/.test(child.text))
}
