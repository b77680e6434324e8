import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import { canonical } from '../../model/json.ts'
import type { Request, ToolSpec } from '../../model/request.ts'
import { loadWire } from '../../wire/wires.ts'
import type { ModelPort, Sending } from '../port.ts'
import { completed, merged, type ModelFacts } from '../profile.ts'
import type { Facts } from '../row.ts'
import type { Target } from '../target.ts'
import { habitOf } from './habits.ts'
import { refusalOf } from './lesson.ts'
import { parameterOf } from './parameter.ts'
import { toolByName, toolByPlace } from './suspect.ts'
import { keyOf, passOn, wrapped } from './wrapped.ts'

/** How many things one request may teach. */
const MOST_LESSONS = 6

/** What an endpoint has taught. */
interface Memory {
  readonly facts: Facts
  /** The tools that it refuses. */
  readonly quarantined: ReadonlySet<string>
}

/**
 * Learns from refused requests. A parameter that the endpoint refuses by name is left out, a habit that it has is
 * followed, and a tool that it points at is left out; then it is asked again, and the port remembers for its life. What
 * did not help is not remembered. `learnt` hears of the flags that did.
 */
export function remember(
  target: Target,
  open: (target: Target) => ModelPort,
  learnt: (facts: Facts) => void = () => {},
): ModelPort {
  let memory: Memory = { facts: {}, quarantined: new Set() }
  let last = { facts: memory.facts, target, port: open(target) }
  const keep = startSieve()

  function opened(facts: Facts): typeof last {
    if (facts !== last.facts) {
      const changed = { ...target, profile: over(target.profile, facts) }
      last = { facts, target: changed, port: open(changed) }
    }
    return last
  }

  function commit(draft: Memory): void {
    if (draft.facts !== memory.facts) learnt(draft.facts)
    // Another request may have learnt something in the meantime.
    memory = {
      facts: draft.facts === memory.facts ? memory.facts : merged(memory.facts, draft.facts),
      quarantined: new Set([...memory.quarantined, ...draft.quarantined]),
    }
  }

  async function* ask(request: Request, sending: Sending): AsyncGenerator<TurnEvent> {
    const told = new Set<string>()
    const start = memory
    let draft = start
    for (let lessons = 0; ; lessons++) {
      const { target: now, port } = opened(draft.facts)
      const fitted = { ...request, tools: keep(request.tools, draft.quarantined) }
      const key = keyOf(sending.key, 'm', lessons)
      let shown = false
      const finish = yield* passOn(port.ask(fitted, { ...sending, key }), told, ({ type }) => {
        shown ||= type === 'part-open'
      })
      const fault = finish.reason === 'fault' && finish.fault?.kind === 'invalid' ? finish.fault : undefined
      const lesson = fault && lessons < MOST_LESSONS ? await study(fault, fitted, now, draft) : undefined
      if (!lesson) {
        if (!fault && draft !== start) commit(draft)
        yield finish
        return
      }
      draft = lesson.memory
      yield { type: 'warn', warning: { code: lesson.code, message: `${target.row.id} ${lesson.told}.` } }
      if (shown) yield { type: 'open', anew: true, ...(fault && { fault }) }
    }
  }

  return wrapped(last.port, ask)
}

/** What a refusal teaches. A place in the list of tools says more than a word that is also the name of a parameter. */
async function study(
  fault: Fault,
  request: Request,
  { wire: id, profile: facts, row }: Target,
  { facts: known, quarantined }: Memory,
): Promise<{ memory: Memory; code: string; told: string } | undefined> {
  const wire = await loadWire(id)
  const profile = completed(wire.profile, facts)
  const refusal = refusalOf(fault, id, profile)
  const sent = { ...row.extra, ...wire.encode(request, profile).body }
  const placed = toolByPlace(refusal, request.tools)
  const lesson = habitOf(refusal) ?? (placed === undefined ? parameterOf(refusal, sent) : undefined)
  if (lesson) {
    const more = merged(known, lesson.facts)
    // The same lesson twice has not helped.
    if (canonical(more) === canonical(known)) return undefined
    return { memory: { facts: more, quarantined }, code: 'learnt', told: lesson.told }
  }
  const tool = placed ?? toolByName(refusal, request.tools)
  if (tool === undefined) return undefined
  const told = `refuses the tool ${tool}, which is left out: ${fault.message.slice(0, 200)}`
  return { memory: { facts: known, quarantined: new Set([...quarantined, tool]) }, code: 'tool-quarantined', told }
}

function over(profile: ModelFacts, facts: Facts): ModelFacts {
  return { ...merged(profile, facts), signer: profile.signer }
}

/** Leaves tools out of a list. The same list gives the same list, so that its declarations are written only once. */
function startSieve(): (tools: readonly ToolSpec[], without: ReadonlySet<string>) => readonly ToolSpec[] {
  let last: { tools: readonly ToolSpec[]; without: ReadonlySet<string>; kept: readonly ToolSpec[] } | undefined
  return (tools, without) => {
    if (without.size === 0) return tools
    if (last?.tools !== tools || last.without !== without)
      last = { tools, without, kept: tools.filter((tool) => !without.has(tool.name)) }
    return last.kept
  }
}
