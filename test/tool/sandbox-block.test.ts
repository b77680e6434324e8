import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createShellTool } from '../../src/tool/builtin/run-shell-command.ts'
import { boxedPlace, skipWithoutBox } from '../host/box.ts'
import type { ToolOutput } from '../../src/tool/tool.ts'
import { skipWithout } from '../support/programs.ts'

const HOST = 'example.invalid'

const NETWORK = [
  `curl -sS https://${HOST}/`,
  `wget -O - http://${HOST}/`,
  `git clone https://${HOST}/x.git`,
  `npm view left-pad --fetch-retries=0 --registry http://${HOST}/`,
  `node -e "fetch('http://${HOST}/')"`,
  `python3 -c "import urllib.request as u; u.urlopen('http://${HOST}/')"`,
  `python3 -c "import socket; socket.create_connection(('127.0.0.1', 9))"`,
  `cat < /dev/tcp/127.0.0.1/9`,
  `perl -MIO::Socket::INET -e 'IO::Socket::INET->new("${HOST}:80") or die "$@"'`,
  `getent hosts ${HOST} || { echo "ssh: Could not resolve hostname ${HOST}"; exit 255; }`,
]

const FILES = ['touch /opt/new', 'echo x > /usr/new', 'cat {home}/notes.txt', 'ls {home}/private', 'echo x > /etc/new']

/** They fail for reasons of their own; to run them outside would change nothing. */
const NEITHER = ['false', 'cat missing.txt', './no-such-program', 'grep -q absent README.md', 'exit 3', 'ls /usr/none']

describe('what the sandbox kept a command from', { skip: await skipWithoutBox() }, () => {
  async function run(command: string): Promise<ToolOutput> {
    using at = boxedPlace()
    const context = {
      host: at.host,
      folders: [at.ws],
      signal: new AbortController().signal,
      progress: () => undefined,
      seenFiles: { setHash: () => undefined, getHash: () => undefined },
    }
    return await createShellTool().run({ command: command.replaceAll('{home}', at.home) }, context)
  }

  for (const command of NETWORK)
    test(`the network: ${command}`, { skip: skipWithout(command.split(' ')[0] ?? '') }, async () => {
      const { blocked, content } = await run(command)
      assert.equal(blocked, 'network', JSON.stringify(content))
    })
  for (const command of FILES)
    test(`files: ${command}`, async () => {
      const { blocked, content } = await run(command)
      assert.equal(blocked, 'files', JSON.stringify(content))
    })
  for (const command of NEITHER)
    test(`nothing: ${command}`, async () => {
      const { blocked, content } = await run(command)
      assert.equal(blocked, undefined, JSON.stringify(content))
    })
})
