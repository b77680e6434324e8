import { broken, GAP, match, OPEN, pattern, PROSE, type Reader, token, undecided } from './dialect.ts'
import { readObjects } from './json.ts'
import { readFunction, readInvoke, readNamed } from './tags.ts'

/**
 * What stands in `<tool_call>` and its relatives: JSON (T60), or the tags of another dialect (T61, T64, T67, T68). The
 * closing tag is left to the caller, because a call is complete when its JSON is (T60).
 */
export const readWrapped: Reader = (text, from, scope) => {
  const at = from + (match(MARKS, text, from)?.[0].length ?? 0)
  if (at === text.length) return scope.final ? PROSE : OPEN
  const char = text[at] ?? ''
  if (char === '<') {
    const read = readFunction(text, at, scope)
    return read.kind === 'prose' ? readInvoke(text, at, scope) : read
  }
  if (/\w/.test(char)) return readNamed(text, at, scope)
  // A second mark may be on its way.
  if (char === '＜') return undecided(text, at, scope)
  if (char !== '{' && char !== '[') return PROSE
  const start = match(OBJECT, text, at)
  if (!start) return undecided(text, at, scope)
  return start[0].endsWith('"') ? readObjects(text, at, scope) : broken('it is not JSON')
}

const TAG = '[<＜](?:[a-z]{1,16}:)?(?:tool_calls?|function_calls?)[>＞]'
const MARKS = pattern(`(?:(?:${TAG}|${token('tool_calls?')}|\\[TOOL_CALL\\])${GAP}){1,2}`)
const OBJECT = pattern(`(?:\\[\\s{0,32})?\\{\\s{0,32}["']`)
