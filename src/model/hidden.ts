import { late } from './late.ts'

/**
 * The pattern of a character that cannot be seen, or that moves others: all but line ends and tabs. The last two show nothing
 * though they count as signs: a note without a head, and a filler of Khitan.
 */
export const HIDDEN = String.raw`(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u{1D159}\u{16FE4}]`

/** What may stand in a text: in commands lines and tabs may. */
export interface Visible {
  readonly lines: boolean
  /** Names of files may hold bytes that are no UTF-8, each as half of a surrogate pair; they are shown as escapes. */
  readonly bytes?: boolean
}

/**
 * Names the first character of a text that a person cannot see, or that turns others around; nothing if all can be seen.
 * What stands in an approval must be what runs.
 */
export function hiddenIn(text: string, { lines, bytes = false }: Visible): string | undefined {
  const written = bytes ? text.replace(BYTES, '') : text
  const plain = written.replace(EMOJI(), '')
  const found = (lines ? SEEN_BY_NOBODY() : UNSEEN_OR_LINE()).exec(plain)?.[0]
  return found === undefined ? undefined : nameOf(found)
}

const BYTES = /(?<![\uD800-\uDBFF])[\uDC80-\uDCFF]/g

/** Joined and coloured emoji use invisible characters by rights. */
const EMOJI = late(
  () => /\p{Extended_Pictographic}\uFE0F?(?:\u200D\p{Extended_Pictographic}\uFE0F?)*|[\d#*]\uFE0F\u20E3/gu,
)

/** What shows nothing, blanks that are not the blank, and what is no character at all. */
const UNSEEN = String.raw`${HIDDEN}|(?! )\p{Zs}|[\u2800\p{Cs}\p{Co}]`

const SEEN_BY_NOBODY = late(() => new RegExp(UNSEEN, 'u'))

const UNSEEN_OR_LINE = late(() => new RegExp(String.raw`[\t\n]|${UNSEEN}`, 'u'))

function nameOf(sign: string): string {
  const code = sign.codePointAt(0) ?? 0
  return `the character U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
