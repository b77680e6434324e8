import { late } from '../model/late.ts'

/** The pattern of a character that cannot be seen, or that moves others: all but line ends and tabs. */
export const HIDDEN = String.raw`(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`

/** Where such characters belong: emoji with their joiners, flags, keycaps, and variants of Chinese letters. */
export const KEPT_FOR_MODEL = [
  // The three flags that are written with tags: more tags could be words.
  String.raw`\u{1F3F4}\u{E0067}\u{E0062}(?:\u{E0065}\u{E006E}\u{E0067}|\u{E0073}\u{E0063}\u{E0074}|\u{E0077}\u{E006C}\u{E0073})\u{E007F}`,
  String.raw`\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\uFE0F|\uFE0E)?(?:\u200D\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\uFE0F)?){0,15}(?![\uFE00-\uFE0F\u200D])`,
  String.raw`\uFE0F\u20E3`,
  String.raw`\p{Script=Han}[\uFE00-\uFE02\u{E0100}-\u{E01EF}](?![\uFE00-\uFE0F\u{E0100}-\u{E01EF}])`,
  String.raw`[\p{Sm}\p{Script=Myanmar}]\uFE00(?![\uFE00-\uFE0F])`,
].join('|')

/** The same for a person's eyes, which other signs with variants do no harm. */
const KEPT = String.raw`\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{2,6}\u{E007F}|${KEPT_FOR_MODEL}|[\p{S}\p{P}\p{N}\p{Script=Myanmar}][\uFE00-\uFE0F](?![\uFE00-\uFE0F])`

/** Writing systems whose words need joiners. Patterns over all of Unicode take long to make, and few runs need them. */
const JOINED = String.raw`[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Mongolian}]`

/** Fillers that show nothing though they count as letters, and blanks that are not the blank. */
const STRICT = String.raw`[\u2800]|(?! )\p{Zs}`

const RUN = late(() => new RegExp(`(?<kept>${KEPT}|(?<=${JOINED})[\\u200C\\u200D](?=${JOINED}))|(?:${HIDDEN})+`, 'gu'))
const STRICT_RUN = late(() => new RegExp(`(?<kept>${KEPT})|(?:${HIDDEN}|${STRICT})+`, 'gu'))

/** A text with its hidden characters written as marks; those that belong where they are stay. */
export function markHidden(text: string, strict: boolean): string {
  return text.replace(strict ? STRICT_RUN() : RUN(), (run: string, ...more: unknown[]) => {
    const groups = more.at(-1) as { readonly kept?: string } | undefined
    return groups?.kept === undefined ? marks(run) : run
  })
}

/** One character as a mark. */
export function mark(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`
}

/** A few marks, and how many there would be more. */
function marks(run: string): string {
  const chars = Array.from(run)
  if (chars.length <= MOST) return chars.map(mark).join('')
  return `${chars.slice(0, MOST).map(mark).join('')}⟨and ${chars.length - MOST} more hidden characters⟩`
}

const MOST = 8
