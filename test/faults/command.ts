import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { Host } from '../../src/host/host.ts'
import { createShellTool, type ShellToolOptions } from '../../src/tool/builtin/run-shell-command.ts'
import { skipWithoutBox } from '../host/box.ts'
import { place } from '../host/place.ts'
import { aliveIn, noneAliveIn } from '../support/alive.ts'
import type { FaultCase, Play, Plays } from '../support/faults.ts'
import { agentOf, closing, play, modelOn, rehearse } from '../support/stage.ts'
import { workspace } from '../tool/workspace.ts'

/** Commands that do not end as they should. */
export const commandPlays: Plays = {
  'fa-051': ran((said) => assert.match(said, /begun.*stopped after 2\.5 s/s), { before: 'echo begun; ' }),
  'fa-052': ran((said) => assert.match(said, /begun.*stopped after 2\.5 s/s), { before: 'echo begun; ' }),
  'fa-053': ran((said) => assert.match(said, /Output: done.*Background PIDs: \d+/s), { goesOn: true }),
  'fa-054': ran((said) => assert.match(said, /Background PIDs: \d+/), { goesOn: true, after: ' & sleep 0.2' }),
  'fa-055': ran((said) => assert.match(said, /y\n[^]*\d+ bytes omitted[^]*stopped after 0\.3 s/), {
    timeout: 300,
  }),
  // A smaller flood: what matters is that it never stands in memory, and is cut in the same place.
  'fa-056': ran((said) => assert.match(said, /binary output, about 671\d{5} bytes; the whole output is in/), {
    instead: 'head -c 64M /dev/zero',
  }),
  'fa-057': ran((said) => assert.match(said, /Output: \(empty\).*Exit Code: 0/s)),
  'fa-058': ran((said) => assert.match(said, /\/dev\/tty: .*(No such device|ENXIO)/)),
  'fa-059': ran((said) => assert.match(said, /not found.*Exit Code: 127/s)),
  'fa-060': ran((said) => assert.match(said, /Signal: SIGKILL/), { instead: 'kill -KILL $$' }),
  'fa-061': ran((said) => assert.match(said, /stopped after 0\.5 s/), { instead: 'kill -STOP $$', timeout: 500 }),
  'fa-062': async (_fault, t) => {
    const hindered = await skipWithoutBox()
    if (hindered !== false) return t.skip(hindered)
    using at = place((base) => ({ sandbox: { mode: 'on', home: base }, processLimit: LIMIT }))
    // All tasks of the machine are counted, so others may add to them: one of three times must stay below.
    const growth: number[] = []
    while (growth.length < 3 && !growth.some((tasks) => tasks < 10 * LIMIT)) {
      const before = tasksOnMachine()
      let most = before
      const sampling = setInterval(() => (most = Math.max(most, tasksOnMachine())), 5)
      const said = await answerTo(BOMB, { host: at.host, root: at.ws })
      clearInterval(sampling)
      assert.match(said, /the process limit was reached/)
      assert.doesNotMatch(said, /Background PIDs: \d/)
      await noneAliveIn(at.ws)
      growth.push(most - before)
    }
    assert.ok(Math.min(...growth) < 10 * LIMIT, `${growth.join(', ')} more tasks on the machine`)
  },
}

const LIMIT = 200

/**
 * A fork bomb. It stops growing at 4,096 processes, so that other tests can start theirs, and it ends by itself after 20 s: on a busy
 * machine whoever stops it may have to wait that long.
 */
const BOMB = 'bomb() { (($1 == 12)) && exec sleep 20; bomb $(($1 + 1)) | bomb $(($1 + 1)) & }; bomb 0'

function tasksOnMachine(): number {
  return Number(/\/(\d+)/.exec(readFileSync('/proc/loadavg', 'latin1'))?.[1])
}

interface How extends ShellToolOptions {
  /** Around the command of the case, or in its place where the case names none. */
  readonly before?: string
  readonly after?: string
  readonly instead?: string
  /** Something is left in the background until the session ends. */
  readonly goesOn?: true
}

/** Runs the command of a case; limits are half of what it says. Afterwards nothing is left, and memory is as it was. */
function ran(check: (said: string) => void, how: How = {}): Play {
  return async (fault) => {
    using at = workspace()
    const memory = process.memoryUsage.rss()
    const timeout = how.timeout ?? (Number(fault.inject['limitSeconds'] ?? 0) * 1000) / 2
    const said = await answerTo(commandOf(fault, how), at, timeout > 0 ? { timeout } : {})
    check(said)
    if (how.goesOn) assert.notDeepEqual(aliveIn(at.root), [])
    at.host.close()
    await noneAliveIn(at.root)
    const grown = (process.memoryUsage.rss() - memory) / 2 ** 20
    assert.ok(grown < 200, `memory grew by ${grown} MB`)
  }
}

function commandOf({ inject }: FaultCase, { before = '', after = '', instead }: How): string {
  return instead ?? `${before}${String(inject['command'])}${after}`
}

async function answerTo(
  command: string,
  at: { readonly host: Host; readonly root: string },
  options: ShellToolOptions = {},
): Promise<string> {
  const server = await rehearse([{ call: [{ name: 'run_shell_command', args: { command } }] }, { say: 'Done.' }])
  try {
    const more = { host: at.host, folders: [at.root] }
    const agent = agentOf(modelOn('openai-responses', server), [createShellTool(options)], more)
    assert.equal(closing(await play(agent, 'go')).reason, 'done')
    assert.deepEqual(server.failures, [])
    const result = agent.session.entries.find((entry) => entry.kind === 'result')
    const part = result?.kind === 'result' ? result.result.content[0] : undefined
    return part?.kind === 'text' ? part.text : ''
  } finally {
    await server.close()
  }
}
