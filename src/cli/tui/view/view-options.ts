import type { StyledLine } from '../term/styled-line.ts'

export interface ViewOptions {
  readonly width: number
  /** The workspace; paths in it are shown relative to it. */
  readonly root?: string
  /** The terminal may not support more than ASCII. */
  readonly ascii?: true
  readonly highlight?: (code: string, language: string) => readonly StyledLine[] | undefined
}

/** Longer lines of running text are hard to read. */
export const MAX_TEXT_COLUMNS = 100
