import { lazy } from '../lazy.ts'

/**
 * Characters that are invisible or change the order of others, except line ends and tabs. The last two are invisible though
 * Unicode classifies them as symbols: the null notehead, and the Khitan filler.
 */
export const HIDDEN_CHARACTER_PATTERN = String.raw`(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u{1D159}\u{16FE4}]`

export interface VisibilityOptions {
  /** Line ends and tabs, as in commands. */
  readonly allowLines: boolean
  /** Lone surrogates, which stand for invalid bytes in file names and are shown as escapes. */
  readonly allowRawBytes?: boolean
}

/** Names the first invisible or reordering character of a text: what an approval shows must be what runs. */
export function findHiddenCharacter(text: string, options: VisibilityOptions): string | undefined {
  const withoutRawBytes = options.allowRawBytes ? text.replace(RAW_BYTE_PATTERN, '') : text
  const withoutEmoji = withoutRawBytes.replace(getEmojiPattern(), '')
  const found = (options.allowLines ? getInvisiblePattern() : getInvisibleOrLinePattern()).exec(withoutEmoji)?.[0]
  return found === undefined ? undefined : nameCharacter(found)
}

const RAW_BYTE_PATTERN = /(?<![\uD800-\uDBFF])[\uDC80-\uDCFF]/g

/** Emoji sequences contain invisible characters legitimately. */
const getEmojiPattern = lazy(
  () => /\p{Extended_Pictographic}\uFE0F?(?:\u200D\p{Extended_Pictographic}\uFE0F?)*|[\d#*]\uFE0F\u20E3/gu,
)

/** Also spaces other than U+0020, the blank Braille pattern, surrogates and private-use characters. */
const INVISIBLE_PATTERN = String.raw`${HIDDEN_CHARACTER_PATTERN}|(?! )\p{Zs}|[\u2800\p{Cs}\p{Co}]`

const getInvisiblePattern = lazy(() => new RegExp(INVISIBLE_PATTERN, 'u'))

const getInvisibleOrLinePattern = lazy(() => new RegExp(String.raw`[\t\n]|${INVISIBLE_PATTERN}`, 'u'))

function nameCharacter(hiddenChar: string): string {
  const code = hiddenChar.codePointAt(0) ?? 0
  return `the character U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
