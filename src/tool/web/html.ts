import { NodeHtmlMarkdown } from 'node-html-markdown'

/** HTML as Markdown, without what only a browser needs. It takes time by the length of the page, however it is built. */
export function htmlToMarkdown(html: string): string {
  return pieces(html.replace(LEFT_OUT, ' ')).map(translated).join('\n\n').trim()
}

const converter = new NodeHtmlMarkdown({ keepDataImages: false, maxConsecutiveNewlines: 2 })

function translated(html: string): string {
  try {
    return converter.translate(html).trim()
  } catch {
    // Whatever stands in the way, the words are still there.
    return html.replace(TAG, ' ').replace(/\s+/g, ' ').trim()
  }
}

const LEFT_OUT = /<!--[\s\S]*?(?:-->|$)|<(script|style|noscript|template|svg|iframe|head)\b[\s\S]*?(?:<\/\1\s*>|$)/gi
const TAG = /<(\/?)([a-z][a-z0-9]{0,20})\b[^<>]{0,4000}>/gi
const EMPTY = new Set(['area', 'base', 'br', 'col', 'embed', 'hr', 'img', 'input', 'link', 'meta', 'source', 'wbr'])

/** The converter's time grows with the square of the elements, and faster with their depth; so it gets little at once. */
const MOST_DEPTH = 40
const MOST_AT_ONCE = 16_000

/** The page in pieces that are pages themselves, with tags of great depth left out. */
function pieces(html: string): string[] {
  const done: string[] = []
  const open: string[] = []
  let piece = ''
  let from = 0
  for (const { 0: tag, 1: slash, 2: given = '', index } of html.matchAll(TAG)) {
    piece += html.slice(from, index)
    from = index + tag.length
    const name = given.toLowerCase()
    if (EMPTY.has(name)) piece += tag
    else if (slash === '') {
      open.push(name)
      if (open.length <= MOST_DEPTH) piece += tag
    } else piece += close(open, name)
    if (piece.length < MOST_AT_ONCE) continue
    const around = open.slice(0, MOST_DEPTH)
    done.push(piece + around.toReversed().map(closing).join(''))
    piece = around.map((one) => `<${one}>`).join('')
  }
  return [...done, piece + html.slice(from)]
}

/** Closes a tag, and what was left open inside it; what closes nothing says nothing. */
function close(open: string[], name: string): string {
  const near = open.slice(-MOST_DEPTH)
  const at = open.length - near.length + near.lastIndexOf(name)
  if (!near.includes(name)) return ''
  return open
    .splice(at)
    .slice(0, Math.max(0, MOST_DEPTH - at))
    .toReversed()
    .map(closing)
    .join('')
}

function closing(name: string): string {
  return `</${name}>`
}
