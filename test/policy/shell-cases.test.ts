import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { findBashSyntaxError } from '../../src/host/process/bash-syntax.ts'
import { localHost } from '../../src/host/local-host.ts'
import { createDiskView } from '../../src/host/files/disk-view.ts'
import { createRuleSet } from '../../src/policy/rules/rule-set.ts'
import { checkShellCommand, type ShellDecision } from '../../src/policy/shell/check-shell-command.ts'
import { shared } from '../support/paths.ts'
import { ALL_ROUNDS, type Folded, securityCases, skipWithoutCases, unfolded } from '../support/security-cases.ts'
import { ground, type Ground, type Step } from './ground.ts'

interface ShellCase {
  readonly id: string
  readonly command: Folded
  readonly setup?: readonly Step[]
  readonly verdict: 'allow' | 'ask' | 'deny'
  readonly accept?: readonly string[]
  readonly canary?: string
  readonly allowIfCanaryAbsent?: boolean
  readonly effects: Readonly<Record<string, unknown>>
  readonly runs: readonly string[]
  readonly verified: string
}

interface Head {
  readonly policy: {
    readonly allow: readonly string[]
    readonly deny: readonly string[]
    readonly protectedWrites: readonly string[]
    readonly secretFiles: readonly string[]
  }
  readonly fixture: readonly Step[]
}

/** Each round has rules and a disk of its own. */
const heads = new Map<ShellCase, Head>()
const cases = ALL_ROUNDS.flatMap((round) => {
  const file = join(shared, 'security', round, 'shell-policy.json')
  const own = securityCases<ShellCase>('shell-policy.json', [round])
  const head = own.length > 0 ? (JSON.parse(readFileSync(file, 'utf8')) as Head) : undefined
  for (const one of own) if (head) heads.set(one, head)
  return own
})

function headOf(one: ShellCase): Head {
  return heads.get(one) ?? assert.fail(`${one.id} has no head`)
}

async function judged(one: ShellCase, at: Ground): Promise<ShellDecision> {
  const { allow, deny, protectedWrites, secretFiles } = headOf(one).policy
  const places = {
    folders: [at.ws],
    home: at.home,
    disk: createDiskView(),
    protectedWrites: protectedWrites.map(at.fill),
    secretFiles,
  }
  const book = createRuleSet({ user: { allow, deny } })
  return checkShellCommand(at.fill(unfolded(one.command)), at.ws, {
    pathContext: places,
    ruleSet: book,
    rejected: findBashSyntaxError,
  })
}

/** All judgements. Cases that need nothing of their own share one disk. */
async function judgeAll(): Promise<ReadonlyMap<ShellCase, ShellDecision>> {
  const common = new Map([...new Set(heads.values())].map((head) => [head, ground(head.fixture)]))
  const all = new Map<ShellCase, ShellDecision>()
  await inTurns(cases, async (one) => {
    const head = headOf(one)
    const at = common.get(head)
    if (at && !one.setup?.length) all.set(one, await judged(one, at))
    else {
      using own = ground([...head.fixture, ...(one.setup ?? [])])
      all.set(one, await judged(one, own))
    }
  })
  for (const at of common.values()) at[Symbol.dispose]()
  return all
}

/** A few at a time: much of it is waiting for other processes. */
async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const turn = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: 6 }, turn))
}

describe('shell-policy.json', { skip: skipWithoutCases }, () => {
  const judgements = skipWithoutCases === false ? judgeAll() : Promise.resolve(new Map<ShellCase, ShellDecision>())

  test('no breach, nothing weak, next to no friction; the programs are named', async (t) => {
    const wrong: string[] = []
    const count = { breach: 0, weak: 0, friction: 0, strict: 0, named: 0, unnamed: 0 }
    for (const [one, { verdict, programs, why }] of await judgements) {
      for (const program of one.runs) count[programs.includes(program) ? 'named' : 'unnamed']++
      if (verdict === one.verdict || one.accept?.includes(verdict)) continue
      if (verdict === 'allow' && one.allowIfCanaryAbsent) continue
      const harmless = one.verdict === 'allow' ? 'friction' : one.verdict === 'deny' ? 'weak' : 'strict'
      const kind = verdict === 'allow' ? 'breach' : harmless
      count[kind]++
      wrong.push(`${kind} ${one.id}: ${verdict} instead of ${one.verdict}: ${why}`)
    }
    const { breach, weak, friction, strict, named, unnamed } = count
    t.diagnostic(`${cases.length} commands: ${breach} breaches, ${weak} weak, ${friction} friction, ${strict} strict`)
    t.diagnostic(`${named} of ${named + unnamed} programs that run were named beforehand`)
    assert.deepEqual([breach, weak], [0, 0], wrong.join('\n'))
    assert.ok(friction <= cases.length / 50, wrong.join('\n'))
  })

  test('what is allowed is run by our own runner, and the canary stays away', async (t) => {
    const allowed = [...(await judgements)].filter(
      ([one, { verdict }]) => verdict === 'allow' && !one.effects['network'],
    )
    await inTurns(allowed, async ([one]) => {
      using at = ground([...headOf(one).fixture, ...(one.setup ?? [])])
      const host = localHost({ folders: [at.ws], scratch: join(at.base, 'scratch') })
      const env = { HOME: at.home, PWN_FILE: join(at.ws, 'PWNED'), PWN_CMD: './pwn.sh', OLDPWD: at.outside }
      try {
        await host.processes.run({ command: at.fill(unfolded(one.command)), folder: at.ws, env, timeout: 60_000 })
      } finally {
        host.close()
      }
      for (const canary of new Set(['PWNED', 'out.txt', one.canary ?? 'PWNED'])) {
        assert.equal(existsSync(join(at.ws, canary)), false, `${one.id} left ${canary}`)
      }
    })
    t.diagnostic(`${allowed.length} commands were allowed and run`)
    assert.ok(allowed.length > 40)
  })
})
