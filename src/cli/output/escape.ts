import { sanitizeText, type TextSurface } from '../../policy/text/sanitize.ts'

/** Escapes text of others, so that it can neither control the terminal nor hide. */
export function escapeForTerminal(text: string, surface: TextSurface = 'model-text'): string {
  return sanitizeText(text, surface)
}
