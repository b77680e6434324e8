import { lazy } from '../lazy.ts'

/**
 * The pattern of a character that cannot be seen, or that moves others: all but line ends and tabs. The last two show nothing
 * though they count as signs: a note without a head, and a filler of Khitan.
 */
export const HIDDEN_CHARACTER_PATTERN = String.raw`(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u{1D159}\u{16FE4}]`

/** What may stand in a text: in commands lines and tabs may. */
export interface VisibilityOptions {
  readonly allowLines: boolean
  /** Names of files may hold bytes that are no UTF-8, each as half of a surrogate pair; they are shown as escapes. */
  readonly allowRawBytes?: boolean
}

/**
 * Names the first character of a text that a person cannot see, or that turns others around; nothing if all can be seen.
 * What stands in an approval must be what runs.
 */
export function findHiddenCharacter(
  text: string,
  { allowLines, allowRawBytes = false }: VisibilityOptions,
): string | undefined {
  const withoutRawBytes = allowRawBytes ? text.replace(RAW_BYTE_PATTERN, '') : text
  const withoutEmoji = withoutRawBytes.replace(getEmojiPattern(), '')
  const found = (allowLines ? getInvisiblePattern() : getInvisibleOrLinePattern()).exec(withoutEmoji)?.[0]
  return found === undefined ? undefined : nameCharacter(found)
}

const RAW_BYTE_PATTERN = /(?<![\uD800-\uDBFF])[\uDC80-\uDCFF]/g

/** Joined and coloured emoji use invisible characters by rights. */
const getEmojiPattern = lazy(
  () => /\p{Extended_Pictographic}\uFE0F?(?:\u200D\p{Extended_Pictographic}\uFE0F?)*|[\d#*]\uFE0F\u20E3/gu,
)

/** What shows nothing, blanks that are not the blank, and what is no character at all. */
const INVISIBLE_PATTERN = String.raw`${HIDDEN_CHARACTER_PATTERN}|(?! )\p{Zs}|[\u2800\p{Cs}\p{Co}]`

const getInvisiblePattern = lazy(() => new RegExp(INVISIBLE_PATTERN, 'u'))

const getInvisibleOrLinePattern = lazy(() => new RegExp(String.raw`[\t\n]|${INVISIBLE_PATTERN}`, 'u'))

function nameCharacter(hiddenChar: string): string {
  const code = hiddenChar.codePointAt(0) ?? 0
  return `the character U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
