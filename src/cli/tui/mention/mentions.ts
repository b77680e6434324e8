/** The names that stand behind an @ in a text; one with spaces in it stands in quotes: `@"my notes.txt"`. */
export function findMentions(text: string): string[] {
  return [...text.matchAll(/(?:^|\s)@(?:"(?<quoted>[^"\n]+)"|(?<bare>[^\s"]\S*))/g)].map(
    ({ groups }) => groups?.['quoted'] ?? groups?.['bare'] ?? '',
  )
}

/** A name as it is mentioned. */
export function formatMention(name: string): string {
  return /\s/.test(name) ? `@"${name}"` : `@${name}`
}

/** A word that stands in quotes, without them. */
export function stripQuotes(word: string): string {
  return /^(["'])(?<inside>[^]*)\1$/.exec(word)?.groups?.['inside'] ?? word
}
