import { isPlainPattern } from './pattern-words.ts'
import type { Syntax } from './syntax.ts'
import { readWord } from './word.ts'

/** A command of which every word is certain. */
export interface PlainCommand {
  readonly words: readonly string[]
  /** Those of its words, by number, that are patterns of files: what they stand for only the disk can say. */
  readonly patterns: readonly number[]
  /** Files that it gets as input. */
  readonly reads: readonly string[]
  /** What stands before it: nothing, or the sign that joins it to the command before. */
  readonly after: string
}

/** The commands of a text, all of them and nothing else; or why that cannot be proved. */
export type Proof = { readonly commands: readonly PlainCommand[] } | { readonly doubt: string }

/**
 * Proves what a text runs, by a closed grammar: commands of certain words, joined by `;`, `&&`, `||`, `|` and line ends, in
 * brackets or not; files only as input; output only to `/dev/null`. Whatever else it holds, nothing is proved.
 */
export function provePlain(tree: Syntax, text: string): Proof {
  const commands: PlainCommand[] = []
  try {
    if (tree.wrong) throw new Doubt('it cannot be parsed with certainty')
    if (text.slice(0, tree.start).trim() !== '' || text.slice(tree.end).trim() !== '')
      throw new Doubt('it begins or ends with something odd')
    statements(tree, '', (command) => commands.push(command))
    return commands.length === 0 ? { doubt: 'it runs nothing' } : { commands }
  } catch (error) {
    if (error instanceof Doubt) return { doubt: error.message }
    throw error
  }
}

class Doubt extends Error {}

type Found = (command: PlainCommand) => void

/** A row of statements: the whole text, a list, or what stands in brackets. */
function statements(node: Syntax, after: string, found: Found): void {
  gaps(node, true)
  let sign = after
  for (const child of node.children) {
    if (child.kind === 'comment') continue
    if (!child.named) {
      if (!JOINS.has(child.kind)) throw new Doubt(`it contains “${child.text.trim()}”`)
      if (!BRACKETS.has(child.kind)) sign = child.kind
      continue
    }
    statement(child, sign, found)
    sign = ';'
  }
}

const BRACKETS: ReadonlySet<string> = new Set(['(', ')', '{', '}'])
const JOINS: ReadonlySet<string> = new Set([';', '\n', '&&', '||', '|', ...BRACKETS])
const ROWS: ReadonlySet<string> = new Set(['list', 'pipeline', 'subshell', 'compound_statement'])

function statement(node: Syntax, after: string, found: Found): void {
  if (ROWS.has(node.kind)) return statements(node, after, found)
  if (node.kind === 'command') return simple(node, [], after, found)
  if (node.kind === 'test_command') return found({ words: testWords(node), patterns: [], reads: [], after })
  if (node.kind !== 'redirected_statement') throw new Doubt(`it contains ${inWords(node.kind)}`)
  gaps(node, false)
  const [body, ...rest] = node.children
  if (!body) throw new Doubt('it runs nothing')
  const reads = rest.flatMap(redirection)
  if (body.kind === 'command') return simple(body, reads, after, found)
  if (reads.length > 0) throw new Doubt('it gives a file to several commands')
  statement(body, after, found)
}

/** The words of `[ … ]`, as the program of that name gets them; `[[ … ]]` only where it means the same. */
function testWords(node: Syntax): string[] {
  gaps(node, false)
  if (!/^\[\[? [^\n]* \]\]?$/.test(node.text)) throw new Doubt('it contains an odd test')
  const words = node.children.flatMap(testWord)
  return ['[', ...words.slice(1, -1), ']']
}

function testWord(node: Syntax): string[] {
  if (node.kind === 'test_operator' || !node.named) return [node.text]
  if (!node.kind.endsWith('_expression')) return [certain(node)]
  gaps(node, false)
  return node.children.flatMap(testWord)
}

function simple(node: Syntax, reads: readonly string[], after: string, found: Found): void {
  gaps(node, false)
  const words: string[] = []
  const patterns: number[] = []
  const files = [...reads]
  for (const [at, child] of node.children.entries()) {
    const isWord = !child.kind.endsWith('_redirect')
    if (isWord && at > 0 && child.start === node.children[at - 1]?.end) throw new Doubt('its words are not divided')
    if (child.kind === 'variable_assignment') assignment(child)
    else if (child.kind === 'file_redirect' || child.kind === 'herestring_redirect') files.push(...redirection(child))
    else {
      if (words[0] === 'echo' && isHarmlessValue(child)) {
        words.push(child.text)
        continue
      }
      const isPattern = words.length > 0 && child.kind === 'word' && isPlainPattern(child.text)
      if (isPattern) patterns.push(words.length)
      words.push(isPattern ? child.text : certain(child))
    }
  }
  const [name] = words
  if (name === undefined) throw new Doubt('it sets a variable')
  if (RESERVED.has(name)) throw new Doubt(`“${name}” is a word of the shell itself`)
  found({ words, patterns, reads: files, after })
}

/** Text that `echo` may print though it is known only when it runs: how the last command ended, and who and where we are. */
function isHarmlessValue({ kind, text, children }: Syntax): boolean {
  if (kind === 'simple_expansion') return /^\$(?:\?|HOME|PWD|PATH|USER|SHELL|LANG)$/.test(text)
  const isText = kind === 'string' || kind === 'concatenation'
  if (!isText || !children.some(isHarmlessValue)) return false
  return children.every(
    (one) =>
      isHarmlessValue(one) ||
      (kind === 'string' ? one.kind === '"' || one.kind === 'string_content' : /^[\w:=.,-]+$/.test(one.text)),
  )
}

/** Words that the parser takes for programs where bash finds them out of place. */
const RESERVED: ReadonlySet<string> = new Set(
  '! [[ ]] { } case coproc do done elif else esac fi for function if in select then time until while'.split(' '),
)

/** The files that a redirection reads. Writing is only to where nothing is kept. */
function redirection(node: Syntax): string[] {
  gaps(node, false)
  const [first, second] = node.children
  const isNumbered = first?.kind === 'file_descriptor'
  if (isNumbered && (first.end !== second?.start || !/^\d$/.test(first.text))) throw new Doubt('it opens a file oddly')
  const [sign, target, ...more] = node.children.slice(isNumbered ? 1 : 0)
  if (!sign || !target || more.length > 0) throw new Doubt('it contains an odd redirection')
  const file = certain(target)
  if (isNumbered && first.text === '0' && !sign.kind.startsWith('<')) throw new Doubt('it opens its input oddly')
  if (sign.kind === '<<<') return []
  if (sign.kind === '<') return [file]
  if (sign.kind === '>&' && /^[12]$/.test(file)) return []
  if (/^(?:&?>>?|>\||>&)$/.test(sign.kind) && file === '/dev/null') return []
  throw new Doubt(`it redirects into ${file}`)
}

/** Variables that change only what is printed. */
function assignment({ text }: Syntax): void {
  if (!/^(?:LC_[A-Z]+|LANG|NO_COLOR)=[\w.@-]*$/.test(text)) throw new Doubt('it sets a variable')
}

function certain(node: Syntax): string {
  if (/^[{}]/.test(node.text)) throw new Doubt(`“${node.text}” begins with a bracket`)
  const { exact } = readWord(node.kind === 'command_name' ? (node.children[0] ?? node) : node, {})
  if (exact === undefined || !WORDS.has(node.kind)) throw new Doubt(`“${node.text}” is known only when it runs`)
  if (
    node.kind === 'concatenation' &&
    node.children.some((one, at) => at > 0 && one.start !== node.children[at - 1]?.end)
  )
    throw new Doubt('its words are not divided')
  return exact
}

const WORDS: ReadonlySet<string> = new Set(['command_name', 'word', 'number', 'raw_string', 'string', 'concatenation'])

/**
 * What stands between the pieces must be blank. A continued line counts as blank only beside a real one: in the middle of
 * a word bash joins what the parser divides. Line ends stand only between statements. And a number that touches a
 * redirection belongs to it, which the parser does not always see.
 */
function gaps(node: Syntax, lines: boolean): void {
  let at = node.start
  for (const child of node.children) {
    const gap = node.text.slice(at - node.start, child.start - node.start)
    const bare = gap.replaceAll('\\\n', '')
    if (!(lines ? /^[ \t\n]*$/ : /^[ \t]*$/).test(bare)) throw new Doubt('it contains something odd between its words')
    if (bare === '' && gap !== '') throw new Doubt('a word goes on in the next line')
    const before = node.text[at - node.start - 1] ?? ''
    if (gap === '' && child.kind.endsWith('_redirect') && /\d/.test(before))
      throw new Doubt('a number stands directly before a redirection')
    if (gap === '' && at > node.start) {
      if (/[{}]/.test(before) && !/^[;|&()]/.test(child.text)) throw new Doubt('a bracket touches a word')
      if (/[;&|<>]/.test(before) && /^[;&|<>]/.test(child.text)) throw new Doubt('two signs stand without a blank')
      // `[` and `]` are words only where they stand alone; the parser sees them in a longer word too.
      if (/\]/.test(before) && !/^[;|&)\n]/.test(child.text)) throw new Doubt('a bracket touches a word')
      if (child.kind === 'test_command' && !/[;|&(\n]/.test(before)) throw new Doubt('a bracket touches a word')
    }
    at = child.end
  }
  if (node.text.slice(at - node.start).trim() !== '' && node.children.length > 0)
    throw new Doubt('it ends with something odd')
}

function inWords(kind: string): string {
  return `“${kind.replaceAll('_', ' ')}”`
}
