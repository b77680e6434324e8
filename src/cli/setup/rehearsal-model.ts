import { resolveModel, providers, type Endpoint } from '../../provider/index.ts'
import { UserError } from '../user-error.ts'
import { defined } from '../../model/defined.ts'

export function isRehearsalModel(name: string): boolean {
  return name === 'rehearsal' || name.startsWith('rehearsal/')
}

/** Starts a scripted model, `rehearsal/<script>`, on the API of OpenAI's chat completions. */
export async function startRehearsalModel(
  name: string,
  defaultScript: string,
  { cwd = process.cwd(), paceMs }: { cwd?: string; paceMs?: 0 } = {},
): Promise<{ endpoint: Endpoint; close: () => Promise<void> }> {
  const { startRehearsalServer } = await import('../../rehearsal/server.ts')
  const { BUILTIN_SCRIPTS: scripts } = await import('../../rehearsal/builtin-scripts/all-scripts.ts')
  const script = name.slice('rehearsal/'.length) || defaultScript
  if (!Object.hasOwn(scripts, script))
    throw new UserError(`unknown script ${script}; the scripts are ${Object.keys(scripts).join(', ')}`)
  const server = await startRehearsalServer({ scripts, templateValues: { cwd }, ...defined({ paceMs }) })
  const rows = providers.filter(({ id }) => id === 'openai-chat').map((row) => ({ ...row, id: 'rehearsal' }))
  const env = { OPENAI_API_KEY: 'rehearsal', DRAGOMAN_REHEARSAL_BASE_URL: `${server.url}/v1` }
  const target = resolveModel(`rehearsal/${script}`, env, rows)
  if ('problem' in target) throw new UserError(target.problem, target.code)
  return { endpoint: target, close: () => server.close() }
}
