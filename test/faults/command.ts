import assert from 'node:assert/strict'
import { runShellCommand, type ShellOptions } from '../../src/tool/builtin/run-shell-command.ts'
import { aliveIn, noneAliveIn } from '../support/alive.ts'
import type { FaultCase, Play, Plays } from '../support/faults.ts'
import { agentOf, closing, play, modelOn, rehearse } from '../support/stage.ts'
import { workspace } from '../tool/workspace.ts'

/** Commands that do not end as they should. */
export const commandPlays: Plays = {
  'fa-051': ran((said) => assert.match(said, /begun.*stopped after 0\.5 s/s), { before: 'echo begun; ' }),
  'fa-052': ran((said) => assert.match(said, /begun.*stopped after 0\.5 s/s), { before: 'echo begun; ' }),
  'fa-053': ran((said) => assert.match(said, /Output: done.*Background PIDs: \d+/s), { goesOn: true }),
  'fa-054': ran((said) => assert.match(said, /Background PIDs: \d+/), { goesOn: true, after: ' & sleep 0.2' }),
  'fa-055': ran((said) => assert.match(said, /y\n[^]*\d+ bytes are left out here[^]*stopped after 0\.1 s/), {
    timeout: 100,
  }),
  // A smaller flood: what matters is that it never stands in memory, and is cut in the same place.
  'fa-056': ran(
    (said) => assert.match(said, /binary output, about 671\d{5} bytes.*left out here; the whole output is in/),
    {
      instead: 'head -c 64M /dev/zero',
    },
  ),
  'fa-057': ran((said) => assert.match(said, /Output: \(empty\).*Exit Code: 0/s)),
  'fa-058': ran((said) => assert.match(said, /\/dev\/tty: .*(No such device|ENXIO)/)),
  'fa-059': ran((said) => assert.match(said, /not found.*Exit Code: 127/s)),
  'fa-060': ran((said) => assert.match(said, /Signal: SIGKILL/), { instead: 'kill -KILL $$' }),
  'fa-061': ran((said) => assert.match(said, /stopped after 0\.5 s/), { instead: 'kill -STOP $$', timeout: 500 }),
}

interface How extends ShellOptions {
  /** Around the command of the case, or in its place where the case names none. */
  readonly before?: string
  readonly after?: string
  readonly instead?: string
  /** Something is left in the background until the session ends. */
  readonly goesOn?: true
}

/** Runs the command of a case; limits are a tenth of what it says. Afterwards nothing is left, and memory is as it was. */
function ran(check: (said: string) => void, how: How = {}): Play {
  return async (fault) => {
    using at = workspace()
    const memory = process.memoryUsage.rss()
    const timeout = how.timeout ?? (Number(fault.inject['limitSeconds'] ?? 0) * 1000) / 10
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

async function answerTo(command: string, at: ReturnType<typeof workspace>, options: ShellOptions): Promise<string> {
  const server = await rehearse([{ call: [{ name: 'run_shell_command', args: { command } }] }, { say: 'Done.' }])
  try {
    const more = { host: at.host, folders: [at.root] }
    const agent = agentOf(modelOn('openai-responses', server), [runShellCommand(options)], more)
    assert.equal(closing(await play(agent, 'go')).reason, 'done')
    assert.deepEqual(server.failures, [])
    const result = agent.session.entries.find((entry) => entry.kind === 'result')
    const part = result?.kind === 'result' ? result.result.content[0] : undefined
    return part?.kind === 'text' ? part.text : ''
  } finally {
    await server.close()
  }
}
