import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { wireIds } from '../../src/wire/wires.ts'
import { table } from '../lib/table.mjs'
import { findGatewayClient } from './all-clients.ts'
import { checkSession, SESSION_CLIENTS, type SessionReport } from './check-session.ts'
import { checkTools, SURVIVING_OUTCOMES, type ToolReport } from './check-tools.ts'
import type { Client, ClientModel } from './client.ts'
import type { InstalledClient } from './install-client.ts'
import { type ClientFolders, type ClientRun, runClient, SECRET } from './run-client.ts'

interface ReadyClient {
  readonly client: Client
  readonly installed: InstalledClient
}

interface CaptureOptions {
  /** Keeps all requests. */
  readonly out?: string
  /** Keeps what the clients wrote into their home folders. */
  readonly homes?: string
  /** Imports the sessions that they made. */
  readonly sessions?: boolean
}

/** Captures the requests of clients, and returns a table of what becomes of their tools on every wire. */
export async function captureRequests(
  clients: readonly ReadyClient[],
  { out, homes, sessions = false }: CaptureOptions = {},
): Promise<{ readonly text: string; readonly isGood: boolean }> {
  const rows: string[][] = []
  const sessionRows: string[][] = []
  const problems: string[] = []
  for (const { client, installed } of clients) {
    const { title } = findGatewayClient(client)
    console.error(`${title} …`)
    for (const model of client.models) {
      const name = `${client.id}-${model.wire}-${model.model}`
      let session: SessionReport | undefined
      const inspect = async (folders: ClientFolders): Promise<void> => {
        if (homes !== undefined) cpSync(folders.home, resolve(homes, name), { recursive: true, force: true })
        if (sessions && SESSION_CLIENTS.has(client.id)) session = await checkSession(client.id, model.wire, folders)
      }
      const run = await runClient(client, model, installed, { inspect })
      if (session) {
        const isWhole = session.problems.length === 0 ? 'yes' : 'no'
        sessionRows.push([
          title,
          installed.version,
          model.wire,
          session.wire,
          isWhole,
          session.torn,
          String(session.unanswered),
        ])
        problems.push(...session.problems.map((problem) => `- ${title} (session, ${model.wire}): ${problem}`))
      }
      if (out !== undefined) saveRequests(out, name, run)
      const { row, faults } = await reportRun(title, model, installed, run)
      rows.push(row)
      problems.push(...faults.map((fault) => `- ${title} (${model.wire}, ${model.model}): ${fault}`))
    }
  }
  const head = ['client', 'version', 'wire', 'model', 'requests', 'tool ran', 'declared', 'read', 'hosted', ...wireIds]
  const sessionHead = ['session of', 'version', 'made on', 'continued on', 'whole', 'torn', 'with an unanswered call']
  const lines = [
    ...(sessionRows.length === 0 ? [] : ['', table(sessionHead, sessionRows)]),
    ...(problems.length === 0 ? [] : ['', ...problems]),
  ]
  return { text: [table(head, rows), ...lines].join('\n'), isGood: problems.length === 0 }
}

/** The row has the request with the most tools; the faults are those of all requests. */
async function reportRun(title: string, { wire, model }: ClientModel, { version }: InstalledClient, run: ClientRun) {
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
  return { row: [title, version, wire, model, ...figures], faults }
}

function formatSurvivors(outcomes: ToolReport['outcomes'][keyof ToolReport['outcomes']]): string {
  return String(outcomes.filter((outcome) => SURVIVING_OUTCOMES.has(outcome)).length)
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
