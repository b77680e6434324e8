/** A piece of shell text, as the parser reads it. */
export interface Syntax {
  readonly kind: string
  readonly text: string
  /** A piece of the grammar, or a sign such as `&&`. */
  readonly named: boolean
  readonly start: number
  readonly end: number
  /** Here, or somewhere below, the parser did not understand. */
  readonly wrong: boolean
  readonly children: readonly Syntax[]
}

/** Reads shell text; nothing if that would take too long, or if the text is nested too deeply. */
export type Parse = (text: string) => Syntax | undefined

let loading: Promise<Parse> | undefined

/** The parser, loaded at the first call. */
export function shellParser(): Promise<Parse> {
  loading ??= import('./parser.ts').then(({ loadParser }) => loadParser())
  return loading
}
