// Runs other agents on loopback and checks what they send; see scripts/clients.mjs.
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { defined } from '../../src/model/defined.ts'
import { getErrorMessage } from '../../src/model/error-message.ts'
import type { WireId } from '../../src/model/turn.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { CLIENTS, findGatewayClient } from './all-clients.ts'
import { captureRequests } from './capture.ts'
import type { Client } from './client.ts'
import { runMatrix } from './gateway/matrix.ts'
import { TASK_FAULTS } from './gateway/task-faults.ts'
import { installClient, type InstalledClient } from './install-client.ts'

const { values, positionals } = parseArgs({
  options: {
    cache: { type: 'string' },
    out: { type: 'string' },
    homes: { type: 'string' },
    sessions: { type: 'boolean' },
    gateway: { type: 'boolean' },
    wires: { type: 'string' },
    faults: { type: 'string' },
    jobs: { type: 'string' },
    resume: { type: 'boolean' },
    root: { type: 'string', default: '.' },
  },
  allowPositionals: true,
})
const cache = resolve(
  values.cache ?? join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'dragoman', 'clients'),
)

const mistake =
  findUnknown(
    'client',
    positionals,
    CLIENTS.map(({ id }) => id),
  ) ??
  findUnknown('wire', splitList(values.wires), wireIds) ??
  findUnknown('fault', splitList(values.faults), ['none', ...TASK_FAULTS.map(({ id }) => id)])
if (mistake === undefined) process.exitCode = (await main()) ? 0 : 1
else {
  console.error(mistake)
  process.exitCode = 42
}

async function main(): Promise<boolean> {
  const chosen = CLIENTS.filter(({ id }) => positionals.length === 0 || positionals.includes(id))
  const clients: { client: Client; installed: InstalledClient }[] = []
  const missing: string[] = []
  for (const client of chosen) {
    const installed = await installClient(client, cache).catch((error: unknown) => getErrorMessage(error))
    if (typeof installed !== 'string') clients.push({ client, installed })
    else
      missing.push(
        `- ${findGatewayClient(client).title} was not installed: ${installed.trim().split('\n').slice(0, 4).join(' ')}`,
      )
  }
  const { text, isGood } = values.gateway
    ? await runMatrix({
        clients,
        wires: values.wires === undefined ? wireIds : (splitList(values.wires) as WireId[]),
        faults: TASK_FAULTS.filter(({ id }) => values.faults === undefined || splitList(values.faults).includes(id)),
        jobs: Number(values.jobs ?? 1),
        root: resolve(values.root),
        ...defined({ out: values.out, resume: values.resume }),
      })
    : await captureRequests(clients, defined({ out: values.out, homes: values.homes, sessions: values.sessions }))
  console.log([text, ...missing].join('\n'))
  return isGood && missing.length === 0
}

function splitList(list = ''): string[] {
  return list === '' ? [] : list.split(',')
}

function findUnknown(kind: string, words: readonly string[], known: readonly string[]): string | undefined {
  const unknown = words.filter((word) => !known.includes(word))
  if (unknown.length === 0) return undefined
  return `Unknown ${kind}: ${unknown.join(', ')}. There are ${known.join(', ')}.`
}
