import { formatResultText } from '../../model/text.ts'
import type { ModelRequest, ToolSpec } from '../../model/request.ts'
import type { AssistantPart, CallPart, MediaPart, ResultPart, TextPart, Turn } from '../../model/turn.ts'
import { defined } from '../../model/defined.ts'
import { isObject, stringOrEmpty } from '../../model/json.ts'
import type { Block } from './inspected-exchange.ts'

/** The pieces of a request in the order in which vendors cache them. */
export function listRequestBlocks(request: Omit<ModelRequest, 'model'> & { readonly model?: string }): Block[] {
  const { model, params = {}, toolChoice, system, tools, hostedTools = [], turns } = request
  const { effort, thinking } = params
  const settings = JSON.stringify(defined({ model, toolChoice, effort, thinking }), undefined, 2)
  const calls = new Map<string, CallPart>()
  return [
    { kind: 'settings', label: 'Settings', text: settings, chars: 0 },
    ...tools.map(toToolBlock),
    ...hostedTools.map(({ declaration }): Block => {
      const name = stringOrEmpty(declaration['name']) || stringOrEmpty(declaration['type'])
      return { kind: 'tool', label: name || 'hosted tool', text: JSON.stringify(declaration, undefined, 2) }
    }),
    ...(system === undefined || system === ''
      ? []
      : [{ kind: 'system', label: 'System prompt', text: system } as const]),
    ...turns.flatMap((turn, at) => listTurnBlocks(turn, at + 1, calls)),
  ]
}

function toToolBlock({ name, description, schema, grammar }: ToolSpec): Block {
  const declaration = { description, ...(grammar ? { grammar } : { schema }) }
  return { kind: 'tool', label: name, text: JSON.stringify(declaration, undefined, 2) }
}

/** `calls` are those of the turns before; results are labelled by them. */
function listTurnBlocks(turn: Turn, number: number, calls: Map<string, CallPart>): Block[] {
  switch (turn.role) {
    case 'user':
      return turn.parts.map((part) => toUserBlock(part, number))
    case 'note':
      return [
        { kind: 'instructions', label: 'Note', text: turn.text, turn: number },
        ...(turn.tools ?? []).map((tool) => ({ ...toToolBlock(tool), turn: number })),
      ]
    case 'results':
      return turn.parts.map((part) => toResultBlock(part, number, calls.get(part.id)))
    case 'assistant':
      for (const part of turn.parts) if (part.kind === 'call') calls.set(part.id, part)
      return turn.parts.map((part) => toAnswerBlock(part, number))
    default:
      return turn satisfies never
  }
}

function toUserBlock(part: TextPart | MediaPart, turn: number): Block {
  if (part.kind === 'media') return toMediaBlock(part, turn)
  if (part.name !== undefined) return { kind: 'file', label: part.name, text: part.text, turn }
  const isInstruction = INSTRUCTION_PATTERN.test(part.text)
  return isInstruction
    ? { kind: 'instructions', label: nameInstructions(part.text), text: part.text, turn }
    : { kind: 'user', label: 'User', text: part.text, turn }
}

/** What clients put into messages of the user by themselves. */
const INSTRUCTION_PATTERN = /^\s*(?:<(?:[a-z]+[-_][\w-]*|instructions|context|environment)>|# AGENTS\.md)/i

function nameInstructions(text: string): string {
  const file = /\b((?:CLAUDE|AGENTS|GEMINI|QWEN|CRUSH|copilot-instructions)\.md)\b/.exec(text)?.[1]
  return file ?? /^\s*<([\w-]{1,40})>/.exec(text)?.[1] ?? 'Instructions'
}

/** A piece of a response of the model. */
export function toAnswerBlock(part: AssistantPart, turn?: number): Block {
  const more = defined({ turn })
  switch (part.kind) {
    case 'text':
      return { kind: 'text', label: part.refusal ? 'Refusal' : 'Model', text: part.text, ...more }
    case 'reasoning':
      return { kind: 'thinking', label: 'Thinking', text: part.text, ...chooseThinkingSize(part), ...more }
    case 'call':
      return {
        kind: 'call',
        label: part.name,
        text: formatInput(part),
        ...more,
        ...defined({ flaw: part.flaw?.message }),
      }
    case 'media':
      return { ...toMediaBlock(part, turn) }
    default:
      return part satisfies never
  }
}

/** Encrypted reasoning and signatures fill the request, though there is nothing to read. */
function chooseThinkingSize({ text, native }: Extract<AssistantPart, { kind: 'reasoning' }>): Pick<Block, 'chars'> {
  const hidden = native?.data === undefined ? 0 : JSON.stringify(native.data).length
  return hidden === 0 ? {} : { chars: text.length + hidden }
}

export function formatInput({ input, raw, freeform }: CallPart): string {
  return freeform || input === undefined ? raw : JSON.stringify(input, undefined, 2)
}

function toMediaBlock({ mime, data, uri, name }: MediaPart, turn?: number): Block {
  const text = uri ?? `${mime}, ${Math.ceil(((data?.length ?? 0) * 3) / 4)} bytes`
  return { kind: 'media', label: name ?? mime, text, chars: data?.length ?? text.length, ...defined({ turn }) }
}

function toResultBlock(result: ResultPart, turn: number, call: CallPart | undefined): Block {
  const media = result.content.reduce((sum, part) => sum + (part.kind === 'media' ? (part.data?.length ?? 0) : 0), 0)
  const text = formatResultText(result)
  const path = call && FILE_TOOL_PATTERN.test(call.name) ? findPath(call.input) : ''
  return {
    ...(path === '' ? { kind: 'result', label: result.name || call?.name || 'result' } : { kind: 'file', label: path }),
    text,
    turn,
    ...(media > 0 && { chars: text.length + media }),
    ...(result.status !== 'ok' && { flaw: result.error?.message ?? result.status }),
  }
}

const FILE_TOOL_PATTERN = /read|view|cat\b|open_file|get_file/i

function findPath(input: unknown): string {
  if (!isObject(input)) return ''
  const value = ['file_path', 'path', 'absolute_path', 'filePath', 'target_file', 'file', 'paths']
    .map((key) => input[key])
    .find((one) => (typeof one === 'string' && one !== '') || Array.isArray(one))
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string').join(', ') : stringOrEmpty(value)
}

export function countBlockChars({ chars, text }: Block): number {
  return chars ?? text.length
}
