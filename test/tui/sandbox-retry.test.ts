import assert from 'node:assert/strict'
import { readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { skipWithoutBox } from '../host/box.ts'
import { dragoman, stage } from '../support/command.ts'
import { noTmux, openTerminal } from '../support/tmux.ts'

const servers: Server[] = []
after(() => {
  for (const server of servers) server.close()
})

/** A server on this machine, which the sandbox hides, and how often it was asked. */
async function hiddenServer(): Promise<{ command: string; count(): number }> {
  let count = 0
  const server = createServer((_request, response) => response.end(`answer ${++count}\n`))
  servers.push(server)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const code = `fetch('http://127.0.0.1:${port}/').then((r) => r.text()).then((t) => console.log(t))`
  return { command: `node -e "${code}"`, count: () => count }
}

/** The entries of the only session of a home folder. */
function entries(home: string): Record<string, unknown>[] {
  const folder = join(home, '.local/share/dragoman')
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'))
  return names.flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  )
}

describe('a command that the sandbox keeps from the network', { skip: noTmux || (await skipWithoutBox()) }, () => {
  const call = (command: string) => ({ call: [{ name: 'run_shell_command', args: { command } }] })

  test('is shown as failed, and runs again with the network if the person says so', async () => {
    const server = await hiddenServer()
    const at = await stage([call(server.command), { say: 'All done.' }])
    const terminal = openTerminal([], { ...at, rows: 40 })
    await terminal.shows('Type a request.')
    terminal.type('go')
    terminal.press('Enter')
    await terminal.shows('Run this?')
    terminal.press('y')
    await terminal.shows('Run it again with network access?')
    await terminal.shows('has no network access')
    assert.equal(server.count(), 0)
    terminal.press('y')
    await terminal.shows('All done.')
    assert.equal(server.count(), 1)
    const [, second] = at.server.requests
    assert.match(JSON.stringify(second?.body), /answer 1.*The user allowed network access/s)
    const intents = entries(at.home).filter(({ kind }) => kind === 'intent')
    assert.deepEqual(
      intents.map(({ access }) => access),
      [undefined, 'network'],
    )
  })

  test('keeps its failure if the person refuses', async () => {
    const server = await hiddenServer()
    const at = await stage([call(server.command), { say: 'All done.' }])
    const terminal = openTerminal([], { ...at, rows: 40 })
    await terminal.shows('Type a request.')
    terminal.type('go')
    terminal.press('Enter')
    await terminal.shows('Run this?')
    terminal.press('y')
    await terminal.shows('Run it again with network access?')
    terminal.press('Escape')
    await terminal.shows('All done.')
    assert.equal(server.count(), 0)
    assert.match(terminal.history(), /✗ run_shell_command/)
    assert.match(JSON.stringify(at.server.requests[1]?.body), /sandbox without network access/)
  })

  test('is let through from now on if the person says always, and /sandbox opens the network for all', async () => {
    const server = await hiddenServer()
    const other = await hiddenServer()
    const at = await stage([
      call(server.command),
      call(server.command),
      { say: 'First part done.' },
      call(other.command),
      { say: 'All done.' },
    ])
    const terminal = openTerminal(['--approval-mode', 'yolo'], { ...at, rows: 40 })
    await terminal.shows('Type a request.')
    terminal.type('go')
    terminal.press('Enter')
    await terminal.shows('Run it again with network access?')
    terminal.press('a')
    await terminal.shows('in this session')
    terminal.press('1')
    await terminal.shows('First part done.')
    assert.equal(server.count(), 2)
    terminal.type('/sandbox network on')
    terminal.press('Enter')
    await terminal.shows('Network access is on')
    terminal.type('go on')
    terminal.press('Enter')
    await terminal.shows('All done.')
    assert.equal(other.count(), 1)
  })

  test('one that is known to need it is asked about with a word of it, and runs with the network at once', async () => {
    const server = await hiddenServer()
    const at = await stage([call('./wget it'), { say: 'All done.' }])
    writeFileSync(join(at.work, 'wget'), `#!/bin/sh\n${server.command}\n`, { mode: 0o755 })
    const terminal = openTerminal([], { ...at, rows: 40, columns: 110 })
    await terminal.shows('Type a request.')
    terminal.type('go')
    terminal.press('Enter')
    await terminal.shows(/It needs network access, which the sandbox blocks\.[^]*\[y\] yes, once, without network/)
    terminal.press('w')
    await terminal.shows('All done.')
    assert.equal(server.count(), 1)
    assert.doesNotMatch(terminal.history(), /Run it again/)
    const intents = entries(at.home).filter(({ kind }) => kind === 'intent')
    assert.deepEqual(
      intents.map(({ access }) => access),
      ['network'],
    )
  })

  test('says so while it runs, and “always” can be for this project', async () => {
    const server = await hiddenServer()
    const at = await stage([
      call(`sleep 6; ${server.command}`),
      { say: 'First part done.' },
      call(server.command),
      call(server.command),
      { say: 'All done.' },
    ])
    const terminal = openTerminal(['--approval-mode', 'yolo'], { ...at, rows: 40, columns: 130 })
    await terminal.shows('Type a request.')
    terminal.type('go')
    terminal.press('Enter')
    await terminal.shows(/● run_shell_command .* [3-9] s, no network \(sandbox\)/)
    await terminal.shows('Run it again with network access?')
    terminal.press('Escape')
    await terminal.shows('First part done.')
    terminal.type('go on')
    terminal.press('Enter')
    await terminal.shows('Run it again with network access?')
    terminal.press('a')
    const choices = await terminal.shows('in this project, permanently')
    terminal.press(/\[(\d)\] always, in this project/.exec(choices)?.[1] ?? '2')
    await terminal.shows('All done.')
    assert.equal(server.count(), 2)
    const settings = JSON.parse(readFileSync(join(at.home, '.config/dragoman/config.json'), 'utf8')) as {
      projects: Record<string, { sandboxOptions: { allowNetwork: string[] } }>
    }
    const [[folder, project] = []] = Object.entries(settings.projects)
    assert.equal(folder, realpathSync(at.work))
    assert.equal(project?.sandboxOptions.allowNetwork.length, 1)
  })

  test('programs that would try again for long are told not to, only without the network', async () => {
    const command = 'echo "retries=$npm_config_fetch_retries."'
    for (const [args, said] of [
      [[], 'retries=0.'],
      [['--sandbox-network'], 'retries=.'],
      [['--sandbox', 'off'], 'retries=.'],
    ] as const) {
      const at = await stage([call(command), { say: 'All done.' }])
      await dragoman(['-p', 'go', '--yolo', ...args], at)
      assert.ok(JSON.stringify(at.server.requests[1]?.body).includes(said), `${args.join(' ')}: ${said}`)
    }
  })
})
