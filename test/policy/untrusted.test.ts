import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createDiskView } from '../../src/host/files/disk-view.ts'
import { approvalPolicy } from '../../src/policy/approval-policy.ts'
import { matchesGlob, matchesPathSuffix, toPathSegments } from '../../src/policy/path/path-pattern.ts'
import { createSecretFileTest } from '../../src/policy/path/secret-file-test.ts'
import { RuleError } from '../../src/policy/rules/rule-set.ts'
import { dragoman, stage } from '../support/command.ts'
import { ground } from './ground.ts'

describe('rules of a project that nobody trusts', () => {
  const project = {
    deny: ['write_file()', 'make', { rule: 'ls', spares: ['ls -l'] }],
    ask: ['run_shell_command(a; b)'],
  }

  test('wrong ones are left out, the others hold', async () => {
    using at = ground()
    const options = { mode: 'default', folders: [at.ws], home: at.home, disk: createDiskView() } as const
    const policy = approvalPolicy({ ...options, rules: { project } })
    const verdict = async (command: string) => {
      const effects = [{ kind: 'exec', command, folder: at.ws }] as const
      return (await policy.decide({ tool: 'run_shell_command', input: {}, effects })).verdict
    }
    assert.deepEqual([await verdict('make'), await verdict('ls')], ['deny', 'allow'])
    assert.throws(() => approvalPolicy({ ...options, rules: { project, trusted: true } }), RuleError)
  })

  test('the real command says so and runs', async () => {
    const at = await stage([{ say: 'Done.' }])
    mkdirSync(join(at.work, '.dragoman'))
    writeFileSync(join(at.work, '.dragoman/config.json'), JSON.stringify({ policy: project }))
    const { code, out, err } = await dragoman(['-p', 'go'], at)
    assert.equal(code, 0, err)
    assert.match(out, /Done\./)
    assert.match(err, /A rule in .*config\.json is ignored: the rule “write_file\(\)” has nothing between its brackets/)
  })
})

describe('a pattern that was made to be slow', () => {
  const name = 'a'.repeat(200)
  const within = (work: () => boolean, expected: boolean) => {
    const begun = process.cpuUsage()
    assert.equal(work(), expected)
    const { user, system } = process.cpuUsage(begun)
    assert.ok(user + system < 2_000_000, `it took ${user + system} µs of the processor`)
  }

  test('in a name', () => within(() => matchesGlob(name, `${'*a'.repeat(60)}*b`), false))
  test('of a path', () =>
    within(() => matchesPathSuffix(toPathSegments(`/${'a/'.repeat(60)}x`), `${'**/a/'.repeat(25)}b`), false))
  test('of files with secrets', () =>
    within(() => createSecretFileTest([`${'*a'.repeat(60)}*b`])(`/w/${name}`, '/w'), false))
  test('of a rule, with the real command', async () => {
    const at = await stage([
      { call: [{ name: 'read_file', args: { absolute_path: `{cwd}/${name}` } }] },
      { say: 'Done.' },
    ])
    mkdirSync(join(at.work, '.dragoman'))
    const slow = `${'*a'.repeat(60)}*b`
    const policy = { deny: [`read_file(${slow})`, `x_${slow}`], secretFiles: [slow], protectedWrites: [`**/${slow}`] }
    writeFileSync(join(at.work, '.dragoman/config.json'), JSON.stringify({ policy }))
    writeFileSync(join(at.work, name), 'text\n')
    const { code, out } = await dragoman(['-p', 'go'], at)
    assert.equal(code, 0)
    assert.match(out, /Done\./)
  })

  test('patterns still mean what they meant', () => {
    const LIKE: readonly (readonly [name: string, pattern: string, expected: boolean])[] = [
      ['a.ts', '*.ts', true],
      ['.ts', '*.ts', true],
      ['a.tsx', '*.ts', false],
      ['abc', 'a*c', true],
      ['ac', 'a*c', true],
      ['a', 'a*a', false],
      ['aXbXc', 'a*b*c', true],
      ['abcbc', 'a*bc', true],
      ['mississippi', 'm*iss*p?', true],
      ['mississippi', 'm*iss*q', false],
      ['é', '?', true],
      ['😀', '?', true],
      ['', '*', true],
    ]
    for (const [text, pattern, expected] of LIKE)
      assert.equal(matchesGlob(text, pattern), expected, `${text} ${pattern}`)
    assert.equal(matchesPathSuffix(toPathSegments('/x/a/b/c/d'), 'a/**/d'), true)
    assert.equal(matchesPathSuffix(toPathSegments('/x/a/d'), 'a/**/d'), true)
    assert.equal(matchesPathSuffix(toPathSegments('/x/a/b'), 'a/**/d'), false)
    assert.equal(matchesPathSuffix(toPathSegments('/x/.git'), '.git/**'), true)
  })
})
