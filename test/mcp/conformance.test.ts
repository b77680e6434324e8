import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { root } from '../support/paths.ts'
import { conformanceClient } from './support/conformance-client.ts'
import { programOf } from './support/world.ts'

/** Scenarios that say nothing about a client like ours, or that it must not pass. */
const NOT_OURS: Readonly<Record<string, string>> = {
  'auth/basic-cimd':
    'passes but for one warning: we host no document that describes our client, so it registers itself',
  'auth/client-credentials-jwt': 'signs in a machine, with a key of its own; ours signs in a person',
  'auth/client-credentials-basic': 'signs in a machine, with a secret of its own; ours signs in a person',
  'auth/cross-app-access-complete-flow': 'needs a company’s identity provider that trades tokens',
  'auth/2025-03-26-oauth-metadata-backcompat':
    'its server names an issuer that is not its own, which section 3.3 of RFC 8414 tells us to refuse',
}

// The suite starts this very file as the client.
const scenario = process.env['MCP_CONFORMANCE_SCENARIO']
if (scenario === undefined) {
  test('the official conformance suite for clients: all scenarios that apply', everyScenario)
} else {
  const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Record<string, unknown>
  await conformanceClient(process.argv.at(-1) ?? '', context)
}

async function everyScenario(): Promise<void> {
  const said = await runSuite(['--suite', 'all'])
  const found = [...said.matchAll(/^([✓✗]) (\S+): \d+ passed/gm)].map(([, mark, name = '']) => ({ mark, name }))
  assert.ok(found.length >= 26, said)
  for (const name of Object.keys(NOT_OURS)) {
    assert.ok(
      found.some((one) => one.name === name),
      `${name} is no scenario any more`,
    )
  }
  // They all run at once, and some measure milliseconds: on a busy machine one may be late. Alone it must pass.
  for (const { name, mark } of found) if (mark === '✗' && !Object.hasOwn(NOT_OURS, name)) await passesAlone(name)
}

async function passesAlone(name: string): Promise<void> {
  let said = ''
  for (let time = 0; time < 3 && !/OVERALL: PASSED/.test(said); time++) said = await runSuite(['--scenario', name])
  assert.match(said, /OVERALL: PASSED/, `${name}: ${said}`)
}

function runSuite(args: readonly string[]): Promise<string> {
  const client = `${process.execPath} --no-warnings ${fileURLToPath(import.meta.url)}`
  const all = [suite(), 'client', '--timeout', '60000', '--command', client, ...args]
  // A test runner inside of a test runner would write its report where the answers go.
  const { NODE_TEST_CONTEXT: _unused, ...env } = process.env
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, all, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    child.stdout.on('data', (piece: Buffer) => (text += piece.toString()))
    child.stderr.on('data', (piece: Buffer) => (text += piece.toString()))
    child.on('error', reject)
    child.on('close', () => resolve(text))
  })
}

/** The suite wants a function of the file system that Node has from 22 on, for something that no client scenario does. */
function suite(): string {
  const path = programOf('@modelcontextprotocol/conformance')
  if ('globSync' in fs) return path
  const folder = join(root, '.build', 'conformance')
  fs.mkdirSync(folder, { recursive: true })
  const text = fs.readFileSync(path, 'utf8')
  const copy = join(folder, `${process.pid}.mjs`)
  fs.writeFileSync(copy, text.replace('globSync as o,', '').replace('import{', 'const o=()=>[];import{'))
  after(() => fs.rmSync(copy, { force: true }))
  return copy
}
