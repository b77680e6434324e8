import { formatResultText } from '../../../model/text.ts'
import type { AssistantPart } from '../../../model/turn.ts'
import type { Entry } from '../../../session/log/entry.ts'

/** A session as a document that a person reads. */
export function sessionToMarkdown(entries: readonly Entry[]): string {
  return `${entries
    .map(formatEntry)
    .filter((text) => text !== '')
    .join('\n\n')}\n`
}

function formatEntry(entry: Entry): string {
  if (entry.kind === 'open')
    return `# Session ${entry.session}\n\n${new Date(entry.at).toISOString()} in \`${entry.folder}\``
  if (entry.kind === 'user')
    return `## Person\n\n${entry.parts.map((part) => (part.kind === 'text' ? part.text : `*(${part.mime})*`)).join('\n\n')}`
  if (entry.kind === 'turn')
    return `## ${entry.turn.origin.provider}/${entry.turn.origin.model}\n\n${entry.turn.parts
      .map(formatPart)
      .filter((text) => text !== '')
      .join('\n\n')}`
  if (entry.kind === 'result')
    return `### ${entry.result.name}: ${entry.result.status}\n\n${toCodeBlock(formatResultText(entry.result))}`
  if (entry.kind === 'compact') return `## Summary of all before\n\n${entry.summary}`
  if (entry.kind === 'close' && entry.reason !== 'done') return `*The run ended: ${entry.reason}.*`
  return ''
}

function formatPart(part: AssistantPart): string {
  if (part.kind === 'text') return part.text
  if (part.kind === 'reasoning') return part.text === '' ? '' : `> ${part.text.trim().replaceAll('\n', '\n> ')}`
  if (part.kind === 'media') return `*(${part.mime})*`
  return `**${part.name}**\n\n${toCodeBlock(part.input === undefined ? part.raw : JSON.stringify(part.input, null, 2), 'json')}`
}

/** A code block whose fence is longer than any inside it. */
function toCodeBlock(text: string, language = ''): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}`
}
