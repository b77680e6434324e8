import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeSetupFiles } from '../../src/cli/command/gateway/setup-files.ts'
import type { GatewayClient } from '../../src/gateway/clients/client.ts'
import { type CapturedRequest, startCaptureServer } from './capture-server.ts'
import { createClientHome } from './client-home.ts'
import type { Client, ClientModel } from './client.ts'
import { findGatewayClient } from './all-clients.ts'
import type { InstalledClient } from './install-client.ts'
import { type ProgramEnd, runProgram } from './run-program.ts'

export interface ClientRun extends ProgramEnd {
  readonly requests: readonly CapturedRequest[]
  readonly refusedHosts: readonly string[]
}

/** The scratch folders of a run. */
export interface ClientFolders {
  readonly home: string
  readonly workspace: string
}

/** What the file says that the client is asked about. */
export const SECRET = 'heron'

interface RunOptions {
  /** Gets the folders before they are removed. */
  readonly inspect?: (folders: ClientFolders) => Promise<void>
  readonly gatewayClient?: GatewayClient
}

/** Runs a client in an empty home and a scratch workspace, through one call of its own tool. */
export async function runClient(
  client: Client,
  model: ClientModel,
  installed: InstalledClient,
  { inspect, gatewayClient = findGatewayClient(client) }: RunOptions = {},
): Promise<ClientRun> {
  const place = await createClientHome(client)
  const { home, workspace } = place
  writeFileSync(join(workspace, 'a.txt'), `The secret word is ${SECRET}.\n`)
  const server = await startCaptureServer(model.readFile, { say: 'I have read it.' }, workspace)
  try {
    const folder = join(home, 'setup')
    mkdirSync(folder)
    const address = { url: server.url, token: 'sk-dummy', models: [model.model], wire: model.wire, folder }
    const setup = gatewayClient.setUp(address)
    writeSetupFiles(setup, folder, place.env)
    const [program, ...args] = installed.command
    const all = [
      ...args,
      ...setup.args,
      ...(model.args ?? []),
      ...client.runPrompt('What is the secret word in a.txt?'),
    ]
    const end = await runProgram(program, all, { cwd: workspace, env: { ...place.env, ...setup.env } })
    await inspect?.({ home, workspace })
    return { ...end, requests: server.requests, refusedHosts: [...place.refusedHosts] }
  } finally {
    server.close()
    place.remove()
  }
}
