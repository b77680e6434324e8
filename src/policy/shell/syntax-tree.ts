/** A piece of shell text, as the parser reads it. */
export interface SyntaxNode {
  readonly kind: string
  readonly text: string
  /** A piece of the grammar, or a sign such as `&&`. */
  readonly isNamed: boolean
  readonly start: number
  readonly end: number
  /** Here, or somewhere below, the parser did not understand. */
  readonly hasError: boolean
  readonly children: readonly SyntaxNode[]
}

/** Reads shell text; nothing if that would take too long, or if the text is nested too deeply. */
export type ShellParser = (text: string) => SyntaxNode | undefined

let parserPromise: Promise<ShellParser> | undefined

/** The parser, loaded at the first call. */
export function loadShellParser(): Promise<ShellParser> {
  parserPromise ??= import('./bash-parser.ts').then(({ loadBashParser }) => loadBashParser())
  return parserPromise
}
