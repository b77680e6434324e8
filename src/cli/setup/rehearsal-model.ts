import { resolveModel, providers, type Endpoint } from '../../provider/index.ts'
import { UserError } from '../user-error.ts'
import { defined } from '../../model/defined.ts'

/** A scripted model behind a server of our own on this machine, and how to put it away. */
export interface RehearsalEndpoint {
  readonly endpoint: Endpoint
  readonly close: () => Promise<void>
}

/** Is this the name of a scripted model? */
export function isRehearsalModel(name: string): boolean {
  return name === 'rehearsal' || name.startsWith('rehearsal/')
}

/** Starts a scripted model: `rehearsal/<script>`, or the usual script. It speaks as OpenAI's chat does, in its own time or at once. */
export async function startRehearsalModel(name: string, defaultScript: string, pace?: 0): Promise<RehearsalEndpoint> {
  const { startRehearsalServer } = await import('../../rehearsal/server.ts')
  const { BUILTIN_SCRIPTS: scripts } = await import('../../rehearsal/builtin-scripts/all-scripts.ts')
  const script = name.slice('rehearsal/'.length) || defaultScript
  if (!Object.hasOwn(scripts, script))
    throw new UserError(`there is no script ${script}; there are ${Object.keys(scripts).join(', ')}`)
  const server = await startRehearsalServer({
    scripts,
    templateValues: { cwd: process.cwd() },
    ...defined({ paceMs: pace }),
  })
  const rehearsalProviders = providers
    .filter(({ id }) => id === 'openai-chat')
    .map((row) => ({ ...row, id: 'rehearsal' }))
  const env = { OPENAI_API_KEY: 'rehearsal', DRAGOMAN_REHEARSAL_BASE_URL: `${server.url}/v1` }
  const target = resolveModel(`rehearsal/${script}`, env, rehearsalProviders)
  if ('problem' in target) throw new UserError(target.problem, target.code)
  return { endpoint: target, close: () => server.close() }
}
