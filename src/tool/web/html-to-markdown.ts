import { NodeHtmlMarkdown } from 'node-html-markdown'

/** Removes what only a browser needs. The time is linear in the length of the page. */
export function htmlToMarkdown(html: string): string {
  return splitIntoChunks(html.replace(REMOVED_ELEMENTS_PATTERN, ' ')).map(convertChunk).join('\n\n').trim()
}

const converter = new NodeHtmlMarkdown({ keepDataImages: false, maxConsecutiveNewlines: 2 })

function convertChunk(html: string): string {
  try {
    return converter.translate(html).trim()
  } catch {
    // The words are still there, whatever the converter fails on.
    return html.replace(TAG_PATTERN, ' ').replace(/\s+/g, ' ').trim()
  }
}

const REMOVED_ELEMENTS_PATTERN =
  /<!--[\s\S]*?(?:-->|$)|<(script|style|noscript|template|svg|iframe|head)\b[\s\S]*?(?:<\/\1\s*>|$)/gi
const TAG_PATTERN = /<(\/?)([a-z][a-z0-9]{0,20})\b[^<>]{0,4000}>/gi
const VOID_ELEMENTS = new Set('area base br col embed hr img input link meta source wbr'.split(' '))

/** The converter's time is quadratic in the elements and worse in their depth, so it gets small chunks. */
const MAX_DEPTH = 40
const MAX_CHUNK_CHARS = 16_000

/** Chunks that are well-formed pages, without tags below the maximal depth. */
function splitIntoChunks(html: string): string[] {
  const chunks: string[] = []
  const open: string[] = []
  let chunk = ''
  let from = 0
  for (const { 0: tag, 1: slash, 2: rawName = '', index } of html.matchAll(TAG_PATTERN)) {
    chunk += html.slice(from, index)
    from = index + tag.length
    const name = rawName.toLowerCase()
    if (VOID_ELEMENTS.has(name)) chunk += tag
    else if (slash === '') {
      open.push(name)
      if (open.length <= MAX_DEPTH) chunk += tag
    } else chunk += closeElement(open, name)
    if (chunk.length < MAX_CHUNK_CHARS) continue
    const enclosing = open.slice(0, MAX_DEPTH)
    chunks.push(chunk + enclosing.toReversed().map(toClosingTag).join(''))
    chunk = enclosing.map((one) => `<${one}>`).join('')
  }
  return [...chunks, chunk + html.slice(from)]
}

/** Closes an element and what is open inside of it; an unmatched closing tag is dropped. */
function closeElement(open: string[], name: string): string {
  const innermost = open.slice(-MAX_DEPTH)
  const at = open.length - innermost.length + innermost.lastIndexOf(name)
  if (!innermost.includes(name)) return ''
  return open
    .splice(at)
    .slice(0, Math.max(0, MAX_DEPTH - at))
    .toReversed()
    .map(toClosingTag)
    .join('')
}

function toClosingTag(name: string): string {
  return `</${name}>`
}
