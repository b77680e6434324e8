import { randomBytes } from 'node:crypto'
import { getErrorMessage } from '../../../model/error-message.ts'
import { defined } from '../../../model/defined.ts'
import type { TenantConfig } from '../../../server/http/tenants.ts'
import { createSingleTenant, startSessionServer } from '../../../server/session-server.ts'
import { parseCommandLine, parseNumberBetween, rejectExtraArgs } from '../../args/parse-command-line.ts'
import { printHelp } from '../../args/print-help.ts'
import { readSettings, type Settings } from '../../config/read-settings.ts'
import { detectModel } from '../../setup/choose-model.ts'
import { EXIT_CODE, UserError } from '../../user-error.ts'
import { version } from '../../version.ts'
import { findDatabaseUrl, openBackend } from './open-backend.ts'
import { createServedAgents } from './served-agent.ts'
import { SERVE_COMMAND } from './spec.ts'
import { reportError, waitForStopSignal } from './until-stopped.ts'
import { createWorkspaces } from './workspaces.ts'

export async function runServeCommand(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine('dragoman serve', SERVE_COMMAND.options, args)
  if (values.help) return printHelp('serve')
  rejectExtraArgs('dragoman serve', positionals)
  const port = parseNumberBetween('--port', values.port, [0, 65_535])
  const settings = readSettings(process.cwd())
  const model = await requireModel(values.model, settings)
  const { token, tenants } = chooseTenants(values.token, settings)
  const backend = await openBackend(findDatabaseUrl(values.database), reportError)
  const workspaces = createWorkspaces({ label: values.label, folder: process.cwd(), settings })
  const agents = createServedAgents(model, settings, workspaces)
  try {
    const { hosts, origins } = settings.config.server ?? {}
    const server = await startSessionServer({
      backend,
      agents: ['default'],
      model,
      tenants,
      version,
      worker: { openAgent: agents.openAgent, labels: values.label === undefined ? [] : [values.label] },
      findWorkspaceFiles: (tenant, session) => workspaces.findFiles(tenant, session),
      removeWorkspace: (tenant, session) => workspaces.remove(tenant, session),
      onError: reportError,
      ...defined({ port, host: values.host, hosts, origins }),
    }).catch((error: unknown) => {
      throw new UserError(`the server cannot start: ${getErrorMessage(error)}`, EXIT_CODE.failure)
    })
    const stopped = waitForStopSignal()
    printAddress(server.url, token, values.json === true)
    await stopped
    await server.close({ graceMs: GRACE_MS })
  } finally {
    await agents.close()
    await backend.close()
  }
  return EXIT_CODE.ok
}

/** How long runs in progress may take to end after a stop signal. Then they go on with the next start. */
const GRACE_MS = 10_000

const MIN_TOKEN_CHARS = 16

export async function requireModel(name: string | undefined, { config }: Settings): Promise<string> {
  const model = name ?? (await detectModel(config))
  if (model === undefined)
    throw new UserError(
      'no model is configured: pass --model, or set a key such as GEMINI_API_KEY; --model rehearsal/hello tries it without one',
      EXIT_CODE.signIn,
    )
  return model
}

/** The tenants of the settings, and that of the token; with neither, one with a random token. */
function chooseTenants(
  option: string | undefined,
  { config }: Settings,
): { token?: string; tenants: Readonly<Record<string, TenantConfig>> } {
  const configured = config.server?.tenants ?? {}
  const given = option ?? (process.env['DRAGOMAN_SERVER_TOKEN'] || undefined)
  if (given !== undefined && (given.length < MIN_TOKEN_CHARS || !/^[\x21-\x7e]+$/.test(given)))
    throw new UserError(`the token needs at least ${MIN_TOKEN_CHARS} characters without spaces`)
  if (given === undefined && Object.keys(configured).length > 0) return { tenants: configured }
  const token = given ?? randomBytes(24).toString('base64url')
  return { token, tenants: { ...configured, ...createSingleTenant(token) } }
}

function printAddress(url: string, token: string | undefined, asJson: boolean): void {
  if (asJson) {
    process.stdout.write(`${JSON.stringify({ url, ...defined({ token }) })}\n`)
    return
  }
  process.stdout.write(`${url}\n`)
  const tokenLine = token === undefined ? 'Clients use the tokens of the settings.' : `Token: ${token}`
  process.stderr.write(`${tokenLine}\nThe API is described by ${url}/openapi.json. Press Ctrl-C to stop.\n`)
}
