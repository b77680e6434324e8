import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
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
  /** Takes the runs that are already there instead of running them again. */
  readonly resume?: boolean
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

/** What became of the task, in a word of `VERDICTS`; and why that is wrong, if it is. */
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
      const earlier = options.resume ? readRun(options.out, cell) : undefined
      const run = earlier ?? (await runTask({ ...cell, root: options.root }))
      const verdict = judge(cell, run)
      results.push({ ...cell, run, verdict })
      if (earlier) continue
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

/** What the words in the tables mean. */
const VERDICTS = {
  done: 'the task was done to its end',
  'went on': 'the client told the model that its call or its response was broken, and went on without the edit',
  error: 'the client showed an error and ended; nothing wrong was run',
  rejected:
    'the client sent back what the model had done wrong, and its vendor rejects that; the client showed the error. ' +
    'This is counted as such only on its own API (`*`), where it does the same without the gateway',
  ended: 'the client ended as if all were well. Also counted as such only on its own API',
} as const

function judge(cell: MatrixCell, run: TaskRun): Verdict {
  const { fault } = cell
  const { wrong, failures, isEdited, hasRunCommand, isFinished, exitCode, output, refusedHosts } = run
  const tail = (): string => JSON.stringify(output.trim().slice(-300))
  const isDone = isEdited && hasRunCommand && isFinished && exitCode === 0
  if (wrong.length > 0) return { word: 'WRONG', problem: `a wrong call ran: ${wrong.join(', ')}` }
  const isRejected = failures.length > 0
  if (isRejected && !(fault && isOwnWire(cell)))
    return { word: 'WRONG', problem: `the model rejects a request: ${failures.join(' ')}` }
  if (refusedHosts.some((host) => host.startsWith('127.')))
    return { word: 'WRONG', problem: 'it uses the proxy for loopback' }
  if (!fault && !isDone)
    return {
      word: 'WRONG',
      problem: `not finished, exit code ${exitCode}, edited ${isEdited}, command ${hasRunCommand}: ${tail()}`,
    }
  if (exitCode === null) return { word: 'WRONG', problem: `it had to be ended: ${tail()}` }
  if (!isFinished && exitCode === 0 && !/error|failed/i.test(output))
    return isOwnWire(cell)
      ? { word: 'ended' }
      : { word: 'WRONG', problem: `it ended without a word about the error: ${tail()}` }
  if (isRejected) return { word: 'rejected' }
  if (isDone) return { word: 'done' }
  return { word: isFinished ? 'went on' : 'error' }
}

/** Does the client speak the API of the model, so that the gateway passes all bytes unchanged? */
function isOwnWire({ client, wire }: Pick<MatrixCell, 'client' | 'wire'>): boolean {
  return findGatewayClient(client).wires.includes(wire)
}

function formatMatrix({ clients, wires, faults }: MatrixOptions, results: readonly MatrixResult[]) {
  const find = (tools: ClientTools, wire: WireId, fault?: TaskFault): MatrixResult | undefined =>
    results.find((one) => one.tools === tools && one.wire === wire && one.fault === fault)
  const lines = clients.flatMap(({ client, installed }) => client.tools.map((tools) => ({ client, installed, tools })))
  const tasks = lines.map(({ client, installed, tools }) => [
    nameClient(client, tools),
    installed.version,
    ...wires.map((wire) => formatTask(find(tools, wire))),
  ])
  const parts = [
    'A task of five turns (read, two reads in parallel, edit, command, end), by the wire of the model (`*`: the API of the client',
    'itself, so that all bytes pass unchanged):',
    '',
  ]
  parts.push(table(['client', 'version', ...wires], tasks))
  if (faults.length > 0) {
    parts.push('', 'With what goes wrong upstream, by the wire of the model if it is not the same on all:', '')
    const rows = lines.map(({ client, tools }) => [
      nameClient(client, tools),
      ...faults.map((fault) => formatFault(wires.flatMap((wire) => find(tools, wire, fault) ?? []))),
    ])
    parts.push(table(['client', ...faults.map(({ id }) => id)], rows), '')
    const words = new Set(results.map(({ verdict }) => verdict.word))
    parts.push(
      ...Object.entries(VERDICTS).flatMap(([word, text]) => (words.has(word) ? [`- **${word}**: ${text}.`] : [])),
    )
  }
  const problems = results.flatMap((one) =>
    one.verdict.problem === undefined ? [] : [`- ${nameCell(one)}: ${one.verdict.problem}`],
  )
  if (problems.length > 0) parts.push('', ...problems)
  return { text: parts.join('\n'), isGood: problems.length === 0 }
}

function formatTask(result: MatrixResult | undefined): string {
  if (!result) return '–'
  return `${result.verdict.word}${isOwnWire(result) ? '*' : ''}${result.run.hasSignatures ? '' : ', signatures lost'}`
}

/** `done` or the word of most wires, and the others with their wires. */
function formatFault(results: readonly MatrixResult[]): string {
  const groups = new Map<string, MatrixResult[]>()
  for (const one of results) groups.set(one.verdict.word, [...(groups.get(one.verdict.word) ?? []), one])
  const rank = ([word, ones]: [string, MatrixResult[]]): number => (word === 'done' ? Infinity : ones.length)
  const [first, ...others] = [...groups].toSorted((a, b) => rank(b) - rank(a))
  if (!first) return '–'
  const exceptions = others.map(
    ([word, ones]) => `${word} on ${ones.map((one) => one.wire + (isOwnWire(one) ? '*' : '')).join(', ')}`,
  )
  return [first[0], ...exceptions].join('; ')
}

function nameClient(client: Client, { label }: ClientTools): string {
  return `${findGatewayClient(client).title}${label === undefined ? '' : ` (${label})`}`
}

function nameCell({ client, tools, wire, fault }: MatrixCell): string {
  return `${nameClient(client, tools)} → ${wire}${fault ? `, ${fault.id}` : ''}`
}

function saveRun(out: string, cell: MatrixCell, run: TaskRun, verdict: Verdict): void {
  const { requests, ...others } = run
  const kept = { verdict, ...others, requests: requests.map(({ path, headers, body }) => ({ path, headers, body })) }
  mkdirSync(resolve(out), { recursive: true })
  writeFileSync(getRunFile(out, cell), `${JSON.stringify(kept, null, 1)}\n`)
}

function readRun(out: string | undefined, cell: MatrixCell): TaskRun | undefined {
  if (out === undefined || !existsSync(getRunFile(out, cell))) return undefined
  return JSON.parse(readFileSync(getRunFile(out, cell), 'utf8')) as TaskRun
}

function getRunFile(out: string, { client, tools, wire, fault }: MatrixCell): string {
  const name = [client.id, tools.label, wire, fault?.id].filter((word) => word !== undefined).join('-')
  return join(resolve(out), `${name.replaceAll(' ', '-')}.json`)
}
