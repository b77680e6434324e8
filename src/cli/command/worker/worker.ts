import { startQueueWorker } from '../../../server/start-worker.ts'
import { parseCommandLine, rejectExtraArgs } from '../../args/parse-command-line.ts'
import { printHelp } from '../../args/print-help.ts'
import { readSettings } from '../../config/read-settings.ts'
import { EXIT_CODE, UserError } from '../../user-error.ts'
import { findDatabaseUrl, openBackend } from '../serve/open-backend.ts'
import { requireModel } from '../serve/serve.ts'
import { createServedAgents } from '../serve/served-agent.ts'
import { reportError, waitForStopSignal } from '../serve/until-stopped.ts'
import { createWorkspaces } from '../serve/workspaces.ts'
import { WORKER_COMMAND } from './spec.ts'

export async function runWorkerCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine('dragoman worker', WORKER_COMMAND.options, args)
  if (values.help) return printHelp('worker')
  rejectExtraArgs('dragoman worker', positionals)
  const database = findDatabaseUrl(values.database)
  if (database === undefined)
    throw new UserError('dragoman worker needs --database postgres://…; on one machine, dragoman serve is enough')
  const settings = readSettings(process.cwd())
  const model = await requireModel(values.model, settings)
  const backend = await openBackend(database, reportError)
  const workspaces = createWorkspaces({ label: values.label, folder: process.cwd(), settings })
  const agents = createServedAgents(model, settings, workspaces)
  try {
    const worker = await startQueueWorker(backend, {
      openAgent: agents.openAgent,
      labels: values.label === undefined ? [] : [values.label],
      getQuota: (tenant) => settings.config.server?.tenants?.[tenant]?.limits?.dollarsPerMonth,
    })
    const stopped = waitForStopSignal()
    process.stdout.write('ready\n')
    await stopped
    await worker.stop({ graceMs: GRACE_MS })
  } finally {
    await agents.close()
    await backend.close()
  }
  return EXIT_CODE.ok
}

const GRACE_MS = 10_000
