/** The names behind an @ in a text. A name with spaces is quoted: `@"my notes.txt"`. */
export function findMentions(text: string): string[] {
  return [...text.matchAll(/(?:^|\s)@(?:"(?<quoted>[^"\n]+)"|(?<bare>[^\s"]\S*))/g)].map(
    ({ groups }) => groups?.['quoted'] ?? groups?.['bare'] ?? '',
  )
}

export function formatMention(name: string): string {
  return /\s/.test(name) ? `@"${name}"` : `@${name}`
}

export function stripQuotes(word: string): string {
  return /^(["'])(?<inside>[^]*)\1$/.exec(word)?.groups?.['inside'] ?? word
}
