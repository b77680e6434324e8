import { defined } from '../../model/defined.ts'
import type { Warning } from '../../model/event.ts'
import { filterObjects, isObject, nonBlankString, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import type { Turn } from '../../model/turn.ts'
import { readMessages } from '../../wire/anthropic/read-messages.ts'
import { followBranch, type LinkedRecord } from './branch.ts'
import { FindingCounter, type ForeignSession, type ForeignStep, type LogRecord } from './foreign-session.ts'
import { readJsonLines } from './json-lines.ts'

/**
 * Reads a log of Claude Code: one record a line, each with the id of its predecessor. A response is several records with one
 * message id; subagents are in the same file as side chains.
 */
export function readClaudeCodeSession(text: string): ForeignSession {
  const findings = new FindingCounter()
  const { records, unreadableCount } = readJsonLines(text)
  findings.add('unreadable-line', unreadableCount)
  const linked = records
    .filter((record) => typeof record['uuid'] === 'string' && record['isSidechain'] !== true)
    .map(toLinkedRecord)
  const leaf = linked.findLast(({ record }) => record['type'] === 'user' || record['type'] === 'assistant')
  const branch = followBranch(linked, leaf)
  findings.add('missing-link', branch.missingLinks)
  const active = addParallelRecords(branch.records, linked)
  const messages = linked.filter(({ record }) => record['type'] === 'user' || record['type'] === 'assistant')
  const written = new Set(messages.map(({ id }) => id)).size
  findings.add('other-branch', written - active.filter(({ type }) => type === 'user' || type === 'assistant').length)
  const first = records.find((record) => nonBlankString(record['sessionId']) !== undefined)
  const folder = nonBlankString(active.findLast((record) => nonBlankString(record['cwd']))?.['cwd'])
  const steps = mergeResponses(active).flatMap((record) => toSteps(record, findings))
  return {
    agent: 'claude',
    ...defined({ id: nonBlankString(first?.['sessionId']), folder }),
    steps,
    findings: findings.list(),
  }
}

function toLinkedRecord(record: LogRecord): LinkedRecord<LogRecord> {
  const { uuid, parentUuid, logicalParentUuid } = record
  return { id: stringOrEmpty(uuid), parent: nonBlankString(parentUuid) ?? nonBlankString(logicalParentUuid), record }
}

/** The results of parallel calls, and the other pieces of a response, hang beside the branch and not on it. */
function addParallelRecords(branch: readonly LogRecord[], all: readonly LinkedRecord<LogRecord>[]): LogRecord[] {
  const ids = new Set(branch.map(({ uuid }) => uuid))
  const responses = new Set(branch.map(getResponseId).filter((id) => id !== undefined))
  const isPiece = (record: LogRecord): boolean => responses.has(getResponseId(record) ?? '')
  const unique = [...new Map(all.map((one) => [one.id, one.record])).values()]
  const calls = new Set(unique.filter((record) => ids.has(record['uuid']) || isPiece(record)).flatMap(listCallIds))
  const isResult = (record: LogRecord): boolean => listResultIds(record).some((id) => calls.has(id))
  return unique.filter((record) => ids.has(record['uuid']) || isPiece(record) || isResult(record))
}

function getMessage(record: LogRecord): LogRecord {
  return objectOrEmpty(record['message'])
}

function getResponseId(record: LogRecord): string | undefined {
  return record['type'] === 'assistant' ? nonBlankString(getMessage(record)['id']) : undefined
}

function listCallIds(record: LogRecord): string[] {
  return filterObjects(getMessage(record)['content'])
    .filter(({ type }) => type === 'tool_use')
    .map(({ id }) => stringOrEmpty(id))
}

function listResultIds(record: LogRecord): string[] {
  return filterObjects(getMessage(record)['content'])
    .filter(({ type }) => type === 'tool_result')
    .map((block) => stringOrEmpty(block['tool_use_id']))
}

/** The pieces of a response, which may stand after the first results, become one record at the place of the first piece. */
function mergeResponses(records: readonly LogRecord[]): LogRecord[] {
  const merged: LogRecord[] = []
  const places = new Map<string, number>()
  for (const record of records) {
    const id = getResponseId(record)
    const at = id === undefined ? undefined : places.get(id)
    const earlier = at === undefined ? undefined : merged[at]
    if (at === undefined || !earlier) {
      if (id !== undefined) places.set(id, merged.length)
      merged.push(record)
      continue
    }
    const content = [...toBlocks(getMessage(earlier)['content']), ...toBlocks(getMessage(record)['content'])]
    merged[at] = { ...earlier, message: { ...getMessage(earlier), content } }
  }
  return merged
}

function toBlocks(content: unknown): unknown[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : []
}

function toSteps(record: LogRecord, findings: FindingCounter): ForeignStep[] {
  const { type } = record
  const message = getMessage(record)
  if (type !== 'user' && type !== 'assistant') return []
  // Errors of the API are shown as if the model had written them.
  if (type === 'assistant' && (record['isApiErrorMessage'] === true || message['model'] === '<synthetic>')) {
    findings.add('agent-message')
    return []
  }
  if (record['isCompactSummary'] === true) return [{ role: 'summary', text: joinTexts(message['content']) }]
  const content = type === 'user' ? cleanUserContent(message['content'], findings) : message['content']
  const turns = readMessage({ role: type, content }, stringOrEmpty(message['model']))
  // Words of the agent in the name of the user, such as a skill that was loaded.
  const isMeta = record['isMeta'] === true
  return turns.map((turn) => (isMeta && turn.role === 'user' ? { role: 'note', text: joinTexts(content) } : turn))
}

function readMessage(message: LogRecord, model: string): Turn[] {
  const warnings: Warning[] = []
  return readMessages([message], { model, tools: [], warnings, noteMark: () => undefined })
}

function joinTexts(content: unknown): string {
  return toBlocks(content)
    .filter(isObject)
    .map((block) => stringOrEmpty(block['text']))
    .join('\n')
}

/** Without reminders of the agent; a slash command is written as the user typed it. */
function cleanUserContent(content: unknown, findings: FindingCounter): unknown {
  return toBlocks(content).flatMap((block) => {
    if (!isObject(block) || block['type'] !== 'text') return [block]
    const original = stringOrEmpty(block['text'])
    const text = original.replaceAll(/<system-reminder>[^]*?<\/system-reminder>\s*/g, '')
    if (text !== original) findings.add('agent-message')
    return text.trim() === '' ? [] : [{ type: 'text', text: toTypedCommand(text) }]
  })
}

function toTypedCommand(text: string): string {
  const name = /<command-name>([^<]*)<\/command-name>/.exec(text)?.[1]
  if (name === undefined) return text
  const args = /<command-args>([^]*?)<\/command-args>/.exec(text)?.[1] ?? ''
  return `${name} ${args}`.trim()
}
