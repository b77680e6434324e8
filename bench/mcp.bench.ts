import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { localHost } from '../src/host/local-host.ts'
import type { ToolContext } from '../src/tool/tool.ts'
import { createMcpServers } from '../src/tool/mcp/client/servers.ts'
import { createMemoryKeyValueStore } from '../test/mcp/support/memory-store.ts'
import { root } from '../test/support/paths.ts'
import { median } from './support/measure.ts'
import { reportTable, type BenchmarkRow } from './support/report.ts'

const ROUNDS = Number(process.env['DRAGOMAN_ROUNDS'] ?? 25)
const CALLS = 200

const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'))
const program = { command: process.execPath, args: [join(root, 'test/mcp/support/fixture-server.mjs')] }

// The bare client of the SDK, with its own transport.
const client = new Client({ name: 'bench', version: '1' })
await client.connect(new StdioClientTransport({ ...program, cwd: folder, stderr: 'ignore' }))
await client.listTools()
// The same server, by way of the host, the connection and the bridge.
const host = localHost({ folders: [folder], scratch: mkdtempSync(join(folder, 'scratch-')), sandbox: { mode: 'auto' } })
const open = host.stdioProcesses.open.bind(host.stdioProcesses)
const mcpStores = { listCache: createMemoryKeyValueStore(), tokenStore: createMemoryKeyValueStore() }
const servers = createMcpServers(
  { pond: program },
  { folders: [folder], env: process.env, openProcess: open, ...mcpStores },
)
await servers.list[0]?.ready()
const tools = new Map(
  servers
    .tools()
    .flat()
    .map((tool) => [tool.spec.name, tool]),
)
const context = { signal: new AbortController().signal, progress: () => undefined } as unknown as ToolContext

interface CallCost {
  readonly wall: number
  readonly cpu: number
}

async function measureCalls(work: () => Promise<unknown>): Promise<CallCost> {
  const [began, before] = [performance.now(), process.cpuUsage()]
  for (let call = 0; call < CALLS; call++) await work()
  const { user, system } = process.cpuUsage(before)
  return { wall: (performance.now() - began) / CALLS, cpu: (user + system) / 1000 / CALLS }
}

/** Both ways in turn, so that a busy moment of the machine hits both. */
async function compare(name: string, input: Record<string, string>): Promise<BenchmarkRow[]> {
  const tool = tools.get(name)
  if (!tool) throw new Error(`the fixture has no tool ${name}`)
  const runs: { bare: CallCost; ours: CallCost }[] = []
  for (let round = 0; round < ROUNDS + 2; round++) {
    const bare = await measureCalls(() => client.callTool({ name, arguments: input }))
    const ours = await measureCalls(() => tool.run(input, context))
    if (round >= 2) runs.push({ bare, ours })
  }
  const row = (what: string, of: (spent: CallCost) => number): BenchmarkRow => ({
    label: `${name}: ${what}`,
    figures: `${median(runs.map(({ ours }) => of(ours))).toFixed(3)} ms against ${median(runs.map(({ bare }) => of(bare))).toFixed(3)} ms`,
    ratio: median(runs.map(({ ours, bare }) => of(ours) / of(bare))),
    maxRatio: 1.5,
  })
  return [row('time of a call', ({ wall }) => wall), row('processor time of a call, client side', ({ cpu }) => cpu)]
}

try {
  const rows = [...(await compare('echo', { word: 'hello' })), ...(await compare('structured', {}))]
  reportTable(
    'mcp',
    `A call of an MCP tool (names, limits, conversions, sandboxed process) compared with the same call through the official SDK’s client and transport, over stdio; medians of ${ROUNDS} rounds of ${CALLS} calls, alternating. Node ${process.version}.`,
    rows,
  )
} finally {
  await client.close()
  await servers.close()
  host.close()
  rmSync(folder, { recursive: true, force: true })
}
