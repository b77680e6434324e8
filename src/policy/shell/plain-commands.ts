import { isSimpleGlob } from './glob-expansion.ts'
import type { SyntaxNode } from './syntax-tree.ts'
import { parseWord } from './shell-word.ts'

/** A command whose words are all known. */
export interface PlainCommand {
  readonly words: readonly string[]
  /** Indexes of the words that are globs, which only the disk can expand. */
  readonly patterns: readonly number[]
  /** Files redirected to its input. */
  readonly reads: readonly string[]
  /** The operator before it, or empty. */
  readonly operator: string
  /** Start offsets of its subshells, outermost first. A `cd` applies only until its subshell ends. */
  readonly subshells: readonly number[]
}

/**
 * Proves what a text runs, by a closed grammar: commands of literal words, joined by `;`, `&&`, `||`, `|` and
 * newlines, grouped or not; files only as input; output only to `/dev/null`. Anything else is a doubt.
 */
export function parsePlainCommands(
  tree: SyntaxNode,
  text: string,
): { readonly commands: readonly PlainCommand[] } | { readonly doubt: string } {
  const commands: PlainCommand[] = []
  try {
    if (tree.hasError) throw new NotPlainError('it cannot be parsed with certainty')
    if (text.slice(0, tree.start).trim() !== '' || text.slice(tree.end).trim() !== '')
      throw new NotPlainError('it begins or ends with something odd')
    readStatements(tree, '', (command) => commands.push(command))
    return commands.length === 0 ? { doubt: 'it runs nothing' } : { commands }
  } catch (error) {
    if (error instanceof NotPlainError) return { doubt: error.message }
    throw error
  }
}

class NotPlainError extends Error {}

type OnCommand = (command: PlainCommand) => void

function readStatements(node: SyntaxNode, operator: string, onCommand: OnCommand): void {
  checkGaps(node, true)
  let separator = operator
  for (const child of node.children) {
    if (child.kind === 'comment') continue
    if (!child.isNamed) {
      if (!SEPARATORS.has(child.kind)) throw new NotPlainError(`it contains “${child.text.trim()}”`)
      if (!BRACKETS.has(child.kind)) separator = child.kind
      continue
    }
    // Each part of a pipe is a subshell.
    readStatement(child, separator, node.kind === 'pipeline' ? inSubshell(child, onCommand) : onCommand)
    separator = ';'
  }
}

function inSubshell({ start }: SyntaxNode, onCommand: OnCommand): OnCommand {
  return (command) => onCommand({ ...command, subshells: [start, ...command.subshells] })
}

const BRACKETS: ReadonlySet<string> = new Set(['(', ')', '{', '}'])
const SEPARATORS: ReadonlySet<string> = new Set([';', '\n', '&&', '||', '|', ...BRACKETS])
const STATEMENT_LISTS: ReadonlySet<string> = new Set(['list', 'pipeline', 'subshell', 'compound_statement'])

function readStatement(node: SyntaxNode, operator: string, onCommand: OnCommand): void {
  if (STATEMENT_LISTS.has(node.kind))
    return readStatements(node, operator, node.kind === 'subshell' ? inSubshell(node, onCommand) : onCommand)
  if (node.kind === 'command') return readSimpleCommand(node, [], operator, onCommand)
  if (node.kind === 'test_command')
    return onCommand({ words: readTestWords(node), patterns: [], reads: [], operator, subshells: [] })
  if (node.kind !== 'redirected_statement') throw new NotPlainError(`it contains “${node.kind.replaceAll('_', ' ')}”`)
  checkGaps(node, false)
  const [body, ...rest] = node.children
  if (!body) throw new NotPlainError('it runs nothing')
  const reads = rest.flatMap(readRedirection)
  if (body.kind === 'command') return readSimpleCommand(body, reads, operator, onCommand)
  if (reads.length > 0) throw new NotPlainError('it gives a file to several commands')
  readStatement(body, operator, onCommand)
}

/** The words of `[ … ]`, and of `[[ … ]]` where it means the same. */
function readTestWords(node: SyntaxNode): string[] {
  checkGaps(node, false)
  if (!/^\[\[? [^\n]* \]\]?$/.test(node.text)) throw new NotPlainError('it contains an odd test')
  const words = node.children.flatMap(readTestWord)
  return ['[', ...words.slice(1, -1), ']']
}

function readTestWord(node: SyntaxNode): string[] {
  if (node.kind === 'test_operator' || !node.isNamed) return [node.text]
  if (!node.kind.endsWith('_expression')) return [readLiteralWord(node)]
  checkGaps(node, false)
  return node.children.flatMap(readTestWord)
}

function readSimpleCommand(node: SyntaxNode, reads: readonly string[], operator: string, onCommand: OnCommand): void {
  checkGaps(node, false)
  const words: string[] = []
  const patterns: number[] = []
  const files = [...reads]
  for (const [index, child] of node.children.entries()) {
    const isWord = !child.kind.endsWith('_redirect')
    if (isWord && index > 0 && child.start === node.children[index - 1]?.end)
      throw new NotPlainError('its words are not divided')
    if (child.kind === 'variable_assignment') checkAssignment(child)
    else if (child.kind === 'file_redirect' || child.kind === 'herestring_redirect')
      files.push(...readRedirection(child))
    else {
      if (words[0] === 'echo' && isHarmlessValue(child)) {
        words.push(child.text)
        continue
      }
      const isPattern = words.length > 0 && child.kind === 'word' && isSimpleGlob(child.text)
      if (isPattern) patterns.push(words.length)
      words.push(isPattern ? child.text : readLiteralWord(child))
    }
  }
  const [name] = words
  if (name === undefined) throw new NotPlainError('it sets a variable')
  if (RESERVED_WORDS.has(name)) throw new NotPlainError(`“${name}” is a word of the shell itself`)
  onCommand({ words, patterns, reads: files, operator, subshells: [] })
}

/** Variables that `echo` may print: the last exit status, and harmless environment variables. */
function isHarmlessValue({ kind, text, children }: SyntaxNode): boolean {
  if (kind === 'simple_expansion') return /^\$(?:\?|HOME|PWD|PATH|USER|SHELL|LANG)$/.test(text)
  const isText = kind === 'string' || kind === 'concatenation'
  if (!isText || !children.some(isHarmlessValue)) return false
  return children.every(
    (one) =>
      isHarmlessValue(one) ||
      (kind === 'string' ? one.kind === '"' || one.kind === 'string_content' : /^[\w:=.,-]+$/.test(one.text)),
  )
}

/** Keywords that the parser treats as programs where bash does not expect them. */
const RESERVED_WORDS: ReadonlySet<string> = new Set(
  '! [[ ]] { } case coproc do done elif else esac fi for function if in select then time until while'.split(' '),
)

/** Returns the files that a redirection reads. Output may only go to /dev/null. */
function readRedirection(node: SyntaxNode): string[] {
  checkGaps(node, false)
  const [first, second] = node.children
  const isNumbered = first?.kind === 'file_descriptor'
  if (isNumbered && (first.end !== second?.start || !/^\d$/.test(first.text)))
    throw new NotPlainError('it opens a file oddly')
  const [separator, target, ...more] = node.children.slice(isNumbered ? 1 : 0)
  if (!separator || !target || more.length > 0) throw new NotPlainError('it contains an odd redirection')
  const file = readLiteralWord(target)
  if (isNumbered && first.text === '0' && !separator.kind.startsWith('<'))
    throw new NotPlainError('it opens its input oddly')
  if (separator.kind === '<<<') return []
  if (separator.kind === '<') return [file]
  if (separator.kind === '>&' && /^[12]$/.test(file)) return []
  if (/^(?:&?>>?|>\||>&)$/.test(separator.kind) && file === '/dev/null') return []
  throw new NotPlainError(`it redirects into ${file}`)
}

/** Only variables that change the output format are allowed. */
function checkAssignment({ text }: SyntaxNode): void {
  if (!/^(?:LC_[A-Z]+|LANG|NO_COLOR)=[\w.@-]*$/.test(text)) throw new NotPlainError('it sets a variable')
}

function readLiteralWord(node: SyntaxNode): string {
  if (/^[{}]/.test(node.text)) throw new NotPlainError(`“${node.text}” begins with a bracket`)
  const { exact } = parseWord(node.kind === 'command_name' ? (node.children[0] ?? node) : node, {})
  if (exact === undefined || !WORD_KINDS.has(node.kind))
    throw new NotPlainError(`“${node.text}” is known only when it runs`)
  if (
    node.kind === 'concatenation' &&
    node.children.some((one, index) => index > 0 && one.start !== node.children[index - 1]?.end)
  )
    throw new NotPlainError('its words are not divided')
  return exact
}

const WORD_KINDS: ReadonlySet<string> = new Set('command_name word number raw_string string concatenation'.split(' '))

/**
 * Between the nodes there must be whitespace only. A line continuation counts only beside other whitespace, since bash
 * joins the two parts of a word that the parser splits. Newlines are only allowed between statements. A number that
 * touches a redirection belongs to it, which the parser does not always see.
 */
function checkGaps(node: SyntaxNode, lines: boolean): void {
  let index = node.start
  for (const child of node.children) {
    const gap = node.text.slice(index - node.start, child.start - node.start)
    const bare = gap.replaceAll('\\\n', '')
    if (!(lines ? /^[ \t\n]*$/ : /^[ \t]*$/).test(bare))
      throw new NotPlainError('it contains something odd between its words')
    if (bare === '' && gap !== '') throw new NotPlainError('a word goes on in the next line')
    const before = node.text[index - node.start - 1] ?? ''
    if (gap === '' && child.kind.endsWith('_redirect') && /\d/.test(before))
      throw new NotPlainError('a number stands directly before a redirection')
    if (gap === '' && index > node.start) {
      if (/[{}]/.test(before) && !/^[;|&()]/.test(child.text)) throw new NotPlainError('a bracket touches a word')
      if (/[;&|<>]/.test(before) && /^[;&|<>]/.test(child.text))
        throw new NotPlainError('two signs stand without a blank')
      // `[` and `]` are words only if they are separate; the parser also finds them inside longer words.
      if (/\]/.test(before) && !/^[;|&)\n]/.test(child.text)) throw new NotPlainError('a bracket touches a word')
      if (child.kind === 'test_command' && !/[;|&(\n]/.test(before)) throw new NotPlainError('a bracket touches a word')
    }
    index = child.end
  }
  if (node.text.slice(index - node.start).trim() !== '' && node.children.length > 0)
    throw new NotPlainError('it ends with something odd')
}
