export interface SyntaxNode {
  readonly kind: string
  readonly text: string
  /** False for tokens such as `&&`. */
  readonly isNamed: boolean
  readonly start: number
  readonly end: number
  /** Is there a syntax error in it? */
  readonly hasError: boolean
  readonly children: readonly SyntaxNode[]
}

/** Returns undefined if parsing takes too long or the text is nested too deeply. */
export type ShellParser = (text: string) => SyntaxNode | undefined

let parserPromise: Promise<ShellParser> | undefined

export function loadShellParser(): Promise<ShellParser> {
  parserPromise ??= import('./bash-parser.ts').then(({ loadBashParser }) => loadBashParser())
  return parserPromise
}
