import { randomBytes } from 'node:crypto'
import { type Report, visit, type VisitOptions } from '../../src/doctor/visit.ts'
import { turnKey } from '../../src/model/ids.ts'
import type { WireId } from '../../src/model/turn.ts'
import { resolveModel } from '../../src/provider/resolve.ts'
import { startPost } from '../../src/provider/send.ts'
import type { Target } from '../../src/provider/target.ts'
import type { Misbehaviour, SimpleKind } from '../../src/rehearsal/misbehaviour.ts'
import type { Script, Step } from '../../src/rehearsal/script.ts'
import { patient } from '../../src/rehearsal/scripts/patient.ts'
import { type Rehearsal, startRehearsal } from '../../src/rehearsal/server.ts'
import { hastyClock } from '../provider/support/clock.ts'

/** Under which row each wire is reached. */
const ROWS: Record<WireId, string> = {
  gemini: 'gemini',
  'code-assist': 'code-assist',
  'openai-chat': 'openai-chat',
  'openai-responses': 'openai',
  anthropic: 'anthropic',
}

/** A server on this machine, reached on a wire. */
export function targetOn(wire: WireId, url: string, model = 'patient'): Target {
  const row = ROWS[wire]
  const variable = `DRAGOMAN_${row.toUpperCase().replaceAll('-', '_')}_BASE_URL`
  const base = wire.startsWith('openai') ? `${url}/v1` : url
  const env = {
    [variable]: base,
    GOOGLE_CLOUD_PROJECT: 'p',
    OPENAI_API_KEY: 'k',
    GEMINI_API_KEY: 'k',
    ANTHROPIC_API_KEY: 'k',
  }
  const target = resolveModel(`${row}/${model}`, { ...env, GOOGLE_CLOUD_ACCESS_TOKEN: 'k' })
  if ('problem' in target) throw new Error(target.problem)
  return target
}

/** The healthy patient with one habit, in every answer that it gives. */
export function ill(one: Misbehaviour | SimpleKind): Script {
  const steps = patient.steps as readonly Step[]
  const sick = (step: Step): Step => ({ ...step, misbehave: [...(step.misbehave ?? []), one] })
  return { ...patient, steps: steps.map(sick), ...(patient.end && { end: sick(patient.end) }) }
}

/** Starts a server with this patient. */
export function admit(script: Script = patient): Promise<Rehearsal> {
  return startRehearsal({ scripts: { patient: script } })
}

/** Examines a server on a wire; every wait is over at once. */
export function examined(wire: WireId, url: string, more: Partial<VisitOptions> = {}): Promise<Report> {
  const mint = () => turnKey(randomBytes(20))
  return visit(targetOn(wire, url), { mint, post: startPost({}), waits: hastyClock(), abreast: 6, ...more })
}
