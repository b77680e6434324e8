import assert from 'node:assert/strict'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { localHost } from '../../src/host/local-host.ts'
import { ground, type Ground, type Step } from '../policy/ground.ts'
import { shared } from '../support/paths.ts'
import { skipWithoutCases } from '../support/security-cases.ts'
import { skipWithoutBox } from './box.ts'

interface Case {
  readonly id: string
  readonly command?: string
  readonly effects: { readonly writesOutside: boolean; readonly readsOutside: boolean; readonly network: boolean }
  readonly also?: readonly string[]
  readonly setup?: readonly Step[]
  readonly verified: string
}

const skip = skipWithoutCases || (await skipWithoutBox())

// The policy would refuse or ask; here nobody does, and the sandbox alone must hold.
test('commands that reach out have no effect outside, and none on what is protected', { skip }, async (context) => {
  const { cases, fixture } = JSON.parse(readFileSync(join(shared, 'security/shell-policy.json'), 'utf8')) as {
    readonly cases: readonly Case[]
    readonly fixture: readonly Step[]
  }
  const chosen = cases.filter(isContained)
  assert.ok(chosen.length > 30)
  for (const one of chosen) {
    using at = ground([...fixture, ...(one.setup ?? [])])
    const before = guarded(at)
    const host = localHost({
      folders: [at.ws],
      scratch: join(at.base, 'scratch'),
      sandbox: { mode: 'on', home: at.home },
    })
    const env = { HOME: at.home, PWN_FILE: join(at.ws, 'PWNED') }
    const end = await host.processes.run({ command: at.fill(one.command ?? ''), folder: at.ws, env, timeout: 20_000 })
    host.close()
    assert.deepEqual(guarded(at), before, `${one.id}: ${one.command}`)
    assert.equal(end.sandboxed, true)
    if (isOfHome(one)) assert.doesNotMatch(end.output, /FAKE/, `${one.id}: ${one.command}`)
    if (one.effects.network) assert.notEqual(end.exitCode, 0, `${one.id}: ${one.command}`)
  }
  context.diagnostic(`${chosen.length} commands were run, and none got out`)
})

/** Those that do harm outside, and that somebody has run before us: what could destroy a machine is not tried. */
function isContained(one: Case): boolean {
  if (one.verified !== 'traced' || one.command === undefined) return false
  const { writesOutside, network } = one.effects
  return writesOutside || network || (one.also ?? []).includes('touches-protected-place') || isOfHome(one)
}

function isOfHome({ command = '', effects }: Case): boolean {
  return effects.readsOutside && /~|HOME/.test(command)
}

/** All that must stay as it is. */
function guarded({ ws, outside, home }: Ground): string[] {
  const inside = ['.git/hooks', '.git/config', '.vscode', '.mcp.json', '.dragoman', '.GIT', '.DRAGOMAN']
  return [outside, home, ...inside.map((name) => join(ws, name))].flatMap(everything)
}

function everything(path: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return []
  const about = `${path} ${stats.mode.toString(8)}`
  if (stats.isDirectory()) return [about, ...readdirSync(path).flatMap((name) => everything(join(path, name)))]
  return [`${about} ${stats.isFile() ? readFileSync(path, 'latin1') : ''}`]
}
