import { type Folded, fold } from '../../model/fold.ts'
import { canonical } from '../../model/json.ts'
import type { TurnEvent } from '../../model/event.ts'
import type { ToolSpec } from '../../model/request.ts'
import type { Redactor } from '../../model/secret.ts'
import type { AssistantTurn, Turn } from '../../model/turn.ts'
import type { ModelPort } from '../../provider/port.ts'
import { resolveModel } from '../../provider/resolve.ts'
import type { Row } from '../../provider/row.ts'
import { port } from '../../provider/send.ts'
import { baseUrlVariable, type Target } from '../../provider/target.ts'
import type { Post } from '../../provider/transport.ts'
import type { Difference } from '../../provider/wrap/difference.ts'
import { fallback } from '../../provider/wrap/fallback.ts'
import { playback } from '../../provider/wrap/playback.ts'
import { remember } from '../../provider/wrap/remember.ts'
import { retry } from '../../provider/wrap/retry.ts'
import type { Entry } from '../../session/entry.ts'
import { addEntry, project } from '../../session/project.ts'
import { bodyWriter } from '../../wire/incremental.ts'
import { Complaint } from '../exit.ts'
import { learntFacts } from '../own/profiles.ts'
import type { Line, Recorded } from './recording.ts'

/** How a session went when it was played again. */
export interface Replayed {
  readonly requests: number
  readonly answers: number
  readonly differences: readonly Found[]
}

/** A difference, and where it was found: in the n-th request, or in how the n-th answer was read. */
export interface Found extends Difference {
  readonly in: 'request' | 'answer'
  readonly number: number
}

/** What this version would tell the model. */
export interface Setting {
  readonly rows: readonly Row[]
  readonly system: string
  readonly tools: readonly ToolSpec[]
  readonly secrets: Redactor
  /** Stop before the answer with this number, counted from 1. */
  readonly before?: number
}

/**
 * Plays a recorded session again, with no network and no tools: what was said and what tools gave comes from its log,
 * answers come from the recording, and every request and every reading of an answer is compared with what was recorded.
 */
export async function replay({ lines, exchanges }: Recorded, setting: Setting): Promise<Replayed> {
  const differences: Found[] = []
  let requests = 0
  const player = playback(exchanges, setting.secrets, (number, difference) =>
    differences.push({ in: 'request', number, ...difference }),
  )
  const post: Post = (letter, signal) => {
    requests++
    return player(letter, signal)
  }
  const targets = new Map<string, Target>()
  let model: ModelPort | undefined
  let entries: Entry[] = []
  let turns: Turn[] = []
  let tools = setting.tools
  let last: Folded | undefined
  let answers = 0
  for (const line of lines) {
    if (line.kind === 'model') targets.set(`${line.row.id}/${line.model}`, targetOf(line, setting.rows))
    else if (line.kind === 'chosen') model = modelOf(line.models, targets, post)
    else if (line.kind === 'session') {
      entries = []
      turns = []
    } else if (line.kind === 'tools') tools = toolsNow(line.tools, setting.tools)
    else if (line.kind === 'entry') {
      const { entry } = line
      if (entry.kind === 'turn' && last) {
        answers++
        const difference = readingDiffers(entry.turn, last.turn, setting.secrets)
        if (difference) differences.push({ in: 'answer', number: answers, ...difference })
        last = undefined
      }
      entries.push(entry)
      if (entry.kind === 'compact') turns = project(entries)
      else addEntry(turns, entry)
    } else if (line.kind === 'ask') {
      if (setting.before !== undefined && answers + 1 >= setting.before) break
      if (!model) throw new Complaint('this recording does not say which model was asked')
      const { key, kind: _kind, turns: own, ...more } = line
      const request = { model: model.origin.model, system: setting.system, tools, turns: own ?? turns, ...more }
      const events: TurnEvent[] = []
      for await (const event of model.ask(request, { key })) events.push(event)
      last = fold(events, model.origin)
    }
  }
  const left = exchanges.length - requests
  if (left > 0 && setting.before === undefined)
    differences.push({
      in: 'request',
      number: requests + 1,
      place: 'end',
      recorded: `${left} more`,
      now: 'no further request',
    })
  return { requests, answers, differences }
}

/** The models that were asked, in their order, as this version knows them. */
function modelOf(names: readonly string[], targets: ReadonlyMap<string, Target>, post: Post): ModelPort | undefined {
  const ports = names.flatMap((name) => {
    const target = targets.get(name)
    return target
      ? [
          retry(
            remember(target, (one) => port(one, { post, writer: bodyWriter })),
            HASTY,
          ),
        ]
      : []
  })
  const [first, ...others] = ports
  return first && others.length > 0 ? fallback([first, ...others]) : first
}

function targetOf(line: Extract<Line, { kind: 'model' }>, rows: readonly Row[]): Target {
  const { row: recorded, model, baseUrl, style, project: paying, location } = line
  const row = rows.find(({ id }) => id === recorded.id) ?? recorded
  // A token that was refused was fetched again.
  const renew = row.signIn === 'google' && style === 'bearer' ? { renew: () => {} } : {}
  const granted = style === undefined ? undefined : { key: { style, read: () => 'replayed', ...renew } }
  const env = {
    [baseUrlVariable(row.id)]: baseUrl,
    GOOGLE_CLOUD_PROJECT: paying,
    GOOGLE_CLOUD_LOCATION: location,
  }
  const signIns = { stored: () => granted, google: () => undefined }
  const target = resolveModel(`${row.id}/${model}`, env, [row], signIns, learntFacts)
  if ('problem' in target) throw new Complaint(target.problem, target.code)
  return target
}

/** Nobody waits for what has already happened. */
const HASTY = {
  random: () => 0.5,
  clock: {
    now: () => 0,
    after(_ms: number, call: () => void) {
      const soon = setImmediate(call)
      return () => clearImmediate(soon)
    },
  },
}

/** Our own tools as they are now, and those of others as they were: theirs cannot be asked for here. */
function toolsNow(recorded: readonly ToolSpec[], own: readonly ToolSpec[]): readonly ToolSpec[] {
  const known = recorded.map((spec) => own.find(({ name }) => name === spec.name) ?? spec)
  return [...known, ...own.filter(({ name }) => !recorded.some((spec) => spec.name === name))]
}

/** Where the same answer is read differently. What a person cut off was not read to its end. */
function readingDiffers(recorded: AssistantTurn, now: AssistantTurn, { clean }: Redactor): Difference | undefined {
  if (recorded.finish.reason === 'aborted') return undefined
  const length = Math.max(recorded.parts.length, now.parts.length)
  for (let at = 0; at < length; at++) {
    const [a, b] = [recorded.parts[at], now.parts[at]].map((part) => clean(canonical(part ?? null)))
    if (a !== b) return { place: `part ${at + 1}`, recorded: (a ?? '').slice(0, 300), now: (b ?? '').slice(0, 300) }
  }
  const [a, b] = [recorded.finish.reason, now.finish.reason]
  return a === b ? undefined : { place: 'finish', recorded: a, now: b }
}
