import { fold } from '../model/fold.ts'
import { resultText, textOf } from '../model/text.ts'
import type { TurnEvent } from '../model/event.ts'
import type { AssistantTurn, ResultPart, Turn } from '../model/turn.ts'
import type { Entry } from '../session/entry.ts'
import { isPinned, pinnedNotes, project } from '../session/project.ts'
import type { Agent } from './agent.ts'
import { ENVIRONMENT, statePinned } from './pinned.ts'
import INSTRUCTION from './prompt/compress.md'
import { requestLogger } from './request-log.ts'
import type { RunEvent } from './run-event.ts'

/** Of the window, how much may be full before the history is summarised; and how much of the history stays word for word. */
const SHARE = 0.5
const KEEP = 0.3

/** So few tokens fit any model. */
const SMALL = 2000

/** Tool results longer than this are cut in what is to be summarised; the whole is in a file. */
const LONG_RESULT = 4000

/** Is the history so long that it should be summarised before the next request? */
export async function isTooLong({ model, session, catalog, compaction }: Agent): Promise<boolean> {
  const tokens = contextTokens(session.turns)
  // The catalogue is not opened for a history that fits any model.
  const window = model.window ?? (tokens < SMALL ? undefined : (await catalog?.())?.card(model.origin)?.window)
  return window !== undefined && tokens > window * (compaction?.share ?? SHARE)
}

/** How many tokens the next request will take in: what the vendor counted last, and an estimate of what came after. */
export function contextTokens(turns: readonly Turn[]): number {
  const at = turns.findLastIndex((turn) => turn.role === 'assistant' && turn.usage !== undefined)
  const counted = turns[at]
  const usage = counted?.role === 'assistant' ? counted.usage : undefined
  const known = usage ? usage.input + usage.cacheRead + usage.cacheWrite + usage.output : 0
  return known + estimateTokens(historyLength(turns.slice(at + 1)))
}

/** About how many tokens a text of so many characters has. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / 4)
}

/** How long a history is, in characters. */
export function historyLength(turns: readonly Turn[]): number {
  return turns.reduce((sum, turn) => sum + lengthOf(turn), 0)
}

/** What came of a compaction. */
export interface Compaction {
  readonly isDone: boolean
  /** The response that holds the summary, also where it was of no use: it was paid for. */
  readonly response?: AssistantTurn
}

/**
 * Replaces the older part of the history by a summary that the model writes. The cut falls between whole exchanges; the
 * log keeps everything. A summary that saves nothing is not used.
 */
export async function* compact(
  agent: Agent,
  prompt: string,
  signal: AbortSignal,
): AsyncGenerator<RunEvent, Compaction> {
  const { session, model, clock } = agent
  const spoken = session.entries.filter((entry) => entry.seq >= firstKept(session.entries) && isSpoken(entry))
  const cut = cutPoint(spoken, agent.compaction?.keep ?? KEEP)
  const before = historyLength(project(session.entries))
  const beforeTokens = estimateTokens(before)
  const kept: RunEvent = { type: 'compact', beforeTokens, afterTokens: beforeTokens, done: false }
  if (cut === undefined) {
    yield kept
    return { isDone: false }
  }

  const older = project(session.entries.filter((entry) => entry.seq < cut || entry.kind === 'compact'))
  const shortened = await Promise.all(older.map((turn) => shorten(agent, turn)))
  const request = {
    model: model.origin.model,
    system: agent.system,
    tools: agent.toolbox.specs,
    toolChoice: 'none',
    turns: [...shortened, { role: 'user', parts: [{ kind: 'text', text: INSTRUCTION }] }],
    session: session.id,
    ...(agent.params && { params: agent.params }),
  } as const
  const events: TurnEvent[] = []
  const requests = requestLogger(session, prompt, 'summary')
  const started = clock.now()
  for await (const event of model.ask(request, { key: agent.mint(), signal, sent: requests.sent })) {
    events.push(event)
    yield* requests.logged()
  }
  const { turn } = fold(events, model.origin)
  const usage = turn.usage && { usage: { ...turn.usage } }
  const summary = `This is a summary of the conversation so far:\n\n${textOf(turn.parts).trim()}`
  const environment = agent.environment?.().text
  const pinned = pinnedNotes(session.entries).map(({ text, topic }) =>
    topic === ENVIRONMENT ? (environment ?? text) : text,
  )
  const tail = spoken.filter((entry) => entry.seq >= cut)
  const after = pinned.join('').length + summary.length + historyLength(project(tail))
  if (turn.finish.reason !== 'stop' || textOf(turn.parts).trim() === '' || after >= before) {
    const fault = { ...(turn.finish.fault ?? { kind: 'decode', message: 'The summary was of no use.' }) }
    yield { type: 'entry', entry: session.append({ kind: 'fault', fault, prompt, ...usage }) }
    yield kept
    return { isDone: false, response: turn }
  }
  const ms = clock.now() - started
  // Instructions files and the date may have changed since they were stated.
  if (environment !== undefined) yield* statePinned(session, ENVIRONMENT, environment)
  yield { type: 'entry', entry: session.append({ kind: 'compact', summary, keep: cut, before, after, ms, ...usage }) }
  yield { type: 'compact', beforeTokens, afterTokens: estimateTokens(after), done: true }
  return { isDone: true, response: turn }
}

function firstKept(entries: readonly Entry[]): number {
  const last = entries.findLast((entry) => entry.kind === 'compact')
  return last?.kind === 'compact' ? last.keep : 0
}

function isSpoken(entry: Entry): boolean {
  if (entry.kind === 'note') return !isPinned(entry)
  return entry.kind === 'user' || entry.kind === 'turn' || entry.kind === 'result'
}

/** The entry with which the kept tail begins: a message of the person or a turn of the model, never a result without its call. */
function cutPoint(spoken: readonly Entry[], keep: number): number | undefined {
  const sizes = spoken.map((entry) => historyLength(project([entry])))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  let tail = 0
  let cut: number | undefined
  for (let at = spoken.length - 1; at > 0; at--) {
    tail += sizes[at] ?? 0
    if (cut !== undefined && tail > total * keep) break
    const kind = spoken[at]?.kind
    if (kind === 'user' || kind === 'turn') cut = spoken[at]?.seq
  }
  return cut
}

async function shorten(agent: Agent, turn: Turn): Promise<Turn> {
  if (turn.role !== 'results') return turn
  const parts = await Promise.all(turn.parts.map((result) => excerpt(agent, result)))
  return { role: 'results', parts }
}

/** The beginning and the end of a long result, and where the rest is. */
async function excerpt(agent: Agent, result: ResultPart): Promise<ResultPart> {
  const text = resultText(result)
  if (text.length <= LONG_RESULT) return result
  // A disk on which there is no room for it must not keep the history from being summarised.
  const file = await agent.spill?.(`${result.name}-${result.id}.txt`, text).catch(() => undefined)
  const where = file === undefined ? '' : ` All of it is in ${file}.`
  const middle = `\n[… ${text.length - LONG_RESULT} characters left out.${where} …]\n`
  const short = `${text.slice(0, LONG_RESULT / 4)}${middle}${text.slice(-(LONG_RESULT * 3) / 4)}`
  return { ...result, content: [{ kind: 'text', text: short }] }
}

function lengthOf(turn: Turn): number {
  if (turn.role === 'note') return turn.text.length
  return turn.parts.reduce((sum, part) => {
    if (part.kind === 'text' || part.kind === 'reasoning') return sum + part.text.length
    if (part.kind === 'call') return sum + part.name.length + part.raw.length
    // A picture costs about as much as this much text.
    return sum + (part.kind === 'result' ? resultText(part).length : 6000)
  }, 0)
}
