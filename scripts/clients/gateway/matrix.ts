import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { WireId } from '../../../src/model/turn.ts'
import { table } from '../../lib/table.mjs'
import { findGatewayClient } from '../all-clients.ts'
import type { Client, ClientTools } from '../client.ts'
import type { InstalledClient } from '../install-client.ts'
import { isFaultOf, type TaskFault } from './task-faults.ts'
import { runTask, type TaskRun } from './run-task.ts'

interface MatrixOptions {
  readonly clients: readonly { readonly client: Client; readonly installed: InstalledClient }[]
  readonly wires: readonly WireId[]
  readonly faults: readonly TaskFault[]
  /** How many clients run at the same time. */
  readonly jobs: number
  /** Keeps the requests and the output of every run. */
  readonly out?: string
  readonly root: string
}

interface MatrixCell {
  readonly client: Client
  readonly tools: ClientTools
  readonly installed: InstalledClient
  readonly wire: WireId
  readonly fault?: TaskFault
}

interface MatrixResult extends MatrixCell {
  readonly run: TaskRun
  readonly verdict: Verdict
}

/** What became of the task, in a word; and why that is wrong, if it is. */
interface Verdict {
  readonly word: string
  readonly problem?: string
}

/** Runs every client on every wire, without and with faults, and returns the tables and what is wrong. */
export async function runMatrix(options: MatrixOptions): Promise<{ readonly text: string; readonly isGood: boolean }> {
  const cells = listCells(options)
  const results: MatrixResult[] = []
  const waiting = [...cells]
  const work = async (): Promise<void> => {
    for (let cell = waiting.shift(); cell; cell = waiting.shift()) {
      const run = await runTask({ ...cell, root: options.root })
      const verdict = judge(cell, run)
      results.push({ ...cell, run, verdict })
      console.error(`${nameCell(cell)}: ${verdict.problem ?? verdict.word} (${run.seconds.toFixed(0)} s)`)
      if (options.out !== undefined) saveRun(options.out, cell, run, verdict)
    }
  }
  await Promise.all(Array.from({ length: options.jobs }, work))
  return formatMatrix(options, results)
}

function listCells({ clients, wires, faults }: MatrixOptions): MatrixCell[] {
  return clients.flatMap(({ client, installed }) =>
    client.tools.flatMap((tools) =>
      wires.flatMap((wire) => {
        const cell = { client, installed, tools, wire }
        return [cell, ...faults.filter((fault) => isFaultOf(fault, wire)).map((fault) => ({ ...cell, fault }))]
      }),
    ),
  )
}

function judge({ client, wire, fault }: MatrixCell, run: TaskRun): Verdict {
  const { wrong, failures, isEdited, hasRunCommand, isFinished, exitCode, output, refusedHosts } = run
  const tail = (): string => JSON.stringify(output.trim().slice(-300))
  const isDone = isEdited && hasRunCommand && isFinished && exitCode === 0
  if (wrong.length > 0) return { word: 'WRONG', problem: `a wrong call ran: ${wrong.join(', ')}` }
  // On the client's own wire nothing is changed: it gets the model's mistake, and the model's rejection of it.
  const isOwnMistake = fault !== undefined && findGatewayClient(client).wires.includes(wire)
  if (failures.length > 0 && !isOwnMistake)
    return { word: 'WRONG', problem: `the model rejects a request: ${failures.join(' ')}` }
  if (refusedHosts.some((host) => host.startsWith('127.')))
    return { word: 'WRONG', problem: 'it uses the proxy for loopback' }
  if (isDone) return { word: 'done' }
  if (!fault)
    return {
      word: 'WRONG',
      problem: `not finished, exit code ${exitCode}, edited ${isEdited}, command ${hasRunCommand}: ${tail()}`,
    }
  if (exitCode === null) return { word: 'WRONG', problem: `it had to be ended: ${tail()}` }
  // The client told the model that the call failed, and went on.
  if (isFinished) return { word: 'went on' }
  return output.trim() === '' ? { word: 'WRONG', problem: 'it ended without a word' } : { word: 'error' }
}

function formatMatrix({ clients, wires, faults }: MatrixOptions, results: readonly MatrixResult[]) {
  const find = (tools: ClientTools, wire: WireId, fault?: TaskFault): MatrixResult | undefined =>
    results.find((one) => one.tools === tools && one.wire === wire && one.fault === fault)
  const lines = clients.flatMap(({ client, installed }) => client.tools.map((tools) => ({ client, installed, tools })))
  const tasks = lines.map(({ client, installed, tools }) => [
    nameClient(client, tools),
    installed.version,
    findGatewayClient(client).wires[0] ?? '',
    ...wires.map((wire) => formatTask(find(tools, wire))),
  ])
  const parts = [
    'A task of five turns (read, two reads in parallel, edit, command, end), by the wire of the model:',
    '',
  ]
  parts.push(table(['client', 'version', 'its wire', ...wires], tasks))
  if (faults.length > 0) {
    parts.push('', 'With what goes wrong upstream, by the wire of the model (in the order of the columns above):', '')
    const rows = lines.map(({ client, tools }) => [
      nameClient(client, tools),
      ...faults.map((fault) => formatFault(wires.map((wire) => find(tools, wire, fault)?.verdict.word ?? '–'))),
    ])
    parts.push(table(['client', ...faults.map(({ id }) => id)], rows))
  }
  const problems = results.flatMap((one) =>
    one.verdict.problem === undefined ? [] : [`- ${nameCell(one)}: ${one.verdict.problem}`],
  )
  if (problems.length > 0) parts.push('', ...problems)
  return { text: parts.join('\n'), isGood: problems.length === 0 }
}

function formatTask(result: MatrixResult | undefined): string {
  if (!result) return '–'
  return `${result.verdict.word}${result.run.hasSignatures ? '' : ', signatures lost'}`
}

/** One word if it is the same on all wires. */
function formatFault(words: readonly string[]): string {
  const different = new Set(words.filter((word) => word !== '–'))
  return different.size === 1 ? [...different].join('') : words.join(' / ')
}

function nameClient(client: Client, { label }: ClientTools): string {
  return `${findGatewayClient(client).title}${label === undefined ? '' : ` (${label})`}`
}

function nameCell({ client, tools, wire, fault }: MatrixCell): string {
  return `${nameClient(client, tools)} → ${wire}${fault ? `, ${fault.id}` : ''}`
}

function saveRun(out: string, { client, tools, wire, fault }: MatrixCell, run: TaskRun, verdict: Verdict): void {
  const name = [client.id, tools.label, wire, fault?.id].filter((word) => word !== undefined).join('-')
  mkdirSync(resolve(out), { recursive: true })
  const { requests, ...others } = run
  const kept = { verdict, ...others, requests: requests.map(({ path, headers, body }) => ({ path, headers, body })) }
  writeFileSync(join(resolve(out), `${name.replaceAll(' ', '-')}.json`), `${JSON.stringify(kept, null, 1)}\n`)
}
