import { posix } from 'node:path'
import { getPathBaseName, type ShellCommand, type ShellCommandAnalysis } from './shell-command.ts'
import { readsCommandsFromInput, splitRoughly, type NestedCommand, findNestedCommands } from './nested-commands.ts'
import type { ShellParser, SyntaxNode } from './syntax-tree.ts'
import { createLiteralWord, parseWord, UNKNOWN_VALUE, expandBraces } from './shell-word.ts'
import type { ShellVariables, ShellWord } from './shell-word.ts'

/** The current folder of a part of the text; `cd` changes it. */
interface ShellScope {
  folder: string | undefined
}

/**
 * Finds every command that bash might run: in lists, substitutions, functions, here-documents, arguments of other
 * programs. It may find too many. It serves to find dangers and proves nothing.
 */
export function findCommands(text: string, parse: ShellParser, variables: ShellVariables): ShellCommandAnalysis {
  const commands: ShellCommand[] = []
  const inputTexts: string[] = []
  const seenTexts = new Set<string>()
  let understood = true
  let complete = true
  let hasForkBomb = false
  let readsInputText = false
  let wordsLeft = MAX_WORDS

  function readText(part: string, scope: ShellScope, depth: number): void {
    const plain = part.replaceAll(UNKNOWN_VALUE, '$_')
    if (seenTexts.has(plain) || plain.trim() === '') return
    seenTexts.add(plain)
    if (depth > MAX_DEPTH || seenTexts.size > MAX_TEXTS) complete = false
    if (!complete) return
    const tree = parse(plain)
    if (!tree) complete = false
    if (!tree || tree.hasError) {
      if (depth === 0) understood = false
      readRoughly(plain, scope, depth)
    }
    if (tree) visit(tree, scope, depth)
    // The parser splits a word at a line continuation; bash does not.
    const continued = plain.replace(/\\\n/g, '')
    if (continued !== plain) readText(continued, { ...scope }, depth + 1)
  }

  function visit(node: SyntaxNode, scope: ShellScope, depth: number): void {
    const { kind, children } = node
    if (kind === 'redirected_statement') {
      const [body] = children.filter((child) => !child.kind.endsWith('_redirect'))
      if (body && COMMAND_NODES.has(body.kind)) return visitCommand(body, children, scope, depth)
    }
    if (COMMAND_NODES.has(kind)) return visitCommand(node, [], scope, depth)
    if (kind === 'function_definition' && isForkBomb(node)) hasForkBomb = true
    if (kind === 'variable_assignment' && /@P\}|PS4|PROMPT_COMMAND/.test(text))
      readSubstitutions(node.text, scope, depth)
    if (kind === 'heredoc_redirect') visitHeredoc(node, scope, depth)
    if (children.length === 0 && LEAF_NODES.has(kind)) readSubstitutions(node.text, scope, depth)
    const nested = SUBSHELL_NODES.has(kind) ? { ...scope } : scope
    for (const child of children) if (child.kind !== 'heredoc_body') visit(child, nested, depth)
    // The parser attaches the redirection of `cd x && ls > y` to both; it applies to the last one. And `$(<file)` has
    // no command.
    if (kind === 'redirected_statement' || kind === 'command_substitution')
      addCommand([], collectRedirections(children), scope, depth)
  }

  function visitCommand(node: SyntaxNode, around: readonly SyntaxNode[], scope: ShellScope, depth: number): void {
    const parts = [...node.children, ...around.filter((child) => child !== node)]
    const words = node.children
      .filter((child) => !NON_WORD_NODES.has(child.kind))
      .flatMap((child) => readWords(child, variables))
    addCommand(words, collectRedirections(parts), scope, depth)
    for (const part of parts) visit(part, scope, depth)
  }

  /** Also collects the texts of here-strings. */
  function collectRedirections(parts: readonly SyntaxNode[]): Pick<ShellCommand, 'reads' | 'writes'> {
    const [reads, writes]: [ShellWord[], ShellWord[]] = [[], []]
    for (const { kind, children } of parts) {
      if (kind === 'herestring_redirect')
        inputTexts.push(...children.slice(1).map((child) => parseWord(child, variables).guess))
      if (kind !== 'file_redirect') continue
      const at = children.findIndex(({ isNamed }) => !isNamed)
      const sign = children[at]?.kind ?? ''
      const words = children.slice(at + 1).map((child) => parseWord(child, variables))
      if (sign.includes('>') || sign === '<>') writes.push(...words)
      if (sign.includes('<')) reads.push(...words)
    }
    return { reads, writes }
  }

  function visitHeredoc(node: SyntaxNode, scope: ShellScope, depth: number): void {
    const isPlain = /['"\\]/.test(node.children.find(({ kind }) => kind === 'heredoc_start')?.text ?? '')
    for (const body of node.children.filter(({ kind }) => kind === 'heredoc_body')) {
      inputTexts.push(body.text)
      if (!isPlain) readSubstitutions(body.text, scope, depth)
    }
  }

  /** Finds substitutions in text that the parser treats as literal. */
  function readSubstitutions(part: string, scope: ShellScope, depth: number): void {
    for (const [, inBrackets, inTicks] of part.matchAll(
      /\$\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)?|`((?:[^`\\]|\\[^])*)`?/g,
    )) {
      const nested = inBrackets ?? (inTicks ?? '').replace(/\\([`\\$])/g, '$1')
      readText(nested, { ...scope }, depth + 1)
    }
  }

  function addCommand(
    words: readonly ShellWord[],
    opened: Pick<ShellCommand, 'reads' | 'writes'>,
    scope: ShellScope,
    depth: number,
  ): void {
    wordsLeft -= 1 + words.length
    if (wordsLeft < 0 || depth > MAX_DEPTH) complete = false
    if (!complete) return
    const [first, ...args] = words
    const name = getPathBaseName(first?.guess ?? '')
    const nested = findNestedCommands(words)
    commands.push({ words: withoutNestedWords(words, nested), ...opened, folder: scope.folder })
    if (name === 'cd' || name === 'pushd' || name === 'popd') scope.folder = applyCd(scope.folder, args)
    if (name === 'echo' || name === 'printf') inputTexts.push(args.map(({ guess }) => guess).join(' '))
    if (EVALUATING_BUILTINS.has(name)) for (const { guess } of args) readSubstitutions(guess, scope, depth)
    if (readsCommandsFromInput(words)) readsInputText = true
    for (const started of nested) {
      if ('text' in started) readText(started.text, { ...scope }, depth + 1)
      else {
        const from = started.words.findIndex(({ guess }) => !/^\w+=/.test(guess))
        if (from < 0 || started.words.length >= words.length) continue
        addCommand(started.words.slice(from), { reads: [], writes: [] }, { ...scope }, depth + 1)
      }
    }
  }

  /** Splits text that cannot be parsed wherever a command could begin. */
  function readRoughly(part: string, scope: ShellScope, depth: number): void {
    for (const piece of part.replace(/\\\n/g, '').split(/[;&|(){}`\n]/)) {
      for (const cut of [piece, piece.replaceAll(',', ' ')]) {
        const words = splitRoughly(cut.replace(/\d*[<>]+&?\s*\S+/g, ' '))
        while (SHELL_KEYWORDS.has(words[0]?.guess ?? '') || /^\w+=/.test(words[0]?.guess ?? '')) words.shift()
        if (words.length > 0) addCommand(words, { reads: [], writes: [] }, scope, depth + 1)
      }
    }
    const opened = [...part.matchAll(/([<>]+)[&|]?\s*(["']?)([^\s"'<>|&;()]+)\2/g)]
    const filesAfter = (sign: string) =>
      opened.filter(([, signs]) => signs?.includes(sign)).map(([, , , file = '']) => createLiteralWord(file))
    addCommand([], { reads: filesAfter('<'), writes: filesAfter('>') }, scope, depth + 1)
  }

  const start: ShellScope = { folder: variables['PWD'] }
  readText(text, start, 0)
  if (readsInputText)
    for (const inputText of inputTexts.splice(0)) readText(inputText.replaceAll(String.raw`\n`, '\n'), { ...start }, 1)
  return { commands, understood, complete, isForkBomb: hasForkBomb }
}

const MAX_DEPTH = 50
const MAX_TEXTS = 300
const MAX_WORDS = 6000

const COMMAND_NODES: ReadonlySet<string> = new Set(['command', 'declaration_command', 'unset_command', 'test_command'])
const NON_WORD_NODES: ReadonlySet<string> = new Set(
  'variable_assignment file_redirect herestring_redirect heredoc_redirect'.split(' '),
)
const SUBSHELL_NODES: ReadonlySet<string> = new Set(['subshell', 'command_substitution', 'process_substitution'])
/** Nodes in which the parser may overlook a substitution. */
const LEAF_NODES: ReadonlySet<string> = new Set(
  'word string_content heredoc_content regex extglob_pattern variable_name'.split(' '),
)
/** Builtins that evaluate array subscripts, even quoted ones. */
const EVALUATING_BUILTINS: ReadonlySet<string> = new Set(
  'declare typeset local export readonly unset read printf let test [ [[ wait'.split(' '),
)
const SHELL_KEYWORDS: ReadonlySet<string> = new Set('if then else elif while until do ! time coproc in'.split(' '))

function readWords(node: SyntaxNode, variables: ShellVariables): ShellWord[] {
  if (node.kind === 'test_operator' || !node.isNamed) return [createLiteralWord(node.text)]
  if (node.kind.endsWith('_expression')) return node.children.flatMap((child) => readWords(child, variables))
  const word = parseWord(node, variables)
  return word.exact === undefined ? expandBraces(word) : [word]
}

function withoutNestedWords(words: readonly ShellWord[], nested: readonly NestedCommand[]): readonly ShellWord[] {
  const [first] = nested.flatMap((one) =>
    'words' in one && one.words.at(-1) === words.at(-1) ? [one.words.length] : [],
  )
  return first === undefined ? words : words.slice(0, words.length - first)
}

function applyCd(folder: string | undefined, args: readonly ShellWord[]): string | undefined {
  const target = args.find(({ guess }) => !guess.startsWith('-'))
  if (!target || target.guess.includes(UNKNOWN_VALUE) || target.glob) return undefined
  return folder === undefined && !target.guess.startsWith('/') ? undefined : posix.resolve(folder ?? '/', target.guess)
}

/** A function that starts itself in a pipe or in the background, such as `:(){ :|:& };:`. */
function isForkBomb({ children }: SyntaxNode): boolean {
  const name = children.find(({ kind }) => kind === 'word')?.text
  const count = (node: SyntaxNode): number =>
    (node.kind === 'command_name' && node.text === name ? 1 : 0) +
    node.children.reduce((sum, child) => sum + count(child), 0)
  return name !== undefined && children.some((child) => count(child) > 0 && /[|&]/.test(child.text))
}
