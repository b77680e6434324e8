import { lazy } from '../../model/lazy.ts'
import { toWellFormed } from '../../model/text.ts'
import { MODEL_ALLOWED_SEQUENCES_PATTERN } from './escape-hidden.ts'

/** Makes text valid Unicode, and removes characters that carry invisible instructions. */
export function sanitizeForModel(text: string): string {
  const valid = toWellFormed(text)
  if (!SMUGGLED_PATTERN().test(valid)) return valid
  const isMany = (valid.match(HAN_VARIANTS())?.length ?? 0) > MAX_HAN_VARIANTS
  const clean = isMany ? valid.replace(HAN_VARIANTS(), (pair) => String.fromCodePoint(pair.codePointAt(0) ?? 0)) : valid
  return clean.replace(ALL_SMUGGLED_PATTERN(), (...args) => (isAllowedMatch(args) ? args[0] : ''))
}

/**
 * Tags and variation selectors. Flags, emoji and a few variants of Chinese characters are legitimate; after other
 * characters, or after many, selectors carry invisible data.
 */
const SMUGGLED_CHARACTERS = String.raw`[\u{E0000}-\u{E0FFF}\uFE00-\uFE0F\u2061-\u2064\u206A-\u206F]+|[\u200B-\u200F\u2060\uFEFF\xAD\u034F]{3,}`
const SMUGGLED_PATTERN = lazy(() => new RegExp(SMUGGLED_CHARACTERS, 'u'))
const ALL_SMUGGLED_PATTERN = lazy(
  () => new RegExp(`(?<kept>${MODEL_ALLOWED_SEQUENCES_PATTERN})|${SMUGGLED_CHARACTERS}`, 'gu'),
)
const HAN_VARIANTS = lazy(() => /\p{Script=Han}[\uFE00-\uFE02\u{E0100}-\u{E01EF}]/gu)
const MAX_HAN_VARIANTS = 8

function isAllowedMatch(args: readonly unknown[]): boolean {
  const groups = args.at(-1) as { readonly kept?: string } | undefined
  return groups?.kept !== undefined
}
