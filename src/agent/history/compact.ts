import { fold } from '../../model/fold.ts'
import { formatResultText, joinTextParts } from '../../model/text.ts'
import type { TurnEvent } from '../../model/event.ts'
import type { AssistantTurn, Part, ResultPart, Turn } from '../../model/turn.ts'
import type { ModelRequest } from '../../model/request.ts'
import type { Entry } from '../../session/log/entry.ts'
import {
  entryToTurn,
  findFirstKeptSeq,
  findPinnedNotes,
  isPinnedNote,
  deriveModelHistory,
} from '../../session/derive-model-history.ts'
import type { AgentContext } from '../agent-context.ts'
import { ENVIRONMENT_TOPIC, appendPinnedNote } from './pinned-notes.ts'
import { getRequestTools } from './request-tools.ts'
import INSTRUCTION from '../prompt/compress.md'
import { createRequestLogger } from '../loop/request-log.ts'
import type { RunEvent } from '../loop/run-event.ts'
import { defined } from '../../model/defined.ts'

/** How full the context window may be before a compaction, and how much of the history is kept unchanged. */
const DEFAULT_WINDOW_SHARE = 0.5
const DEFAULT_KEPT_SHARE = 0.3

/** Fits the context window of any model. */
const MIN_LOOKUP_TOKENS = 2000

/** Longer tool results are shortened for the summary; the full text is in a file. */
const MAX_RESULT_CHARS = 4000

export async function needsCompaction(agent: AgentContext): Promise<boolean> {
  const tokens = countContextTokens(agent.session.turns)
  // The catalogue is not loaded for a history that fits any model.
  const window = tokens < MIN_LOOKUP_TOKENS ? agent.model.window : await findWindow(agent)
  return window !== undefined && tokens > window * (agent.compaction?.share ?? DEFAULT_WINDOW_SHARE)
}

async function findWindow({ model, catalog }: AgentContext): Promise<number | undefined> {
  return model.window ?? (await catalog?.())?.card(model.origin)?.window
}

/** The tokens of the next request: the last count of the vendor, and an estimate for the turns after it. */
export function countContextTokens(turns: readonly Turn[]): number {
  const at = turns.findLastIndex((turn) => turn.role === 'assistant' && turn.usage !== undefined)
  const last = turns[at]
  const usage = last?.role === 'assistant' ? last.usage : undefined
  const countedTokens = usage ? usage.input + usage.cacheRead + usage.cacheWrite + usage.output : 0
  return countedTokens + estimateTokens(countHistoryChars(turns.slice(at + 1)))
}

const CHARS_PER_TOKEN = 4

export function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARS_PER_TOKEN)
}

export function countHistoryChars(turns: readonly Turn[]): number {
  return turns.reduce((sum, turn) => sum + countTurnChars(turn), 0)
}

interface CompactionResult {
  readonly isDone: boolean
  /** The response with the summary; also if it was not used, because it has a cost. */
  readonly response?: AssistantTurn
}

/**
 * Replaces the older part of the history by a summary that the model writes. Calls stay together with their results, and
 * the log keeps everything. A summary that saves nothing is not used.
 */
export async function* compactHistory(
  agent: AgentContext,
  prompt: string,
  signal: AbortSignal,
  /** What the user wants to be kept especially. */
  focus = '',
): AsyncGenerator<RunEvent, CompactionResult> {
  const { session, clock } = agent
  const firstKept = findFirstKeptSeq(session.entries)
  const conversationEntries = session.entries.filter((entry) => entry.seq >= firstKept && isConversationEntry(entry))
  const keep = agent.compaction?.keep ?? DEFAULT_KEPT_SHARE
  const window = await findWindow(agent)
  const cut = findCutSeq(conversationEntries, keep, (window ?? Infinity) * keep * CHARS_PER_TOKEN)
  const before = countHistoryChars(deriveModelHistory(session.entries))
  const beforeTokens = estimateTokens(before)
  const unchangedEvent: RunEvent = { type: 'compact', beforeTokens, afterTokens: beforeTokens, done: false }
  if (cut === undefined) {
    yield unchangedEvent
    return { isDone: false }
  }

  const olderTurns = deriveModelHistory(session.entries.filter((entry) => entry.seq < cut || entry.kind === 'compact'))
  const shortened = await Promise.all(olderTurns.map((turn) => shortenTurn(agent, turn)))
  const started = clock.now()
  const first = yield* requestSummary(agent, prompt, signal, { system: agent.system, turns: shortened, focus })
  // A history that is longer than the window cannot be sent as it is: then its text is, as far as it fits.
  const turn =
    first.finish.fault?.kind === 'overflow'
      ? yield* requestSummary(agent, prompt, signal, { turns: [await excerptHistory(agent, shortened)], focus })
      : first
  const usage = turn.usage && { usage: { ...turn.usage } }
  const summary = `This is a summary of the conversation so far:\n\n${joinTextParts(turn.parts).trim()}`
  const environment = agent.describeEnvironment?.().text
  const pinned = findPinnedNotes(session.entries).map(({ text, topic }) =>
    topic === ENVIRONMENT_TOPIC ? (environment ?? text) : text,
  )
  const tail = conversationEntries.filter((entry) => entry.seq >= cut)
  const after = pinned.join('').length + summary.length + countHistoryChars(deriveModelHistory(tail))
  if (turn.finish.reason !== 'stop' || joinTextParts(turn.parts).trim() === '' || after >= before) {
    const { fault } = turn.finish
    const logged = { ...(fault ?? { kind: 'decode', message: 'The summary is empty or too long.' }) }
    yield { type: 'entry', entry: session.append({ kind: 'fault', fault: logged, prompt, ...usage }) }
    yield { ...unchangedEvent, ...defined({ fault }) }
    return { isDone: false, response: turn }
  }
  const ms = clock.now() - started
  // The date and the instructions files may have changed.
  if (environment !== undefined) yield* appendPinnedNote(session, ENVIRONMENT_TOPIC, environment)
  yield { type: 'entry', entry: session.append({ kind: 'compact', summary, keep: cut, before, after, ms, ...usage }) }
  yield { type: 'compact', beforeTokens, afterTokens: estimateTokens(after), done: true }
  return { isDone: true, response: turn }
}

/** With the system prompt, the request begins like the ones before it, so that the vendor finds it in its cache. */
async function* requestSummary(
  agent: AgentContext,
  prompt: string,
  signal: AbortSignal,
  { system, turns, focus }: { readonly system?: string; readonly turns: readonly Turn[]; readonly focus: string },
): AsyncGenerator<RunEvent, AssistantTurn> {
  const { session, model } = agent
  const text = focus === '' ? INSTRUCTION : `${INSTRUCTION}\nThe user says about this summary: ${focus}\n`
  const request: ModelRequest = {
    model: model.origin.model,
    tools: system === undefined ? [] : getRequestTools(agent),
    toolChoice: 'none',
    turns: [...turns, { role: 'user', parts: [{ kind: 'text', text }] }],
    session: session.id,
    ...defined({ system, params: agent.params }),
  }
  const events: TurnEvent[] = []
  const requests = createRequestLogger(session, prompt, 'summary')
  for await (const event of model.stream(request, { turnKey: agent.createId(), signal, onSent: requests.onSent })) {
    events.push(event)
    yield* requests.takeEvents()
  }
  return fold(events, model.origin).turn
}

/** Leaves room for the summary and the instruction. */
const EXCERPT_SHARE = 0.5
const DEFAULT_WINDOW_TOKENS = 4096

/** The history as text, with its beginning and its end, so that it fits half of the context window. */
async function excerptHistory(agent: AgentContext, turns: readonly Turn[]): Promise<Turn> {
  const window = await findWindow(agent)
  const max = Math.floor((window ?? DEFAULT_WINDOW_TOKENS) * EXCERPT_SHARE) * CHARS_PER_TOKEN
  const text = turns.map(formatTurn).join('\n\n')
  const cut = text.length - max
  const clipped =
    cut <= 0 ? text : `${text.slice(0, max / 4)}\n[… ${cut} characters left out …]\n${text.slice(-(max * 3) / 4)}`
  return { role: 'user', parts: [{ kind: 'text', text: `The conversation so far:\n\n${clipped}` }] }
}

function formatTurn(turn: Turn): string {
  if (turn.role === 'note') return `note: ${turn.text}`
  return `${turn.role}: ${turn.parts.map(formatPart).join('\n')}`
}

function formatPart(part: Part): string {
  switch (part.kind) {
    case 'text':
    case 'reasoning':
      return part.text
    case 'call':
      return `[call ${part.name} ${part.raw}]`
    case 'result':
      return `[result of ${part.name}] ${formatResultText(part)}`
    case 'media':
      return `[${part.mime}]`
    default:
      return part satisfies never
  }
}

/** Is the entry part of the conversation that can be summarized? */
function isConversationEntry(entry: Entry): boolean {
  return entryToTurn(entry) !== undefined && !isPinnedNote(entry)
}

/**
 * The entry with which the kept tail starts: a message of the user or a turn of the model, never a result without its call.
 * The tail is at most a share of the history, and at most `maxChars` long, if there is a place to cut.
 */
function findCutSeq(conversationEntries: readonly Entry[], keep: number, maxChars: number): number | undefined {
  const sizes = conversationEntries.map((entry) => countHistoryChars(deriveModelHistory([entry])))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  let tail = 0
  let cut: number | undefined
  for (let at = conversationEntries.length - 1; at > 0; at--) {
    tail += sizes[at] ?? 0
    if (cut !== undefined && tail > Math.min(total * keep, maxChars)) break
    const kind = conversationEntries[at]?.kind
    if (kind === 'user' || kind === 'turn') cut = conversationEntries[at]?.seq
  }
  return cut
}

async function shortenTurn(agent: AgentContext, turn: Turn): Promise<Turn> {
  if (turn.role !== 'results') return turn
  return { role: 'results', parts: await Promise.all(turn.parts.map((result) => excerptResult(agent, result))) }
}

async function excerptResult(agent: AgentContext, result: ResultPart): Promise<ResultPart> {
  const text = formatResultText(result)
  if (text.length <= MAX_RESULT_CHARS) return result
  // A full disk must not prevent the compaction.
  const file = await agent.writeOverflowFile?.(`${result.name}-${result.id}.txt`, text).catch(() => undefined)
  const fileNote = file === undefined ? '' : ` All of it is in ${file}.`
  const middle = `\n[… ${text.length - MAX_RESULT_CHARS} characters left out.${fileNote} …]\n`
  const short = `${text.slice(0, MAX_RESULT_CHARS / 4)}${middle}${text.slice(-(MAX_RESULT_CHARS * 3) / 4)}`
  return { ...result, content: [{ kind: 'text', text: short }] }
}

/** Turns never change, and their characters are counted before each request. */
const turnChars = new WeakMap<Turn, number>()

function countTurnChars(turn: Turn): number {
  const known = turnChars.get(turn)
  if (known !== undefined) return known
  const count =
    turn.role === 'note' ? turn.text.length : turn.parts.reduce((sum, part) => sum + countPartChars(part), 0)
  turnChars.set(turn, count)
  return count
}

function countPartChars(part: Part): number {
  switch (part.kind) {
    case 'text':
    case 'reasoning':
      return part.text.length
    case 'call':
      return part.name.length + part.raw.length
    case 'result':
      return formatResultText(part).length
    case 'media':
      // An image costs about as much as this much text.
      return 6000
    default:
      return part satisfies never
  }
}
