import type { FinishedCall } from '../agent/calls/call-state.ts'
import { isObject, type JsonObject, stringOrEmpty } from '../model/json.ts'
import { clipText, formatResultText } from '../model/text.ts'
import { tryOrUndefined } from '../model/try-or-undefined.ts'
import type { CallPart, ResultPart } from '../model/turn.ts'
import type { Effect } from '../policy/effect.ts'
import { sanitizeQuestion, sanitizeText } from '../policy/text/sanitize.ts'
import type { ApprovalDetails, FileDiff, Tool } from '../tool/tool.ts'
import type { Toolbox } from '../tool/toolbox.ts'
import type { ContentBlock, ToolCallContent, ToolCallLocation, ToolKind } from './protocol.ts'
import { toMediaBlock } from './prompt-content.ts'

/** A call as an editor shows it. */
export interface ToolCallView {
  readonly title: string
  readonly kind: ToolKind
  readonly name: string
  readonly locations: ToolCallLocation[]
  readonly rawInput: unknown
}

export function describeToolCall(
  { name, input, raw }: CallPart,
  toolbox: Toolbox,
  folders: readonly string[],
): ToolCallView {
  const found = toolbox.find(name)
  const tool = 'tool' in found ? found.tool : undefined
  const accepted = tool && toolbox.validateInput(tool, input ?? {}, name)
  const valid = accepted && 'input' in accepted ? accepted.input : undefined
  const effects = (tool && valid && tryOrUndefined(() => tool.effects(valid, folders))) ?? []
  return {
    title: sanitizeText(clipText(createTitle(name, tool, valid ?? input, effects), MAX_TITLE_CHARS), 'file-name'),
    kind: toToolKind(tool, effects),
    name,
    locations: listLocations(effects, valid ?? {}),
    rawInput: valid ?? input ?? raw,
  }
}

const MAX_TITLE_CHARS = 300

function createTitle(
  name: string,
  tool: Tool | undefined,
  input: JsonObject | undefined,
  effects: readonly Effect[],
): string {
  const command = effects.find((effect) => effect.kind === 'exec')
  if (command) return `\`${command.command}\``
  const paths = [...new Set(effects.flatMap((effect) => ('path' in effect ? [effect.path] : [])))]
  const verb = tool?.verb ?? VERBS[tool?.kind ?? 'other']
  const pattern = ['pattern', 'query'].map((key) => input?.[key]).find((one) => typeof one === 'string')
  const about = [pattern, ...paths].filter((one) => one !== undefined).join(' in ')
  if (verb !== undefined && about !== '') return `${verb} ${about}`
  const urls = effects.flatMap((effect) => (effect.kind === 'net' ? (effect.urls ?? [effect.host]) : []))
  return urls.length > 0 ? `${verb ?? name} ${urls.join(' ')}` : name
}

const VERBS: Readonly<Partial<Record<Tool['kind'], string>>> = {
  read: 'Read',
  edit: 'Edit',
  search: 'Search',
  fetch: 'Fetch',
}

function toToolKind(tool: Tool | undefined, effects: readonly Effect[]): ToolKind {
  return effects.some(({ kind }) => kind === 'plan') ? 'switch_mode' : (tool?.kind ?? 'other')
}

/** The files of a call, so that the editor can follow; with the first line that is read. */
function listLocations(effects: readonly Effect[], { offset, start_line: start }: JsonObject): ToolCallLocation[] {
  const line = typeof offset === 'number' ? offset + 1 : typeof start === 'number' ? start : undefined
  const paths = new Set(effects.flatMap((effect) => ('path' in effect ? [effect.path] : [])))
  return [...paths].map((path) => ({ path, ...(isLineNumber(line) && { line }) }))
}

function isLineNumber(line: number | undefined): line is number {
  return line !== undefined && Number.isInteger(line) && line > 0 && line < 2 ** 32
}

/** What would happen, for the question to the user. */
export function toQuestionContent(details: ApprovalDetails): ToolCallContent[] {
  switch (details.kind) {
    case 'edit':
      return [{ type: 'diff', path: details.filePath, oldText: details.originalContent, newText: details.newContent }]
    case 'exec':
    case 'sandbox':
      return [toText(toCodeBlock(showAll(details.command), 'sh'))]
    case 'plan':
      return [toText(details.plan)]
    case 'question':
      return [toText(showAll(details.question))]
    case 'info':
      return [toText(showAll([details.prompt, ...(details.urls ?? [])].join('\n')))]
    case 'mcp': {
      const changes =
        details.changes === undefined ? '' : `It has changed since you allowed it:\n${details.changes}\n\n`
      return [toText(showAll(`${changes}${details.toolName} ${details.input ?? ''}`))]
    }
    default:
      return details satisfies never
  }
}

/** The user decides on this text: invisible characters are written out. Secrets are shown, as the editor cannot ask again. */
function showAll(text: string): string {
  return sanitizeQuestion(text, { reveal: true }).text
}

export function toText(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text } }
}

/** The fence is longer than any in the text. */
export function toCodeBlock(text: string, language = ''): string {
  const longest = Math.max(0, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(Math.max(3, longest + 1))
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`
}

/** What a finished call shows: the change of a file, the output of a command, or a text. */
export function toResultContent(result: ResultPart, view: ToolCallView): ToolCallContent[] {
  const { display } = result
  const media = result.content.flatMap((part): ContentBlock[] => (part.kind === 'media' ? toMediaBlock(part) : []))
  const blocks: ToolCallContent[] = media.map((content) => ({ type: 'content', content }))
  const path = view.locations[0]?.path
  if (isFileDiff(display) && path !== undefined)
    return [{ type: 'diff', path, oldText: display.originalContent, newText: display.newContent }]
  if (isObject(display) && typeof display['markdown'] === 'string')
    return [toText(`${stringOrEmpty(display['title'])}\n\n${display['markdown']}`)]
  const text = typeof display === 'string' && display.trim() !== '' ? display : formatResultText(result)
  return [toText(view.kind === 'execute' ? toCodeBlock(text) : text), ...blocks]
}

/** Where a change begins, so that the editor shows that line. */
export function findChangedLine({ display }: ResultPart): number | undefined {
  const line = isFileDiff(display) ? Number(/^@@ -\d+(?:,\d+)? \+(\d+)/m.exec(display.fileDiff)?.[1]) : undefined
  return isLineNumber(line) ? line : undefined
}

export function toRawOutput({ result, facts }: Pick<FinishedCall, 'result' | 'facts'>): unknown {
  const { status, data, error } = result
  return {
    status,
    content: formatResultText(result),
    ...(data !== undefined && { data }),
    ...(error && { error }),
    ...(facts && { facts }),
  }
}

function isFileDiff(display: unknown): display is FileDiff {
  return isObject(display) && typeof display['fileDiff'] === 'string' && typeof display['newContent'] === 'string'
}
