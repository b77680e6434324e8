import type { IncomingMessage } from 'node:http'
import type { JsonObject } from '../model/json.ts'
import type { WireId } from '../model/turn.ts'
import type { Wire } from '../wire/wire.ts'
import { type Asked, parseBody, readAsked, turnsSincePrompt } from './asked.ts'
import { refusal } from './check/check.ts'
import { unsigned } from './check/signatures.ts'
import { compose } from './compose.ts'
import { type Delivery, jsonDelivery } from './deliver.ts'
import { unmet } from './expect.ts'
import { missing, type Values } from './fill.ts'
import { scanAsked } from './light.ts'
import { perform } from './misbehave.ts'
import { active } from './misbehaviour.ts'
import { modelList } from './models.ts'
import { type Failure, headersOf, keepLast, type Recorded, recorded } from './record.ts'
import { type Route, route } from './route.ts'
import { conditional, type Located, type Script, type Step, stepAt } from './script.ts'

/** All that a running rehearsal holds. */
export interface Stage {
  readonly scripts: ReadonlyMap<string, Script>
  readonly fallback: string | undefined
  readonly values: Values
  readonly pace: number | undefined
  readonly light: boolean
  readonly keep: number
  readonly wires: Readonly<Record<WireId, Wire>>
  readonly requests: Recorded[]
  readonly failures: Failure[]
  readonly counts: {
    all: number
    /** Requests by script. */
    readonly scripts: Map<string, number>
    /** Attempts at steps that misbehave only so many times; no other step leaves a trace. */
    readonly attempts: Map<string, number>
  }
}

type Ask = Extract<Route, { kind: 'ask' }>

/** Answers a request whose body has come in. */
export function answerRequest(stage: Stage, incoming: IncomingMessage, chunks: readonly Buffer[]): Delivery {
  const path = incoming.url ?? '/'
  const to = route(path, incoming.headers)
  if (to?.kind === 'models') return listModels(stage, to)
  if (!to)
    return jsonDelivery(
      404,
      stage.wires['openai-chat'].response.error({ status: 404, message: `There is nothing at ${path}.` }),
    )
  if (incoming.method !== 'POST')
    return jsonDelivery(405, errorBody(stage, to, 405, `${path} takes POST, not ${incoming.method ?? ''}.`))
  if (to.kind === 'count') return countTokens(to.wire, chunks)
  stage.counts.all++
  return answerAsk(stage, to, incoming, chunks)
}

function answerAsk(stage: Stage, to: Ask, incoming: IncomingMessage, chunks: readonly Buffer[]): Delivery {
  const { wire } = to
  const named = {
    ...(to.model !== undefined && { model: to.model }),
    ...(to.stream !== undefined && { stream: to.stream }),
  }
  const bytes = stage.light ? EMPTY : Buffer.concat(chunks)
  const body = stage.light ? {} : parseBody(bytes)
  if (!body) return refuse(stage, to, 'We could not parse the JSON body of your request.')
  const asked = stage.light
    ? scanAsked(stage.wires[wire], chunks, named, toldTurns(incoming))
    : readAsked(stage.wires[wire], body, { ...named, bytes: bytes.length })
  const name = scriptFor(stage, asked.model)
  const script = name === undefined ? undefined : stage.scripts.get(name)
  const position = script && (script.start === 'prompt' ? turnsSincePrompt(asked.request()) : asked.turns)
  if (!stage.light) {
    const entry = {
      number: stage.counts.all,
      wire,
      path: incoming.url ?? '',
      headers: headersOf(incoming.headers),
      body,
      bytes,
      script: name,
      position,
    }
    keepLast(stage.requests, recorded(entry, asked.request), stage.keep)
  }
  if (name === undefined || !script || position === undefined) return noScript(stage, to, asked.model)
  const refused = stage.light ? undefined : refusal(wire, body)
  if (refused !== undefined) return refuse(stage, to, refused, name)
  return play(stage, to, { script, name, asked, position })
}

/** A client that knows how many turns there were can say so, and save the search for them. */
function toldTurns(incoming: IncomingMessage): number | undefined {
  const told = Number(incoming.headers['x-rehearsal-turns'])
  return Number.isInteger(told) && told >= 0 ? told : undefined
}

interface Scene {
  readonly script: Script
  readonly name: string
  readonly asked: Asked
  readonly position: number
}

function play(stage: Stage, to: Ask, scene: Scene): Delivery {
  const { script, name, asked, position } = scene
  const request = (stage.counts.scripts.get(name) ?? 0) + 1
  stage.counts.scripts.set(name, request)
  const located = choose(scene, request)
  const { step } = located
  const wrong =
    (script.requires === 'signatures' ? unsigned(to.wire, asked.body()) : undefined) ??
    expected(step, { asked, position, request }, name) ??
    missing(step, asked)
  if (wrong !== undefined) return refuse(stage, to, wrong, name)
  const answer = compose({ ...located, script: name, asked, position }, stage.values)
  const performance = {
    wire: stage.wires[to.wire],
    request: asked.body(),
    stream: asked.stream,
    framing: to.framing,
    arrayed: to.framing === 'array' && asked.stream,
    delay: step.delay ?? 0,
    pace: stage.pace ?? step.pace ?? 0,
  }
  return perform(
    answer,
    performance,
    active(step.misbehave ?? [], to.wire, attempt(stage, step, `${name} ${position}`)),
  )
}

function expected(step: Step, held: Parameters<typeof unmet>[1], name: string): string | undefined {
  const sentence = step.expect && unmet(step.expect, held)
  return sentence && `The script ${name} expects something else at step ${held.position}: ${sentence}`
}

function choose({ script, asked, position }: Scene, request: number): Located {
  const met = conditional(script.steps).find(
    (step) => step.when && unmet(step.when, { asked, position, request }) === undefined,
  )
  if (met) return { step: met, round: 0 }
  return stepAt(script.steps, position) ?? { step: script.end ?? OVER, round: 0 }
}

const OVER: Step = { say: 'The script is over. This was a scripted rehearsal, not a model.' }

/** Only steps that behave differently from attempt to attempt are counted. */
function attempt({ counts }: Stage, step: Step, key: string): number {
  const counting = step.misbehave?.some((one) => typeof one !== 'string' && (one.times ?? one.skip) !== undefined)
  if (!counting) return 0
  const before = counts.attempts.get(key) ?? 0
  counts.attempts.set(key, before + 1)
  return before
}

/** The script that a model name means: the last part of it that is the name of one. */
function scriptFor({ scripts, fallback }: Stage, model: string): string | undefined {
  const names = model.split('/').map((_part, at, parts) => parts.slice(at).join('/'))
  return names.find((name) => scripts.has(name)) ?? fallback
}

function noScript(stage: Stage, to: Ask, model: string): Delivery {
  const known = [...stage.scripts.keys()].join(', ')
  const message = `There is no model ${JSON.stringify(model)} here; there are ${known}.`
  return jsonDelivery(404, arrayed(to, errorBody(stage, to, 404, message)))
}

function refuse(stage: Stage, to: Ask, sentence: string, script?: string): Delivery {
  keepLast(stage.failures, { request: stage.counts.all, wire: to.wire, script, sentence }, stage.keep)
  return jsonDelivery(400, arrayed(to, errorBody(stage, to, 400, sentence)))
}

function errorBody({ wires }: Stage, { wire }: Route, status: number, message: string): JsonObject {
  return wires[wire].response.error({ status, message })
}

function arrayed(to: Ask, body: JsonObject): unknown {
  return to.framing === 'array' && to.stream === true ? [body] : body
}

function listModels(stage: Stage, to: Extract<Route, { kind: 'models' }>): Delivery {
  const list = modelList(to.wire, [...stage.scripts.keys()], to.model)
  return list
    ? jsonDelivery(200, list)
    : jsonDelivery(404, errorBody(stage, to, 404, `There is no model ${to.model ?? ''}.`))
}

/** The rule of thumb that the usage of answers follows too. */
function countTokens(wire: WireId, chunks: readonly Buffer[]): Delivery {
  const tokens = Math.ceil(chunks.reduce((sum, chunk) => sum + chunk.length, 0) / 4)
  return jsonDelivery(200, wire === 'anthropic' ? { input_tokens: tokens } : { totalTokens: tokens })
}

const EMPTY = Buffer.alloc(0)
