import { type FoldedTurn, fold } from '../../model/fold.ts'
import { toCanonicalJson } from '../../model/json.ts'
import type { TurnEvent } from '../../model/event.ts'
import type { ToolSpec } from '../../model/request.ts'
import type { Redactor } from '../../model/security/redactor.ts'
import { decodeResponseBody } from '../../gateway/inspector/decode-body.ts'
import type { AssistantTurn, ModelOrigin, Turn } from '../../model/turn.ts'
import {
  type Model,
  resolveModel,
  type ProviderDefinition,
  createModel,
  getBaseUrlVariable,
  type Endpoint,
  type HttpClient,
  withAdaptation,
  withRetry,
} from '../../provider/index.ts'
import { type RequestDifference, createReplayClient } from '../../provider/recording.ts'
import { withFallback } from '../../provider/optional-middleware.ts'
import type { Entry } from '../../session/log/entry.ts'
import { appendEntryToHistory, deriveModelHistory } from '../../session/derive-model-history.ts'
import { loadWire } from '../../wire/wires.ts'
import { createIncrementalBodyWriter } from '../../wire/history/incremental-body-writer.ts'
import { UserError } from '../user-error.ts'
import { readSavedCapabilities } from '../setup/saved-capabilities.ts'
import type { ForwardedRequest, RecordingLine, SessionRecording } from './read-recording.ts'

export interface ReplayReport {
  readonly requests: number
  readonly answers: number
  readonly differences: readonly ReplayDifference[]
}

/** A difference in the n-th request, or in how the n-th answer was read. */
export interface ReplayDifference extends RequestDifference {
  readonly in: 'request' | 'answer'
  readonly number: number
}

interface ReplayOptions {
  readonly providers: readonly ProviderDefinition[]
  readonly system: string
  readonly tools: readonly ToolSpec[]
  readonly redactor: Redactor
  /** Counted from 1. */
  readonly stopBeforeAnswer?: number
}

/**
 * Replays a recorded session, without network and tools: messages and results come from its log, responses from the
 * recording. Every request, and every response as it is decoded now, is compared with the recording.
 */
export async function replayRecording(recording: SessionRecording, options: ReplayOptions): Promise<ReplayReport> {
  const { lines, exchanges } = recording
  const differences: ReplayDifference[] = []
  let requests = 0
  const player = createReplayClient(exchanges, options.redactor, (number, difference) =>
    differences.push({ in: 'request', number, ...difference }),
  )
  const httpClient: HttpClient = (httpRequest, signal) => {
    requests++
    return player(httpRequest, signal)
  }
  const targets = new Map<string, Endpoint>()
  let model: Model | undefined
  let entries: Entry[] = []
  let turns: Turn[] = []
  let tools = options.tools
  let last: FoldedTurn | undefined
  let answers = 0
  lines: for (const line of lines)
    switch (line.kind) {
      case 'start':
        break
      case 'model':
        targets.set(`${line.row.id}/${line.model}`, resolveRecordedEndpoint(line, options.providers))
        break
      case 'chosen':
        model = createReplayModel(line.models, targets, httpClient)
        break
      case 'session':
        entries = []
        turns = []
        break
      case 'tools':
        tools = mergeToolSpecs(line.tools, options.tools)
        break
      case 'entry': {
        const { entry } = line
        if (entry.kind === 'turn' && last) {
          answers++
          const difference = diffTurns(entry.turn, last.turn, options.redactor)
          if (difference) differences.push({ in: 'answer', number: answers, ...difference })
          last = undefined
        }
        entries.push(entry)
        if (entry.kind === 'compact') turns = deriveModelHistory(entries)
        else appendEntryToHistory(turns, entry)
        break
      }
      case 'ask': {
        if (options.stopBeforeAnswer !== undefined && answers + 1 >= options.stopBeforeAnswer) break lines
        if (line.unrecorded) break
        if (!model) throw new UserError('the recording is damaged: it does not name the model')
        const { key, kind: _kind, turns: ownTurns, request: whole, forwarded, unrecorded: _unrecorded, ...more } = line
        if (forwarded) {
          last = await replayForwarded(forwarded, { httpClient, key, origin: model.origin })
          break
        }
        const own = { model: model.origin.model, system: options.system, tools, turns: ownTurns ?? turns, ...more }
        const request = whole ?? own
        const events: TurnEvent[] = []
        for await (const event of model.stream(request, { turnKey: key })) events.push(event)
        last = fold(events, model.origin)
      }
    }
  const unusedExchanges = exchanges.length - requests
  if (unusedExchanges > 0 && options.stopBeforeAnswer === undefined)
    differences.push({
      in: 'request',
      number: requests + 1,
      place: 'end',
      recorded: `${unusedExchanges} more`,
      now: 'no further request',
    })
  return { requests, answers, differences }
}

/** What passed through a gateway is sent as it was; only how the response is read can differ. */
async function replayForwarded(
  { url, headers, body }: ForwardedRequest,
  { httpClient, key, origin }: { readonly httpClient: HttpClient; readonly key: string; readonly origin: ModelOrigin },
): Promise<FoldedTurn | undefined> {
  const wire = await loadWire(origin.wire)
  try {
    const response = await httpClient({ url: new URL(url), headers, body: [body] }, new AbortController().signal)
    const chunks: Uint8Array[] = []
    for await (const bytes of response.body) chunks.push(bytes)
    const text = Buffer.concat(chunks).toString('utf8')
    const { status, headers: responseHeaders } = response
    return decodeResponseBody(wire, { origin, turnKey: key, tools: [], status, headers: responseHeaders, text })
  } catch {
    return undefined
  }
}

function createReplayModel(
  names: readonly string[],
  targets: ReadonlyMap<string, Endpoint>,
  httpClient: HttpClient,
): Model | undefined {
  const open = (endpoint: Endpoint): Model =>
    createModel(endpoint, { httpClient, createBodyWriter: createIncrementalBodyWriter })
  const [first, ...others] = names.flatMap((name) => {
    const target = targets.get(name)
    return target ? [withRetry(withAdaptation(target, open), INSTANT_RETRY)] : []
  })
  return first && others.length > 0 ? withFallback([first, ...others]) : first
}

function resolveRecordedEndpoint(
  line: Extract<RecordingLine, { kind: 'model' }>,
  rows: readonly ProviderDefinition[],
): Endpoint {
  const { row: recorded, model, baseUrl, style, project: projectId, location } = line
  const row = rows.find(({ id }) => id === recorded.id) ?? recorded
  // A refused token was fetched again.
  const renew = row.signIn === 'google' && style === 'bearer' ? { renew: () => {} } : {}
  const credential = style === undefined ? undefined : { key: { style, read: () => 'replayed', ...renew } }
  const env = {
    [getBaseUrlVariable(row.id)]: baseUrl,
    GOOGLE_CLOUD_PROJECT: projectId,
    GOOGLE_CLOUD_LOCATION: location,
  }
  const signIns = { stored: () => credential, google: () => undefined }
  const target = resolveModel(`${row.id}/${model}`, env, [row], signIns, readSavedCapabilities)
  if ('problem' in target) throw new UserError(target.problem, target.code)
  return target
}

const INSTANT_RETRY = {
  random: () => 0.5,
  clock: {
    now: () => 0,
    schedule(_ms: number, call: () => void) {
      const immediate = setImmediate(call)
      return () => clearImmediate(immediate)
    },
  },
}

/** Built-in tools as they are now, and those of MCP servers as they were recorded. */
function mergeToolSpecs(recorded: readonly ToolSpec[], builtin: readonly ToolSpec[]): readonly ToolSpec[] {
  const known = recorded.map((spec) => builtin.find(({ name }) => name === spec.name) ?? spec)
  return [...known, ...builtin.filter(({ name }) => !recorded.some((spec) => spec.name === name))]
}

/** Where the same response is decoded differently. An aborted response was not read to its end. */
function diffTurns(recorded: AssistantTurn, now: AssistantTurn, { redact }: Redactor): RequestDifference | undefined {
  if (recorded.finish.reason === 'aborted') return undefined
  const length = Math.max(recorded.parts.length, now.parts.length)
  for (let at = 0; at < length; at++) {
    const [a, b] = [recorded.parts[at], now.parts[at]].map((part) => redact(toCanonicalJson(part ?? null)))
    if (a !== b) return { place: `part ${at + 1}`, recorded: (a ?? '').slice(0, 300), now: (b ?? '').slice(0, 300) }
  }
  const [a, b] = [recorded.finish.reason, now.finish.reason]
  return a === b ? undefined : { place: 'finish', recorded: a, now: b }
}
