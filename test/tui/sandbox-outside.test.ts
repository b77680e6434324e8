import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { skipWithoutBox } from '../host/box.ts'
import { dragoman, stage } from '../support/command.ts'
import { noTmux, openTerminal } from '../support/tmux.ts'

const temporary = mkdtempSync(join(tmpdir(), 'dragoman-outside-'))
after(() => rmSync(temporary, { recursive: true, force: true }))

const call = (command: string) => ({ call: [{ name: 'run_shell_command', args: { command } }] })

describe('a command that changes what the sandbox hides', { skip: noTmux || (await skipWithoutBox()) }, () => {
  test('says in its question that it runs outside, and a yes changes the real file', async () => {
    const at = await stage([call('cp report.txt ~/report.txt'), { say: 'All done.' }])
    writeFileSync(join(at.work, 'report.txt'), 'the report\n')
    const terminal = openTerminal([], { ...at, rows: 40, columns: 130 })
    await terminal.shows('Type a request.')
    terminal.type('go')
    terminal.press('Enter')
    await terminal.shows(
      /It runs outside the sandbox, because it changes .*report\.txt[^]*\[y\] yes, once, outside the/,
    )
    terminal.press('y')
    await terminal.shows('All done.')
    assert.equal(readFileSync(join(at.home, 'report.txt'), 'utf8'), 'the report\n')
  })

  test('is asked about in yolo mode too: a no leaves the file, an “always” is kept', async () => {
    const at = await stage([
      call('rm -f ~/one.txt'),
      { say: 'First part done.' },
      call('rm -f ~/one.txt'),
      call('rm -f ~/one.txt'),
      { say: 'All done.' },
    ])
    writeFileSync(join(at.home, 'one.txt'), '1')
    const terminal = openTerminal(['--approval-mode', 'yolo'], { ...at, rows: 40, columns: 130 })
    await terminal.shows('Type a request.')
    terminal.type('go')
    terminal.press('Enter')
    await terminal.shows(/which the sandbox hides, so it would have no effect/)
    terminal.press('Escape')
    await terminal.shows('First part done.')
    assert.ok(existsSync(join(at.home, 'one.txt')))
    terminal.type('go on')
    terminal.press('Enter')
    await terminal.shows('Run this?')
    terminal.press('a')
    await terminal.shows(/in this session: .*outside the sandbox/)
    terminal.press('1')
    await terminal.shows('All done.')
    assert.ok(!existsSync(join(at.home, 'one.txt')))
    // Yolo allows the command itself: what was kept is only the access.
    await terminal.shows(/Running outside the sandbox: /)
  })

  test('does not run where nobody can be asked, and the model is told why', async () => {
    for (const command of ['rm -f ~/one.txt', `cd ~ && rm -f one.txt`, `rm -rf ${temporary}/one*`]) {
      const at = await stage([call(command), { say: 'All done.' }])
      const files = [join(at.home, 'one.txt'), join(temporary, 'one.txt')]
      for (const file of files) writeFileSync(file, '1')
      await dragoman(['-p', 'go', '--yolo'], at)
      assert.ok(files.every((file) => existsSync(file)))
      assert.match(JSON.stringify(at.server.requests[1]?.body), /which the sandbox hides.*--sandbox off/)
    }
  })

  test('new files in /tmp stay in the sandbox, and the question and the result say so', async () => {
    const file = join(temporary, 'new.txt')
    const at = await stage([call(`mkdir -p ${temporary} && echo hi > ${file} && cat ${file}`), { say: 'All done.' }])
    rmSync(temporary, { recursive: true })
    const terminal = openTerminal([], { ...at, rows: 40, columns: 130 })
    await terminal.shows('Type a request.')
    terminal.type('go')
    terminal.press('Enter')
    await terminal.shows(/only commands of this session see its files/)
    terminal.press('y')
    await terminal.shows('All done.')
    assert.ok(!existsSync(file))
    assert.match(JSON.stringify(at.server.requests[1]?.body), /hi\\.*\/tmp is private to the commands of this session/)
  })

  test('“always” for a command that needs the network includes the network', async () => {
    const at = await stage([call('./wget a'), call('./wget a'), { say: 'All done.' }])
    const probe = `node -e "require('net').connect(9, '127.0.0.1').on('error', (e) => console.log(require('os').networkInterfaces().lo ? 'same ' + require('fs').readlinkSync('/proc/self/ns/net') : ''))"`
    writeFileSync(join(at.work, 'wget'), `#!/bin/sh\n${probe}\n`, { mode: 0o755 })
    const terminal = openTerminal([], { ...at, rows: 40, columns: 130 })
    await terminal.shows('Type a request.')
    terminal.type('go')
    terminal.press('Enter')
    await terminal.shows('It needs network access, which the sandbox blocks.')
    terminal.press('a')
    await terminal.shows(/in this session: .*with network access/)
    terminal.press('1')
    await terminal.shows('All done.')
    const bodies = JSON.stringify(at.server.requests[2]?.body)
    const namespaces = [...bodies.matchAll(/same (net:\[\d+\])/g)].map(([, name]) => name)
    assert.equal(namespaces.length, 2)
    assert.equal(new Set(namespaces).size, 1, 'both runs have the network of the machine')
  })
})
