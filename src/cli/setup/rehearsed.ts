import { resolveModel } from '../../provider/resolve.ts'
import { rows } from '../../provider/table.ts'
import type { Target } from '../../provider/target.ts'
import { Complaint } from '../exit.ts'

/** A scripted model behind a server of our own on this machine, and how to put it away. */
export interface Rehearsed {
  readonly target: Target
  readonly close: () => Promise<void>
}

/** Is this the name of a scripted model? */
export function isRehearsal(name: string): boolean {
  return name === 'rehearsal' || name.startsWith('rehearsal/')
}

/** Starts a scripted model: `rehearsal/<script>`, or the usual script. It speaks as OpenAI's chat does, in its own time or at once. */
export async function startRehearsed(name: string, usual: string, pace?: 0): Promise<Rehearsed> {
  const { startRehearsal } = await import('../../rehearsal/server.ts')
  const { SCRIPTS: scripts } = await import('../../rehearsal/scripts/scripts.ts')
  const script = name.slice('rehearsal/'.length) || usual
  if (!Object.hasOwn(scripts, script))
    throw new Complaint(`there is no script ${script}; there are ${Object.keys(scripts).join(', ')}`)
  const server = await startRehearsal({
    scripts,
    values: { cwd: process.cwd() },
    ...(pace !== undefined && { pace }),
  })
  const chat = rows.filter(({ id }) => id === 'openai-chat').map((row) => ({ ...row, id: 'rehearsal' }))
  const env = { OPENAI_API_KEY: 'rehearsal', DRAGOMAN_REHEARSAL_BASE_URL: `${server.url}/v1` }
  const target = resolveModel(`rehearsal/${script}`, env, chat)
  if ('problem' in target) throw new Complaint(target.problem, target.code)
  return { target, close: () => server.close() }
}
