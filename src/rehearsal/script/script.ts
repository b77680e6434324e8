import type { Json, JsonObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import type { Usage } from '../../model/usage.ts'
import type { Misbehaviour, SimpleMisbehaviourKind } from '../misbehaviour/misbehaviour.ts'

/**
 * What a scripted model does, as plain data. The step that answers a request follows from the request alone: the n-th
 * step answers a conversation in which the assistant has spoken n times. So a retry and a resumed session get the very
 * same answer again, and the server needs no memory.
 */
export interface RehearsalScript {
  /** What the script is for, in a sentence. */
  readonly about?: string
  readonly steps: readonly (ScriptStep | ScriptLoop)[]
  /** What is answered once all steps are used up; without it the script says that it is over. */
  readonly end?: ScriptStep
  /** From where the assistant's turns are counted: the whole conversation, or what the person said last. */
  readonly start?: 'conversation' | 'prompt'
  /** The vendor's own data (signatures, sealed reasoning) must come back as it was given, or the request is refused. */
  readonly requires?: 'signatures'
}

/** Steps that come again and again: `times` times, or for ever. */
export interface ScriptLoop {
  readonly loop: readonly (ScriptStep | ScriptLoop)[]
  readonly times?: number
}

/** One answer of the model, and what must be true of the request before it is given. */
export interface ScriptStep {
  /** A step with a condition has no place in the order: it answers whichever request fulfils it, before all others. */
  readonly when?: RequestExpectation
  /** What the request must look like; if it does not, the answer is 400 with a sentence, and a recorded failure. */
  readonly expect?: RequestExpectation
  /** Values taken from the request, to be used as `{name}` in this step. */
  readonly take?: Readonly<Record<string, RequestExtraction>>
  readonly think?: string
  readonly say?: string | RepeatedText
  readonly call?: readonly ScriptedCall[]
  readonly misbehave?: readonly (Misbehaviour | SimpleMisbehaviourKind)[]
  /** Token counts; what is left out is estimated from the bytes. */
  readonly usage?: Partial<Usage>
  /** Milliseconds before the first byte. */
  readonly delay?: number
  /** Milliseconds between two events of a stream. */
  readonly pace?: number
  /** Into how many pieces each text and each argument text of a stream is cut. */
  readonly pieces?: number
  /** How many times in a row this step comes. */
  readonly repeat?: number
}

/** Long text, written short. */
export interface RepeatedText {
  readonly text: string
  readonly times: number
}

/**
 * A call; the name `{tool}` is that of the first tool that the request declares. In `args`, `{cwd}` and the like stand
 * for values, and `{"$from": …}` for something taken from the request; `raw` is the argument text as it is to be sent,
 * whether it is JSON or not.
 */
export interface ScriptedCall {
  readonly name: string
  readonly args?: JsonObject
  readonly raw?: string
}

/** Something taken from the request: the first group of the pattern, or all that it matches. */
export interface RequestExtraction {
  readonly $from: 'result' | 'user' | 'system' | 'conversation'
  readonly match: string
  /** What is taken where the pattern does not match; without it the request is refused. */
  readonly else?: Json
}

/** What text must look like: it contains this, matches this, or does not. */
export type TextPattern = string | { readonly matches: string } | { readonly not: TextPattern }

/** Conditions on a request; all that are given must hold. */
export interface RequestExpectation {
  /** Of what the person said last. */
  readonly user?: TextPattern
  /** Of the results since the assistant spoke last. */
  readonly results?: TextPattern | readonly TextPattern[]
  readonly system?: TextPattern
  /** Tools that must be declared. */
  readonly tools?: readonly string[]
  /** Which request to this script it is, counted from 1. */
  readonly request?: number
  /** How many times the assistant has spoken since the start of the script. */
  readonly turns?: number
  readonly wire?: WireId
}

/** The step for a position, and how often a loop or a repetition has come round to it. */
export interface LocatedStep {
  readonly step: ScriptStep
  readonly round: number
}

/** The step that stands at a position; undefined where the script is over. Loops are never written out. */
export function findStepAt(steps: RehearsalScript['steps'], position: number): LocatedStep | undefined {
  let remaining = position
  for (const entry of steps) {
    const length = countPositions(entry)
    if (remaining >= length) {
      remaining -= length
      continue
    }
    if (!isScriptLoop(entry)) return { step: entry, round: remaining }
    const loopLength = countAllPositions(entry.loop)
    const found = findStepAt(entry.loop, remaining % loopLength)
    return found && { step: found.step, round: found.round + Math.floor(remaining / loopLength) }
  }
  return undefined
}

/** The steps that answer by condition, in their order. */
export function findConditionalSteps(steps: RehearsalScript['steps']): ScriptStep[] {
  return steps.flatMap((entry) => (isScriptLoop(entry) ? findConditionalSteps(entry.loop) : entry.when ? [entry] : []))
}

function countPositions(entry: ScriptStep | ScriptLoop): number {
  if (!isScriptLoop(entry)) return entry.when ? 0 : (entry.repeat ?? 1)
  const loopLength = countAllPositions(entry.loop)
  return loopLength === 0 ? 0 : loopLength * (entry.times ?? Infinity)
}

function countAllPositions(steps: RehearsalScript['steps']): number {
  return steps.reduce((sum, entry) => sum + countPositions(entry), 0)
}

function isScriptLoop(entry: ScriptStep | ScriptLoop): entry is ScriptLoop {
  return 'loop' in entry
}
