import { createTwoFilesPatch, diffArrays, FILE_HEADERS_ONLY, structuredPatch } from 'diff'

/** The pairs of equal lines of two lists, in order. Where the lists have too little in common, there are none. */
export function pairEqualLines(old: readonly string[], lines: readonly string[]): [left: number, right: number][] {
  const changes = diffArrays([...old], [...lines], { timeout: DIFF_TIMEOUT_MS })
  const pairs: [number, number][] = []
  let left = 0
  let right = 0
  for (const { added, removed, value } of changes ?? []) {
    if (added) right += value.length
    else if (removed) left += value.length
    else for (let step = 0; step < value.length; step++) pairs.push([left++, right++])
  }
  return pairs
}

/** The unified diff of two texts. Two texts that differ in everything are shown as one taken out and one put in. */
export function unifiedDiff(name: string, before: string, after: string): string {
  const patch = createTwoFilesPatch(name, name, before, after, 'Current', 'Proposed', {
    context: 3,
    timeout: DIFF_TIMEOUT_MS,
    headerOptions: FILE_HEADERS_ONLY,
  })
  if (patch !== undefined) return patch
  // The head of a hunk ends the head of the diff: without it a line `-- x` would pass for a part of that.
  const hunk = `@@ -1,${countLines(before)} +1,${countLines(after)} @@\n`
  return `--- ${name}\tCurrent\n+++ ${name}\tProposed\n${hunk}${prefixLines('-', before)}${prefixLines('+', after)}`
}

/** How many lines one text has that the other has not, each way. */
export function countChanges(before: string, after: string): { added: number; removed: number } {
  const patch = structuredPatch('', '', before, after, '', '', { context: 0, timeout: DIFF_TIMEOUT_MS })
  if (!patch) return { added: countLines(after), removed: countLines(before) }
  const lines = patch.hunks.flatMap((hunk) => hunk.lines)
  const count = (prefix: string): number => lines.filter((line) => line.startsWith(prefix)).length
  return { added: count('+'), removed: count('-') }
}

/** Milliseconds. */
const DIFF_TIMEOUT_MS = 2000

function prefixLines(prefix: string, text: string): string {
  return text === '' ? '' : `${prefix}${text.replace(/\n$/, '').replaceAll('\n', `\n${prefix}`)}\n`
}

function countLines(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length
}
