import { sanitizeText, type TextSurface } from '../../policy/text/sanitize.ts'

/** Text that somebody else wrote, as it may be printed: nothing in it can steer the terminal, or hide. */
export function escapeForTerminal(text: string, surface: TextSurface = 'model-text'): string {
  return sanitizeText(text, surface)
}
