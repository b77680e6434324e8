import type { StyledLine } from '../term/styled-line.ts'

/** What a view needs to know of the terminal. */
export interface ViewOptions {
  readonly width: number
  /** The folder that is worked in: paths in it are shown from there. */
  readonly root?: string
  /** The terminal shows no more than ASCII for certain. */
  readonly ascii?: true
  /** Colours code; without it, code is shown plain. */
  readonly highlight?: (code: string, language: string) => readonly StyledLine[] | undefined
}

/** How wide running text becomes at most: longer lines are hard to read. */
export const MAX_TEXT_COLUMNS = 100
