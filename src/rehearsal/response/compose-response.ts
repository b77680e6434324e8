import type { Usage } from '../../model/usage.ts'
import type { ScriptedResponse, ScriptedResponsePart } from './scripted-response.ts'
import { type IncomingRequest, collectCallIds } from '../request/incoming-request.ts'
import { fillArgumentTemplates, fillTemplate, extractStepValues, type TemplateValues } from '../script/fill-template.ts'
import { createResponseId } from './signatures.ts'
import type { LocatedStep, ScriptStep } from '../script/script.ts'

export interface StepContext extends LocatedStep {
  readonly script: string
  readonly incomingRequest: IncomingRequest
  readonly position: number
}

/** The same request always gets the same response. */
export function composeResponse(context: StepContext, templateValues: TemplateValues): ScriptedResponse {
  const { step, incomingRequest } = context
  const knownValues = { ...templateValues, ...getBuiltinValues(context) }
  const values = extractStepValues(step.take ?? {}, knownValues, incomingRequest)
  const id = createResponseId(context.script, incomingRequest.assistantTurns, step.think !== undefined)
  const parts = composeParts(step, { id, values, incomingRequest })
  const hasCalls = parts.some((part) => part.kind === 'call')
  return {
    id,
    model: incomingRequest.model,
    created: EPOCH_SECONDS + incomingRequest.assistantTurns,
    parts,
    finish: hasCalls ? 'calls' : 'stop',
    usage: estimateUsage(step, parts, incomingRequest.byteLength),
    chunkCount: step.pieces,
  }
}

function getBuiltinValues({ round, position, incomingRequest }: StepContext): TemplateValues {
  return { n: String(round), position: String(position), model: incomingRequest.model, wire: incomingRequest.wire }
}

function composeParts(
  step: ScriptStep,
  at: { id: string; values: TemplateValues; incomingRequest: IncomingRequest },
): ScriptedResponsePart[] {
  const { values, incomingRequest } = at
  const sayText = typeof step.say === 'object' ? step.say.text.repeat(step.say.times) : (step.say ?? '')
  const calls = step.call ?? []
  // Only a truncated conversation can contain ids that would be used again.
  const usedIds =
    calls.length > 0 && incomingRequest.assistantTurns > 0 && !incomingRequest.isScanned
      ? collectCallIds(incomingRequest.readRequest())
      : new Set<string>()
  return [
    ...(step.think === undefined ? [] : [{ kind: 'reasoning', text: fillTemplate(step.think, values) } as const]),
    ...(sayText === '' ? [] : [{ kind: 'text', text: fillTemplate(sayText, values) } as const]),
    ...calls.map(
      ({ name, args = {}, raw }, callIndex) =>
        ({
          kind: 'call',
          id: makeUnusedId(`${at.id}_${callIndex}`, usedIds),
          name: name === FIRST_TOOL_PLACEHOLDER ? (incomingRequest.readRequest().tools[0]?.name ?? name) : name,
          raw: raw ?? JSON.stringify(fillArgumentTemplates(args, values, incomingRequest)),
        }) as const,
    ),
  ]
}

/** A script cannot know a tool's name on a wire. */
const FIRST_TOOL_PLACEHOLDER = '{tool}'

function makeUnusedId(id: string, usedIds: ReadonlySet<string>): string {
  let candidate = id
  while (CALL_ID_PREFIXES.some((prefix) => usedIds.has(prefix + candidate))) candidate += 'x'
  return candidate
}

const CALL_ID_PREFIXES = ['', 'call_', 'toolu_']

/** About four bytes per token, so that long conversations look long. */
function estimateUsage(step: ScriptStep, parts: readonly ScriptedResponsePart[], bytes: number): Usage {
  const countChars = (kind: ScriptedResponsePart['kind']): number =>
    parts.reduce((sum, part) => {
      if (part.kind !== kind) return sum
      return sum + (part.kind === 'call' ? part.raw.length + part.name.length : part.text.length)
    }, 0)
  return {
    input: Math.ceil(bytes / 4),
    cacheRead: 0,
    cacheWrite: 0,
    output: Math.ceil((countChars('text') + countChars('call')) / 4),
    reasoning: Math.ceil(countChars('reasoning') / 4),
    ...step.usage,
  }
}

const EPOCH_SECONDS = 1_700_000_000
