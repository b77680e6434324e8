import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findBashSyntaxError } from '../../src/host/process/bash-syntax.ts'
import { createDiskView } from '../../src/host/files/disk-view.ts'
import { approvalPolicy } from '../../src/policy/approval-policy.ts'
import { HOSTILE_FORMS } from './hostile-forms.ts'
import { PROJECT } from './everyday-project.ts'
import { ground, type Step } from './ground.ts'

/** The commands that run unasked in a project, with a sandbox as without. */
async function unasked(commands: readonly string[], more: readonly Step[] = []): Promise<string[]> {
  using at = ground([...PROJECT, ...more])
  const policies = [true, false].map((isSandboxed) =>
    approvalPolicy({
      mode: 'default',
      folders: [at.ws],
      home: at.home,
      disk: createDiskView(),
      rejected: findBashSyntaxError,
      sandboxed: () => Promise.resolve(isSandboxed),
    }),
  )
  const allowed: string[] = []
  for (const command of commands) {
    const effects = [{ kind: 'exec', command, folder: at.ws }] as const
    const call = { tool: 'run_shell_command', input: {}, effects }
    const verdicts = await Promise.all(policies.map(async (policy) => (await policy.decide(call)).verdict))
    assert.equal(new Set(verdicts).size, 1, `${command}: the sandbox makes a difference`)
    if (verdicts[0] === 'allow') allowed.push(command)
  }
  return allowed
}

test('forms of everyday commands around anything that is not harmless are asked about', async () => {
  assert.deepEqual(await unasked(HOSTILE_FORMS), [])
})

test('a cd holds until its subshell ends, and a pattern of ripgrep brings hidden files in', async () => {
  const secret: Step = { op: 'file', path: '.env.local', text: 'KEY=1' }
  const commands = [
    'cd src | grep -r KEY .',
    '(cd src && true) && grep -r KEY .',
    '(cd src; ls) | cat; grep -r KEY .',
    '{ cd src && ls; } | cat && grep -r KEY .',
    "rg KEY -g '*.local'",
    "rg KEY -g '*.{local,x}'",
    "rg KEY --glob='.env*'",
  ]
  assert.deepEqual(await unasked(commands, [secret]), [])
  const harmless = ['(cd src && ls) | head -3', 'cd src && grep -rn foo . | head', "rg foo -g '*.ts'"]
  assert.deepEqual(await unasked(harmless, [secret]), harmless)
})
