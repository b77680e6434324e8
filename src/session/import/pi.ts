import { defined } from '../../model/defined.ts'
import {
  filterObjects,
  isObject,
  type JsonObject,
  nonBlankString,
  objectOrEmpty,
  stringOrEmpty,
} from '../../model/json.ts'
import type { AssistantPart, MediaPart, ResultPart, TextPart, WireId } from '../../model/turn.ts'
import { followBranch, type LinkedRecord } from './branch.ts'
import {
  createAssistantStep,
  createTextPart,
  createUserStep,
  FindingCounter,
  type ForeignSession,
  type ForeignStep,
  type LogRecord,
} from './foreign-session.ts'
import { readJsonLines } from './json-lines.ts'

/** Reads a session of pi: one entry a line, each with the id of its parent; the last one is the end of the current branch. */
export function readPiSession(text: string): ForeignSession {
  const findings = new FindingCounter()
  const { records, unreadableCount } = readJsonLines(text)
  findings.add('unreadable-line', unreadableCount)
  const header = records.find(({ type }) => type === 'session')
  const entries = records.filter((record) => record !== header && record['type'] !== 'session')
  const isTree = entries.some(({ parentId }) => parentId !== undefined)
  const branch = isTree ? followBranch(entries.map(toLinkedRecord)) : { records: entries, missingLinks: 0 }
  findings.add('missing-link', branch.missingLinks)
  const countMessages = (all: readonly LogRecord[]): number =>
    new Set(all.filter(({ type }) => type === 'message')).size
  findings.add('other-branch', Math.max(countMessages(entries) - countMessages(branch.records), 0))
  const steps = placeSummaries(branch.records).flatMap((record) => toSteps(record, findings))
  const { id, cwd } = header ?? {}
  return {
    agent: 'pi',
    ...defined({ id: nonBlankString(id), folder: nonBlankString(cwd) }),
    steps,
    findings: findings.list(),
  }
}

function toLinkedRecord(record: LogRecord): LinkedRecord<LogRecord> {
  return { id: stringOrEmpty(record['id']), parent: nonBlankString(record['parentId']), record }
}

/** A summary stands before the first message that it kept, and not where it was made. */
function placeSummaries(records: readonly LogRecord[]): LogRecord[] {
  const placed = [...records]
  for (const record of records) {
    if (record['type'] !== 'compaction') continue
    const first = placed.findIndex(({ id }) => id !== undefined && id === record['firstKeptEntryId'])
    const at = placed.indexOf(record)
    if (first < 0 || first > at) continue
    placed.splice(at, 1)
    placed.splice(first, 0, record)
  }
  return placed
}

function toSteps(record: LogRecord, findings: FindingCounter): ForeignStep[] {
  switch (record['type']) {
    case 'message':
      return readMessage(objectOrEmpty(record['message']), findings)
    case 'compaction':
      return [{ role: 'summary', text: stringOrEmpty(record['summary']) }]
    case 'branch_summary':
      return [{ role: 'note', text: `Summary of another branch:\n${stringOrEmpty(record['summary'])}` }]
    case 'custom_message':
      return [{ role: 'note', text: joinTexts(record['content']) }]
    default:
      return []
  }
}

function readMessage(message: LogRecord, findings: FindingCounter): ForeignStep[] {
  switch (message['role']) {
    case 'user':
      return [createUserStep(...readContent(message['content']))]
    case 'assistant':
      return [
        createAssistantStep(
          filterObjects(toBlocks(message['content'])).flatMap(readAssistantPart),
          readOrigin(message),
        ),
      ]
    case 'toolResult':
      return [{ role: 'results', parts: [readResult(message)] }]
    case 'bashExecution':
      return message['excludeFromContext'] === true ? [] : [readUserCommand(message)]
    case 'custom':
    case 'hookMessage':
      return [{ role: 'note', text: joinTexts(message['content']) }]
    case 'branchSummary':
    case 'compactionSummary':
      return [{ role: 'note', text: stringOrEmpty(message['summary']) }]
    default:
      findings.add('agent-message')
      return []
  }
}

function readOrigin({ api, provider, model }: LogRecord) {
  const wire = APIS[stringOrEmpty(api)] ?? 'openai-chat'
  return { provider: nonBlankString(provider) ?? 'openai', wire, model: stringOrEmpty(model) }
}

const APIS: Readonly<Record<string, WireId>> = {
  'anthropic-messages': 'anthropic',
  'google-generative-ai': 'gemini',
  'google-gemini-cli': 'code-assist',
  'openai-completions': 'openai-chat',
  'openai-responses': 'openai-responses',
  'openai-codex-responses': 'openai-responses',
}

function readAssistantPart(block: LogRecord): AssistantPart[] {
  switch (block['type']) {
    case 'text':
      return [createTextPart(block['text'])]
    case 'thinking':
      return [{ kind: 'reasoning', text: stringOrEmpty(block['thinking']) }]
    case 'toolCall': {
      const { id, name, arguments: args } = block
      const input = isObject(args) ? (args as JsonObject) : undefined
      const raw = typeof args === 'string' ? args : JSON.stringify(args ?? {})
      // Some of its ids have the id of an item after a bar.
      return [{ kind: 'call', id: stringOrEmpty(id), name: stringOrEmpty(name), raw, ...defined({ input }) }]
    }
    default:
      return []
  }
}

function readResult(message: LogRecord): ResultPart {
  return {
    kind: 'result',
    id: stringOrEmpty(message['toolCallId']),
    name: stringOrEmpty(message['toolName']),
    status: message['isError'] === true ? 'error' : 'ok',
    content: readContent(message['content']),
  }
}

/** A command that the user ran beside the model. */
function readUserCommand({ command, output, exitCode }: LogRecord): ForeignStep {
  const exit = typeof exitCode === 'number' ? ` (exit code ${exitCode})` : ''
  const text = `I ran this command${exit}:\n$ ${stringOrEmpty(command)}\n${stringOrEmpty(output)}`
  return createUserStep({ kind: 'text', text })
}

function toBlocks(content: unknown): unknown {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

function readContent(content: unknown): (TextPart | MediaPart)[] {
  return filterObjects(toBlocks(content)).flatMap((block): (TextPart | MediaPart)[] => {
    if (block['type'] === 'text') return [createTextPart(block['text'])]
    if (block['type'] !== 'image') return []
    const mime = nonBlankString(block['mimeType']) ?? 'image/png'
    return [{ kind: 'media', mime, data: stringOrEmpty(block['data']) }]
  })
}

function joinTexts(content: unknown): string {
  return readContent(content)
    .map((part) => (part.kind === 'text' ? part.text : ''))
    .join('\n')
}
