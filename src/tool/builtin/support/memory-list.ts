const HEADING = '## Memories'

/** Adds the fact as the last item under the heading, which is created if missing. A known fact is not repeated. */
export function addMemory(current: string, fact: string): string {
  const lines = current.split('\n')
  const heading = lines.findIndex((line) => line.trim() === HEADING)
  if (heading < 0) {
    const before = current.trimEnd()
    return `${before === '' ? '' : `${before}\n\n`}${HEADING}\n- ${fact}\n`
  }
  const next = findSectionEnd(lines, heading)
  const section = lines.slice(heading, next)
  if (section.some((line) => line.trim() === `- ${fact}`)) return current
  while (section.length > 1 && section.at(-1)?.trim() === '') section.pop()
  const rest = next >= lines.length ? [''] : ['', ...lines.slice(next)]
  return [...lines.slice(0, heading), ...section, `- ${fact}`, ...rest].join('\n')
}

/** The facts under the heading, in their order. */
export function listMemories(current: string): string[] {
  const lines = current.split('\n')
  const heading = lines.findIndex((line) => line.trim() === HEADING)
  if (heading < 0) return []
  return lines
    .slice(heading, findSectionEnd(lines, heading))
    .flatMap((line) => (line.startsWith('- ') ? [line.slice(2).trim()] : []))
}

/** Removes a fact; everything else in the file stays as it is. */
export function removeMemory(current: string, fact: string): string {
  const lines = current.split('\n')
  const heading = lines.findIndex((line) => line.trim() === HEADING)
  const at = lines.findIndex((line, index) => index > heading && line.trim() === `- ${fact}`)
  return heading < 0 || at < 0 ? current : lines.toSpliced(at, 1).join('\n')
}

/** A list item is one line, without a list or heading mark of its own. */
export function toMemoryLine(fact: string): string {
  return fact
    .replace(/\s+/g, ' ')
    .replace(/^(?:\s*[-*#])+\s*/, '')
    .trim()
}

function findSectionEnd(lines: readonly string[], heading: number): number {
  const next = lines.findIndex((line, at) => at > heading && /^#{1,2} /.test(line))
  return next < 0 ? lines.length : next
}
