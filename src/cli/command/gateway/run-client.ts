import { spawn } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ClientSetup, GatewayClient } from '../../../gateway/clients/client.ts'
import { ensurePrivateFolder } from '../../../host/files/private-folder.ts'
import { defined } from '../../../model/defined.ts'
import { EXIT_CODE, UserError } from '../../user-error.ts'
import { getGatewayFolder } from './envelope-key.ts'
import type { OpenedGateway } from './open-gateway.ts'
import { writeSetupFiles } from './setup-files.ts'

/** Starts a client that uses the gateway, and waits for its end. Its files are removed afterwards. */
export async function runClient(
  client: GatewayClient,
  gateway: OpenedGateway,
  args: readonly string[],
): Promise<number> {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'dragoman-gateway-'))
  try {
    const { url, token, models, hasEncryptedReasoning } = gateway
    // If client and model can speak the same API, nothing needs to be translated.
    const wire = client.wires.find((one) => one === gateway.wire)
    const setup = client.setUp({ url, token, models, hasEncryptedReasoning, folder, ...defined({ wire }) })
    writeSetupFiles(setup, folder)
    return await startProgram(client, setup, args)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The setup for a client that the user starts; its files stay in our own folder. */
export function prepareClient(
  client: GatewayClient,
  address: { readonly url: string; readonly token: string; readonly models: readonly string[] },
): ClientSetup {
  const folder = join(getGatewayFolder(), 'clients', client.id)
  const setup = client.setUp({ ...address, folder })
  if (setup.files ?? setup.overlay) {
    ensurePrivateFolder(folder)
    writeSetupFiles(setup, folder)
  }
  return setup
}

function startProgram(
  { id, title }: GatewayClient,
  { env, unset = [], args: ownArgs }: ClientSetup,
  args: readonly string[],
): Promise<number> {
  const inherited = Object.entries(process.env).filter(([name]) => !unset.includes(name))
  // Ctrl-C reaches the client by itself; it decides whether to end.
  const ignore = (): void => undefined
  process.on('SIGINT', ignore)
  return new Promise<number>((resolve, reject) => {
    const child = spawn(id, [...ownArgs, ...args], {
      stdio: 'inherit',
      env: { ...Object.fromEntries(inherited), ...env },
    })
    const stop = (): void => void child.kill('SIGTERM')
    process.once('SIGTERM', stop)
    child.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'ENOENT' ? `the command ${id} was not found; install ${title}` : error.message
      reject(new UserError(why, EXIT_CODE.input))
    })
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)))
    child.once('close', () => process.off('SIGTERM', stop))
  }).finally(() => process.off('SIGINT', ignore))
}
