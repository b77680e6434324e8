import type { StyledLine } from '../term/styled-line.ts'
import type { ViewOptions } from './view-options.ts'

type Highlight = NonNullable<ViewOptions['highlight']>

let latest: { readonly language: string; readonly head: string; readonly lines: ReturnType<Highlight> } | undefined

/**
 * Highlights code that is still coming in. That takes milliseconds, so it is done once for each line; the last line, until
 * it is complete, is highlighted on its own.
 */
export function highlightGrowing(highlight: Highlight, code: string, language: string): StyledLine[] | undefined {
  const at = code.lastIndexOf('\n') + 1
  const head = code.slice(0, at)
  if (latest?.language !== language || latest.head !== head)
    latest = { language, head, lines: highlight(head, language) }
  const last = highlight(code.slice(at), language)
  return latest.lines && last && [...latest.lines.slice(0, -1), ...last]
}
