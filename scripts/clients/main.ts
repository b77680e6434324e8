// Runs other agents on loopback and checks what they send; see scripts/clients.mjs.
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { getErrorMessage } from '../../src/model/error-message.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { table } from '../lib/table.mjs'
import { CLIENTS } from './all-clients.ts'
import { checkTools, SURVIVING_OUTCOMES, type ToolReport } from './check-tools.ts'
import { checkSession, SESSION_CLIENTS, type SessionReport } from './check-session.ts'
import type { Client, ClientModel } from './client.ts'
import { installClient, type InstalledClient } from './install-client.ts'
import { type ClientRun, runClient, SECRET } from './run-client.ts'

const { values, positionals } = parseArgs({
  options: {
    cache: { type: 'string' },
    out: { type: 'string' },
    homes: { type: 'string' },
    sessions: { type: 'boolean' },
  },
  allowPositionals: true,
})
const cache = resolve(
  values.cache ?? join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'dragoman', 'clients'),
)
const unknown = positionals.filter((word) => !CLIENTS.some(({ id }) => id === word))
if (unknown.length > 0) {
  console.error(`Unknown client: ${unknown.join(', ')}. The clients are ${CLIENTS.map(({ id }) => id).join(', ')}.`)
  process.exitCode = 42
} else process.exitCode = (await main()) ? 0 : 1

async function main(): Promise<boolean> {
  const chosen = CLIENTS.filter(({ id }) => positionals.length === 0 || positionals.includes(id))
  const rows: string[][] = []
  const sessionRows: string[][] = []
  const problems: string[] = []
  for (const client of chosen) {
    console.error(`${client.title} …`)
    const installed = await installClient(client, cache).catch((error: unknown) => getErrorMessage(error))
    if (typeof installed === 'string') {
      problems.push(`${client.title} was not installed: ${installed.trim().split('\n').slice(0, 4).join(' ')}`)
      continue
    }
    for (const model of client.models) {
      const name = `${client.id}-${model.wire}-${model.model}`
      let session: SessionReport | undefined
      const run = await runClient(client, model, installed, async (folders) => {
        keepHome(name, folders.home)
        if (values.sessions && SESSION_CLIENTS.has(client.id))
          session = await checkSession(client.id, model.wire, folders)
      })
      if (session) {
        sessionRows.push([
          client.title,
          installed.version,
          model.wire,
          session.wire,
          session.problems.length === 0 ? 'yes' : 'no',
          session.torn,
        ])
        problems.push(...session.problems.map((problem) => `${client.title} (session, ${model.wire}): ${problem}`))
      }
      if (values.out !== undefined) saveRequests(values.out, name, run)
      const { row, faults } = await reportRun(client, model, installed, run)
      rows.push(row)
      problems.push(...faults.map((fault) => `${client.title} (${model.wire}, ${model.model}): ${fault}`))
    }
  }
  const head = ['client', 'version', 'wire', 'model', 'requests', 'tool ran', 'declared', 'read', 'hosted', ...wireIds]
  console.log(table(head, rows))
  if (sessionRows.length > 0)
    console.log(`\n${table(['session of', 'version', 'made on', 'continued on', 'whole', 'torn'], sessionRows)}`)
  if (problems.length > 0) console.log(`\n${problems.map((problem) => `- ${problem}`).join('\n')}`)
  return problems.length === 0
}

/** The row has the request with the most tools; the faults are those of all requests. */
async function reportRun(client: Client, { wire, model }: ClientModel, { version }: InstalledClient, run: ClientRun) {
  const reports: ToolReport[] = []
  for (const request of run.requests) {
    const report = await checkTools(request)
    if (report) reports.push(report)
  }
  const largest = reports.toSorted((one, other) => other.declared - one.declared)[0]
  const hasRun = reports.some(({ results }) => results.includes(SECRET))
  const faults = [...new Set(reports.flatMap(({ losses }) => losses))]
  if (run.exitCode !== 0) faults.push(`ended with ${run.exitCode ?? 'a time-out'}: ${run.output.trim().slice(-400)}`)
  if (!hasRun) faults.push('the result of its tool did not come back')
  if (reports.some((report) => report.wire !== wire)) faults.push(`speaks another wire than ${wire}`)
  if (run.refusedHosts.length > 0) console.error(`  tried to reach ${run.refusedHosts.join(', ')}`)
  const counts = largest ? [largest.declared, largest.read, largest.hosted] : [0, 0, 0]
  const survivors = wireIds.map((id) => (largest ? formatSurvivors(largest.outcomes[id]) : ''))
  const figures = [String(run.requests.length), hasRun ? 'yes' : 'no', ...counts.map(String), ...survivors]
  return { row: [client.title, version, wire, model, ...figures], faults }
}

function formatSurvivors(outcomes: ToolReport['outcomes'][keyof ToolReport['outcomes']]): string {
  return String(outcomes.filter((outcome) => SURVIVING_OUTCOMES.has(outcome)).length)
}

/** With --homes: a copy of what the client wrote into its home folder. */
function keepHome(name: string, home: string): void {
  if (values.homes === undefined) return
  const folder = resolve(values.homes, name)
  rmSync(folder, { recursive: true, force: true })
  cpSync(home, folder, { recursive: true })
}

function saveRequests(out: string, name: string, { requests }: ClientRun): void {
  const folder = resolve(out, name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [at, request] of requests.entries()) {
    const file = `${String(at + 1).padStart(2, '0')}.json`
    writeFileSync(join(folder, file), `${JSON.stringify(request, null, 2)}\n`)
  }
}
