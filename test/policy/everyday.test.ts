import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findBashSyntaxError } from '../../src/host/process/bash-syntax.ts'
import { createDiskView } from '../../src/host/files/disk-view.ts'
import { approvalPolicy } from '../../src/policy/approval-policy.ts'
import type { Decision } from '../../src/policy/policy.ts'
import { EVERYDAY, type EverydayCommand } from './everyday-commands.ts'
import { PROJECT } from './everyday-project.ts'
import { ground } from './ground.ts'

type Row = EverydayCommand & { readonly decisions: readonly Decision[] }

const SETTINGS = ['in the sandbox', 'without'] as const

async function judgeAll(): Promise<Row[]> {
  using at = ground(PROJECT)
  const options = {
    mode: 'default',
    folders: [at.ws],
    home: at.home,
    disk: createDiskView(),
    rejected: findBashSyntaxError,
  } as const
  const policies = SETTINGS.map((setting) =>
    approvalPolicy({ ...options, sandboxed: () => Promise.resolve(setting === 'in the sandbox') }),
  )
  const rows: Row[] = []
  for (const one of EVERYDAY) {
    const effects = [{ kind: 'exec', command: one.command, folder: at.ws }] as const
    const proposal = { tool: 'run_shell_command', input: {}, effects }
    rows.push({ ...one, decisions: await Promise.all(policies.map(async (policy) => policy.decide(proposal))) })
  }
  return rows
}

describe('everyday commands', () => {
  const rows = judgeAll()

  test('at least 150 of eight ecosystems', () => {
    assert.ok(EVERYDAY.length >= 150, String(EVERYDAY.length))
    assert.equal(new Set(EVERYDAY.map(({ ecosystem }) => ecosystem)).size, 8)
  })

  test('at most 5 % of those that change nothing ask, with a sandbox and without', async (t) => {
    const all = await rows
    for (const [at, setting] of SETTINGS.entries()) {
      for (const ecosystem of new Set(all.map((row) => row.ecosystem))) {
        const looks = all.filter((row) => row.ecosystem === ecosystem && !row.changes)
        const changes = all.filter((row) => row.ecosystem === ecosystem && row.changes)
        const unasked = (some: readonly Row[]) =>
          some.filter(({ decisions }) => decisions[at]?.verdict === 'allow').length
        t.diagnostic(
          `${setting}, ${ecosystem}: unasked ${unasked(looks)} of ${looks.length} that change nothing, ${unasked(changes)} of ${changes.length} others`,
        )
      }
      const asked = all.filter(({ changes, decisions }) => !changes && decisions[at]?.verdict !== 'allow')
      for (const { command, decisions } of asked)
        t.diagnostic(`${setting}, asked: ${command}: ${decisions[at]?.why ?? ''}`)
      const looks = all.filter(({ changes }) => !changes).length
      assert.ok(
        asked.length <= looks * 0.05,
        asked.map(({ command, decisions }) => `${command}: ${decisions[at]?.why ?? ''}`).join('\n'),
      )
    }
    if (process.env['DRAGOMAN_TABLE'] !== undefined) for (const row of all) t.diagnostic(lineOf(row))
  })

  test('nothing that changes something, reaches the network or runs code of the project runs unasked', async () => {
    const unasked = (await rows).filter(
      ({ changes, decisions }) => changes && decisions.some((one) => one.verdict === 'allow'),
    )
    assert.deepEqual(
      unasked.map(({ command }) => command),
      [],
    )
  })

  test('what is asked about is asked for a reason of one line', async () => {
    for (const { command, decisions } of await rows)
      for (const { verdict, why } of decisions) if (verdict === 'ask') assert.match(why, /^\S[^\n]{5,300}$/, command)
  })
})

function lineOf({ ecosystem, changes, command, decisions }: Row): string {
  const verdicts = decisions.map(({ verdict }) => verdict.padEnd(6)).join('')
  return `${ecosystem.padEnd(7)}${(changes ? 'changes' : 'looks').padEnd(9)}${verdicts} ${command}`
}
