import type { ModelPort } from '../provider/port.ts'
import { defaultModel, findLocal, resolveModel } from '../provider/resolve.ts'
import type { Row } from '../provider/row.ts'
import { rowFrom } from '../provider/row-from.ts'
import { port, probe } from '../provider/send.ts'
import { rows as table } from '../provider/table.ts'
import type { Target } from '../provider/target.ts'
import { remember } from '../provider/wrap/remember.ts'
import { retry } from '../provider/wrap/retry.ts'
import { bodyWriter } from '../wire/incremental.ts'
import type { Config } from './config/schema.ts'
import { Complaint, EXIT } from './exit.ts'

/** A model that can be asked, and how to put it away. */
export interface Chosen {
  readonly port: ModelPort
  close(): Promise<void>
}

/** The model that a name means; without a name, the one that this machine is set up for. */
export async function chooseModel(name: string | undefined, config: Config = {}): Promise<Chosen> {
  const chosen = name ?? (await configuredModel(config))
  if (chosen === undefined) throw new Complaint(NO_MODEL, 41)
  if (chosen === 'rehearsal' || chosen.startsWith('rehearsal/')) return rehearsed(chosen)
  const target = resolveModel(chosen, process.env, rowsWith(config))
  if ('problem' in target) throw new Complaint(target.problem, target.code)
  return { port: retry(remember(target, open)), close: () => Promise.resolve() }
}

/** A port that does not write again what it has written. */
function open(target: Target): ModelPort {
  return port(target, { writer: bodyWriter })
}

/** The model of the first key in the environment, or of a server that answers on this machine. */
export async function configuredModel(config: Config = {}): Promise<string | undefined> {
  const rows = rowsWith(config)
  return (
    process.env['DRAGOMAN_MODEL'] || config.model || defaultModel(process.env, rows) || (await findLocal(probe, rows))
  )
}

/** The table, with the person's own rows before it; one of theirs may take the place of one of ours. */
export function rowsWith({ providers = {} }: Config): readonly Row[] {
  const own = Object.entries(providers).map(([id, json]) => {
    const read = rowFrom(id, json)
    if ('problem' in read) throw new Complaint(read.problem, EXIT.config)
    return read.row
  })
  return own.length === 0 ? table : [...own, ...table.filter(({ id }) => !own.some((row) => row.id === id))]
}

const NO_MODEL =
  'no model is configured: set a key (GEMINI_API_KEY, OPENAI_API_KEY, ANTHROPIC_API_KEY, …) or start a local server (Ollama, LM Studio, llama.cpp), or take the tour: dragoman tour'

/** A scripted model behind a server of our own, on this machine. */
async function rehearsed(name: string): Promise<Chosen> {
  const { startRehearsal } = await import('../rehearsal/server.ts')
  const { SCRIPTS: scripts } = await import('../rehearsal/scripts/scripts.ts')
  const script = name.slice('rehearsal/'.length) || 'hello'
  if (!Object.hasOwn(scripts, script))
    throw new Complaint(`there is no script ${script}; there are ${Object.keys(scripts).join(', ')}`)
  const server = await startRehearsal({ scripts, values: { cwd: process.cwd() } })
  const target = resolveModel(`openai-chat/${script}`, {
    OPENAI_API_KEY: 'rehearsal',
    DRAGOMAN_OPENAI_CHAT_BASE_URL: `${server.url}/v1`,
  })
  if ('problem' in target) throw new Complaint(target.problem, target.code)
  const inner = open(target)
  return { port: { ...inner, origin: { ...inner.origin, provider: 'rehearsal' } }, close: () => server.close() }
}
