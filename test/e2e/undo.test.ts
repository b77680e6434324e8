import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'

test('a run changes files; undo shows what will change, puts it back, and the model is told', async () => {
  const at = await stage([
    { call: [{ name: 'write_file', args: { file_path: '{cwd}/new.txt', content: 'new\n' } }] },
    { call: [{ name: 'run_shell_command', args: { command: 'echo hi' } }] },
    { call: [{ name: 'write_file', args: { file_path: '{cwd}/old.txt', content: 'changed\n' } }] },
    { say: 'Done.' },
    { say: 'Seen.' },
  ])
  writeFileSync(join(at.work, 'old.txt'), 'before\n')
  const ran = await dragoman(['--yolo', '-p', 'write'], at)
  assert.equal(ran.code, 0, ran.err)
  assert.equal(readFileSync(join(at.work, 'old.txt'), 'utf8'), 'changed\n')

  const asked = await dragoman(['undo'], at)
  assert.equal(asked.code, 42)
  assert.match(asked.err, /use --yes/)
  assert.equal(readFileSync(join(at.work, 'old.txt'), 'utf8'), 'changed\n')

  const undone = await dragoman(['undo', '--yes'], at)
  assert.equal(undone.code, 0, undone.err)
  assert.match(undone.out, /-changed\n\+before/)
  assert.doesNotMatch(undone.out, /echo hi/)
  assert.match(undone.out, /2 files were restored/)
  assert.equal(readFileSync(join(at.work, 'old.txt'), 'utf8'), 'before\n')
  assert.ok(!existsSync(join(at.work, 'new.txt')))

  const went = await dragoman(['--yolo', '--resume', '-p', 'go on'], at)
  assert.equal(went.code, 0, went.err)
  const last = JSON.stringify(at.server.requests.at(-1))
  assert.match(last, /The user restored files/)

  assert.equal((await dragoman(['undo', '--redo', '--yes'], at)).code, 0)
  assert.equal(readFileSync(join(at.work, 'old.txt'), 'utf8'), 'changed\n')
  assert.match((await dragoman(['undo', '7'], at)).out, /No file was changed/)
  assert.equal((await dragoman(['undo', 'x'], at)).code, 42)
})

test('what a person changed since stays, and the command says so by its exit code', async () => {
  const at = await stage([
    { call: [{ name: 'write_file', args: { file_path: '{cwd}/a.txt', content: 'agent\n' } }] },
    { say: 'Done.' },
  ])
  await dragoman(['--yolo', '-p', 'write'], at)
  writeFileSync(join(at.work, 'a.txt'), 'person\n')
  const { code, out } = await dragoman(['undo', '--yes'], at)
  assert.equal(code, 1)
  assert.match(out, /changed since, skipped: .*a\.txt/)
  assert.equal(readFileSync(join(at.work, 'a.txt'), 'utf8'), 'person\n')
})

test('where only commands ran in a folder that is too large to be kept, undo says that it does not know what they changed', async () => {
  const at = await stage([
    { call: [{ name: 'run_shell_command', args: { command: 'rm untracked.txt' } }] },
    { loop: [{ say: 'Done.' }] },
  ])
  writeFileSync(join(at.work, 'untracked.txt'), 'precious\n')
  for (let number = 0; number < 2001; number++) writeFileSync(join(at.work, `${number}.txt`), '')
  await dragoman(['--yolo', '-p', 'clean up'], at)
  const { code, out } = await dragoman(['undo', '--yes'], at)
  assert.equal(code, 0)
  assert.match(
    out,
    /No file was changed since then\.\nThese commands ran since then.* not undone:\n {2}rm untracked\.txt\n$/,
  )
  await dragoman(['--yolo', '--resume', '-p', 'anything else?'], at)
  assert.equal((await dragoman(['undo', '2'], at)).out, 'No file was changed since then.\n')
})

for (const kind of ['small folder', 'git repository'] as const)
  test(`what commands changed in a ${kind} is undone and redone, and later changes of a person stay`, async () => {
    const command =
      'rm kept.txt; echo more >> tracked.txt; mkdir -p sub && echo made > sub/made.txt; chmod 755 script.sh'
    const at = await stage([
      { call: [{ name: 'run_shell_command', args: { command } }] },
      { call: [{ name: 'run_shell_command', args: { command: 'echo again >> tracked.txt; echo two > second.txt' } }] },
      { loop: [{ say: 'Done.' }] },
    ])
    const path = (name: string): string => join(at.work, name)
    writeFileSync(path('tracked.txt'), 'first\n')
    writeFileSync(path('script.sh'), 'true\n', { mode: 0o644 })
    if (kind === 'git repository') {
      const git = (...args: string[]) => execFileSync('git', args, { cwd: at.work, env: { ...process.env, ...at.env } })
      git('init', '-q')
      git('add', '.')
      git('-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-qm', 'first')
      // Changed and new files are not in git.
      writeFileSync(path('tracked.txt'), 'first\nchanged\n')
    }
    const before = readFileSync(path('tracked.txt'), 'utf8')
    writeFileSync(path('kept.txt'), 'precious\n')
    const ran = await dragoman(['--yolo', '-p', 'change'], at)
    assert.equal(ran.code, 0, ran.err)
    assert.ok(!existsSync(path('kept.txt')))
    writeFileSync(path('second.txt'), 'by a person\n')

    const undone = await dragoman(['undo', '--yes'], at)
    assert.equal(undone.code, 1, 'a file of a person was left')
    assert.match(undone.out, /changed since, skipped: .*second\.txt/)
    assert.equal(readFileSync(path('kept.txt'), 'utf8'), 'precious\n')
    assert.equal(readFileSync(path('tracked.txt'), 'utf8'), before)
    assert.equal(statSync(path('script.sh')).mode & 0o777, 0o644)
    assert.ok(!existsSync(path('sub')), 'folders that a command made for its files are gone')
    assert.equal(readFileSync(path('second.txt'), 'utf8'), 'by a person\n')

    assert.equal((await dragoman(['undo', '--redo', '--yes'], at)).code, 0)
    assert.ok(!existsSync(path('kept.txt')))
    assert.equal(readFileSync(path('tracked.txt'), 'utf8'), `${before}more\nagain\n`)
    assert.equal(readFileSync(path('sub/made.txt'), 'utf8'), 'made\n')
  })
