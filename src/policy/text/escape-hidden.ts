import { HIDDEN_CHARACTER_PATTERN } from '../../model/security/hidden-characters.ts'
import { lazy } from '../../model/lazy.ts'

/** Legitimate uses: emoji with joiners, flags, keycaps, and standardized variants. */
const ALLOWED_SEQUENCES = [
  String.raw`\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{2,6}\u{E007F}`,
  String.raw`\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\uFE0F|\uFE0E)?(?:\u200D\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\uFE0F)?){0,15}(?![\uFE00-\uFE0F\u200D])`,
  String.raw`\uFE0F\u20E3`,
  String.raw`\p{Script=Han}[\uFE00-\uFE02\u{E0100}-\u{E01EF}](?![\uFE00-\uFE0F\u{E0100}-\u{E01EF}])`,
  // Characters with a standardized variant; after others a selector is invisible and can only carry data.
  String.raw`[\p{Sm}0\u3001\u3002\uFF01\uFF0C\uFF0E\uFF1A\uFF1B\uFF1F\p{Script=Myanmar}][\uFE00\uFE01](?![\uFE00-\uFE0F])`,
].join('|')

/** Stricter, for text that a model reads, since invisible characters can carry instructions. */
export const MODEL_ALLOWED_SEQUENCES_PATTERN = [
  // The three flags that are written with tags: more tags could be words.
  String.raw`\u{1F3F4}\u{E0067}\u{E0062}(?:\u{E0065}\u{E006E}\u{E0067}|\u{E0073}\u{E0063}\u{E0074}|\u{E0077}\u{E006C}\u{E0073})\u{E007F}`,
  String.raw`\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\uFE0F|\uFE0E)?(?:\u200D\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\uFE0F)?){0,15}(?![\uFE00-\uFE0F\u200D])`,
  String.raw`\uFE0F\u20E3`,
  String.raw`\p{Script=Han}[\uFE00-\uFE02\u{E0100}-\u{E01EF}](?![\uFE00-\uFE0F\u{E0100}-\u{E01EF}])`,
  String.raw`[\p{Sm}\p{Script=Myanmar}]\uFE00(?![\uFE00-\uFE0F])`,
].join('|')

/** Scripts whose words need joiners. Compiling Unicode patterns is slow, so it is done on first use. */
const JOINED_SCRIPTS = String.raw`[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Mongolian}]`

/** Invisible letters, and spaces other than U+0020. */
const STRICT_EXTRA_CHARACTERS = String.raw`[\u2800]|(?! )\p{Zs}`

const JOINER_INSIDE_WORD = `(?<=${JOINED_SCRIPTS})[\\u200C\\u200D](?=${JOINED_SCRIPTS})`
const LENIENT_HIDDEN = `(?:${HIDDEN_CHARACTER_PATTERN})+`
const STRICT_HIDDEN = `(?:${HIDDEN_CHARACTER_PATTERN}|${STRICT_EXTRA_CHARACTERS})+`
const createRunPattern = (kept: string, hidden: string) => lazy(() => new RegExp(`(?<kept>${kept})|${hidden}`, 'gu'))
const HIDDEN_RUN = createRunPattern(`${ALLOWED_SEQUENCES}|${JOINER_INSIDE_WORD}`, LENIENT_HIDDEN)
const STRICT_HIDDEN_RUN_EXCEPT_JOINERS = createRunPattern(`${ALLOWED_SEQUENCES}|${JOINER_INSIDE_WORD}`, STRICT_HIDDEN)
const STRICT_HIDDEN_RUN = createRunPattern(ALLOWED_SEQUENCES, STRICT_HIDDEN)

/** Escapes hidden characters; `strict` also unusual spaces. `joiners` keeps the joiners that words need. */
export function escapeHidden(text: string, strict: boolean, joiners: boolean): string {
  const pattern = strict ? (joiners ? STRICT_HIDDEN_RUN_EXCEPT_JOINERS() : STRICT_HIDDEN_RUN()) : HIDDEN_RUN()
  return text.replace(pattern, (run: string, ...more: unknown[]) => {
    const groups = more.at(-1) as { readonly kept?: string } | undefined
    return groups?.kept === undefined ? escapeCharacters(run) : run
  })
}

export function escapeCharacter(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`
}

/** Long runs of the same character are written as one escape and their number. */
export function escapeCharacters(run: string): string {
  return run.replace(/(.)\1*/gsu, (same: string) => {
    const chars = Array.from(same)
    const one = escapeCharacter(chars[0] ?? '')
    return chars.length <= MAX_REPEATED_ESCAPES ? one.repeat(chars.length) : `⟨${chars.length} × ${one}⟩`
  })
}

const MAX_REPEATED_ESCAPES = 8
