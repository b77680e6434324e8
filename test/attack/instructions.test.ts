import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'
import { noTmux, openTerminal } from '../support/tmux.ts'

/** What must never be in a request. */
const CANARY = 'CANARY-6b1f-must-not-leave'

/** A project of somebody else, and what is secret around it. */
interface Place {
  readonly work: string
  readonly home: string
}

/** What somebody put into a project; the run must end, and no request may hold the canary. */
const ATTACKS: Readonly<Record<string, (place: Place) => void>> = {
  'AGENTS.md is a link to a private key': ({ work, home }) => link(work, 'AGENTS.md', join(home, '.ssh/id_rsa')),
  'AGENTS.md is a link to a file of the home folder': ({ work, home }) =>
    link(work, 'AGENTS.md', join(home, 'notes.txt')),
  'GEMINI.md is a link to .env of the same folder': ({ work }) => link(work, 'GEMINI.md', '.env'),
  'CLAUDE.md is a link to the environment': ({ work }) => link(work, 'CLAUDE.md', '/proc/self/environ'),
  'AGENTS.md is a link over a link': ({ work, home }) => {
    link(work, 'docs/rules.md', join(home, '.ssh/id_rsa'))
    link(work, 'AGENTS.md', 'docs/rules.md')
  },
  'AGENTS.md is reached through a linked folder': ({ work, home }) => {
    link(work, 'docs', join(home, '.ssh'))
    link(work, 'AGENTS.md', 'docs/id_rsa')
  },
  'AGENTS.md is a link to the environment': ({ work }) => link(work, 'AGENTS.md', '/proc/self/environ'),
  'AGENTS.md is a pipe': ({ work }) => pipe(join(work, 'AGENTS.md')),
  'AGENTS.md is a link to a pipe': ({ work }) => {
    pipe(join(work, 'queue'))
    link(work, 'AGENTS.md', 'queue')
  },
  'AGENTS.md is a link to /dev/zero': ({ work }) => link(work, 'AGENTS.md', '/dev/zero'),
  'AGENTS.md is a link to the terminal': ({ work }) => link(work, 'AGENTS.md', '/dev/tty'),
  'AGENTS.md is a folder': ({ work }) => mkdirSync(join(work, 'AGENTS.md')),
  'AGENTS.md is a link to itself': ({ work }) => link(work, 'AGENTS.md', 'AGENTS.md'),
  'AGENTS.md has four gigabytes': ({ work }) => huge(join(work, 'AGENTS.md'), 4 * 2 ** 30),
  'AGENTS.md imports a file outside of the folder': ({ work, home }) => {
    link(work, 'rules.md', join(home, 'notes.txt'))
    writeFileSync(join(work, 'AGENTS.md'), `@./rules.md\n@${home}/.ssh/id_rsa\n@../notes.txt\n`)
  },
  'settings are a link to a file of the home folder': ({ work, home }) =>
    link(work, '.dragoman/config.json', join(home, 'notes.txt')),
  'settings are a pipe': ({ work }) => {
    mkdirSync(join(work, '.dragoman'))
    pipe(join(work, '.dragoman/config.json'))
  },
  'settings are a link to /dev/zero': ({ work }) => link(work, '.dragoman/config.json', '/dev/zero'),
  'settings have four gigabytes': ({ work }) => {
    mkdirSync(join(work, '.dragoman'))
    huge(join(work, '.dragoman/config.json'), 4 * 2 ** 30)
  },
  '.mcp.json is a link to a pipe': ({ work }) => {
    pipe(join(work, 'queue'))
    link(work, '.mcp.json', 'queue')
    mkdirSync(join(work, '.dragoman'))
    writeFileSync(join(work, '.dragoman/config.json'), '{}')
  },
  '.mcp.json is a link to /dev/zero': ({ work }) => {
    link(work, '.mcp.json', '/dev/zero')
    mkdirSync(join(work, '.dragoman'))
    writeFileSync(join(work, '.dragoman/config.json'), '{}')
  },
  'AGENTS.md is a link to the settings of the repository, with a key in an address': ({ work }) => {
    mkdirSync(join(work, '.git'))
    writeFileSync(join(work, '.git/config'), `[remote "origin"]\n\turl = https://u:${CANARY}@git.example/x\n`)
    link(work, 'AGENTS.md', '.git/config')
    link(work, 'docs/a.md', '../.git')
    link(work, 'GEMINI.md', 'docs/a.md/config')
  },
  '.git is a pipe': ({ work }) => pipe(join(work, '.git')),
}

describe('what a project puts where instructions and settings are read', () => {
  for (const [name, prepare] of Object.entries(ATTACKS)) {
    test(name, async () => {
      const here = await place()
      prepare(here)
      const ended = await soon(here, ['-p', 'hello'])
      assert.equal(ended, 0, 'the run ends well all the same')
      assert.equal(here.server.requests.length, 1)
      noCanary(here)
    })
  }

  test('dragoman trust shows a project whose files are links and pipes, and ends', async () => {
    const here = await place()
    pipe(join(here.work, 'queue'))
    link(here.work, '.mcp.json', 'queue')
    link(here.work, '.dragoman/zero.json', '/dev/zero')
    link(here.work, '.dragoman/config.json', join(here.home, 'notes.txt'))
    assert.equal(await soon(here, ['trust']), 0)
  })

  test('.env is a pipe while an address is judged', async () => {
    const here = await place([
      { call: [{ name: 'web_fetch', args: { prompt: 'read http://127.0.0.1:9/x' } }] },
      { say: 'Done.' },
    ])
    pipe(join(here.work, '.env.local'))
    assert.equal(await soon(here, ['-p', 'look', '--yolo']), 0)
  })

  test('the system prompt at its usual place is a link to a private key', async () => {
    const here = await place()
    link(here.work, '.gemini/system.md', join(here.home, '.ssh/id_rsa'))
    await soon({ ...here, env: { ...here.env, GEMINI_SYSTEM_MD: '1' } }, ['-p', 'hello'])
    noCanary(here)
  })
})

describe('what is still read', () => {
  test('a link inside the repository, a hard link, and the person’s own link to wherever', async () => {
    const here = await place()
    mkdirSync(join(here.work, '.git'))
    mkdirSync(join(here.work, 'docs'))
    writeFileSync(join(here.work, 'docs/rules.md'), 'RULE-ONE')
    link(here.work, 'AGENTS.md', 'docs/rules.md')
    linkSync(join(here.work, 'docs/rules.md'), join(here.work, 'GEMINI.md'))
    mkdirSync(join(here.home, 'dotfiles'))
    writeFileSync(join(here.home, 'dotfiles/agents.md'), 'RULE-OWN')
    link(join(here.home, '.config/dragoman'), 'AGENTS.md', join(here.home, 'dotfiles/agents.md'))
    assert.equal(await soon(here, ['-p', 'hello']), 0)
    const [request] = here.server.requests
    const text = request?.bytes.toString('utf8') ?? ''
    assert.equal(text.split('RULE-ONE').length - 1, 2)
    assert.ok(text.includes('RULE-OWN'))
  })

  test('the person is told which file was not used, and why', async () => {
    const here = await place()
    link(here.work, 'AGENTS.md', join(here.home, '.ssh/id_rsa'))
    const { err } = await dragoman(['-p', 'hello'], here)
    assert.match(err, /AGENTS\.md is not used: it is a link out of the folder, to ~\/\.ssh\/id_rsa/)
  })
})

describe('what the person mentions, in a terminal', { skip: noTmux }, () => {
  const mentions: Readonly<Record<string, (place: Place) => string>> = {
    'a picture that is a link to a private key': ({ work, home }) => {
      link(work, 'shot.png', join(home, '.ssh/id_rsa'))
      return '@shot.png'
    },
    'a text that is a link to a file outside': ({ work, home }) => {
      link(work, 'readme.txt', join(home, 'notes.txt'))
      return '@readme.txt'
    },
    'a text in a linked folder': ({ work, home }) => {
      link(work, 'docs', home)
      return '@docs/notes.txt'
    },
    'the environment': () => '@/proc/self/environ',
    'a private key by its own name': () => '@~/.ssh/id_rsa',
    'a pipe': ({ work }) => {
      pipe(join(work, 'a.txt'))
      return '@a.txt'
    },
    'a picture that is a device': ({ work }) => {
      link(work, 'zero.png', '/dev/zero')
      return '@zero.png'
    },
  }
  for (const [name, prepare] of Object.entries(mentions)) {
    test(name, async () => {
      const here = await place()
      const word = prepare(here)
      const terminal = openTerminal([], { ...here, columns: 160 })
      await terminal.shows('openai-chat/script')
      // Nothing is completed behind a blank.
      terminal.type(`look at ${word} `)
      terminal.press('Enter')
      await terminal.shows('Hello yourself.')
      assert.match(terminal.screen(), /sent as text/)
      noCanary(here, Buffer.from(CANARY).toString('base64').slice(4, 20))
    })
  }

  test('a command of a trusted project that is a link', async () => {
    const here = await place()
    mkdirSync(join(here.work, '.dragoman/commands'), { recursive: true })
    link(here.work, '.dragoman/commands/inspect-all.md', join(here.home, 'notes.txt'))
    writeFileSync(join(here.work, '.dragoman/commands/good.md'), 'Say something good.')
    assert.equal(await soon(here, ['trust', '--yes']), 0)
    const terminal = openTerminal([], { ...here, columns: 160 })
    await terminal.shows('openai-chat/script')
    terminal.type('/inspect-all now ')
    terminal.press('Enter')
    await terminal.shows('Unknown command /inspect-all')
    terminal.type('/good ')
    terminal.press('Enter')
    await terminal.shows('Hello yourself.')
    noCanary(here)
  })
})

/** A project, with secrets in the home folder, in the project, and in the environment. */
async function place(steps = [{ say: 'Hello yourself.' }] as Parameters<typeof stage>[0]) {
  const here = await stage(steps)
  mkdirSync(join(here.home, '.ssh'))
  mkdirSync(join(here.home, '.config/dragoman'), { recursive: true })
  writeFileSync(join(here.home, '.ssh/id_rsa'), CANARY)
  writeFileSync(join(here.home, 'notes.txt'), CANARY)
  writeFileSync(join(here.work, '.env'), `TOKEN=${CANARY}`)
  return { ...here, env: { ...here.env, SOME_SECRET: CANARY } }
}

function noCanary({ server }: { server: Awaited<ReturnType<typeof stage>>['server'] }, ...more: string[]): void {
  for (const { bytes } of server.requests)
    for (const word of [CANARY, ...more]) assert.ok(!bytes.toString('utf8').includes(word), 'the canary was sent')
}

/** The exit code; a run that hangs or eats the memory is ended. */
async function soon(
  here: { work: string; env: Record<string, string> },
  args: readonly string[],
): Promise<number | string | null> {
  let timer: NodeJS.Timeout | undefined
  let isLate = false
  const { code, err } = await dragoman(args, here, {
    started(child) {
      timer = setTimeout(() => {
        isLate = true
        child.kill('SIGKILL')
      }, 60_000)
    },
  })
  clearTimeout(timer)
  return isLate ? 'it hung' : code === 0 ? 0 : `${code}: ${err.slice(0, 300)}`
}

function link(folder: string, name: string, target: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  symlinkSync(target, join(folder, name))
}

function pipe(path: string): void {
  execFileSync('mkfifo', [path])
}

/** A file with a hole, which takes no room on the disk. */
function huge(path: string, bytes: number): void {
  writeFileSync(path, 'x')
  truncateSync(path, bytes)
}
