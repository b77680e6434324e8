import { lazy } from '../../../model/lazy.ts'

/** Commands that are written as a list, split into their words at the first use. */
export function createCommandList(text: string): () => readonly (readonly string[])[] {
  return lazy(() =>
    text
      .trim()
      .split(/,\s*|\n\s*/)
      .map((words) => words.split(' ')),
  )
}
