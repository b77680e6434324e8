import type { Script, ScriptedCall } from '../script.ts'

/** So many turns with one call each, and a sentence at the end. */
export function loop(times: number, call: ScriptedCall = LIST): Script {
  return {
    about: `Calls ${call.name} ${times} times, one call a turn.`,
    steps: [{ loop: [{ say: 'Turn {n}.', call: [call] }], times }],
    end: { say: `All ${times} turns are done.` },
  }
}

const LIST: ScriptedCall = { name: 'list_directory', args: { path: '{cwd}' } }
