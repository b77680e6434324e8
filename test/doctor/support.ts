import { randomBytes } from 'node:crypto'
import { type ExaminationReport, examineEndpoint, type ExaminationOptions } from '../../src/doctor/examine-endpoint.ts'
import { createTurnKey } from '../../src/model/ids.ts'
import type { WireId } from '../../src/model/turn.ts'
import { resolveModel } from '../../src/provider/resolve-model.ts'
import { createHttpClient } from '../../src/provider/http/node-http-client.ts'
import type { Endpoint } from '../../src/provider/endpoint.ts'
import type { Misbehaviour, SimpleMisbehaviourKind } from '../../src/rehearsal/misbehaviour/misbehaviour.ts'
import type { RehearsalScript, ScriptStep } from '../../src/rehearsal/script/script.ts'
import { doctorScript } from '../../src/rehearsal/builtin-scripts/doctor.ts'
import { type RehearsalServer, startRehearsalServer } from '../../src/rehearsal/server.ts'
import { hastyClock } from '../provider/support/clock.ts'

/** Under which row each wire is reached. */
const ROWS: Record<WireId, string> = {
  gemini: 'gemini',
  interactions: 'gemini-interactions',
  'code-assist': 'code-assist',
  'openai-chat': 'openai-chat',
  'openai-responses': 'openai',
  anthropic: 'anthropic',
}

/** A server on this machine, reached on a wire. */
export function targetOn(wire: WireId, url: string, model = 'patient'): Endpoint {
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
export function ill(one: Misbehaviour | SimpleMisbehaviourKind): RehearsalScript {
  const steps = doctorScript.steps as readonly ScriptStep[]
  const sick = (step: ScriptStep): ScriptStep => ({ ...step, misbehave: [...(step.misbehave ?? []), one] })
  return { ...doctorScript, steps: steps.map(sick), ...(doctorScript.end && { end: sick(doctorScript.end) }) }
}

/** Starts a server with this patient. */
export function admit(script: RehearsalScript = doctorScript): Promise<RehearsalServer> {
  return startRehearsalServer({ scripts: { patient: script } })
}

/** Examines a server on a wire; every wait is over at once. */
export function examined(
  wire: WireId,
  url: string,
  more: Partial<ExaminationOptions> = {},
): Promise<ExaminationReport> {
  const mint = () => createTurnKey(randomBytes(20))
  return examineEndpoint(targetOn(wire, url), {
    newId: mint,
    httpClient: createHttpClient({}),
    retryClock: hastyClock(),
    concurrency: 6,
    ...more,
  })
}
