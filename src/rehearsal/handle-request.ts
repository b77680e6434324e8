import type { IncomingMessage } from 'node:http'
import type { WireId } from '../model/turn.ts'
import type { Wire } from '../wire/wire.ts'
import {
  type IncomingRequest,
  parseJsonBody,
  parseIncomingRequest,
  countTurnsSincePrompt,
} from './request/incoming-request.ts'
import { findRequestError } from './request-checks/check-request.ts'
import { findSignatureError } from './request-checks/check-signatures.ts'
import { composeResponse } from './response/compose-response.ts'
import { type DeliveryPlan, planJsonResponse } from './response/send-response.ts'
import { describeUnmetExpectation } from './script/match-expectation.ts'
import { describeMissingTemplateValue, type TemplateValues } from './script/fill-template.ts'
import { scanIncomingRequest } from './request/scan-request-turns.ts'
import { planResponse } from './response/prepare-response.ts'
import { selectActiveMisbehaviours } from './misbehaviour/misbehaviour.ts'
import { createModelList } from './response/model-list.ts'
import {
  type RehearsalFailure,
  flattenHeaders,
  pushBounded,
  type RecordedRequest,
  createRecordedRequest,
} from './request/recorded-request.ts'
import { type VendorRoute, parseVendorRoute } from '../wire/vendor-route.ts'
import {
  findConditionalSteps,
  type LocatedStep,
  type RehearsalScript,
  type ScriptStep,
  findStepAt,
} from './script/script.ts'
import { defined } from '../model/defined.ts'

export interface RehearsalState {
  readonly scripts: ReadonlyMap<string, RehearsalScript>
  readonly fallbackScript: string | undefined
  readonly templateValues: TemplateValues
  readonly paceMs: number | undefined
  readonly isLightweight: boolean
  /** A request for which no step is left is a failure. */
  readonly isStrict: boolean
  readonly maxRecords: number
  readonly wires: Readonly<Record<WireId, Wire>>
  readonly requests: RecordedRequest[]
  readonly failures: RehearsalFailure[]
  readonly counters: {
    all: number
    /** Requests by script. */
    readonly scripts: Map<string, number>
    /** Attempts at steps that misbehave a limited number of times; no other step is counted. */
    readonly attempts: Map<string, number>
    /** How many responses each step has given. */
    readonly steps: Map<ScriptStep, number>
    /** The next step, if the requests get the steps one after the other. Otherwise the step follows from the history. */
    nextPosition?: number
  }
}

export type RequestHead = Pick<IncomingMessage, 'url' | 'method' | 'headers'>

type GenerateRoute = Extract<VendorRoute, { kind: 'ask' }>

export function handleRehearsalRequest(
  state: RehearsalState,
  incoming: RequestHead,
  chunks: readonly Buffer[],
): DeliveryPlan {
  const path = incoming.url ?? '/'
  const route = parseVendorRoute(path, incoming.headers)
  if (route?.kind === 'models') return respondModelList(state, route)
  if (!route) return planError(state, 'openai-chat', 404, `Unknown path: ${path}`)
  if (incoming.method !== 'POST') {
    const message = `The method ${incoming.method ?? ''} is not allowed for ${path}; use POST.`
    return planError(state, route.wire, 405, message)
  }
  if (route.kind === 'count') return respondTokenCount(route.wire, chunks)
  state.counters.all++
  return handleGenerate(state, route, incoming, chunks)
}

function handleGenerate(
  state: RehearsalState,
  route: GenerateRoute,
  incoming: RequestHead,
  chunks: readonly Buffer[],
): DeliveryPlan {
  const { wire } = route
  const overrides = defined({ model: route.model, stream: route.stream })
  const bytes = state.isLightweight ? EMPTY_BUFFER : Buffer.concat(chunks)
  const body = state.isLightweight ? {} : parseJsonBody(bytes)
  if (!body) return rejectRequest(state, route, 'We could not parse the JSON body of your request.')
  const incomingRequest = state.isLightweight
    ? scanIncomingRequest(state.wires[wire], chunks, overrides, readTurnsHeader(incoming))
    : parseIncomingRequest(state.wires[wire], body, { ...overrides, byteLength: bytes.length })
  const name = findScriptName(state, incomingRequest.model)
  const script = name === undefined ? undefined : state.scripts.get(name)
  const position =
    script &&
    (state.counters.nextPosition ??
      (script.start === 'prompt'
        ? countTurnsSincePrompt(incomingRequest.readRequest())
        : incomingRequest.assistantTurns))
  if (!state.isLightweight) {
    const entry = {
      number: state.counters.all,
      wire,
      path: incoming.url ?? '',
      headers: flattenHeaders(incoming.headers),
      body,
      bytes,
      script: name,
      position,
    }
    pushBounded(state.requests, createRecordedRequest(entry, incomingRequest.readRequest), state.maxRecords)
  }
  if (name === undefined || !script || position === undefined) {
    const scriptNames = [...state.scripts.keys()].join(', ')
    const message = `Unknown model ${JSON.stringify(incomingRequest.model)}; the models are ${scriptNames}.`
    return planError(state, wire, 404, message, isJsonStream(route))
  }
  const vendorError = state.isLightweight ? undefined : findRequestError(wire, body)
  if (vendorError !== undefined) return rejectRequest(state, route, vendorError, name)
  return respondFromScript(state, route, { script, name, incomingRequest, position })
}

/** A client that knows the number of turns can send it, and save the search. */
function readTurnsHeader(incoming: RequestHead): number | undefined {
  const turnCount = Number(incoming.headers['x-rehearsal-turns'])
  return Number.isInteger(turnCount) && turnCount >= 0 ? turnCount : undefined
}

interface SelectedScript {
  readonly script: RehearsalScript
  readonly name: string
  readonly incomingRequest: IncomingRequest
  readonly position: number
}

function respondFromScript(state: RehearsalState, route: GenerateRoute, selection: SelectedScript): DeliveryPlan {
  const { script, name, incomingRequest, position } = selection
  const request = (state.counters.scripts.get(name) ?? 0) + 1
  state.counters.scripts.set(name, request)
  const locatedStep = selectStep(selection, request) ?? (state.isStrict ? undefined : SCRIPT_OVER)
  if (!locatedStep) return rejectRequest(state, route, `The script has no step for this request: all are used.`, name)
  const { step } = locatedStep
  const requestBody = incomingRequest.readBody()
  const problem =
    (script.requires === 'signatures' ? findSignatureError(route.wire, requestBody) : undefined) ??
    findUnmetExpectation(step, { incomingRequest, position, requestNumber: request }, name) ??
    describeMissingTemplateValue(step, incomingRequest)
  if (problem !== undefined) return rejectRequest(state, route, problem, name)
  const stepContext = { ...locatedStep, script: name, incomingRequest, position }
  const responseOptions = {
    wire: state.wires[route.wire],
    requestBody,
    stream: incomingRequest.stream,
    framing: route.framing,
    wrapsErrorsInArray: route.framing === 'array' && incomingRequest.stream,
    delayMs: step.delay ?? 0,
    paceMs: state.paceMs ?? step.pace ?? 0,
  }
  // Some clients add a message before they try again, so a step that is not found by its position is not counted by it.
  const attempt = step.when ? (state.counters.steps.get(step) ?? 0) : countAttempt(state, step, `${name} ${position}`)
  const misbehaviours = selectActiveMisbehaviours(step.misbehave ?? [], route.wire, attempt)
  state.counters.steps.set(step, (state.counters.steps.get(step) ?? 0) + 1)
  // A step that misbehaves a limited number of times is tried again.
  if (
    state.counters.nextPosition !== undefined &&
    !step.when &&
    misbehaviours.every(({ times }) => times === undefined)
  )
    state.counters.nextPosition++
  return planResponse(composeResponse(stepContext, state.templateValues), responseOptions, misbehaviours)
}

function findUnmetExpectation(
  step: ScriptStep,
  input: Parameters<typeof describeUnmetExpectation>[1],
  name: string,
): string | undefined {
  const reason = step.expect && describeUnmetExpectation(step.expect, input)
  return reason && `The request does not meet the expectation of script ${name}, step ${input.position}: ${reason}`
}

function selectStep({ script, incomingRequest, position }: SelectedScript, request: number): LocatedStep | undefined {
  const input = { incomingRequest, position, requestNumber: request }
  const matchingStep = findConditionalSteps(script.steps).find(
    ({ when }) => when && describeUnmetExpectation(when, input) === undefined,
  )
  if (matchingStep) return { step: matchingStep, round: 0 }
  return findStepAt(script.steps, position) ?? (script.end && { step: script.end, round: 0 })
}

const SCRIPT_OVER: LocatedStep = {
  step: { say: 'The script has no more steps. This was a scripted rehearsal, not a model.' },
  round: 0,
}

function countAttempt({ counters }: RehearsalState, step: ScriptStep, key: string): number {
  const isCounted = step.misbehave?.some((one) => typeof one !== 'string' && (one.times ?? one.skip) !== undefined)
  if (!isCounted) return 0
  const before = counters.attempts.get(key) ?? 0
  counters.attempts.set(key, before + 1)
  return before
}

/** The longest suffix of the model name, in whole path parts, that is the name of a script. */
function findScriptName({ scripts, fallbackScript }: RehearsalState, model: string): string | undefined {
  const names = model.split('/').map((_part, at, parts) => parts.slice(at).join('/'))
  return names.find((name) => scripts.has(name)) ?? fallbackScript
}

function rejectRequest(state: RehearsalState, route: GenerateRoute, reason: string, script?: string): DeliveryPlan {
  const failure = { requestNumber: state.counters.all, wire: route.wire, script, message: reason }
  pushBounded(state.failures, failure, state.maxRecords)
  return planError(state, route.wire, 400, reason, isJsonStream(route))
}

function planError({ wires }: RehearsalState, wire: WireId, status: number, message: string, inArray = false) {
  const body = wires[wire].responseWriter.writeError({ status, message })
  return planJsonResponse(status, inArray ? [body] : body)
}

function isJsonStream(route: GenerateRoute): boolean {
  return route.framing === 'array' && route.stream === true
}

function respondModelList(state: RehearsalState, route: VendorRoute): DeliveryPlan {
  const list = createModelList(route.wire, [...state.scripts.keys()], route.model)
  return list ? planJsonResponse(200, list) : planError(state, route.wire, 404, `Unknown model ${route.model ?? ''}.`)
}

/** The same estimate as for the usage of responses. */
function respondTokenCount(wire: WireId, chunks: readonly Buffer[]): DeliveryPlan {
  const tokens = Math.ceil(chunks.reduce((sum, chunk) => sum + chunk.length, 0) / 4)
  return planJsonResponse(200, wire === 'anthropic' ? { input_tokens: tokens } : { totalTokens: tokens })
}

const EMPTY_BUFFER = Buffer.alloc(0)
