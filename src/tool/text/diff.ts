import { createTwoFilesPatch, diffArrays, FILE_HEADERS_ONLY, structuredPatch } from 'diff'

/** Pairs of equal lines, in order; none if the diff takes too long. */
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

/** If the diff takes too long, all lines are removed and added. */
export function createUnifiedDiff(name: string, before: string, after: string): string {
  const patch = createTwoFilesPatch(name, name, before, after, 'Current', 'Proposed', {
    context: 3,
    timeout: DIFF_TIMEOUT_MS,
    headerOptions: FILE_HEADERS_ONLY,
  })
  if (patch !== undefined) return patch
  // The hunk header ends the file header: without it a line `-- x` would be read as part of that.
  const hunk = `@@ -1,${countLines(before)} +1,${countLines(after)} @@\n`
  return `--- ${name}\tCurrent\n+++ ${name}\tProposed\n${hunk}${prefixLines('-', before)}${prefixLines('+', after)}`
}

export function countChanges(before: string, after: string): { added: number; removed: number } {
  const patch = structuredPatch('', '', before, after, '', '', { context: 0, timeout: DIFF_TIMEOUT_MS })
  if (!patch) return { added: countLines(after), removed: countLines(before) }
  const lines = patch.hunks.flatMap((hunk) => hunk.lines)
  const count = (prefix: string): number => lines.filter((line) => line.startsWith(prefix)).length
  return { added: count('+'), removed: count('-') }
}

const DIFF_TIMEOUT_MS = 2000

function prefixLines(prefix: string, text: string): string {
  return text === '' ? '' : `${prefix}${text.replace(/\n$/, '').replaceAll('\n', `\n${prefix}`)}\n`
}

function countLines(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length
}
