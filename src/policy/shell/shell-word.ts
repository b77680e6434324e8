import type { SyntaxNode } from './syntax-tree.ts'

export interface ShellWord {
  /** The value, if it is certain: no variable, glob or expansion. */
  readonly exact?: string
  /** The most likely value. `UNKNOWN_VALUE` replaces parts that are known only at run time. */
  readonly guess: string
  /** Does it have an unquoted `*`, `?` or `[`? */
  readonly glob: boolean
}

export const UNKNOWN_VALUE = '\0'

export type ShellVariables = Readonly<Record<string, string>>

export function parseWord(node: SyntaxNode, variables: ShellVariables): ShellWord {
  const { exact, guess, glob } = parsePiece(node, variables)
  const unquoted = unquotedText(node)
  const isExact = exact !== undefined && !hasExpansion(unquoted)
  return { ...(isExact && { exact }), guess: expandHome(unquoted, guess, variables), glob }
}

export function createLiteralWord(text: string): ShellWord {
  return { exact: text, guess: text, glob: false }
}

function parsePiece(node: SyntaxNode, variables: ShellVariables): ShellWord {
  const { kind, text, children } = node
  if (kind === 'number') return createLiteralWord(text)
  if (kind === 'raw_string') return createLiteralWord(text.slice(1, -1))
  if (kind === 'ansi_c_string') return { guess: decodeAnsiC(text.slice(2, -1)), glob: false }
  if (kind === 'word' && children.length === 0) {
    // Escaped brackets and `!` are separate words: `find . \\( -name a -o -name b \\)`.
    if (/^\\[()!]$/.test(text)) return createLiteralWord(text.slice(1))
    const glob = /(?<!\\)[*?[]/.test(text)
    const guess = text.replace(/\\(\n)?([^])?/g, (_, line?: string, sign = '') => (line === undefined ? sign : sign))
    return /[\\*?[\]`$"'<>|&;()\s]/.test(text) ? { guess, glob } : { exact: text, guess, glob }
  }
  if (kind === 'string' || kind === 'translated_string') return parseQuoted(node, variables)
  if (kind === 'concatenation' || kind === 'command_name' || (kind === 'word' && children.length > 0)) {
    return joinPieces(children.map((child) => parsePiece(child, variables)))
  }
  if (kind === 'simple_expansion' || kind === 'expansion') {
    const name = /^\$\{?(\w+)\}?$/.exec(text)?.[1] ?? ''
    return { guess: variables[name] ?? UNKNOWN_VALUE, glob: false }
  }
  return { guess: UNKNOWN_VALUE, glob: false }
}

/** In double quotes a backslash escapes only five characters. */
function parseQuoted(node: SyntaxNode, variables: ShellVariables): ShellWord {
  const { kind, text, children } = node
  const isPlain = children.every((child) => child.kind === 'string_content' || child.kind === '"')
  if (kind === 'string' && isPlain) return createLiteralWord(unescapeQuoted(text.slice(1, -1)))
  const parts = children
    .filter((child) => child.kind !== '"')
    .map((child) => (child.kind === 'string_content' ? unescapeQuoted(child.text) : parsePiece(child, variables).guess))
  return { guess: parts.join(''), glob: false }
}

function unescapeQuoted(text: string): string {
  return text.replace(/\\([$`"\\\n])/g, (_, sign: string) => (sign === '\n' ? '' : sign))
}

function joinPieces(pieces: readonly ShellWord[]): ShellWord {
  const exacts = pieces.map(({ exact }) => exact)
  return {
    ...(exacts.every((exact) => exact !== undefined) && { exact: exacts.join('') }),
    guess: pieces.map(({ guess }) => guess).join(''),
    glob: pieces.some(({ glob }) => glob),
  }
}

/** The text of a word without its quoted parts, in which no character is special. */
function unquotedText(node: SyntaxNode): string {
  if (node.kind === 'raw_string' || node.kind === 'string' || node.kind === 'ansi_c_string') return '"'
  if (node.children.length === 0 || node.kind === 'simple_expansion') return node.text
  return node.children.map(unquotedText).join('')
}

/** Would bash expand it? `{a,b}`, `{1..3}`, `~`, `a=~`. */
function hasExpansion(unquoted: string): boolean {
  return /\{[^]*(?:,|\.\.)[^]*\}/.test(unquoted) || /(?:^|[=:])~/.test(unquoted)
}

function expandHome(unquoted: string, guess: string, variables: ShellVariables): string {
  const home = variables['HOME']
  if (home === undefined || !/^~(?:\/|$)/.test(unquoted)) return guess
  return guess.replace(/^~/, home)
}

function decodeAnsiC(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|([^]))/g,
    (_, hex?: string, short?: string, long?: string, octal?: string, sign = '') => {
      const code = hex ?? short ?? long
      if (code !== undefined) return toCharacter(Number.parseInt(code, 16))
      if (octal !== undefined) return toCharacter(Number.parseInt(octal, 8) & 255)
      return (
        ({ n: '\n', t: '\t', r: '\r', e: '\u001B', E: '\u001B', a: '\u0007' } as Record<string, string>)[sign] ?? sign
      )
    },
  )
}

function toCharacter(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : UNKNOWN_VALUE
}

/** Expands `{a,b}c` to `ac` and `bc`. The result is only a guess and proves nothing. */
export function expandBraces({ guess, glob }: ShellWord): ShellWord[] {
  const all: string[] = []
  const pending = [guess]
  for (let text = pending.shift(); text !== undefined && all.length < 64; text = pending.shift()) {
    const match = /\{([^{}]*,[^{}]*)\}/.exec(text)
    if (!match) all.push(text)
    else {
      const [before, after] = [text.slice(0, match.index), text.slice(match.index + match[0].length)]
      pending.unshift(...(match[1] ?? '').split(',').map((middle) => before + middle + after))
    }
  }
  return all.map((text) => ({ guess: text, glob }))
}
