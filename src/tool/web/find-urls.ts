/** Each URL once, without punctuation around it. */
export function findUrls(text: string): string[] {
  const found = text.match(/[a-z][a-z0-9+.-]*:\/\/[^\s<>"'`|\\^{}]+/gi) ?? []
  return [...new Set(found.map(trimPunctuation))]
}

/** A closing bracket belongs to the URL only if it was opened in it. */
function trimPunctuation(url: string): string {
  let end = url.length
  for (; end > 0; end--) {
    const last = url.charAt(end - 1)
    const opener = last === ')' ? '(' : last === ']' ? '[' : undefined
    const closes =
      opener !== undefined && countCharacter(url.slice(0, end), opener) < countCharacter(url.slice(0, end), last)
    if (!closes && !/[.,;:!?*_]/.test(last)) break
  }
  return url.slice(0, end)
}

function countCharacter(text: string, char: string): number {
  return text.split(char).length - 1
}

/** The URL of the raw file for a file page on GitHub. */
export function toRawGitHubUrl(url: string): string {
  const file = /^https:\/\/(?:www\.)?github\.com\/([^/?#]+\/[^/?#]+)\/blob\/([^?#]+)/i.exec(url)
  return file ? `https://raw.githubusercontent.com/${file[1]}/${file[2]}` : url
}
