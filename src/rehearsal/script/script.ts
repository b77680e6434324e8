import type { Json, JsonObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import type { Usage } from '../../model/usage.ts'
import type { Misbehaviour, SimpleMisbehaviourKind } from '../misbehaviour/misbehaviour.ts'

/**
 * What a scripted model does, as plain data. The step follows from the request alone: step n answers a conversation
 * with n assistant turns. So a retry and a resumed session get the same response again, and the server needs no memory.
 */
export interface RehearsalScript {
  readonly about?: string
  readonly steps: readonly (ScriptStep | ScriptLoop)[]
  /** The response when no step is left; without it, the script says that it has ended. */
  readonly end?: ScriptStep
  /** Where the count of assistant turns starts: at the beginning, or at the last user message. */
  readonly start?: 'conversation' | 'prompt'
  /** Native data (signatures, encrypted reasoning) must be sent back unchanged, or the request is rejected. */
  readonly requires?: 'signatures'
}

/** Without `times`, forever. */
export interface ScriptLoop {
  readonly loop: readonly (ScriptStep | ScriptLoop)[]
  readonly times?: number
}

/** One response, and the conditions for it. */
export interface ScriptStep {
  /** A step with this condition has no position: it answers any request that meets it, before all other steps. */
  readonly when?: RequestExpectation
  /** If the request does not meet it, the response is 400 with a message, and a failure is recorded. */
  readonly expect?: RequestExpectation
  /** Values from the request, used as `{name}` in this step. */
  readonly take?: Readonly<Record<string, RequestExtraction>>
  readonly think?: string
  readonly say?: string | { readonly text: string; readonly times: number }
  readonly call?: readonly ScriptedCall[]
  readonly misbehave?: readonly (Misbehaviour | SimpleMisbehaviourKind)[]
  /** Fields that are left out are estimated from the bytes. */
  readonly usage?: Partial<Usage>
  /** Milliseconds before the first byte. */
  readonly delay?: number
  /** Milliseconds between two events of a stream. */
  readonly pace?: number
  /** Into how many chunks each text of a stream is split. */
  readonly pieces?: number
  /** How many times in a row. */
  readonly repeat?: number
}

/**
 * The name `{tool}` means the first declared tool. In `args`, `{cwd}` and the like stand for values, and `{"$from": …}`
 * for text from the request; `raw` is sent as it is, valid JSON or not.
 */
export interface ScriptedCall {
  readonly name: string
  readonly args?: JsonObject
  readonly raw?: string
}

/** Text from the request: the first group of the pattern, or the whole match. */
export interface RequestExtraction {
  readonly $from: 'result' | 'user' | 'system' | 'conversation'
  readonly match: string
  /** Used if the pattern does not match; without it the request is rejected. */
  readonly else?: Json
}

/** Text that contains a string, matches a pattern, or does not. */
export type TextCondition = string | { readonly matches: string } | { readonly not: TextCondition }

/** All conditions must be met. */
export interface RequestExpectation {
  /** The last user message. */
  readonly user?: TextCondition
  /** The tool results since the last assistant turn. */
  readonly results?: TextCondition | readonly TextCondition[]
  readonly system?: TextCondition
  /** Tools that must be declared. */
  readonly tools?: readonly string[]
  /** The number of the request to this script, from 1. */
  readonly request?: number
  /** The number of assistant turns since the start. */
  readonly turns?: number
  /** The number of tool results in the conversation. */
  readonly resultCount?: number
  readonly wire?: WireId
}

/** A step, and how often a loop or repetition has come to it before. */
export interface LocatedStep {
  readonly step: ScriptStep
  readonly round: number
}

/** Undefined if the script has ended. Loops are not expanded. */
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

export function isScriptLoop(entry: ScriptStep | ScriptLoop): entry is ScriptLoop {
  return 'loop' in entry
}
