import type { TurnEvent } from '../../../model/event.ts'
import type { Fault } from '../../../model/fault.ts'
import { toCanonicalJson } from '../../../model/json.ts'
import type { ModelRequest, ToolSpec } from '../../../model/request.ts'
import { loadWire } from '../../../wire/wires.ts'
import type { Model, RequestOptions } from '../../model.ts'
import { completeProfile, mergeCapabilities, type ModelCapabilities } from '../../resolve-capabilities.ts'
import type { Capabilities } from '../../provider-definition.ts'
import type { Endpoint } from '../../endpoint.ts'
import { matchAdaptationRule } from './adaptation-rules.ts'
import { toRequestRefusal } from './adaptation.ts'
import { findParameterAdaptation } from './refused-parameter.ts'
import { findRefusedToolByName, findRefusedToolByIndex } from './refused-tool.ts'
import { createAttempt, deriveAttemptKey, wrapModel } from '../wrap-model.ts'
import { defined } from '../../../model/defined.ts'

/** Per request. */
const MAX_ADAPTATIONS = 6

interface AdaptationState {
  readonly capabilities: Capabilities
  readonly refusedTools: ReadonlySet<string>
}

/**
 * Adapts to refused requests: omits a parameter or a tool that the endpoint refuses by name, or changes a profile flag,
 * and sends the request again. The model remembers what helped; `onLearnt` gets those flags.
 */
export function withAdaptation(
  endpoint: Endpoint,
  open: (endpoint: Endpoint) => Model,
  onLearnt: (capabilities: Capabilities) => void = () => {},
): Model {
  let state: AdaptationState = { capabilities: {}, refusedTools: new Set() }
  let last = { facts: state.capabilities, target: endpoint, port: open(endpoint) }
  const filterTools = createToolFilter()

  function opened(capabilities: Capabilities): typeof last {
    if (capabilities !== last.facts) {
      const changed = { ...endpoint, profile: applyCapabilities(endpoint.profile, capabilities) }
      last = { facts: capabilities, target: changed, port: open(changed) }
    }
    return last
  }

  function commit(nextState: AdaptationState): void {
    if (nextState.capabilities !== state.capabilities) onLearnt(nextState.capabilities)
    // Another request may have learned something in the meantime.
    state = {
      capabilities:
        nextState.capabilities === state.capabilities
          ? state.capabilities
          : mergeCapabilities(state.capabilities, nextState.capabilities),
      refusedTools: new Set([...state.refusedTools, ...nextState.refusedTools]),
    }
  }

  async function* ask(request: ModelRequest, options: RequestOptions): AsyncGenerator<TurnEvent> {
    const reported = new Set<string>()
    const start = state
    let nextState = start
    for (let lessons = 0; ; lessons++) {
      const { target: now, port: model } = opened(nextState.capabilities)
      const fitted = { ...request, tools: filterTools(request.tools, nextState.refusedTools) }
      const key = deriveAttemptKey(options.turnKey, 'm', lessons)
      let hasContent = false
      const attempt = createAttempt(reported)
      for await (const event of model.stream(fitted, { ...options, turnKey: key })) {
        hasContent ||= event.type === 'part-open'
        if (attempt.isForwarded(event)) yield event
      }
      const finish = attempt.getFinish()
      const fault = finish.reason === 'fault' && finish.fault?.kind === 'invalid' ? finish.fault : undefined
      const adaptation =
        fault && lessons < MAX_ADAPTATIONS ? await findAdaptation(fault, fitted, now, nextState) : undefined
      if (!adaptation) {
        if (!fault && nextState !== start) commit(nextState)
        yield finish
        return
      }
      nextState = adaptation.memory
      yield { type: 'warn', warning: { code: adaptation.code, message: `${endpoint.provider.id} ${adaptation.told}.` } }
      if (hasContent) yield { type: 'open', anew: true, ...defined({ fault }) }
    }
  }

  return wrapModel(last.port, ask)
}

/** A position in the list of tools is more specific than a word that is also the name of a parameter. */
async function findAdaptation(
  fault: Fault,
  request: ModelRequest,
  { wire: id, profile: capabilities, provider }: Endpoint,
  { capabilities: current, refusedTools }: AdaptationState,
): Promise<{ memory: AdaptationState; code: string; told: string } | undefined> {
  const wire = await loadWire(id)
  const profile = completeProfile(wire.profile, capabilities)
  const refusal = toRequestRefusal(fault, id, profile, request.output !== undefined)
  const sent = { ...provider.extra, ...wire.encodeRequest(request, profile).body }
  const toolAtIndex = findRefusedToolByIndex(refusal, request.tools)
  const adaptation =
    matchAdaptationRule(refusal) ?? (toolAtIndex === undefined ? findParameterAdaptation(refusal, sent) : undefined)
  if (adaptation) {
    const more = mergeCapabilities(current, adaptation.capabilities)
    // The same adaptation did not help before.
    if (toCanonicalJson(more) === toCanonicalJson(current)) return undefined
    return { memory: { capabilities: more, refusedTools }, code: 'learnt', told: adaptation.description }
  }
  const tool = toolAtIndex ?? findRefusedToolByName(refusal, request.tools)
  if (tool === undefined) return undefined
  const reported = `refuses the tool ${tool}, which is omitted: ${fault.message.slice(0, 200)}`
  return {
    memory: { capabilities: current, refusedTools: new Set([...refusedTools, tool]) },
    code: 'tool-quarantined',
    told: reported,
  }
}

function applyCapabilities(profile: ModelCapabilities, capabilities: Capabilities): ModelCapabilities {
  return { ...mergeCapabilities(profile, capabilities), signer: profile.signer }
}

/** The same list gives the same result, so that its declarations are encoded only once. */
function createToolFilter(): (tools: readonly ToolSpec[], without: ReadonlySet<string>) => readonly ToolSpec[] {
  let last: { tools: readonly ToolSpec[]; without: ReadonlySet<string>; kept: readonly ToolSpec[] } | undefined
  return (tools, without) => {
    if (without.size === 0) return tools
    if (last?.tools !== tools || last.without !== without)
      last = { tools, without, kept: tools.filter((tool) => !without.has(tool.name)) }
    return last.kept
  }
}
