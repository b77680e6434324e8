import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { root } from '../support/paths.ts'
import { conformanceClient } from './support/conformance-client.ts'
import { programOf } from './support/world.ts'

const scenario = process.env['MCP_CONFORMANCE_SCENARIO']
if (scenario !== undefined) {
  const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Record<string, unknown>
  await conformanceClient(process.argv.at(-1) ?? '', context)
} else {
  test('the official conformance suite for clients', conformance)
}

async function conformance(): Promise<void> {
  const said = await run(['client', '--suite', 'all', '--verbose', '--command', `${process.execPath} ${fileURLToPath(import.meta.url)}`])
  console.log(said)
}

function run(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [suite(), ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
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
  mkdirSync(folder, { recursive: true })
  const text = readFileSync(path, 'utf8').replace('globSync as o,', '').replace('import{', 'const o=()=>[];import{')
  const copy = join(folder, `${process.pid}.mjs`)
  writeFileSync(copy, text)
  return copy
}
