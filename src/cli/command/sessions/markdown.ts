import { formatResultText } from '../../../model/text.ts'
import type { AssistantPart } from '../../../model/turn.ts'
import type { Entry } from '../../../session/log/entry.ts'

export function sessionToMarkdown(entries: readonly Entry[]): string {
  return `${joinTexts(entries.map(formatEntry))}\n`
}

function formatEntry(entry: Entry): string {
  switch (entry.kind) {
    case 'open':
      return `# Session ${entry.session}\n\n${new Date(entry.at).toISOString()} in \`${entry.folder}\``
    case 'user':
      return `## User\n\n${joinTexts(entry.parts.map((part) => (part.kind === 'text' ? part.text : `*(${part.mime})*`)))}`
    case 'turn': {
      const { origin, parts } = entry.turn
      return `## ${origin.provider}/${origin.model}\n\n${joinTexts(parts.map(formatPart))}`
    }
    case 'result':
      return `### ${entry.result.name}: ${entry.result.status}\n\n${toCodeBlock(formatResultText(entry.result))}`
    case 'compact':
      return `## Summary of the conversation so far\n\n${entry.summary}`
    case 'close':
      return entry.reason === 'done' ? '' : `*The run ended: ${entry.reason}.*`
    case 'subagent':
      return `*${entry.name} works${entry.isBackground ? ' in the background' : ''} in the session ${entry.session}.*`
    case 'ask':
    case 'change':
    case 'fault':
    case 'intent':
    case 'note':
    case 'reply':
    case 'request':
    case 'settings':
    case 'undo':
      return ''
    default:
      return entry satisfies never
  }
}

function formatPart(part: AssistantPart): string {
  switch (part.kind) {
    case 'text':
      return part.text
    case 'reasoning':
      return part.text === '' ? '' : `> ${part.text.trim().replaceAll('\n', '\n> ')}`
    case 'media':
      return `*(${part.mime})*`
    case 'call': {
      const input = part.input === undefined ? part.raw : JSON.stringify(part.input, null, 2)
      return `**${part.name}**\n\n${toCodeBlock(input, 'json')}`
    }
    default:
      return part satisfies never
  }
}

function joinTexts(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n')
}

/** A code block whose fence is longer than any inside it. */
function toCodeBlock(text: string, language = ''): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}`
}
