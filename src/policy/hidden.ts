import { late } from '../model/late.ts'
import { HIDDEN } from './unseen.ts'

/** What may stand in a text: in commands lines and tabs may. */
export interface Visible {
  readonly lines: boolean
}

/**
 * Names the first character of a text that a person cannot see, or that turns others around; nothing if all can be seen.
 * What stands in an approval must be what runs.
 */
export function hiddenIn(text: string, { lines }: Visible): string | undefined {
  const plain = text.replace(EMOJI(), '')
  const found = (lines ? SEEN_BY_NOBODY() : UNSEEN_OR_LINE()).exec(plain)?.[0]
  return found === undefined ? undefined : nameOf(found)
}

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

/**
 * Is a program's name written so that it looks like another? Letters of several scripts together, letters that only look
 * like ours, and wide or mathematical forms.
 */
export function isDisguised(name: string): boolean {
  if (/^[\x20-\x7E]*$/.test(name)) return false
  if (name.normalize('NFKC') !== name || /\p{M}/u.test(name)) return true
  const letters = name.match(/\p{L}/gu) ?? []
  const others = letters.filter((letter) => !/[A-Za-z]/.test(letter))
  if (others.length === 0) return false
  return (
    others.length < letters.length || others.every((letter) => /\p{Script=Latin}/u.test(letter) || TWINS.has(letter))
  )
}

/** Cyrillic, Greek and Armenian letters that look like Latin ones. */
const TWINS: ReadonlySet<string> = new Set('аеорсухіјѕһԁԛԝӏвкмнтгпьыΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγικνοορτυωսոցօ')
