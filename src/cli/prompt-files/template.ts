/**
 * The syntax of a custom command: Markdown (`$ARGUMENTS`, `$1`, `` !`command` ``, `@file`), as Claude Code has it, or the
 * prompt of a TOML file (`{{args}}`, `!{command}`, `@{file}`), as Gemini CLI has it.
 */
export type TemplateSyntax = 'markdown' | 'braces'

export type TemplateSegment =
  | { readonly kind: 'text'; readonly text: string }
  /** A shell command; its output takes its place. */
  | { readonly kind: 'shell'; readonly command: string }
  /** A file; its content takes its place. */
  | { readonly kind: 'file'; readonly path: string }

/**
 * Splits a template and fills in the arguments. The template is split first: nothing in an argument becomes a command or a
 * file. In a shell command the arguments are quoted, so that each stays one word.
 */
export function fillTemplate(template: string, syntax: TemplateSyntax, words: string): readonly TemplateSegment[] {
  const args = splitArguments(words)
  const segments = syntax === 'markdown' ? splitMarkdown(template) : splitBraces(template)
  const filled = segments.map((segment): TemplateSegment => {
    if (segment.kind === 'shell') return { ...segment, command: fillCommand(segment.command, syntax, words, args) }
    if (segment.kind === 'file') return { ...segment, path: fillText(segment.path, syntax, words, args) }
    return { ...segment, text: fillText(segment.text, syntax, words, args) }
  })
  if (words === '' || PLACEHOLDERS[syntax].test(template)) return filled
  return [...filled, { kind: 'text', text: `\n\n${words}` }]
}

const PLACEHOLDERS: Readonly<Record<TemplateSyntax, RegExp>> = {
  markdown: /\$ARGUMENTS|\$[1-9](?!\d)/,
  braces: /\{\{args\}\}/,
}

const FILL_PATTERNS: Readonly<Record<TemplateSyntax, RegExp>> = {
  markdown: /\$ARGUMENTS(?:\[(\d{1,2})\])?|\$([1-9])(?!\d)/g,
  braces: /\{\{args\}\}/g,
}

function fillText(text: string, syntax: TemplateSyntax, words: string, args: readonly string[]): string {
  return text.replaceAll(FILL_PATTERNS[syntax], (_whole, index?: string, position?: string) =>
    typeof index === 'string'
      ? (args[Number(index)] ?? '')
      : syntax === 'markdown' && typeof position === 'string'
        ? (args[Number(position) - 1] ?? '')
        : words,
  )
}

/** Where a placeholder stands decides how its value is quoted. */
function fillCommand(command: string, syntax: TemplateSyntax, words: string, args: readonly string[]): string {
  let filled = ''
  let at = 0
  for (const match of command.matchAll(FILL_PATTERNS[syntax])) {
    filled += command.slice(at, match.index)
    at = match.index + match[0].length
    const [, index, position] = match
    const one =
      index === undefined ? (position === undefined ? undefined : args[Number(position) - 1]) : args[Number(index)]
    const isAll = index === undefined && position === undefined
    const quote = findOpenQuote(command.slice(0, match.index))
    if (quote === undefined) filled += (isAll ? args : [one ?? '']).map(quoteWord).join(' ')
    else if (quote === "'") filled += (isAll ? words : (one ?? '')).replaceAll("'", `'\\''`)
    else filled += (isAll ? words : (one ?? '')).replaceAll(/["$`\\]/g, (character) => `\\${character}`)
  }
  return filled + command.slice(at)
}

function findOpenQuote(before: string): '"' | "'" | undefined {
  let quote: '"' | "'" | undefined
  for (let at = 0; at < before.length; at++) {
    const character = before[at]
    if (character === '\\' && quote !== "'") at++
    else if (character === quote) quote = undefined
    else if (quote === undefined && (character === '"' || character === "'")) quote = character
  }
  return quote
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** The arguments as a shell would split them, without any other meaning. */
export function splitArguments(words: string): string[] {
  const found = words.match(/(?:"[^"]*"|'[^']*'|[^\s"']|["'])+/g) ?? []
  return found.map((word) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_whole, one?: string, two?: string) => one ?? two ?? ''),
  )
}

function splitMarkdown(template: string): TemplateSegment[] {
  const segments: TemplateSegment[] = []
  let at = 0
  for (const match of template.matchAll(/(?<![\w`\\!])!`([^`\n]+)`/g)) {
    segments.push({ kind: 'text', text: template.slice(at, match.index) })
    segments.push({ kind: 'shell', command: (match[1] ?? '').trim() })
    at = match.index + match[0].length
  }
  return [...segments, { kind: 'text', text: template.slice(at) }]
}

/** Braces in the command must be balanced. */
function splitBraces(template: string): TemplateSegment[] {
  const segments: TemplateSegment[] = []
  let at = 0
  for (const match of template.matchAll(/[!@]\{/g)) {
    if (match.index < at) continue
    const end = findClosingBrace(template, match.index + 2)
    if (end === undefined) continue
    const inside = template.slice(match.index + 2, end).trim()
    segments.push({ kind: 'text', text: template.slice(at, match.index) })
    if (inside !== '')
      segments.push(match[0] === '!{' ? { kind: 'shell', command: inside } : { kind: 'file', path: inside })
    at = end + 1
  }
  return [...segments, { kind: 'text', text: template.slice(at) }]
}

function findClosingBrace(text: string, from: number): number | undefined {
  for (let at = from, depth = 1; at < text.length; at++) {
    if (text[at] === '{') depth++
    else if (text[at] === '}' && --depth === 0) return at
  }
  return undefined
}
