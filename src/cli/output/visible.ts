import { renderSafe, type TerminalSurface } from '../../policy/terminal.ts'

/** Text that somebody else wrote, as it may be printed: nothing in it can steer the terminal, or hide. */
export function visible(text: string, surface: TerminalSurface = 'model-text'): string {
  return renderSafe(text, surface)
}
