/** The addresses in a text, each once, without the punctuation around them. */
export function urlsIn(text: string): string[] {
  const found = text.match(/[a-z][a-z0-9+.-]*:\/\/[^\s<>"'`|\\^{}]+/gi) ?? []
  return [...new Set(found.map(trimmed))]
}

/** A bracket at the end belongs to the address only if it was opened in it. */
function trimmed(url: string): string {
  let end = url.length
  for (; end > 0; end--) {
    const last = url.charAt(end - 1)
    const opener = last === ')' ? '(' : last === ']' ? '[' : undefined
    const closes = opener !== undefined && count(url.slice(0, end), opener) < count(url.slice(0, end), last)
    if (!closes && !/[.,;:!?*_]/.test(last)) break
  }
  return url.slice(0, end)
}

function count(text: string, char: string): number {
  return text.split(char).length - 1
}

/** The address of the text itself, where the page of a file on GitHub was meant. */
export function rawUrl(url: string): string {
  const file = /^https:\/\/(?:www\.)?github\.com\/([^/?#]+\/[^/?#]+)\/blob\/([^?#]+)/i.exec(url)
  return file ? `https://raw.githubusercontent.com/${file[1]}/${file[2]}` : url
}
